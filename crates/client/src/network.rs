//! Watches the network interface that a client uses alone.
//!
//! libtorrent binds its sockets to the interface. While the interface is absent, the session has no sockets at all: torrents
//! wait, and continue when the interface returns.

use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use hashlane_swarm::Bind;
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sys::socket::SockaddrIn6;

/// Interval at which the interface is looked at.
const INTERVAL: Duration = Duration::from_millis(500);

/// A network interface that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The number of the interface. One that returns has another number, and sockets of the old number are dead.
    index: u32,
    /// The addresses, without those that hold on one link alone.
    addresses: Vec<IpAddr>,
}

impl Link {
    /// Returns the interface with this name, or the reason why it cannot be used.
    ///
    /// # Errors
    /// Returns the error of the system, which says nothing about the interface.
    pub fn find(name: &str) -> io::Result<Result<Self, String>> {
        let index = match if_nametoindex(name) {
            Ok(index) => index,
            Err(Errno::ENODEV | Errno::ENXIO) => {
                return Ok(Err(format!("{name}: no such network interface")));
            }
            Err(error) => return Err(error.into()),
        };
        let mut is_up = false;
        let mut addresses = Vec::new();
        for part in getifaddrs()?.filter(|part| part.interface_name == name) {
            is_up |= part.flags.contains(InterfaceFlags::IFF_UP);
            let Some(address) = part.address else {
                continue;
            };
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
            let v6 = address.as_sockaddr_in6().map(SockaddrIn6::ip);
            let v6 = v6.filter(|v6| !v6.is_unicast_link_local());
            addresses.extend(v4.or(v6.map(IpAddr::V6)));
        }
        Ok(if !is_up {
            Err(format!("{name}: the network interface is down"))
        } else if addresses.is_empty() {
            Err(format!("{name}: the network interface has no address"))
        } else {
            Ok(Self { index, addresses })
        })
    }

    /// Returns the interface with this name.
    ///
    /// # Errors
    /// [`io::ErrorKind::NetworkUnreachable`] if the interface cannot be used, and errors of the system.
    pub(crate) fn get(name: &str) -> io::Result<Self> {
        let unreachable = |reason| io::Error::new(io::ErrorKind::NetworkUnreachable, reason);
        Self::find(name)?.map_err(unreachable)
    }

    /// Returns the first address of the same IP version as `other`.
    pub(crate) fn address_for(&self, other: IpAddr) -> Option<IpAddr> {
        let mut addresses = self.addresses.iter();
        addresses
            .find(|it| it.is_ipv4() == other.is_ipv4())
            .copied()
    }

    /// Returns the addresses of the interface, IPv4 and IPv6.
    pub(crate) fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }
}

/// A change of the interface.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Sockets must be closed.
    Vanished,
    /// Sockets can be opened.
    Returned,
    /// Sockets must be closed and opened.
    Replaced,
    /// Other addresses can be listened at.
    Readdressed,
}

/// The interface as it was last seen.
#[derive(Debug)]
pub(crate) struct Watch {
    /// `None` if no interface is watched.
    seen: Option<Result<Link, String>>,
    looked: Instant,
}

impl Watch {
    /// Looks at the interface, if there is one.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub(crate) fn start(bind: &Bind) -> io::Result<Self> {
        Ok(Self {
            seen: bind.interface().map(Link::find).transpose()?,
            looked: Instant::now(),
        })
    }

    /// Returns the reason why there is no connection.
    pub(crate) fn problem(&self) -> Option<&str> {
        let seen = self.seen.as_ref()?;
        seen.as_ref().err().map(String::as_str)
    }

    /// Looks at the interface again, if it is time.
    pub(crate) fn look(&mut self, bind: &Bind) -> Option<Change> {
        let name = bind.interface()?;
        if self.looked.elapsed() < INTERVAL {
            return None;
        }
        self.looked = Instant::now();
        // Otherwise, for example without a free descriptor, the state is not known and stays as it was.
        let now = Link::find(name).ok()?;
        self.see(now)
    }

    fn see(&mut self, now: Result<Link, String>) -> Option<Change> {
        let change = match (self.seen.as_ref(), &now) {
            (Some(Ok(_)), Err(_)) => Some(Change::Vanished),
            (Some(Ok(before)), Ok(now)) if before.index != now.index => Some(Change::Replaced),
            (Some(Ok(before)), Ok(now)) => (before != now).then_some(Change::Readdressed),
            (Some(Err(_)) | None, Ok(_)) => Some(Change::Returned),
            (Some(Err(_)) | None, Err(_)) => None,
        };
        self.seen = Some(now);
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_found_by_their_names() {
        let absent = Link::find("absent-0").unwrap().unwrap_err();
        assert_eq!(absent, "absent-0: no such network interface");
        let absent = Bind::Interface("absent-0".to_owned());
        let watch = Watch::start(&absent).unwrap();
        assert!(watch.problem().is_some());
        assert_eq!(Watch::start(&Bind::Any).unwrap().problem(), None);
    }

    #[test]
    fn an_interface_that_returns_is_another_one() {
        let link = |index| {
            Ok(Link {
                index,
                addresses: vec![[10, 0, 0, 1].into()],
            })
        };
        let mut watch = Watch {
            seen: Some(link(1)),
            looked: Instant::now(),
        };
        assert_eq!(watch.see(link(1)), None);
        let readdressed = Ok(Link {
            index: 1,
            addresses: vec![[10, 0, 0, 2].into()],
        });
        assert_eq!(watch.see(readdressed), Some(Change::Readdressed));
        assert_eq!(watch.see(Err("gone".to_owned())), Some(Change::Vanished));
        assert_eq!(watch.problem(), Some("gone"));
        assert_eq!(watch.see(Err("down".to_owned())), None);
        assert_eq!(watch.see(link(2)), Some(Change::Returned));
        assert_eq!(watch.see(link(3)), Some(Change::Replaced));
        assert_eq!(watch.problem(), None);
    }
}
