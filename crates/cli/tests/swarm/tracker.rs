//! A tracker (BEP 3, BEP 23) on loopback, which keeps what it heard.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What peers told.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Ports that peers are waited for at.
    pub(crate) ports: BTreeSet<u16>,
    /// Ports of peers that said that they end.
    pub(crate) stopped: BTreeSet<u16>,
}

pub(crate) struct Tracker {
    address: SocketAddr,
    heard: Arc<Mutex<Heard>>,
}

impl Tracker {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let shared = Arc::clone(&heard);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A peer that hangs up has heard enough.
                let _ = answer(stream, &shared);
            }
        });
        Self { address, heard }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/announce", self.address)
    }

    pub(crate) fn heard<T>(&self, look: impl FnOnce(&Heard) -> T) -> T {
        look(&self.heard.lock().unwrap())
    }
}

fn answer(mut stream: TcpStream, heard: &Mutex<Heard>) -> std::io::Result<()> {
    let mut request = String::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    reader.read_line(&mut request)?;
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let query = request.split(['?', ' ']).nth(2).unwrap_or_default();
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let port: u16 = value("port")
        .and_then(|port| port.parse().ok())
        .unwrap_or(0);
    let mut body = b"d8:intervali60e5:peers".to_vec();
    {
        let mut heard = heard.lock().unwrap();
        if value("event") == Some("stopped") {
            heard.stopped.insert(port);
        } else {
            heard.ports.insert(port);
        }
        let others: Vec<u16> = heard
            .ports
            .difference(&heard.stopped)
            .copied()
            .filter(|other| *other != port)
            .collect();
        body.extend(format!("{}:", 6 * others.len()).bytes());
        for other in others {
            body.extend([127, 0, 0, 1]);
            body.extend(other.to_be_bytes());
        }
    }
    body.push(b'e');
    write!(
        stream,
        "HTTP/1.0 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}
