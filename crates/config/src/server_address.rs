//! Addresses of servers in options and configurations.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a server as the user gave it: `8080` for a port of this machine alone, `HOST:PORT`, or `unix:PATH`. The displayed
/// text is read back unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// A port of all addresses of a host: of a name, or of an address without brackets. 0 is any port.
    Tcp(String, u16),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

/// The reason why a text is not a [`ServerAddress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerAddressError {
    /// The text has none of the forms.
    #[error("neither a port, nor HOST:PORT, such as localhost:8080 or [::1]:8080, nor unix:PATH")]
    Form,
    /// `unix:` without a path.
    #[error("unix: needs the path of the socket")]
    NoPath,
}

impl ServerAddress {
    /// Returns the host if it is a name that the user thereby gave to this machine. Clients use addresses and `localhost` anyway.
    pub fn own_name(&self) -> Option<&str> {
        match self {
            Self::Tcp(host, _) if host != "localhost" && host.parse::<IpAddr>().is_err() => {
                Some(host)
            }
            _ => None,
        }
    }
}

impl FromStr for ServerAddress {
    type Err = ServerAddressError;

    fn from_str(text: &str) -> Result<Self, ServerAddressError> {
        if let Ok(port) = text.parse() {
            return Ok(Self::Tcp(Ipv4Addr::LOCALHOST.to_string(), port));
        }
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() {
                Err(ServerAddressError::NoPath)
            } else {
                Ok(Self::Unix(path.into()))
            };
        }
        let other_form = ServerAddressError::Form;
        let (host, port) = text.rsplit_once(':').ok_or(other_form)?;
        let port = port.parse().map_err(|_| other_form)?;
        let host = match host.strip_prefix('[') {
            Some(rest) => {
                let address = rest.strip_suffix(']').ok_or(other_form)?;
                address.parse::<Ipv6Addr>().map_err(|_| other_form)?;
                address
            }
            None => host,
        };
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        let is_address = text.starts_with('[');
        if host.is_empty() || !host.chars().all(is_host) || host.contains(':') != is_address {
            return Err(other_form);
        }
        Ok(Self::Tcp(host.to_owned(), port))
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::Tcp(host, port) if host.contains(':') => format!("[{host}]:{port}"),
            Self::Tcp(host, port) => format!("{host}:{port}"),
            Self::Unix(path) => format!("unix:{}", path.display()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, shown, own_name) in [
            ("8080", "127.0.0.1:8080", None),
            ("localhost:0", "localhost:0", None),
            ("[::1]:80", "[::1]:80", None),
            ("0.0.0.0:80", "0.0.0.0:80", None),
            ("nas.local:9091", "nas.local:9091", Some("nas.local")),
            ("unix:run/page", "unix:run/page", None),
        ] {
            let address: ServerAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(shown.parse().as_ref(), Ok(&address));
            assert_eq!(address.own_name(), own_name, "{text}");
        }
        for text in ["", "65536", "nas", "::1:80", "[nas]:80", ":80"] {
            let error = text.parse::<ServerAddress>().unwrap_err();
            assert_eq!(error, ServerAddressError::Form, "{text}");
        }
        let error = "unix:".parse::<ServerAddress>().unwrap_err();
        assert_eq!(error, ServerAddressError::NoPath);
    }
}
