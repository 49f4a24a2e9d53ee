//! The peers that the user named and that were not reached. Each is reported once for each torrent.

use std::collections::HashSet;
use std::net::SocketAddr;

/// The named peers that were not reached.
#[derive(Debug, Default)]
pub(crate) struct Unreached(HashSet<SocketAddr>);

impl Unreached {
    /// Notes a connection that was not made, which the session reports as the address of the peer, `: ` and the reason. Returns
    /// the problem if the user named the peer, and it was not reported before.
    pub(crate) fn on_failure(&mut self, named: &[SocketAddr], text: &str) -> Option<String> {
        let peer = named.iter().find(|peer| {
            let rest = text.strip_prefix(&peer.to_string());
            rest.is_some_and(|rest| rest.starts_with(": "))
        })?;
        self.0.insert(*peer).then(|| format!("peer {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_peer_is_reported_once() {
        let named = ["192.0.2.1:6", "192.0.2.1:66", "[::1]:7"];
        let named: [SocketAddr; 3] = named.map(|peer| peer.parse().unwrap());
        let mut unreached = Unreached::default();
        let mut report = |text: &str| unreached.on_failure(&named, text);
        let refused = "192.0.2.1:66: Connection refused";
        assert_eq!(report("192.0.2.2:66: refused"), None);
        assert_eq!(report(refused), Some(format!("peer {refused}")));
        assert_eq!(report(refused), None);
        let reported = Some("peer [::1]:7: timed out".to_owned());
        assert_eq!(report("[::1]:7: timed out"), reported);
    }
}
