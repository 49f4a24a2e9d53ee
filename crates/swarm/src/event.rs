//! Events of a session.

use std::net::SocketAddr;

use crate::ffi::ffi;
use crate::{StorageError, TorrentId};

/// Something that happened in a session. No text has passwords, passkeys or more than 500 characters.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The info dictionary of a magnet link was received. Its info-hash matches the link.
    Metadata(TorrentId, Vec<u8>),
    /// A piece was received, verified and written.
    PieceFinished(TorrentId, u32),
    /// A piece was received and is wrong.
    PieceFailed(TorrentId, u32),
    /// All wanted pieces are present.
    Finished(TorrentId),
    /// New priorities of files are in effect. Until then, the status has the old number of wanted bytes.
    Prioritized(TorrentId),
    /// An error stopped the torrent.
    Failed(TorrentId, String),
    /// A file could not be read or written.
    FileFailed {
        /// The torrent that has the file.
        torrent: TorrentId,
        /// The file and the reason, if they are known.
        failure: Option<StorageError>,
        /// libtorrent's message.
        text: String,
    },
    /// The session listens on this address.
    Listening(SocketAddr),
    /// The session cannot listen on a port.
    ListenFailed {
        /// The port that was asked for.
        port: u16,
        /// Whether another program uses the port.
        is_taken: bool,
        /// The system's message.
        text: String,
    },
    /// A tracker returned this many peers.
    TrackerReplied(TorrentId, String, u32),
    /// A tracker did not answer, or answered with an error.
    TrackerFailed(TorrentId, String),
    /// A web seed did not answer, or answered with something else.
    WebSeedFailed(TorrentId, String),
    /// A peer connected; its address, for the log.
    PeerConnected(TorrentId, String),
    /// A peer disconnected, for this reason.
    PeerGone(TorrentId, String),
    /// No connection to a peer was made: its address and the reason.
    PeerUnreached(TorrentId, String),
    /// A peer sent wrong data, and was banned.
    PeerBanned(TorrentId, String),
    /// A block of this piece was sent to a peer.
    BlockSent(TorrentId, u32),
    /// A line of libtorrent's own log.
    Log(String),
    /// Events were lost because there were too many. [`Session::have`](crate::Session::have) and
    /// [`Session::metadata`](crate::Session::metadata) return the state of a torrent.
    Dropped,
    /// The torrent was removed from the session.
    Removed(TorrentId),
    /// Figures of the session. [`Session::wake`](crate::Session::wake) leads to this event.
    Counters(Counters),
}

/// Figures of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of nodes in the routing tables of the DHT.
    pub dht_nodes: u32,
    /// Whether a peer has connected since the start from an address that is not local: its network lets peers in.
    pub has_incoming: bool,
}

impl Event {
    /// Returns the torrent of the event, if it concerns one.
    pub fn torrent(&self) -> Option<TorrentId> {
        match self {
            Self::Metadata(id, _)
            | Self::PieceFinished(id, _)
            | Self::PieceFailed(id, _)
            | Self::Finished(id)
            | Self::Prioritized(id)
            | Self::Failed(id, _)
            | Self::FileFailed { torrent: id, .. }
            | Self::TrackerReplied(id, _, _)
            | Self::TrackerFailed(id, _)
            | Self::WebSeedFailed(id, _)
            | Self::PeerConnected(id, _)
            | Self::PeerGone(id, _)
            | Self::PeerUnreached(id, _)
            | Self::PeerBanned(id, _)
            | Self::BlockSent(id, _)
            | Self::Removed(id) => Some(*id),
            Self::Listening(_)
            | Self::ListenFailed { .. }
            | Self::Log(_)
            | Self::Dropped
            | Self::Counters(_) => None,
        }
    }

    /// Reads an event of the C++ half, whose text is masked. `failure` is the failure of [`Self::FileFailed`].
    pub(crate) fn from_ffi(
        event: ffi::SessionEvent,
        failure: Option<StorageError>,
    ) -> Option<Self> {
        let torrent = TorrentId(event.torrent);
        let (number, text) = (event.number, event.text);
        Some(match event.kind {
            ffi::EventKind::Metadata => Self::Metadata(torrent, event.bytes),
            ffi::EventKind::PieceFinished => Self::PieceFinished(torrent, number),
            ffi::EventKind::PieceFailed => Self::PieceFailed(torrent, number),
            ffi::EventKind::Finished => Self::Finished(torrent),
            ffi::EventKind::Prioritized => Self::Prioritized(torrent),
            ffi::EventKind::Failed => Self::Failed(torrent, text),
            ffi::EventKind::FileFailed => Self::FileFailed {
                torrent,
                failure,
                text,
            },
            ffi::EventKind::Listening => {
                let address = text.parse().ok()?;
                Self::Listening(SocketAddr::new(address, number as u16))
            }
            ffi::EventKind::ListenFailed => Self::ListenFailed {
                port: number as u16,
                is_taken: event.error == libc::EADDRINUSE,
                text,
            },
            ffi::EventKind::TrackerReplied => Self::TrackerReplied(torrent, text, number),
            ffi::EventKind::TrackerFailed => Self::TrackerFailed(torrent, text),
            ffi::EventKind::WebSeedFailed => Self::WebSeedFailed(torrent, text),
            ffi::EventKind::PeerConnected => Self::PeerConnected(torrent, text),
            ffi::EventKind::PeerGone => Self::PeerGone(torrent, text),
            ffi::EventKind::PeerUnreached => Self::PeerUnreached(torrent, text),
            ffi::EventKind::Banned => Self::PeerBanned(torrent, text),
            ffi::EventKind::BlockSent => Self::BlockSent(torrent, number),
            ffi::EventKind::Log => Self::Log(text),
            ffi::EventKind::Dropped => Self::Dropped,
            ffi::EventKind::Removed => Self::Removed(torrent),
            ffi::EventKind::Counters => Self::Counters(Counters {
                dht_nodes: number,
                has_incoming: event.has_incoming,
            }),
            _ => return None,
        })
    }
}
