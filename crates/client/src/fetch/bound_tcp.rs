//! TCP connections of ureq from one local address or network interface. ureq's own connector cannot be bound.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use hashlane_swarm::{Bind, Proxy};
use socket2::{Domain, Socket, Type};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Error, Timeout};

use super::socks5;
use crate::network::Link;

/// A connector that opens TCP connections from a local address or interface, unless a proxy has already opened one.
#[derive(Debug)]
pub(super) struct BoundTcpConnector {
    bind: Bind,
    /// A SOCKS proxy for the connections.
    socks: Option<Proxy>,
}

impl BoundTcpConnector {
    pub(super) fn new(bind: Bind, socks: Option<Proxy>) -> Self {
        Self { bind, socks }
    }

    /// Connects to the first of these addresses that answers.
    fn connect_to_any(
        &self,
        peers: impl Iterator<Item = SocketAddr>,
        timeout: NextTimeout,
    ) -> Result<TcpStream, Error> {
        let mut result = Err(Error::HostNotFound);
        for peer in peers {
            // Addresses of the other IP version cannot be reached from a local address.
            let Some(address) = self.address_for(peer.ip())? else {
                continue;
            };
            result = self
                .connect_to(address, peer, left(timeout))
                .map_err(|error| named(error, Timeout::Connect));
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Connects through a SOCKS proxy.
    fn connect_through(
        &self,
        proxy: &Proxy,
        details: &ConnectionDetails<'_>,
    ) -> Result<TcpStream, Error> {
        let addresses = (proxy.host.as_str(), proxy.port).to_socket_addrs()?;
        let mut stream = self.connect_to_any(addresses, details.timeout)?;
        stream.set_read_timeout(left(details.timeout))?;
        stream.set_write_timeout(left(details.timeout))?;
        let uri = details.uri;
        let port = match uri.scheme_str() {
            Some("https") => 443,
            _ => 80,
        };
        let (host, port) = (
            uri.host().ok_or(Error::HostNotFound)?,
            uri.port_u16().unwrap_or(port),
        );
        socks5::connect(&mut stream, proxy, host, port)
            .map_err(|error| named(error, Timeout::Connect))?;
        Ok(stream)
    }

    /// Returns the local address of a connection to `peer`.
    fn address_for(&self, peer: IpAddr) -> io::Result<Option<IpAddr>> {
        match &self.bind {
            Bind::Any => Ok(None),
            Bind::Address(address) => {
                Ok(Some(*address).filter(|it| it.is_ipv4() == peer.is_ipv4()))
            }
            Bind::Interface(name) => {
                let link = Link::get(name)?;
                Ok(link.address_for(peer))
            }
        }
    }

    fn connect_to(
        &self,
        address: IpAddr,
        peer: SocketAddr,
        timeout: Option<Duration>,
    ) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(peer), Type::STREAM, None)?;
        // An address alone does not keep packets away from other interfaces: the routes decide.
        #[cfg(target_os = "linux")]
        socket.bind_device(self.bind.interface().map(str::as_bytes))?;
        socket.bind(&SocketAddr::new(address, 0).into())?;
        match timeout {
            Some(timeout) => socket.connect_timeout(&peer.into(), timeout)?,
            None => socket.connect(&peer.into())?,
        }
        Ok(socket.into())
    }
}

impl<In: Transport> Connector<In> for BoundTcpConnector {
    type Out = Either<In, BoundTcp>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        if let Some(chained) = chained {
            return Ok(Some(Either::A(chained)));
        }
        let stream = match &self.socks {
            Some(proxy) => self.connect_through(proxy, details)?,
            None => self.connect_to_any(details.addrs.iter().copied(), details.timeout)?,
        };
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(Either::B(BoundTcp { stream, buffers })))
    }
}

/// A TCP connection.
#[derive(Debug)]
pub(super) struct BoundTcp {
    stream: TcpStream,
    buffers: LazyBuffers,
}

impl Transport for BoundTcp {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.set_write_timeout(left(timeout))?;
        let output = &self.buffers.output()[..amount];
        self.stream
            .write_all(output)
            .map_err(|error| named(error, timeout.reason))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.set_read_timeout(left(timeout))?;
        let n = self
            .stream
            .read(self.buffers.input_append_buf())
            .map_err(|error| named(error, timeout.reason))?;
        self.buffers.input_appended(n);
        Ok(n > 0)
    }

    /// Each agent makes one request, so no connection is kept open for another request.
    fn is_open(&mut self) -> bool {
        false
    }
}

/// Returns the remaining time, at least a millisecond, because a timeout of zero is an error.
fn left(timeout: NextTimeout) -> Option<Duration> {
    let is_limited = !timeout.after.is_not_happening();
    is_limited.then(|| (*timeout.after).max(Duration::from_millis(1)))
}

fn named(error: io::Error, timeout: Timeout) -> Error {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::Timeout(timeout),
        _ => error.into(),
    }
}
