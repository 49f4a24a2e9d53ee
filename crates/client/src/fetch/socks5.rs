//! The client side of SOCKS 5 (RFC 1928, RFC 1929). ureq's own SOCKS client cannot bind its connection to a local
//! address.

use std::io::{self, Read, Write};
use std::net::IpAddr;

use hashlane_swarm::Proxy;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const LOGIN: u8 = 2;
const LOGIN_VERSION: u8 = 1;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Asks the proxy at the other end of `stream` for a connection to a host. The proxy resolves the host's name.
pub(super) fn connect(
    stream: &mut (impl Read + Write),
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> io::Result<()> {
    match &proxy.login {
        Some(_) => stream.write_all(&[VERSION, 2, NO_LOGIN, LOGIN])?,
        None => stream.write_all(&[VERSION, 1, NO_LOGIN])?,
    }
    let [version, method] = read(stream)?;
    if version != VERSION {
        return Err(refused("is not a SOCKS 5 proxy"));
    }
    match (method, &proxy.login) {
        (NO_LOGIN, _) => {}
        (LOGIN, Some((user, password))) => {
            let mut request = vec![LOGIN_VERSION];
            push(&mut request, user)?;
            push(&mut request, password)?;
            stream.write_all(&request)?;
            let [_, status] = read(stream)?;
            if status != 0 {
                return Err(refused("refuses the user name or password"));
            }
        }
        _ => return Err(refused("requires another kind of login")),
    }
    let mut request = vec![VERSION, CONNECT, 0];
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(address)) => {
            request.push(IPV4);
            request.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(IPV6);
            request.extend(address.octets());
        }
        Err(_) => {
            request.push(NAME);
            push(&mut request, host)?;
        }
    }
    request.extend(port.to_be_bytes());
    stream.write_all(&request)?;
    read_reply(stream)
}

/// Reads the reply to a request, with the address that the proxy connects from.
fn read_reply(stream: &mut impl Read) -> io::Result<()> {
    let [_, status, _, kind] = read(stream)?;
    if status != 0 {
        return Err(refused(match status {
            2 => "does not allow the connection",
            3 | 4 => "cannot reach the host",
            5 => "reports that the host refuses the connection",
            _ => "cannot connect to the host",
        }));
    }
    let address_len = match kind {
        IPV4 => 4,
        IPV6 => 16,
        _ => {
            let [len] = read(stream)?;
            usize::from(len)
        }
    };
    // The port follows the address.
    let mut rest = [0; 256 + 2];
    stream.read_exact(&mut rest[..address_len + 2])
}

fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Appends a text, preceded by its length in one byte.
fn push(request: &mut Vec<u8>, text: &str) -> io::Result<()> {
    let len = u8::try_from(text.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "longer than 255 bytes"))?;
    request.push(len);
    request.extend(text.bytes());
    Ok(())
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, format!("the proxy {why}"))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use hashlane_swarm::ProxyKind;

    use super::*;

    /// A stream that reads a proxy's reply and records the bytes that are sent to the proxy.
    struct Stream(Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Stream {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn connected(login: bool, host: &str, replies: &[u8]) -> (io::Result<()>, Vec<u8>) {
        let proxy = Proxy {
            kind: ProxyKind::Socks5,
            host: "proxy".into(),
            port: 1080,
            login: login.then(|| ("me".into(), "secret".into())),
        };
        let mut stream = Stream(Cursor::new(replies.to_vec()), Vec::new());
        let result = connect(&mut stream, &proxy, host, 0x1234);
        (result, stream.1)
    }

    #[test]
    fn names_are_resolved_by_the_proxy() {
        let replies = [5, 2, 1, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80];
        let (result, sent) = connected(true, "host", &replies);
        result.unwrap();
        let expected = b"\x05\x02\x00\x02\x01\x02me\x06secret\x05\x01\x00\x03\x04host\x12\x34";
        assert_eq!(sent, expected);
        let replies = [&[5, 0, 5, 0, 0, 4][..], &[0; 18]].concat();
        let (result, sent) = connected(false, "[::1]", &replies);
        result.unwrap();
        assert_eq!(sent[..7], [5, 1, 0, 5, 1, 0, 4]);
    }

    #[test]
    fn refusals_and_short_replies_are_errors() {
        for replies in [
            &[][..],
            &[4, 0],
            &[5, 255],
            &[5, 2],
            &[5, 0, 5, 5, 0, 1],
            &[5, 0, 5, 0, 0, 3, 255, 1],
        ] {
            assert!(connected(false, "host", replies).0.is_err(), "{replies:?}");
        }
    }
}
