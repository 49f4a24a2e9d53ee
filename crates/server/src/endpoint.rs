//! Addresses at which a server accepts connections.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

#[cfg(unix)]
use crate::unix_socket::UnixSocket;

/// Attempts to find a port that is free at all addresses.
const MAX_ATTEMPTS: usize = 16;

/// An address at which a server accepts connections.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// TCP at all of these addresses, for example those of a name. Port 0 is any port that is free at all of them.
    Tcp(Vec<SocketAddr>),
    /// A Unix socket at this path. Only the user of this process can connect to it.
    Unix(PathBuf),
}

impl Endpoint {
    /// Returns `true` if no other machine can connect: a Unix socket, or only loopback addresses.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(addresses) => addresses
                .iter()
                .all(|address| address.ip().to_canonical().is_loopback()),
            Self::Unix(_) => true,
        }
    }

    /// Returns the first TCP address.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(addresses) => addresses.first().copied(),
            Self::Unix(_) => None,
        }
    }

    /// Returns the URL of the server: `http://127.0.0.1:8080/` with the first address, or `unix:PATH`.
    pub fn url(&self) -> String {
        match self.address() {
            Some(address) => format!("http://{address}/"),
            None => self.to_string(),
        }
    }

    /// Listens.
    ///
    /// # Errors
    /// An address is taken or not one of this machine, or the path exists and is not a Unix socket that nobody listens at.
    pub fn bind(&self) -> io::Result<Listener> {
        match self {
            Self::Tcp(addresses) => bind_all(addresses).map(Listener::Tcp),
            #[cfg(unix)]
            Self::Unix(path) => UnixSocket::bind(path).map(Listener::Unix),
            #[cfg(not(unix))]
            Self::Unix(_) => Err(io::Error::new(
                ErrorKind::Unsupported,
                "this system has no Unix sockets",
            )),
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(vec![address])
    }
}

/// The addresses, or `unix:` and the path.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(addresses) => {
                let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                f.pad(&texts.join(", "))
            }
            Self::Unix(path) => f.pad(&format!("unix:{}", path.display())),
        }
    }
}

/// Listening sockets.
#[derive(Debug)]
#[non_exhaustive]
pub enum Listener {
    /// TCP sockets.
    Tcp(Vec<TcpListener>),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(UnixSocket),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(vec![listener])
    }
}

impl Listener {
    /// Returns the addresses in use, with the port that the system chose.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn endpoint(&self) -> io::Result<Endpoint> {
        Ok(match self {
            Self::Tcp(listeners) => {
                let addresses = listeners.iter().map(TcpListener::local_addr);
                Endpoint::Tcp(addresses.collect::<io::Result<_>>()?)
            }
            #[cfg(unix)]
            Self::Unix(socket) => Endpoint::Unix(socket.path().to_owned()),
        })
    }
}

/// Listens at all addresses, with one port.
fn bind_all(addresses: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let is_any_port = addresses.iter().all(|address| address.port() == 0);
    for _ in 1..MAX_ATTEMPTS {
        match bind_each(addresses) {
            // The port that is free at the first address may be taken at another.
            Err(error) if is_any_port && error.kind() == ErrorKind::AddrInUse => {}
            bound => return bound,
        }
    }
    bind_each(addresses)
}

/// Listens at each address. Port 0 is the port of the first one. A name can have addresses of a protocol that this machine
/// does not use, such as `::1` without IPv6: these are left out, unless all are.
fn bind_each(addresses: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut unusable = None;
    for &address in addresses {
        let mut address = address;
        if address.port() == 0
            && let Some(first) = listeners.first()
        {
            address.set_port(first.local_addr()?.port());
        }
        match TcpListener::bind(address) {
            Ok(listener) => listeners.push(listener),
            Err(error) if is_unusable(&error) => {
                tracing::warn!(%address, %error, "this address is not used");
                unusable = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    match (listeners.is_empty(), unusable) {
        (false, _) => Ok(listeners),
        (true, Some(error)) => Err(error),
        (true, None) => Err(io::Error::new(ErrorKind::InvalidInput, "no address")),
    }
}

fn is_unusable(error: &io::Error) -> bool {
    [ErrorKind::AddrNotAvailable, ErrorKind::Unsupported].contains(&error.kind())
        || error.raw_os_error() == Some(EAFNOSUPPORT)
}

/// The number of the error "address family not supported", which the standard library has no kind for.
#[cfg(target_os = "linux")]
const EAFNOSUPPORT: i32 = 97;
#[cfg(not(target_os = "linux"))]
const EAFNOSUPPORT: i32 = 47;
