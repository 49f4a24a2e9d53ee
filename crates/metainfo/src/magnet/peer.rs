//! Addresses of peers and DHT nodes (BEP 9).

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU16;
use std::str::FromStr;

/// Maximum length of a host name in bytes (RFC 1035, without the root).
const MAX_NAME_LEN: usize = 253;

/// Maximum length of a label, a part of a name between dots, in bytes (RFC 1035).
const MAX_LABEL_LEN: usize = 63;

/// The host and port of a peer (`x.pe`, BEP 9) or of a DHT node (`dht`).
///
/// The host is an IPv4 address, an IPv6 address, or a name of ASCII letters, digits, `-`, `_` and
/// dots. Internationalized names are written in Punycode (`xn--`). Names that systems interpret as
/// an unusual form of an address, such as `127.1` or `0x7f000001`, are refused. Text and equality
/// use the canonical form: names in lower case, addresses as in RFC 5952.
///
/// ```
/// use hashlane_metainfo::PeerAddress;
///
/// let peer: PeerAddress = "[2001:DB8:0::1]:6881".parse()?;
/// assert_eq!((peer.host(), peer.port()), ("2001:db8::1", 6881));
/// assert_eq!(peer.to_string(), "[2001:db8::1]:6881");
/// # Ok::<(), hashlane_metainfo::PeerAddressError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerAddress {
    /// Canonical, and without brackets.
    host: String,
    port: NonZeroU16,
}

impl PeerAddress {
    /// Checks a host and a port. An IPv6 address has no brackets here.
    ///
    /// # Errors
    ///
    /// Returns [`PeerAddressError::Host`] if the host is neither an address nor a name, and
    /// [`PeerAddressError::Port`] if the port is 0.
    pub fn new(host: &str, port: u16) -> Result<Self, PeerAddressError> {
        let host = match host.parse::<IpAddr>() {
            Ok(address) => address.to_string(),
            Err(_) if is_name(host) => host.to_ascii_lowercase(),
            Err(_) => return Err(PeerAddressError::Host),
        };
        let port = NonZeroU16::new(port).ok_or(PeerAddressError::Port)?;
        Ok(Self { host, port })
    }

    /// Returns the name, or the address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port. Never zero.
    pub fn port(&self) -> u16 {
        self.port.get()
    }

    /// Returns the address, unless the host is a name.
    pub fn ip(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Returns the address with the port, unless the host is a name.
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.ip()?, self.port()))
    }
}

fn is_name(host: &str) -> bool {
    host.len() <= MAX_NAME_LEN
        && host.split('.').all(is_label)
        && !host.rsplit('.').next().is_some_and(is_number)
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL_LEN).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns `true` if resolvers interpret a name that ends in this label as an IPv4 address,
/// possibly in octal or hexadecimal, as `inet_aton` does. There are no such top-level domains.
fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x").or(label.strip_prefix("0X")) {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

impl FromStr for PeerAddress {
    type Err = PeerAddressError;

    /// Reads `name:port`, `ipv4:port` or `[ipv6]:port`.
    fn from_str(text: &str) -> Result<Self, PeerAddressError> {
        let (host, port) = text.rsplit_once(':').ok_or(PeerAddressError::Port)?;
        // parse() would also accept a sign.
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(PeerAddressError::Port);
        }
        let port = port.parse().map_err(|_| PeerAddressError::Port)?;
        match host.strip_prefix('[') {
            Some(bracketed) => {
                let address: Ipv6Addr = bracketed
                    .strip_suffix(']')
                    .and_then(|address| address.parse().ok())
                    .ok_or(PeerAddressError::Host)?;
                Self::new(&address.to_string(), port)
            }
            // Without brackets, the end of the address and the start of the port are ambiguous.
            None if host.contains(':') => Err(PeerAddressError::Host),
            None => Self::new(host, port),
        }
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            f.pad(&format!("[{host}]:{port}"))
        } else {
            f.pad(&format!("{host}:{port}"))
        }
    }
}

/// The reason why a text is not a [`PeerAddress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerAddressError {
    /// The host is neither an address nor a name, or an IPv6 address without brackets.
    #[error("host is neither an address nor a name")]
    Host,
    /// The port is missing, or not a number from 1 to 65535.
    #[error("port is not a number from 1 to 65535")]
    Port,
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn canonical_text() {
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}:1", "b".repeat(61));
        for (text, canonical) in [
            ("127.0.0.1:43", "127.0.0.1:43"),
            ("[::1]:45", "[::1]:45"),
            ("[0:0::0001]:00045", "[::1]:45"),
            ("[::ffff:ffff:ffff]:1", "[::ffff:255.255.255.255]:1"),
            ("Tracker.Example.ORG:65535", "tracker.example.org:65535"),
            ("localhost:1", "localhost:1"),
            ("my_host-2.lan:1", "my_host-2.lan:1"),
            ("1e100.net:443", "1e100.net:443"),
            ("xn--mnchen-3ya.example:1", "xn--mnchen-3ya.example:1"),
            ("0xy:1", "0xy:1"),
            (&longest, &longest),
        ] {
            let peer: PeerAddress = text.parse().unwrap();
            assert_eq!(peer.to_string(), canonical);
            assert_eq!(canonical.parse(), Ok(peer.clone()));
            assert_eq!(PeerAddress::new(peer.host(), peer.port()), Ok(peer));
        }
        let peer = PeerAddress::new("::1", 1).unwrap();
        assert_eq!(format!("{peer:>9}"), "  [::1]:1");
    }

    #[test]
    fn addresses_and_names() {
        let ip = |text: &str| text.parse::<PeerAddress>().unwrap().ip();
        assert_eq!(ip("10.0.0.1:1"), Some(Ipv4Addr::new(10, 0, 0, 1).into()));
        assert_eq!(ip("[::1]:1"), Some(Ipv6Addr::LOCALHOST.into()));
        assert_eq!(ip("example.org:1"), None);
    }

    #[test]
    fn refusals() {
        let label = "a".repeat(63);
        for text in [
            ":1",
            "::1:45",
            "[::1:45",
            "::1]:45",
            "[]:1",
            "[127.0.0.1]:1",
            "[example.org]:1",
            "[fe80::1%eth0]:1",
            "<invalid2>:100",
            "a b:1",
            "a..b:1",
            ".a:1",
            "a.:1",
            "-a:1",
            "a-.b:1",
            "m\u{fc}nchen.example:1",
            "a\0:1",
            "127.0.0.256:1",
            "127.1:1",
            "010.0.0.1:1",
            "2130706433:1",
            "0x7f000001:1",
            "127.0.0.0X1:1",
            "0x:1",
            &format!("{label}a:1"),
            &format!("{label}.{label}.{label}.{}:1", "b".repeat(62)),
        ] {
            assert_eq!(
                text.parse::<PeerAddress>(),
                Err(PeerAddressError::Host),
                "{text}"
            );
        }
        for text in [
            "", "a", "a:", "a:0", "a:65536", "a:+1", "a:-1", "a:1 ", "[::1]",
        ] {
            assert_eq!(
                text.parse::<PeerAddress>(),
                Err(PeerAddressError::Port),
                "{text}"
            );
        }
    }
}
