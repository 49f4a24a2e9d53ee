//! The protocol between `hashlane ctl` and a daemon: JSON lines over a Unix socket in the state folder of the daemon.
//!
//! A connection carries requests one after the other. The answer to a request is any number of results, and then
//! [`Reply::Done`] or [`Reply::Error`]. The results are also what `hashlane ctl --json` prints.

use std::num::NonZeroU32;
use std::path::PathBuf;

use hashlane_api::{Command, GroupChange, Groups, SessionPatch};
use serde::{Deserialize, Serialize};

/// The name of the socket in the state folder.
pub const SOCKET: &str = "socket";

/// Length limit of a request in bytes: a .torrent file of the largest length in base 64, and its options.
pub const MAX_REQUEST_LEN: u64 = 48 << 20;

/// A request to a daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Adds a torrent. The result is [`Reply::Added`].
    Add(Box<Add>),
    /// Lists torrents: all of them if none is named. The results are [`Reply::Torrent`].
    List(Keys),
    /// Does what a command asks of torrents. The results are [`Reply::Changed`].
    Apply(Apply),
    /// Lists the categories and labels. The result is [`Reply::Groups`].
    Groups {},
    /// Changes the categories or labels.
    ChangeGroups(GroupChange),
    /// Reports the state of the daemon. The result is [`Reply::Status`].
    Status {},
    /// Reads the configuration again. The result is [`Reply::Reloaded`].
    Reload {},
    /// Changes the limits of all torrents together, and lists them. The results are [`Reply::Limit`].
    Limits(SessionPatch),
}

/// A torrent that is added.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Add {
    /// The .torrent file in base 64.
    pub metainfo: Option<String>,
    /// The magnet link, if there is no file.
    pub magnet: Option<String>,
    /// The URL of the file, which the daemon fetches.
    pub url: Option<String>,
    /// Folder for the content, under the torrent's name; `None` for the folder of the daemon.
    pub folder: Option<PathBuf>,
    /// The content itself, which is served and never written.
    pub content: Option<PathBuf>,
    /// The text of a content map with the torrent, in base 64: where single files lie. They are read, and never written.
    pub content_map: Option<String>,
    /// Whether the torrent starts paused.
    pub paused: bool,
    /// Whether pieces are requested in order.
    pub sequential: bool,
    /// The category, which exists.
    pub category: Option<String>,
    /// Words to find the torrent by.
    pub labels: Vec<String>,
    /// The ratio after which the torrent is no longer served.
    pub ratio: Option<f64>,
    /// Seconds of serving after which the torrent is no longer served.
    pub seed_seconds: Option<u64>,
    /// Download limit in bytes per second.
    pub max_down: Option<NonZeroU32>,
    /// Upload limit in bytes per second.
    pub max_up: Option<NonZeroU32>,
}

/// A command, and the torrents that it is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apply {
    /// The torrents.
    pub keys: Keys,
    /// What is asked of them. Content that is deleted is deleted after the answer.
    pub change: Command,
}

/// The torrents that a request is about.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keys {
    /// Info-hashes of either version, their first digits, or exact names of torrents.
    pub torrents: Vec<String>,
    /// Whether all torrents are meant.
    pub all: bool,
}

/// A line of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    /// A torrent was added, or is present.
    Added {
        /// The torrent that was added, or that was present.
        #[serde(flatten)]
        torrent: Named,
        /// Whether the daemon already had the torrent, and nothing was changed.
        present: bool,
    },
    /// What was asked of a torrent was done, or was recorded and begins.
    Changed {
        /// The action of the command.
        action: String,
        /// The torrent.
        #[serde(flatten)]
        torrent: Named,
    },
    /// The categories and labels.
    Groups(Groups),
    /// One of the torrents that were asked for.
    Torrent(Box<TorrentReply>),
    /// A limit of all torrents together.
    Limit(LimitReply),
    /// The state of the daemon.
    Status(Box<StatusReply>),
    /// The configuration was read again, and is in force.
    Reloaded {
        /// The options that differ from those in force, because they need a restart.
        restart: Vec<String>,
    },
    /// The end of an answer.
    Done {},
    /// The end of an answer: nothing more was done, for this reason.
    Error {
        /// The reason.
        message: String,
    },
}

/// The identity of a torrent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    /// The info-hash that names the torrent: that of version 1, if it has one.
    pub info_hash: String,
    /// The info-hash of version 1.
    pub info_hash_v1: Option<String>,
    /// The info-hash of version 2.
    pub info_hash_v2: Option<String>,
    /// The name of the torrent; the info-hash while the name is unknown.
    pub name: String,
}

