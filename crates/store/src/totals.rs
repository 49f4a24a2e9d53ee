//! Totals: bytes, times and dates of all torrents, in one file.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::name::Name;

/// The totals of all torrents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Totals {
    /// The totals since the folder was made, with those of torrents that were removed.
    pub all: AllTotals,
    /// The totals of each torrent.
    pub torrents: BTreeMap<Name, TorrentTotals>,
}

/// The totals of all torrents together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AllTotals {
    /// Bytes of content sent.
    pub sent: u64,
    /// Bytes of content received.
    pub received: u64,
    /// Number of starts of the daemon.
    pub starts: u64,
    /// Seconds for which the daemon ran.
    pub seconds: u64,
}

/// The totals of one torrent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TorrentTotals {
    /// Bytes of content sent.
    pub sent: u64,
    /// Bytes of content received.
    pub received: u64,
    /// Seconds of serving.
    pub seeding_seconds: u64,
    /// Time when the torrent was added, in seconds since 1970-01-01 UTC. If no file has it, it is the time when the .torrent
    /// file or the link was written, so a kill before the next write of the totals does not lose it.
    pub added: u64,
    /// Time when the download was complete, in seconds since 1970-01-01 UTC; `None` if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<u64>,
    /// Time when content was last sent or received, in seconds since 1970-01-01 UTC; `None` if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<u64>,
    /// Whether selected content was ever missing, so that its completion is news.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_incomplete: bool,
    /// Whether content was ever present, also if it was not received. It is then never begun again where nothing is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_present: bool,
}

/// Returns a time in seconds since 1970-01-01 UTC, or 0 for earlier times.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.as_ref().map_or(0, Duration::as_secs)
}
