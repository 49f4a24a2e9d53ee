//! What Rust and C++ know of each other. Its C++ half is in `cpp/`.
#![allow(unsafe_code)]

use std::io;
use std::sync::Arc;

use hashlane_sha::{Sha1Digest, Sha256Digest};

use crate::Storage;

/// How a payload is read, written and hashed, for the disk threads of the C++ half.
pub(crate) struct StorageHandle(pub(crate) Arc<Storage>);

impl StorageHandle {
    /// The result is 0, or an error number of the system.
    fn read(&self, piece: u32, begin: u32, buffer: &mut [u8]) -> i32 {
        error_number(self.0.read(piece, begin, buffer))
    }

    fn write(&self, piece: u32, begin: u32, bytes: &[u8]) -> i32 {
        error_number(self.0.write(piece, begin, bytes))
    }

    /// `v1` is of 20 bytes or none, `leaves` of 32 bytes for each.
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

    /// The digest of the leaf that begins at `begin`.
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

// SAFETY: a session of libtorrent and its torrents may be used by several threads at once, and ended by any;
// what the C++ half adds to it is behind a mutex. The one exception is what `wait` reads, which is behind
// another.
unsafe impl Send for ffi::Session {}
// SAFETY: the same.
unsafe impl Sync for ffi::Session {}

/// What libtorrent's errors of the disk are made of.
fn error_number(result: io::Result<()>) -> i32 {
    let Err(error) = result else {
        return 0;
    };
    let number = error.raw_os_error().unwrap_or(match error.kind() {
        // A file that ends too early is one that is not there from there on.
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
    reason = "what is generated"
)]
pub(crate) mod ffi {
    /// What a session is told once.
    struct SessionSettings {
        /// As libtorrent writes them: `0.0.0.0:6881,[::]:6881`.
        listen_interfaces: String,
        outgoing_interfaces: String,
        user_agent: String,
        dht: bool,
        /// None for the library's own.
        dht_nodes: Vec<DhtNode>,
        local_discovery: bool,
        port_mapping: bool,
        tcp: bool,
        utp: bool,
        /// Bytes a second, 0 for no limit.
        max_down: i32,
        max_up: i32,
        /// 0 for the library's own.
        max_peers: i32,
        max_uploads: i32,
        /// Whether peers are left that have nothing for us.
        close_redundant: bool,
        /// Whether each piece that has come is an event.
        pieces: bool,
        /// Whether each line of the library's own log, and each block that is sent, is an event.
        log: bool,
        /// 0 as peers like it, 1 required, 2 off.
        encryption: u8,
        /// libtorrent's number of the proxy's type, 0 for none.
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

    /// What a torrent is told as it is added.
    #[derive(Default)]
    struct TorrentParams {
        /// A .torrent file, or nothing.
        metainfo: Vec<u8>,
        /// A magnet link where there is no .torrent file.
        magnet: String,
        /// A byte for each piece: 1 if it is there.
        have: Vec<u8>,
        /// A byte for each file but padding, 0 to leave it out; or nothing.
        wanted: Vec<u8>,
        /// `host:port`
        peers: Vec<String>,
        trackers: Vec<String>,
        web_seeds: Vec<String>,
        only_serve: bool,
        sequential: bool,
        super_seeding: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum EventKind {
        Metadata,
        PieceFinished,
        PieceFailed,
        Finished,
        Failed,
        FileFailed,
        Listening,
        ListenFailed,
        TrackerReplied,
        TrackerFailed,
        WebSeedFailed,
        PeerConnected,
        PeerGone,
        Removed,
        Banned,
        BlockSent,
        Log,
        Dropped,
    }

    /// Something that happened.
    struct SessionEvent {
        kind: EventKind,
        torrent: u32,
        /// A piece, or a port, or a number of peers.
        number: u32,
        /// An error number of the system, of files.
        error: i32,
        text: String,
        bytes: Vec<u8>,
    }

    struct TorrentStatus {
        torrent: u32,
        /// 0 looks for metadata, 1 downloads, 2 finished what is wanted, 3 has all, 4 stopped.
        state: u8,
        wanted: u64,
        wanted_done: u64,
        downloaded: u64,
        uploaded: u64,
        wasted: u64,
        peers: u32,
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
        /// Of the pieces, in millionths.
        progress: u32,
        is_outgoing: bool,
        is_encrypted: bool,
        is_utp: bool,
        is_web_seed: bool,
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

    // SAFETY: these functions take what their signatures say, whatever it is, and keep none of it.
    unsafe extern "C++" {
        include!("hashlane-swarm/cpp/session.h");

        type Session;

        fn open_session(settings: &SessionSettings) -> Result<UniquePtr<Session>>;
        /// Adds a torrent with its storage.
        fn add(self: &Session, params: &TorrentParams, storage: Box<StorageHandle>) -> Result<u32>;
        /// Adds a magnet link, of which only the metadata is fetched.
        fn add_magnet(self: &Session, params: &TorrentParams) -> Result<u32>;
        fn remove(self: &Session, torrent: u32) -> Result<()>;
        fn pause(self: &Session, torrent: u32) -> Result<()>;
        fn resume(self: &Session, torrent: u32) -> Result<()>;
        /// Bytes a second, 0 for no limit.
        fn limit(self: &Session, max_down: i32, max_up: i32) -> Result<()>;
        fn peers(self: &Session, torrent: u32) -> Result<Vec<PeerStatus>>;
        fn statuses(self: &Session) -> Result<Vec<TorrentStatus>>;
        /// A byte for each piece: 1 if it is there.
        fn have(self: &Session, torrent: u32) -> Result<Vec<u8>>;
        /// The info dictionary; nothing if it is not there yet.
        fn metadata(self: &Session, torrent: u32) -> Result<Vec<u8>>;
        /// What happened, after a wait of at most so many milliseconds for something to happen.
        fn wait(self: &Session, milliseconds: u32) -> Result<Vec<SessionEvent>>;
    }

    impl UniquePtr<Session> {}
}
