//! The interface between Rust and C++. The C++ half is in `cpp/`.
#![allow(unsafe_code)]

use std::io;
use std::sync::Arc;

use hashlane_sha::{Sha1Digest, Sha256Digest};

use crate::Storage;
use crate::watch::is_suspect;

/// The storage of a torrent, for the disk threads of the C++ half.
pub(crate) struct StorageHandle(pub(crate) Arc<Storage>);

impl StorageHandle {
    /// Reads a part of a piece. Returns 0, an error number of the system, or -1 to refuse the peer.
    fn read(&self, piece: u32, begin: u32, buffer: &mut [u8]) -> i32 {
        error_number(self.0.read(piece, begin, buffer))
    }

    fn write(&self, piece: u32, begin: u32, bytes: &[u8]) -> i32 {
        error_number(self.0.write(piece, begin, bytes))
    }

    /// Hashes a piece. `v1` has 20 bytes or none, `leaves` 32 bytes for each leaf.
    fn hash(&self, piece: u32, v1: &mut [u8], leaves: &mut [u8]) -> i32 {
        let mut digest = Sha1Digest::default();
        let mut digests = vec![Sha256Digest::default(); leaves.len() / 32];
        let wanted = (!v1.is_empty()).then_some(&mut digest);
        let result = self.0.hash(piece, wanted, &mut digests);
        if !v1.is_empty() {
            v1.copy_from_slice(digest.as_ref());
        }
        for (bytes, digest) in leaves.chunks_exact_mut(32).zip(&digests) {
            bytes.copy_from_slice(digest.as_ref());
        }
        error_number(result)
    }

    /// Hashes the leaf that begins at `begin`.
    fn hash_leaf(&self, piece: u32, begin: u32, len: u32, leaf: &mut [u8]) -> i32 {
        let mut bytes = vec![0; len as usize];
        let result = self.0.read(piece, begin, &mut bytes);
        leaf.copy_from_slice(hashlane_sha::digest::<hashlane_sha::Sha256>(&bytes).as_ref());
        error_number(result)
    }

    fn close(&self) {
        self.0.close();
    }
}

// SAFETY: several threads may use a libtorrent session and its torrents at once, and any thread may end it. A mutex
// protects the state of the C++ half, and another mutex the alerts that `wait` reads.
unsafe impl Send for ffi::Session {}
// SAFETY: the same.
unsafe impl Sync for ffi::Session {}

/// The number of an error that concerns only the requesting peer.
const REFUSED: i32 = -1;

/// Returns the error number that libtorrent reports for a result, 0 for success, [`REFUSED`] for a suspect.
fn error_number(result: io::Result<()>) -> i32 {
    let Err(error) = result else {
        return 0;
    };
    if is_suspect(&error) {
        return REFUSED;
    }
    let number = error.raw_os_error().unwrap_or(match error.kind() {
        // The file is too short, so the requested bytes do not exist.
        io::ErrorKind::UnexpectedEof => libc::ENODATA,
        io::ErrorKind::ReadOnlyFilesystem => libc::EROFS,
        io::ErrorKind::PermissionDenied => libc::EACCES,
        _ => libc::EIO,
    });
    if number == 0 { libc::EIO } else { number }
}

#[cxx::bridge(namespace = "hashlane")]
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    clippy::module_inception,
    reason = "generated code, in a module that cxx names"
)]
pub(crate) mod ffi {
    /// Settings at the start of a session.
    struct SessionSettings {
        /// Addresses in libtorrent's format: `0.0.0.0:6881,[::]:6881`.
        listen_interfaces: String,
        outgoing_interfaces: String,
        /// Whether the session has no connections until `connect`.
        is_suspended: bool,
        user_agent: String,
        /// Major, minor and patch version of this program.
        version: [i32; 3],
        dht: bool,
        /// Empty for libtorrent's default.
        dht_nodes: Vec<DhtNode>,
        local_discovery: bool,
        port_mapping: bool,
        web_seeds: bool,
        /// Whether the session records the web seed whose data were received last.
        watch_web_seeds: bool,
        /// Servers that are not used as web seeds: `host:port`.
        avoided_web_seeds: Vec<String>,
        tcp: bool,
        utp: bool,
        /// Bytes per second, 0 for no limit.
        max_down: i32,
        max_up: i32,
        /// 0 for libtorrent's default.
        max_peers: i32,
        max_uploads: i32,
        /// Whether to disconnect peers that have nothing to offer.
        close_redundant: bool,
        /// Time before a peer is contacted again. It grows with each failure.
        min_reconnect_seconds: i32,
        /// Whether each received piece is an event.
        pieces: bool,
        /// Whether each line of libtorrent's log, and each block sent, is an event.
        log: bool,
        /// 0 if the peer prefers it, 1 always, 2 never.
        encryption: u8,
        /// libtorrent's number of the proxy type, 0 for none.
        proxy_type: u8,
        proxy_host: String,
        proxy_port: u16,
        proxy_user: String,
        proxy_password: String,
    }

