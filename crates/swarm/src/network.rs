//! The local end of a session's connections.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The local end of a session's connections: its addresses, and the port for incoming connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The addresses.
    pub bind: Bind,
    /// The port; 0 lets the system choose.
    pub port: u16,
}

/// The local addresses of connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// All addresses.
    #[default]
    Any,
    /// This address only.
    Address(IpAddr),
    /// The network interface with this name, and no other. A name with a comma or a colon is that of no interface.
    Interface(String),
}

impl Default for Network {
    /// Returns port 6881 of all addresses.
    fn default() -> Self {
        Self {
            bind: Bind::Any,
            port: 6881,
        }
    }
}

impl From<SocketAddr> for Network {
    fn from(address: SocketAddr) -> Self {
        let any = [
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        ];
        Self {
            bind: if any.contains(&address.ip()) {
                Bind::Any
            } else {
                Bind::Address(address.ip())
            },
            port: address.port(),
        }
    }
}

impl Network {
    /// Returns the addresses to listen on as texts: `0.0.0.0:6881`, or an interface and its port.
    pub fn listen_addresses(&self) -> Vec<String> {
        self.listen().split(',').map(str::to_owned).collect()
    }

    /// Returns the addresses to listen on, in libtorrent's form.
    pub(crate) fn listen(&self) -> String {
        let port = self.port;
        match &self.bind {
            Bind::Any => format!("0.0.0.0:{port},[::]:{port}"),
            Bind::Address(address) => SocketAddr::new(*address, port).to_string(),
            Bind::Interface(name) => format!("{name}:{port}"),
        }
    }

    /// Returns the origin of outgoing connections, in libtorrent's form.
    pub(crate) fn outgoing(&self) -> String {
        match &self.bind {
            Bind::Any => String::new(),
            bind => bind.to_string(),
        }
    }
}

impl Bind {
    /// Returns the name of the interface, if connections use only one.
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::Interface(name) => Some(name),
            Self::Any | Self::Address(_) => None,
        }
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.pad("all addresses"),
            Self::Address(address) => address.fmt(f),
            Self::Interface(name) => f.pad(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtorrent_gets_addresses_and_names() {
        for (bind, listen, outgoing) in [
            (
                Bind::Address([10, 0, 0, 1].into()),
                "10.0.0.1:7",
                "10.0.0.1",
            ),
            (Bind::Address(Ipv6Addr::LOCALHOST.into()), "[::1]:7", "::1"),
            (Bind::Interface("tun0".to_owned()), "tun0:7", "tun0"),
        ] {
            let network = Network { bind, port: 7 };
            assert_eq!(
                (&*network.listen(), &*network.outgoing()),
                (listen, outgoing)
            );
        }
        let any = Network::default();
        assert_eq!(any.listen(), "0.0.0.0:6881,[::]:6881");
        assert_eq!(any.outgoing(), "");
        let address: SocketAddr = ([0, 0, 0, 0], 3).into();
        assert_eq!(Network::from(address).bind, Bind::Any);
        assert_eq!(
            format!("{:>6}", Bind::Interface("tun0".to_owned())),
            "  tun0"
        );
    }
}
