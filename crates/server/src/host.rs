//! Names by which a client reaches this machine.
//!
//! A site in a browser can give its own name to any address (DNS rebinding), and its requests then have that name as `Host`.
//! It can neither have an address nor `localhost` as its name.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns `true` if the value of a header `Host` (RFC 9110 section 7.2) is an address or `localhost`, with or without a
/// port. No site can have such a name.
pub fn is_address(host: &str) -> bool {
    let (is_own, port) = if let Some(rest) = host.strip_prefix('[') {
        let (address, port) = rest.split_once(']').unwrap_or_default();
        (address.parse::<Ipv6Addr>().is_ok(), port)
    } else {
        let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
        (
            name == "localhost" || name.parse::<Ipv4Addr>().is_ok(),
            port,
        )
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    is_own && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}
