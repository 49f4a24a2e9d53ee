//! Settings of a session.

use hashlane_metainfo::PeerAddress;

use crate::Network;
use crate::ffi::ffi;

/// The settings of a session: its connections to peers, and the events that it reports.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Settings {
    /// The local end of all connections.
    pub network: Network,
    /// Whether to look for peers in the distributed hash table (BEP 5).
    pub dht: bool,
    /// Nodes for joining the hash table. Empty means libtorrent's own nodes.
    pub dht_nodes: Vec<PeerAddress>,
    /// Whether to look for peers in the local network (BEP 14).
    pub local_discovery: bool,
    /// Whether to ask routers for port mappings (`UPnP`, NAT-PMP).
    pub port_mapping: bool,
    /// Whether to download from web seeds (BEP 19, BEP 17).
    pub web_seeds: WebSeeds,
    /// Servers that are not used as web seeds: `host:port`.
    pub avoided_web_seeds: Vec<String>,
    /// Protocols of connections to peers.
    pub transport: Transport,
    /// Maximum download rate in bytes per second; `None` for no limit.
    pub max_down: Option<u32>,
    /// Maximum upload rate in bytes per second; `None` for no limit.
    pub max_up: Option<u32>,
    /// Maximum number of peers of all torrents together; `None` for libtorrent's default.
    pub max_peers: Option<u16>,
    /// Maximum number of peers to upload to at a time; `None` for libtorrent's default.
    pub max_uploads: Option<u16>,
    /// Whether to disconnect peers that have nothing to offer. A download that exits when it is complete
    /// keeps them: a super-seed can offer its last piece a moment later.
    pub close_redundant: bool,
    /// Minimum time before a peer is contacted again, in seconds. The time grows with each failure.
    pub min_reconnect_seconds: u16,
    /// The events that are reported.
    pub event_detail: EventDetail,
    /// Whether connections are encrypted.
    pub encryption: Encryption,
    /// The proxy of all connections.
    pub proxy: Option<Proxy>,
}

/// The events that are reported. Frequent events cost time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventDetail {
    /// Events that a client must handle.
    Essential,
    /// The essential events and [`Event::PieceFinished`](crate::Event::PieceFinished).
    #[default]
    Pieces,
    /// All events, including [`Event::BlockSent`](crate::Event::BlockSent) and [`Event::Log`](crate::Event::Log).
    All,
}

/// Whether pieces are downloaded from web seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebSeeds {
    /// Web seeds are used.
    Used,
    /// Web seeds are not used.
    Unused,
    /// Web seeds are not used, because they can make the installed libtorrent compute forever. Torrents with web seeds are
    /// reported.
    Withheld,
}

impl Default for WebSeeds {
    /// Returns [`Self::Used`] if the installed libtorrent is safe. Versions before 2.0.14, and 2.1.0, add up lengths of
    /// chunks that are negative.
    fn default() -> Self {
        if has_safe_web_seeds() {
            Self::Used
        } else {
            Self::Withheld
        }
    }
}

/// Protocols of connections to peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Both. Outgoing connections use TCP only, unless [`Session::use_utp`](crate::Session::use_utp) allows uTP.
    #[default]
    Both,
    /// TCP only. Uses the full speed of the network.
    Tcp,
    /// uTP only (BEP 29). Yields to other traffic, and traverses more routers.
    Utp,
}

/// Whether outgoing connections use uTP, for [`Transport::Both`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutgoingUtp {
    /// TCP only.
    #[default]
    Off,
    /// uTP first, and TCP after a failure. Peers that failed recently are tried again at once.
    Retry,
    /// uTP first, and TCP after a failure.
    On,
}

/// Whether connections to peers are encrypted ("message stream encryption").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// Encrypted if the peer prefers it.
    #[default]
    Allowed,
    /// Always encrypted, with RC4.
    Required,
    /// Never encrypted.
    Off,
}

/// A proxy for all connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The protocol of the proxy.
    pub kind: ProxyKind,
    /// The name or address of the proxy.
    pub host: String,
    /// The port of the proxy.
    pub port: u16,
    /// User name and password.
    pub login: Option<(String, String)>,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyKind {
    /// SOCKS 5 (RFC 1928).
    Socks5,
    /// HTTP CONNECT.
    Http,
}

/// libtorrent's default of a minute is too long for a resumed torrent or a lost peer.
const MIN_RECONNECT_SECONDS: u16 = 10;

