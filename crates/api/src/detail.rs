//! Files, peers and trackers of a torrent.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::priority::Priority;

/// Some files of a torrent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Files {
    /// Number of all files, without padding.
    pub total: usize,
    /// Whether priorities can be changed, as for a download.
    pub changeable: bool,
    /// Files in the order of the torrent.
    #[cfg_attr(feature = "schema", schemars(length(max = 5000)))]
    pub files: Vec<File>,
}

/// A file of a torrent. Padding is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct File {
    /// The position among the files without padding.
    pub number: usize,
    /// Path below the folder of the torrent.
    pub path: String,
    /// Length in the torrent, not on disk.
    pub length_bytes: u64,
    /// Bytes that are present and right; `None` if the torrent is not in the session and not complete.
    pub done_bytes: Option<u64>,
    /// The priority. Files of a torrent that is only served are normal.
    pub priority: Priority,
    /// Number of pieces with bytes of the file whose content was wrong at the last verification or on arrival, and that
    /// are not right again.
    pub wrong_pieces: usize,
}

/// The peers of a torrent, as a part of an answer with more about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peers {
    /// The peers with the highest rates.
    #[cfg_attr(feature = "schema", schemars(length(max = 200)))]
    #[serde(rename = "peer_list")]
    pub peers: Vec<Peer>,
}

/// A connected peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Peer {
    /// The address of the peer.
    pub address: SocketAddr,
    /// The client's name, as the peer reports it, of at most 500 characters.
    ///
    /// A web seed can repeat a passkey here, so the name is masked.
    pub client: String,
    /// The peer's share of the torrent, from 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub progress: f64,
    /// Payload received from the peer, in bytes per second.
    #[serde(rename = "down_bytes_per_second")]
    pub down_rate: u64,
    /// Payload sent to the peer, in bytes per second.
    #[serde(rename = "up_bytes_per_second")]
    pub up_rate: u64,
    /// Bytes of payload received from the peer.
    #[serde(rename = "downloaded_bytes")]
    pub downloaded: u64,
    /// Bytes of payload sent to the peer.
    #[serde(rename = "uploaded_bytes")]
    pub uploaded: u64,
    /// Whether the connection is encrypted.
    #[serde(rename = "encrypted")]
    pub is_encrypted: bool,
    /// Whether the connection uses uTP.
    #[serde(rename = "utp")]
    pub is_utp: bool,
    /// Whether this session opened the connection. The peer then listens on this address.
    #[serde(rename = "outgoing")]
    pub is_outgoing: bool,
    /// Whether the peer is a web seed (BEP 19).
    #[serde(rename = "web_seed")]
    pub is_web_seed: bool,
}

/// Some trackers of a torrent, without passwords and passkeys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trackers {
    /// Number of all trackers.
    pub total: usize,
    /// The trackers.
    #[cfg_attr(feature = "schema", schemars(length(max = 200)))]
    pub trackers: Vec<Tracker>,
}

/// A tracker of a torrent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tracker {
    /// The URL, without passwords and passkeys.
    pub url: String,
    /// Trackers of a higher tier are contacted if all lower ones fail (BEP 12).
    pub tier: u32,
    /// Whether the tracker answers.
    pub state: TrackerState,
    /// The tracker's message or the error, without passwords and passkeys, of at most 500 characters.
    #[cfg_attr(feature = "schema", schemars(length(max = 500)))]
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

/// What became of the last announcements to a tracker, which is asked from each address of this machine.
///
/// A later variant takes precedence: a tracker works if any address gets an answer, and fails only if none gets or expects one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
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
