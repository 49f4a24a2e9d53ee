//! Arbitrary text as the address of a server, as of `--http`, `--transmission` and `--qbittorrent`: addresses are written and read
//! back unchanged, and a server at an address alone has that address.

#![no_main]

use std::net::{IpAddr, ToSocketAddrs as _};

use hashlane_config::ServerAddress;
use hashlane_server::Endpoint;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    check(text);
    // Most inputs have no port, so they are also tried as a host and as a path.
    check(&format!("{text}:8080"));
    check(&format!("[{text}]:8080"));
    check(&format!("unix:{text}"));
});

fn check(text: &str) {
    let address = match text.parse::<ServerAddress>() {
        Ok(address) => address,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control));
            assert!(text.parse::<u16>().is_err());
            return;
        }
    };
    let shown = address.to_string();
    assert!(shown.len() <= text.len() + "127.0.0.1:".len());
    assert_eq!(shown.parse().as_ref(), Ok(&address), "{text:?}");
    match &address {
        ServerAddress::Tcp(host, port) => {
            check_host(host);
            let ip = host.parse::<IpAddr>();
            assert_eq!(
                address.own_name().is_none(),
                ip.is_ok() || host == "localhost"
            );
            if let Ok(ip) = ip {
                // No name is looked up.
                let found = (host.as_str(), *port).to_socket_addrs().unwrap();
                let endpoint = Endpoint::Tcp(found.collect());
                assert_eq!(endpoint.address(), Some((ip, *port).into()));
                assert_eq!(endpoint.is_local(), ip.to_canonical().is_loopback());
                let shown = endpoint.to_string().parse::<ServerAddress>();
                assert!(matches!(shown, Ok(ServerAddress::Tcp(host, _)) if host.parse() == Ok(ip)));
            }
        }
        ServerAddress::Unix(path) => {
            assert_eq!(text.strip_prefix("unix:"), path.to_str());
            assert!(!path.as_os_str().is_empty() && address.own_name().is_none());
            let endpoint = Endpoint::Unix(path.clone());
            assert!(endpoint.is_local() && endpoint.address().is_none());
            assert_eq!(endpoint.to_string(), shown);
        }
    }
}

/// A host is a part of URLs and of the header `Host`, so it must not end there or start something else.
fn check_host(host: &str) {
    assert!(!host.is_empty());
    assert!(
        host.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
    );
    assert_eq!(
        host.contains(':'),
        host.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6())
    );
}
