//! A torrent client as the protocols see it: the requests that they pass on, and the state that they show besides its torrents,
//! which are snapshots of **client**.
//!
//! # Categories and labels
//!
//! A torrent has at most one category, which gives torrents a common folder and goal, and any number of labels, which only
//! find torrents again. qBittorrent calls labels *tags*. Transmission has labels only: a torrent shows its category as the first
//! one. When labels are set by Transmission RPC, the first of them that is the torrent's category, or otherwise the name of any
//! category, is the category; without such a label, the torrent has none.
//!
//! # Units
//!
//! Lengths are in bytes, rates in bytes per second, times in seconds since 1970 unless they say otherwise.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashlane_api::{Command, GroupChange, Groups, NewTorrent, Refusal, Source, Tiers};
use hashlane_client::{Added, Snapshot, TorrentFile};

/// A client that programs control. Its methods may block: the protocols call them on threads for that.
pub trait Control: Send + Sync + 'static {
    /// Returns all torrents. Two snapshots share a torrent that did not change between them, and they are the same if none did.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Returns the files of a torrent without padding, each with its pieces; none while its metadata is unknown.
    fn files(&self, torrent: usize) -> Vec<(TorrentFile, Range<u32>)>;

    /// Returns the connected peers of a torrent.
    fn peers(&self, torrent: usize) -> Vec<Peer>;

    /// Returns the trackers of a torrent, with the secrets in their URLs: who controls the client may see them.
    fn trackers(&self, torrent: usize) -> Vec<Tracker>;

    /// Returns an entry for each piece of a torrent, `true` if it is present; none while its metadata is unknown.
    fn pieces(&self, torrent: usize) -> Vec<bool>;

    /// Returns the bytes of the .torrent file, with the secrets in its URLs; `None` while the metadata of a torrent is unknown.
    fn metainfo(&self, torrent: usize) -> Option<Vec<u8>>;

    /// Returns the categories and labels.
    fn groups(&self) -> Groups;

    /// Changes the categories or labels.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal>;

    /// Adds a torrent. It is stored when the method returns.
    ///
    /// # Errors
    /// Returns the reason why the torrent is not added.
    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal>;

    /// Does what a command asks of torrents, and returns a result for each. What a person chose is stored when the method returns,
    /// for all torrents together; long work ends later.
    fn apply(&self, torrents: &[usize], command: &Command) -> Vec<Result<(), Refusal>>;

    /// Returns the settings of the client.
    fn session(&self) -> Session;

    /// Changes settings of the client.
    ///
    /// # Errors
    /// Returns the reason why nothing changed.
    fn change_session(&self, change: SessionChange) -> Result<(), Refusal>;

    /// Returns the free bytes, and all bytes, of the file system of a folder.
    ///
    /// # Errors
    /// Returns the reason why they are unknown.
    fn free_space(&self, folder: &str) -> Result<(u64, u64), Refusal>;
}

/// A connected peer.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// IP address and port of the peer.
    pub address: SocketAddr,
    /// The name of the peer's program.
    pub client: String,
    /// The part of the content that the peer has, from 0 to 1.
    pub progress: f64,
    /// Bytes per second from the peer.
    pub down_rate: u64,
    /// Bytes per second to the peer.
    pub up_rate: u64,
    /// Bytes received from the peer.
    pub downloaded: u64,
    /// Bytes sent to the peer.
    pub uploaded: u64,
    /// Whether the peer connected to this client.
    pub is_incoming: bool,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Whether the connection uses uTP (BEP 29).
    pub is_utp: bool,
}

/// A tracker of a torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracker {
    /// The announce URL.
    pub url: String,
    /// The tier, from 0 (BEP 12).
    pub tier: u32,
    /// The result of the last announce; `None` before the first one.
    pub announced: Option<Result<(), String>>,
    /// Time of the last answer of the tracker.
    pub answered: Option<u64>,
    /// Whether an announce is under way.
    pub is_announcing: bool,
    /// Seconds until the next announce.
    pub next_seconds: Option<u32>,
    /// Number of peers with all content, if the tracker said so.
    pub seeds: Option<u32>,
    /// Number of other peers, if the tracker said so.
    pub leeches: Option<u32>,
}

/// Returns the tiers of trackers.
pub(crate) fn tiers(trackers: &[Tracker]) -> Tiers {
    Tiers::of(trackers.iter().map(|it| (it.tier, &*it.url)))
}

