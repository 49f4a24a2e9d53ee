//! Parameters of the torrents that are added to a session.

use std::net::SocketAddr;
use std::sync::Arc;

use hashlane_api::Priority;
use hashlane_metainfo::Torrent;

use crate::Storage;

/// The number of a torrent in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TorrentId(pub(crate) u32);

/// A torrent to add to a session.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub struct AddTorrent<'a> {
    /// The torrent, with its piece layers if it has version 2.
    pub torrent: &'a Torrent,
    /// The files of the torrent.
    pub storage: Arc<Storage>,
    /// An entry for each piece, `true` if it is present: the result of a verification.
    pub have: &'a [bool],
    /// An entry for each file except padding, `true` if it is wanted. Empty means all files.
    pub wanted: &'a [bool],
    /// Peers to connect to at once.
    pub peers: &'a [SocketAddr],
    /// Whether the torrent is only served, not downloaded.
    pub only_serve: bool,
    /// Whether the torrent connects to no peer before [`Session::resume`](crate::Session::resume).
    pub paused: bool,
    /// Whether pieces are requested in ascending order.
    pub sequential: bool,
    /// Whether a peer is offered the next piece only after it has shared the last one (BEP 16).
    pub super_seeding: bool,
    /// Sources in addition to the .torrent file's own, for example from a magnet link.
    pub sources: &'a Sources,
}

/// Sources of peers and pieces.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// URLs of trackers.
    pub trackers: Vec<String>,
    /// URLs of web seeds (BEP 19).
    pub web_seeds: Vec<String>,
}

/// Returns libtorrent's priority.
pub(crate) fn level(priority: Priority) -> u8 {
    match priority {
        Priority::Skip => 0,
        Priority::Low => 1,
        Priority::Normal => 4,
        Priority::High => 7,
    }
}