    /// A node of the distributed hash table.
    struct DhtNode {
        host: String,
        port: u16,
    }

    /// A torrent to add.
    #[derive(Default)]
    struct TorrentParams {
        /// A .torrent file, or empty.
        metainfo: Vec<u8>,
        /// A magnet link if there is no .torrent file.
        magnet: String,
        /// A byte for each piece: 1 if it is present.
        have: Vec<u8>,
        /// A byte for each file except padding, 0 to leave it out. Empty for all files.
        wanted: Vec<u8>,
        /// `host:port`
        peers: Vec<String>,
        trackers: Vec<String>,
        web_seeds: Vec<String>,
        only_serve: bool,
        paused: bool,
        sequential: bool,
        super_seeding: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum EventKind {
        Metadata,
        PieceFinished,
        PieceFailed,
        Finished,
        Prioritized,
        Failed,
        FileFailed,
        Listening,
        ListenFailed,
        TrackerReplied,
        TrackerFailed,
        WebSeedFailed,
        PeerConnected,
        PeerGone,
        PeerUnreached,
        Removed,
        Banned,
        BlockSent,
        Log,
        Dropped,
        Counters,
    }

    /// An event as C++ passes it: only the fields of its kind are set.
    struct SessionEvent {
        kind: EventKind,
        torrent: u32,
        /// A piece, a port, or a number of peers or nodes.
        number: u32,
        /// Whether a peer of another network has connected.
        has_incoming: bool,
        /// An error number of the system, for files.
        error: i32,
        text: String,
        bytes: Vec<u8>,
    }

    /// A web seed that may have made libtorrent hang.
    struct SuspectWebSeed {
        /// 0 if there is none.
        torrent: u32,
        /// `host:port`
        server: String,
    }

    struct TorrentStatus {
        torrent: u32,
        /// 0 fetches metadata, 1 downloads, 2 has all wanted pieces, 3 has all pieces, 4 is stopped.
        state: u8,
        wanted: u64,
        wanted_done: u64,
        downloaded: u64,
        uploaded: u64,
        wasted: u64,
        peers: u32,
        /// Peers with a known address, connected or not.
        known_peers: u32,
        seeds: u32,
    }

    struct PeerStatus {
        /// `host:port`
        address: String,
        client: String,
        down_rate: u64,
        up_rate: u64,
        downloaded: u64,
        uploaded: u64,
        /// The peer's share of the pieces, in millionths.
        progress: u32,
        is_outgoing: bool,
        is_encrypted: bool,
        is_utp: bool,
        is_web_seed: bool,
    }

    /// A tracker to use.
    struct TrackerUrl {
        url: String,
        tier: u8,
    }

    struct TrackerStatus {
        url: String,
        tier: u32,
        /// 0 not contacted yet, 1 failed, 2 waits for an answer, 3 answered.
        state: u8,
        message: String,
        failures: u32,
        /// -1 if unknown.
        seeds: i32,
        leeches: i32,
        next_seconds: i32,
    }

    extern "Rust" {
        type StorageHandle;

        fn read(self: &StorageHandle, piece: u32, begin: u32, buffer: &mut [u8]) -> i32;
        fn write(self: &StorageHandle, piece: u32, begin: u32, bytes: &[u8]) -> i32;
        fn hash(self: &StorageHandle, piece: u32, v1: &mut [u8], leaves: &mut [u8]) -> i32;
        fn hash_leaf(
            self: &StorageHandle,
            piece: u32,
            begin: u32,
            len: u32,
            leaf: &mut [u8],
        ) -> i32;
        fn close(self: &StorageHandle);
    }

