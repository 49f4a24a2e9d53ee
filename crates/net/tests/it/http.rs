//! Sends HTTP requests one by one.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::peers::PATIENCE;

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Header names are in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends a request. Returns the connection, to read the rest of the answer from, and the head of
/// the answer.
pub(crate) fn open(
    address: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (BufReader<TcpStream>, Response) {
    open_bytes(address, request, headers, body.as_bytes())
}

/// Does the same with a body that need not be text.
fn open_bytes(
    address: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> (BufReader<TcpStream>, Response) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (host, len) = (address.to_string(), body.len().to_string());
    let is_said = headers.iter().any(|(name, _)| *name == "Host");
    let host = (!is_said).then_some(("Host", host.as_str()));
    let own = [("Connection", "close"), ("Content-Length", &len)];
    let all = own.iter().chain(headers).copied().chain(host);
    let lines: Vec<String> = all
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    write!(stream, "{request} HTTP/1.1\r\n{}\r\n", lines.concat()).unwrap();
    // A server that refuses the head may close before it has read the body; its answer decides.
    let _ = stream.write_all(body);
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let response = Response {
        status,
        headers,
        body: String::new(),
    };
    (reader, response)
}

/// Returns text for a form, with every byte encoded.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        write!(encoded, "%{byte:02x}").unwrap();
        encoded
    })
}

/// A body in chunks (RFC 9112 section 7.1).
pub(crate) struct Chunks {
    reader: BufReader<TcpStream>,
    /// The bytes of the chunk that are not read.
    left: usize,
    is_first: bool,
}

impl Chunks {
    /// Returns the body of an answer whose head was read.
    pub(crate) fn of((reader, head): (BufReader<TcpStream>, Response)) -> Self {
        assert_eq!(head.header("transfer-encoding"), Some("chunked"));
        Self {
            reader,
            left: 0,
            is_first: true,
        }
    }
}

impl std::io::Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            let mut line = String::new();
            if !self.is_first {
                self.reader.read_line(&mut line)?;
                line.clear();
            }
            self.is_first = false;
            self.reader.read_line(&mut line)?;
            self.left = usize::from_str_radix(line.trim_end(), 16).unwrap();
        }
        let len = buffer.len().min(self.left);
        let len = self.reader.read(&mut buffer[..len])?;
        self.left -= len;
        Ok(len)
    }
}

pub(crate) fn ask(
    address: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    ask_bytes(address, request, headers, body.as_bytes())
}

/// Does the same with a body that need not be text.
pub(crate) fn ask_bytes(
    address: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let (mut reader, mut response) = open_bytes(address, request, headers, body);
    match response.header("content-length") {
        Some(len) => {
            let mut bytes = vec![0; len.parse().unwrap()];
            reader.read_exact(&mut bytes).unwrap();
            response.body = String::from_utf8(bytes).unwrap();
        }
        None => {
            reader.read_to_string(&mut response.body).unwrap();
        }
    }
    response
}