impl Default for Settings {
    fn default() -> Self {
        Self {
            network: Network::default(),
            dht: true,
            dht_nodes: Vec::new(),
            local_discovery: true,
            port_mapping: true,
            web_seeds: WebSeeds::default(),
            avoided_web_seeds: Vec::new(),
            transport: Transport::Both,
            max_down: None,
            max_up: None,
            max_peers: None,
            max_uploads: None,
            close_redundant: true,
            min_reconnect_seconds: MIN_RECONNECT_SECONDS,
            event_detail: EventDetail::Pieces,
            encryption: Encryption::Allowed,
            proxy: None,
        }
    }
}

impl Settings {
    /// Returns the settings for the C++ half.
    /// A session that is suspended has no connections.
    pub(crate) fn to_ffi(&self, is_suspended: bool) -> ffi::SessionSettings {
        let proxy = self.proxy.as_ref();
        let login = proxy.and_then(|proxy| proxy.login.clone());
        let (proxy_user, proxy_password) = login.unwrap_or_default();
        let has_login = !proxy_user.is_empty();
        ffi::SessionSettings {
            is_suspended,
            listen_interfaces: self.network.listen(),
            outgoing_interfaces: self.network.outgoing(),
            user_agent: concat!("hashlane/", env!("CARGO_PKG_VERSION")).to_owned(),
            version: [
                env!("CARGO_PKG_VERSION_MAJOR"),
                env!("CARGO_PKG_VERSION_MINOR"),
                env!("CARGO_PKG_VERSION_PATCH"),
            ]
            .map(|number| number.parse().unwrap_or(0)),
            dht: self.dht,
            dht_nodes: self
                .dht_nodes
                .iter()
                .map(|node| ffi::DhtNode {
                    host: node.host().to_owned(),
                    port: node.port(),
                })
                .collect(),
            local_discovery: self.local_discovery,
            port_mapping: self.port_mapping,
            web_seeds: self.web_seeds == WebSeeds::Used,
            watch_web_seeds: !has_safe_web_seeds(),
            avoided_web_seeds: self.avoided_web_seeds.clone(),
            tcp: self.transport != Transport::Utp,
            utp: self.transport != Transport::Tcp,
            max_down: limit(self.max_down),
            max_up: limit(self.max_up),
            max_peers: self.max_peers.map_or(0, i32::from),
            max_uploads: self.max_uploads.map_or(0, i32::from),
            close_redundant: self.close_redundant,
            min_reconnect_seconds: self.min_reconnect_seconds.into(),
            pieces: self.event_detail >= EventDetail::Pieces,
            log: self.event_detail >= EventDetail::All,
            encryption: match self.encryption {
                Encryption::Allowed => 0,
                Encryption::Required => 1,
                Encryption::Off => 2,
            },
            // libtorrent has different numbers for proxies with and without a login.
            proxy_type: match (proxy.map(|proxy| proxy.kind), has_login) {
                (None, _) => 0,
                (Some(ProxyKind::Socks5), false) => 2,
                (Some(ProxyKind::Socks5), true) => 3,
                (Some(ProxyKind::Http), false) => 4,
                (Some(ProxyKind::Http), true) => 5,
            },
            proxy_host: proxy.map(|proxy| proxy.host.clone()).unwrap_or_default(),
            proxy_port: proxy.map_or(0, |proxy| proxy.port),
            proxy_user,
            proxy_password,
        }
    }
}

/// Returns a rate limit in libtorrent's form: 0 means no limit.
pub(crate) fn limit(most: Option<u32>) -> i32 {
    most.map_or(0, |most| i32::try_from(most).unwrap_or(i32::MAX))
}

/// Returns `true` if a web seed cannot make the installed libtorrent compute forever.
fn has_safe_web_seeds() -> bool {
    is_safe(&ffi::libtorrent_version())
}

fn is_safe(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    let version: [u32; 3] = std::array::from_fn(|_| numbers.next().unwrap_or(0));
    version >= [2, 0, 14] && version != [2, 1, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_seeds_are_safe_in_repaired_versions() {
        for version in ["2.0.14.0", "2.0.15", "2.1.1.0", "2.2.0.0", "3.0.0.0"] {
            assert!(is_safe(version), "{version}");
        }
        for version in ["2.0.8.0", "2.0.13.0", "2.1.0.0", "1.2.19.0", ""] {
            assert!(!is_safe(version), "{version}");
        }
    }
}