/// Settings and statistics of the client.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting that programs show"
)]
pub struct Session {
    /// The version of the program.
    pub version: &'static str,
    /// The folder of the configuration.
    pub config_folder: String,
    /// The folder of new downloads.
    pub folder: String,
    /// The port of incoming peers.
    pub port: u16,
    /// Download limit in bytes per second.
    pub max_down: Option<u32>,
    /// Upload limit in bytes per second.
    pub max_up: Option<u32>,
    /// Whether the alternative limits are in force, which replace the others.
    pub is_alternative: bool,
    /// Alternative download limit in bytes per second.
    pub alt_max_down: Option<u32>,
    /// Alternative upload limit in bytes per second.
    pub alt_max_up: Option<u32>,
    /// The ratio of sent to received bytes at which seeding ends.
    pub ratio: Option<f64>,
    /// Minutes of seeding after which it ends.
    pub seeding_minutes: Option<u32>,
    /// Minutes without an upload after which seeding ends.
    pub idle_minutes: Option<u32>,
    /// Whether the client listens for peers.
    pub is_listening: bool,
    /// Whether a peer has connected to this client since the start.
    pub is_reachable: bool,
    /// Known nodes of the distributed hash table.
    pub n_dht_nodes: u32,
    /// Whether the distributed hash table (BEP 5) is used.
    pub uses_dht: bool,
    /// Whether peers on the local network (BEP 14) are looked for.
    pub uses_local_discovery: bool,
    /// Whether peers are exchanged (BEP 11).
    pub uses_peer_exchange: bool,
    /// Whether the router is asked to forward the port.
    pub maps_port: bool,
    /// Whether uTP (BEP 29) is used.
    pub uses_utp: bool,
    /// Encryption of connections to peers.
    pub encryption: Encryption,
    /// The proxy of connections to peers and trackers.
    pub proxy: Option<Proxy>,
    /// Maximum number of connected peers.
    pub max_peers: Option<u32>,
    /// Maximum number of downloads at once.
    pub max_downloads: Option<u32>,
    /// Maximum number of torrents that seed at once.
    pub max_seeds: Option<u32>,
    /// Maximum number of torrents that are verified at once.
    pub max_verifications: u16,
    /// Minutes without a transferred byte after which a torrent holds no place in the queue; `None` if it keeps its place.
    pub stalled_minutes: Option<u32>,
    /// Whether new torrents start at once.
    pub starts_added: bool,
    /// Statistics since the start.
    pub now: Statistics,
    /// Statistics of all starts together.
    pub all: Statistics,
}

/// Encryption of connections to peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// Only encrypted connections.
    Required,
    /// Encrypted connections first.
    Preferred,
    /// Unencrypted connections first.
    Tolerated,
    /// Only unencrypted connections.
    Off,
}

/// A proxy, without its user name and password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The protocol.
    pub kind: ProxyKind,
    /// The name or address of the proxy.
    pub host: String,
    /// The port of the proxy.
    pub port: u16,
    /// Whether the client has a user name and a password for the proxy.
    pub has_login: bool,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP, with CONNECT.
    Http,
    /// SOCKS5 (RFC 1928).
    Socks5,
}

/// Statistics of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes sent.
    pub uploaded: u64,
    /// Bytes received.
    pub downloaded: u64,
    /// Torrents added.
    pub n_added: u64,
    /// Starts of the client.
    pub n_starts: u64,
    /// Seconds that the client ran.
    pub seconds: u64,
}

/// Changes of the client's settings. `None` leaves a setting as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionChange {
    /// Download limit in bytes per second; `Some(None)` removes it.
    pub max_down: Option<Option<u32>>,
    /// Upload limit in bytes per second; `Some(None)` removes it.
    pub max_up: Option<Option<u32>>,
    /// Whether the alternative limits are in force.
    pub is_alternative: Option<bool>,
    /// Alternative download limit in bytes per second; `Some(None)` removes it.
    pub alt_max_down: Option<Option<u32>>,
    /// Alternative upload limit in bytes per second; `Some(None)` removes it.
    pub alt_max_up: Option<Option<u32>>,
    /// The ratio at which seeding ends; `Some(None)` removes it.
    pub ratio: Option<Option<f64>>,
    /// Minutes of seeding after which it ends; `Some(None)` removes it.
    pub seeding_minutes: Option<Option<u32>>,
    /// Minutes without an upload after which seeding ends; `Some(None)` removes it.
    pub idle_minutes: Option<Option<u32>>,
    /// The folder of new downloads.
    pub folder: Option<String>,
    /// Whether new torrents start at once.
    pub starts_added: Option<bool>,
    /// Maximum number of downloads at once; `Some(None)` removes it.
    pub max_downloads: Option<Option<u32>>,
    /// Maximum number of torrents that seed at once; `Some(None)` removes it.
    pub max_seeds: Option<Option<u32>>,
    /// The port of incoming peers.
    pub port: Option<u16>,
}

/// Returns whole minutes, as programs show a time.
pub fn minutes(time: Duration) -> u32 {
    u32::try_from(time.as_secs() / 60).unwrap_or(u32::MAX)
}

/// Returns the time of whole minutes.
pub fn of_minutes(minutes: u32) -> Duration {
    Duration::from_secs(u64::from(minutes) * 60)
}

/// Returns the seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