    // SAFETY: these functions accept all values of their parameters, and keep no reference to them.
    unsafe extern "C++" {
        include!("hashlane-swarm/cpp/session.h");

        type Session;

        fn open_session(settings: &SessionSettings) -> Result<UniquePtr<Session>>;
        /// Adds a torrent with its storage.
        fn add(self: &Session, params: &TorrentParams, storage: Box<StorageHandle>) -> Result<u32>;
        /// Adds a magnet link to fetch only its metadata.
        fn add_magnet(self: &Session, params: &TorrentParams) -> Result<u32>;
        fn remove(self: &Session, torrent: u32) -> Result<()>;
        fn pause(self: &Session, torrent: u32) -> Result<()>;
        fn add_peer(self: &Session, torrent: u32, address: &str) -> Result<()>;
        fn resume(self: &Session, torrent: u32) -> Result<()>;
        /// Adds a tracker, in a tier after the others.
        fn add_tracker(self: &Session, torrent: u32, url: &str) -> Result<()>;
        /// Uses these trackers instead of all others.
        fn replace_trackers(self: &Session, torrent: u32, urls: Vec<TrackerUrl>) -> Result<()>;
        /// Announces the torrent to its trackers as soon as their minimum interval permits.
        fn reannounce(self: &Session, torrent: u32) -> Result<()>;
        /// Requests pieces in order, or not.
        fn set_sequential(self: &Session, torrent: u32, sequential: bool) -> Result<()>;
        /// Offers a piece of complete content only after the previous one has spread, or not.
        fn set_super_seeding(self: &Session, torrent: u32, super_seeding: bool) -> Result<()>;
        /// Sets rate limits of one torrent in bytes per second, 0 for no limit.
        fn limit_torrent(self: &Session, torrent: u32, max_down: i32, max_up: i32) -> Result<()>;
        /// Sets rate limits in bytes per second, 0 for no limit.
        fn limit(self: &Session, max_down: i32, max_up: i32) -> Result<()>;
        /// Listens at the addresses of the settings where that has failed.
        fn listen_again(self: &Session) -> Result<()>;
        /// Listens at these addresses, and resumes a session that is suspended.
        fn connect(self: &Session, listen: &str, outgoing: &str) -> Result<()>;
        /// Suspends the session: closes all sockets, and opens none.
        fn suspend(self: &Session) -> Result<()>;
        /// Sets whether outgoing connections use uTP, and whether peers that failed are tried again at once.
        fn use_utp(self: &Session, is_on: bool, retry: bool) -> Result<()>;
        fn peers(self: &Session, torrent: u32) -> Result<Vec<PeerStatus>>;
        fn trackers(self: &Session, torrent: u32) -> Result<Vec<TrackerStatus>>;
        /// The received bytes of each file except padding; empty if the metadata is not known yet.
        fn file_progress(self: &Session, torrent: u32) -> Result<Vec<u64>>;
        /// Sets the priority of each file except padding: 0 leaves the file out, 7 is the highest.
        fn prioritize(self: &Session, torrent: u32, priorities: &[u8]) -> Result<()>;
        fn statuses(self: &Session, torrents: &[u32]) -> Result<Vec<TorrentStatus>>;
        /// A byte for each piece: 1 if it is present.
        fn have(self: &Session, torrent: u32) -> Result<Vec<u8>>;
        /// Returns whether a piece is present.
        fn has_piece(self: &Session, torrent: u32, piece: u32) -> Result<bool>;
        /// Requests these pieces, which the torrent has, before all others, the first one first.
        fn hurry(self: &Session, torrent: u32, first: u32, end: u32) -> Result<()>;
        /// Returns the info dictionary; empty if it is not known yet.
        fn metadata(self: &Session, torrent: u32) -> Result<Vec<u8>>;
        /// Returns the events since the last call. Waits up to this many milliseconds for the first one.
        fn wait(self: &Session, milliseconds: u32) -> Result<Vec<SessionEvent>>;
        /// Ends a `wait` early.
        fn wake(self: &Session);
        /// Returns the web seed that libtorrent handles if it does not respond.
        fn stuck_web_seed(self: &Session) -> SuspectWebSeed;
        /// The version of the library that is loaded.
        fn libtorrent_version() -> String;
        /// Closes all sockets of the process when it executes another program.
        fn close_sockets_on_exec();
    }

    impl UniquePtr<Session> {}
}
