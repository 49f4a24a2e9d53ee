//! Local trackers (BEP 3, BEP 15, BEP 23) that record their requests.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};

/// The announcements of peers.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Ports on which peers accept connections.
    pub(crate) ports: BTreeSet<u16>,
    /// Ports of peers that announced that they stopped.
    pub(crate) stopped: BTreeSet<u16>,
}

impl Heard {
    /// Records a peer, and returns the other peers.
    fn of(&mut self, port: u16, is_stopped: bool) -> Vec<u16> {
        if is_stopped {
            self.stopped.insert(port);
        } else {
            self.ports.insert(port);
            // Some peers announce `stopped` before they start.
            self.stopped.remove(&port);
        }
        let here = self.ports.difference(&self.stopped);
        here.copied().filter(|other| *other != port).collect()
    }
}

pub(crate) struct Tracker {
    url: String,
    heard: Arc<Mutex<Heard>>,
}

impl Tracker {
    pub(crate) fn start() -> Self {
        Self::at(Ipv4Addr::LOCALHOST)
    }

    /// Starts a tracker for peers with this address.
    pub(crate) fn at(address: Ipv4Addr) -> Self {
        Self::http(address, move |heard, port, is_stopped| {
            compact(&heard.lock().unwrap().of(port, is_stopped), address)
        })
    }

    /// Starts a tracker that has no peers and answers with this error.
    pub(crate) fn refusing(reason: impl Into<Vec<u8>>) -> Self {
        let reason = reason.into();
        Self::http(Ipv4Addr::LOCALHOST, move |_, _, _| {
            let head = format!("d14:failure reason{}:", reason.len());
            [head.as_bytes(), &reason, b"e"].concat()
        })
    }

    fn http(
        address: Ipv4Addr,
        say: impl Fn(&Mutex<Heard>, u16, bool) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let url = format!("http://{}/announce", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Heard::default()));
        let shared = Arc::clone(&heard);
        // The server ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A peer may close the connection at any time.
                let _ = answer(stream, |port, is_stopped| say(&shared, port, is_stopped));
            }
        });
        Self { url, heard }
    }

    /// Starts a UDP tracker.
    pub(crate) fn udp() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let url = format!("udp://{}/announce", socket.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Heard::default()));
        let shared = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut request = [0; 2048];
            while let Ok((len, from)) = socket.recv_from(&mut request) {
                if let Some(reply) = datagram(&request[..len], &shared) {
                    let _ = socket.send_to(&reply, from);
                }
            }
        });
        Self { url, heard }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    pub(crate) fn heard<T>(&self, look: impl FnOnce(&Heard) -> T) -> T {
        look(&self.heard.lock().unwrap())
    }
}

fn compact(ports: &[u16], address: Ipv4Addr) -> Vec<u8> {
    let peers = peers(ports, address);
    let head = format!("d8:intervali60e5:peers{}:", peers.len());
    [head.as_bytes(), &peers, b"e"].concat()
}

fn peers(ports: &[u16], address: Ipv4Addr) -> Vec<u8> {
    let peers = ports
        .iter()
        .map(|port| [&address.octets()[..], &port.to_be_bytes()].concat());
    peers.collect::<Vec<_>>().concat()
}

fn answer(mut stream: TcpStream, say: impl FnOnce(u16, bool) -> Vec<u8>) -> std::io::Result<()> {
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
    let port = value("port")
        .and_then(|port| port.parse().ok())
        .unwrap_or(0);
    let body = say(port, value("event") == Some("stopped"));
    let len = body.len();
    write!(
        stream,
        "HTTP/1.0 200 OK\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&body)
}

/// Returns the reply to a request (BEP 15).
fn datagram(request: &[u8], heard: &Mutex<Heard>) -> Option<Vec<u8>> {
    const CONNECTION: [u8; 8] = *b"hashlane";
    let action = u32::from_be_bytes(request.get(8..12)?.try_into().ok()?);
    let transaction = request.get(12..16)?;
    match action {
        0 => Some([&[0; 4], transaction, &CONNECTION].concat()),
        1 if request.starts_with(&CONNECTION) => {
            let event = u32::from_be_bytes(request.get(80..84)?.try_into().ok()?);
            let port = u16::from_be_bytes(request.get(96..98)?.try_into().ok()?);
            let others = heard.lock().unwrap().of(port, event == 3);
            let interval = 60_u32.to_be_bytes();
            let head = [&1_u32.to_be_bytes()[..], transaction, &interval, &[0; 8]].concat();
            Some([head, peers(&others, Ipv4Addr::LOCALHOST)].concat())
        }
        _ => None,
    }
}
