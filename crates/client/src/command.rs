//! Requests to a running client.

use std::num::NonZeroU32;

use hashlane_swarm::Priority;
use serde::{Deserialize, Deserializer};

/// A request to a running client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A request to the torrent with this number: the position of its task.
    Torrent(usize, TorrentCommand),
    /// Changes the rate limits of the session.
    Limit(Limits),
}

/// A request to one torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TorrentCommand {
    /// Pauses the torrent. A torrent that is still being verified joins the session paused.
    Pause,
    /// Resumes the torrent.
    Resume,
    /// Ends the torrent. Its content stays on disk; an incomplete download counts as failed.
    End,
    /// Sets the priority of files of a download, by their positions among the files except padding. Files that are
    /// selected in addition are prepared first. At least one file stays selected.
    Prioritize(Vec<u32>, Priority),
    /// Answers [`Event::Confirm`](crate::Event::Confirm): the wrong pieces may be replaced.
    Replace,
    /// Answers [`Event::Confirm`](crate::Event::Confirm): nothing is written, and the torrent fails with this reason.
    Keep(String),
}

/// Rate limits in bytes per second. `None` leaves a limit as it is, `Some(None)` removes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Download limit of all torrents together.
    #[serde(default, deserialize_with = "present")]
    pub max_down: Option<Option<NonZeroU32>>,
    /// Upload limit of all torrents together.
    #[serde(default, deserialize_with = "present")]
    pub max_up: Option<Option<NonZeroU32>>,
}

/// Reads a field that is present and may be null.
#[expect(clippy::option_option, reason = "absent and null differ")]
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<NonZeroU32>>, D::Error> {
    Option::deserialize(from).map(Some)
}