/// A limit of all torrents together.
#[derive(Debug, Serialize, Deserialize)]
pub struct LimitReply {
    /// The long name of its option.
    pub limit: String,
    /// The limit in the unit of the option, seconds for a time; `None` for no limit.
    pub value: Option<LimitValue>,
    /// The limit of the options and the configuration.
    pub configured: Option<LimitValue>,
    /// Whether a request has set the limit, which then wins over the configuration.
    pub requested: bool,
}

/// A limit as a number, whose unit depends on the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LimitValue {
    /// Bytes per second, torrents or seconds.
    Whole(u64),
    /// Uploaded bytes, divided by the length of the content.
    Ratio(f64),
}

/// The state of a torrent.
#[derive(Debug, Serialize, Deserialize)]
pub struct TorrentReply {
    /// Info-hashes and name of the torrent.
    #[serde(flatten)]
    pub torrent: Named,
    /// The activity, as in the HTTP API, or `queued`.
    pub activity: String,
    /// The reason why the torrent failed, or waits.
    pub error: Option<String>,
    /// Folder for the content, under the torrent's name.
    pub folder: Option<String>,
    /// The content, if it is known.
    pub content: Option<String>,
    /// Whether all selected content is present.
    pub complete: bool,
    /// Length of all files.
    pub total_bytes: u64,
    /// Length of the selected files.
    pub wanted_bytes: u64,
    /// Bytes of the selected files that are present.
    pub done_bytes: u64,
    /// Download rate.
    pub down_bytes_per_second: u64,
    /// Upload rate.
    pub up_bytes_per_second: u64,
    /// Number of connected peers.
    pub peers: u32,
    /// Number of connected peers that have all pieces.
    pub seeds: u32,
    /// Bytes of content received since the torrent was added.
    pub received_bytes: u64,
    /// Bytes of content sent since the torrent was added.
    pub sent_bytes: u64,
    /// Seconds of serving since the torrent was added.
    pub seeding_seconds: u64,
    /// Time of the addition, in seconds since 1970-01-01 UTC.
    pub added: u64,
    /// Time of the completion, in seconds since 1970-01-01 UTC.
    pub completed: Option<u64>,
    /// Whether a person, or the end of its goal, paused the torrent.
    pub paused: bool,
    /// Whether the torrent runs without a place in the queue.
    pub forced: bool,
    /// Name of the category; `None` for a torrent in none.
    pub category: Option<String>,
    /// Labels, sorted.
    pub labels: Vec<String>,
    /// Download limit in bytes per second.
    pub max_down: Option<NonZeroU32>,
    /// Upload limit in bytes per second.
    pub max_up: Option<NonZeroU32>,
    /// The ratio after which the torrent is paused.
    pub seed_ratio: Option<f64>,
    /// Seconds of serving after which the torrent is paused.
    pub seed_seconds: Option<u64>,
    /// The folder that the content is being moved to.
    pub move_to: Option<String>,
    /// The position in the queue, from 0.
    pub order: u64,
}

/// The state of a daemon.
#[derive(Debug, Serialize, Deserialize)]
pub struct StatusReply {
    /// The version of the program.
    pub version: String,
    /// Process ID of the daemon.
    pub process: u32,
    /// The state folder.
    pub state: String,
    /// Torrents in the state folder, whatever they do.
    pub torrents: u64,
    /// Number of torrents that are downloaded now.
    pub downloading: u64,
    /// Number of torrents that are served now.
    pub serving: u64,
    /// Number of torrents that are verified now, or wait for it.
    pub verifying: u64,
    /// Number of torrents that wait for their turn.
    pub queued: u64,
    /// Number of torrents that are paused.
    pub paused: u64,
    /// Number of torrents that failed, or wait for their content.
    pub failed: u64,
    /// Download rate.
    pub down_bytes_per_second: u64,
    /// Upload rate.
    pub up_bytes_per_second: u64,
    /// Download limit in force, with the schedule and the alternative limits.
    pub max_down: Option<u32>,
    /// Upload limit in force, with the schedule and the alternative limits.
    pub max_up: Option<u32>,
    /// Whether the alternative rate limits are on.
    pub alternative: bool,
    /// Whether torrents that programs add start paused, if the request does not say.
    pub adds_paused: bool,
    /// The limits that requests have set, which win over the configuration, by the long names of their options.
    pub requested_limits: Vec<String>,
    /// Bytes of content received since the state folder was made.
    pub received_bytes: u64,
    /// Bytes of content sent since the state folder was made.
    pub sent_bytes: u64,
    /// Files of the state folder that could not be used, with their reasons.
    pub problems: Vec<String>,
}
