//! The progress of torrents, their peers and trackers.

use hashlane_api::{Peer, Tracker, TrackerState};
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

/// Reads a tracker of the C++ half.
pub(crate) fn tracker(from: &ffi::TrackerStatus, secrets: &Secrets) -> Tracker {
    Tracker {
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

/// Reads a peer of the C++ half; `None` if it has no IP address.
pub(crate) fn peer(from: &ffi::PeerStatus, secrets: &Secrets) -> Option<Peer> {
    Some(Peer {
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
