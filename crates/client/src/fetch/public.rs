//! Addresses of servers: only public ones, if a request of another machine names the URL.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Resolves names. It is asked for each redirection too.
#[derive(Debug)]
pub(super) struct Addresses {
    /// Whether only public addresses are returned.
    pub(super) is_public: bool,
}

impl Resolver for Addresses {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let resolver = DefaultResolver::default();
        let found = resolver.resolve(uri, config, timeout)?;
        if !self.is_public {
            return Ok(found);
        }
        let mut public = resolver.empty();
        let is_public = |address: &&std::net::SocketAddr| is_public(address.ip());
        for address in found.iter().filter(is_public) {
            public.push(*address);
        }
        if public.is_empty() {
            let reason = "the server is on this machine or the local network, which requests may not ask without --http-fetch-local";
            return Err(std::io::Error::other(reason).into());
        }
        Ok(public)
    }
}

/// Returns `false` for addresses of this machine and of private networks, and for those with a special meaning (RFC 6890).
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_special = (a, b, c) == (192, 0, 0) || a == 198 && [18, 19].contains(&b);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || is_shared
        || is_special
        || a == 0
        || a >= 224)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // NAT64 (RFC 6052) and 6to4 (RFC 3056) carry an address of version 4.
    let [.., high, low] = segments;
    let embedded = match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some([high, low]),
        [0x2002, high, low, ..] => Some([high, low]),
        _ => None,
    };
    if let Some([high, low]) = embedded {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    // Only 2000::/3 is assigned to hosts of the Internet (RFC 4291 section 2.4).
    segments[0] & 0xe000 == 0x2000 && segments[..2] != [0x2001, 0xdb8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_are_not_public() {
        let of = |text: &str| is_public(text.parse().unwrap());
        for public in [
            "1.1.1.1",
            "100.63.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(of(public), "{public}");
        }
        for local in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
        ] {
            assert!(!of(local), "{local}");
        }
    }
}
