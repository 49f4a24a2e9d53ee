//! A connection to a server, for the targets that send requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

/// A connection, which is opened again if the server closed it, as it may.
pub struct Connection {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

/// An answer whose body has been read.
pub struct Answer {
    pub status: u16,
    /// Names are in lower case.
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Checks that a body that is called JSON can be read.
    pub fn check_json(&self) {
        let kind = self.header("content-type");
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            serde_json::from_slice::<Value>(&self.body).unwrap();
        }
    }
}

impl Connection {
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            stream: None,
        }
    }

    /// Sends a request, and returns the answer. `head` has the first line, and the headers besides those that all requests
    /// have.
    pub fn ask(&mut self, head: &str, body: &[u8]) -> Answer {
        let len = body.len();
        let head = format!("{head}Host: localhost\r\nContent-Length: {len}\r\n\r\n");
        let request = [head.as_bytes(), body].concat();
        loop {
            let open = || BufReader::new(TcpStream::connect(self.address).unwrap());
            let stream = self.stream.get_or_insert_with(open);
            match exchange(stream, &request) {
                Some(answer) => {
                    // The server reads no further requests after these.
                    let is_left = [408, 413].contains(&answer.status);
                    self.stream.take_if(|_| is_left);
                    return answer;
                }
                None => self.stream = None,
            }
        }
    }
}

/// Sends a request, and reads the answer; `None` if the connection ended before.
fn exchange(stream: &mut BufReader<TcpStream>, request: &[u8]) -> Option<Answer> {
    stream.get_mut().write_all(request).ok()?;
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|len| *len > 0)?;
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut answer = Answer {
        status,
        headers,
        body: Vec::new(),
    };
    let len = answer.header("content-length").map(str::parse);
    answer.body = vec![0; len.transpose().unwrap().unwrap_or(0)];
    stream.read_exact(&mut answer.body).unwrap();
    Some(answer)
}
