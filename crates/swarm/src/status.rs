//! The progress of torrents, their peers and trackers.

use std::net::SocketAddr;

use hashlane_metainfo::{Secrets, masked_url};

use crate::ffi::ffi;

/// The state of a torrent in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Fetches its metadata.
    Metadata,
    /// Requests missing pieces.
    Downloading,
    /// Has all wanted pieces.
    Finished,
    /// Has all pieces.
    Seeding,
    /// Paused, or stopped by an error.
    Stopped,
}

/// The progress of a torrent.
#[derive(Clone, Debug)]
pub struct Status {
    /// The state of the torrent.
    pub state: State,
    /// Wanted bytes.
    pub wanted: u64,
    /// Wanted bytes that are present.
    pub wanted_done: u64,
    /// Bytes of payload received in this session.
    pub downloaded: u64,
    /// Bytes of payload sent in this session.
    pub uploaded: u64,
    /// Received bytes that were wrong or already present.
    pub wasted: u64,
    /// Connected peers.
    pub peers: u32,
    /// Peers with a known address, connected or not.
    pub known_peers: u32,
    /// Connected peers that have all pieces.
    pub seeds: u32,
}

/// A connected peer.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[non_exhaustive]
pub struct Peer {
    /// The address of the peer.
    pub address: SocketAddr,
    /// The client's name, as the peer reports it, of at most 500 characters. A web seed can repeat a passkey here, so
    /// the name is masked.
    pub client: String,
    /// Payload received from the peer, in bytes per second.
    pub down_rate: u64,
    /// Payload sent to the peer, in bytes per second.
    pub up_rate: u64,
    /// Bytes of payload received from the peer.
    pub downloaded: u64,
    /// Bytes of payload sent to the peer.
    pub uploaded: u64,
    /// The peer's share of the torrent, from 0 to 1.
    pub progress: f64,
    /// Whether this session opened the connection. The peer then listens on this address.
    pub is_outgoing: bool,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Whether the connection uses uTP.
    pub is_utp: bool,
    /// Whether the peer is a web seed (BEP 19).
    pub is_web_seed: bool,
}

/// A tracker of a torrent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tracker {
    /// The URL, without passwords and passkeys.
    pub url: String,
    /// Trackers of a higher tier are contacted if all lower ones fail (BEP 12).
    pub tier: u32,
    /// Whether the tracker answers.
    pub state: TrackerState,
    /// The tracker's message or the error, without passwords and passkeys, of at most 500 characters.
    pub message: String,
    /// Number of failed announcements since the last answer.
    pub failures: u32,
    /// Peers with all pieces, if the tracker has reported their number.
    pub seeds: Option<u32>,
    /// Peers without all pieces, if the tracker has reported their number.
    pub leeches: Option<u32>,
    /// Seconds until the next announcement.
    pub next_seconds: Option<u32>,
}

/// What became of the last announcements to a tracker, which is asked from each address of this machine. A later variant takes
/// precedence: a tracker works if any address gets an answer, and fails only if none gets or expects one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrackerState {
    /// The tracker was not contacted yet.
    Unused,
    /// The last announcement failed.
    Failed,
    /// An announcement waits for its answer.
    Updating,
    /// The tracker has answered.
    Working,
}

impl Tracker {
    pub(crate) fn from_ffi(from: &ffi::TrackerStatus, secrets: &Secrets) -> Self {
        Self {
            url: masked_url(&from.url),
            tier: from.tier,
            state: match from.state {
                1 => TrackerState::Failed,
                2 => TrackerState::Updating,
                3 => TrackerState::Working,
                _ => TrackerState::Unused,
            },
            message: secrets.mask(&from.message),
            failures: from.failures,
            seeds: from.seeds.try_into().ok(),
            leeches: from.leeches.try_into().ok(),
            next_seconds: from.next_seconds.try_into().ok(),
        }
    }
}

impl Status {
    pub(crate) fn from_ffi(from: &ffi::TorrentStatus) -> Self {
        Self {
            state: match from.state {
                0 => State::Metadata,
                2 => State::Finished,
                3 => State::Seeding,
                4 => State::Stopped,
                _ => State::Downloading,
            },
            wanted: from.wanted,
            wanted_done: from.wanted_done,
            downloaded: from.downloaded,
            uploaded: from.uploaded,
            wasted: from.wasted,
            peers: from.peers,
            known_peers: from.known_peers,
            seeds: from.seeds,
        }
    }
}

impl Peer {
    /// Reads a peer of the C++ half; `None` if it has no IP address.
    pub(crate) fn from_ffi(from: &ffi::PeerStatus, secrets: &Secrets) -> Option<Self> {
        Some(Self {
            address: from.address.parse().ok()?,
            client: secrets.mask(&from.client),
            down_rate: from.down_rate,
            up_rate: from.up_rate,
            downloaded: from.downloaded,
            uploaded: from.uploaded,
            progress: f64::from(from.progress) / 1e6,
            is_outgoing: from.is_outgoing,
            is_encrypted: from.is_encrypted,
            is_utp: from.is_utp,
            is_web_seed: from.is_web_seed,
        })
    }
}
