//! The protocol between `hashlane ctl` and a daemon: JSON lines over a Unix socket in the state folder of the daemon.
//!
//! A connection carries requests one after the other. The answer to a request is any number of results, and then
//! [`Reply::Done`] or [`Reply::Error`]. The results are also what `hashlane ctl --json` prints.

use std::num::NonZeroU32;
use std::path::PathBuf;

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
    /// Removes torrents.
    Remove(Remove),
    /// Changes what was chosen for torrents.
    Set(Box<Set>),
    /// Moves the content of torrents to another folder.
    Move(Move),
    /// Verifies the content of torrents again, before all other verifications.
    Verify(Keys),
    /// Pauses torrents.
    Pause(Keys),
    /// Resumes torrents, also those that have ended or failed.
    Resume(Keys),
    /// Resumes torrents, which run at once without a place in the queue.
    ResumeNow(Keys),
    /// Moves torrents in the queue.
    Queue(Queue),
    /// Lists the categories. The results are [`Reply::Category`].
    Categories {},
    /// Makes a category, or changes it.
    SetCategory(SetCategory),
    /// Removes a category.
    RemoveCategory(RemoveCategory),
    /// Reports the state of the daemon. The result is [`Reply::Status`].
    Status {},
    /// Reads the configuration again. The result is [`Reply::Reloaded`].
    Reload {},
    /// Changes the limits of all torrents together, and lists them. The results are [`Reply::Limit`].
    Limits(SetLimits),
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

/// Torrents that are removed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The torrents.
    pub keys: Keys,
    /// Whether the files of the torrents are deleted. The answer comes before they are.
    #[serde(default)]
    pub delete_content: bool,
}

/// Choices that replace earlier ones; absent ones stay as they are.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The torrents.
    pub keys: Keys,
    /// Labels in place of all labels before.
    #[serde(default)]
    pub labels: Option<Vec<String>>,
    /// The category, which exists; an empty text for none.
    #[serde(default)]
    pub category: Option<String>,
    /// Whether the torrents get the goals of their categories, their labels or the daemon.
    #[serde(default)]
    pub default_goal: bool,
    /// The ratio after which the torrents are no longer served; 0 for no limit.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// Seconds of serving after which the torrents are no longer served; 0 for no limit.
    #[serde(default)]
    pub seed_seconds: Option<u64>,
    /// Download limit in bytes per second; 0 for no limit.
    #[serde(default)]
    pub max_down: Option<u32>,
    /// Upload limit in bytes per second; 0 for no limit.
    #[serde(default)]
    pub max_up: Option<u32>,
}

/// A move of content.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// The torrents.
    pub keys: Keys,
    /// The new folder.
    pub folder: PathBuf,
}

/// A move in the queue.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// The torrents.
    pub keys: Keys,
    /// Where they go.
    pub to: QueuePlace,
}

/// A category that is made or changed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetCategory {
    /// Name of the category, by which torrents refer to it.
    pub name: String,
    /// Folder for the content of torrents that are added to the category.
    pub folder: Option<PathBuf>,
    /// The ratio after which its torrents are paused; 0 for no limit.
    pub ratio: Option<f64>,
    /// Seconds of serving after which its torrents are paused; 0 for no limit.
    pub seed_seconds: Option<u64>,
}

/// Limits of all torrents together that replace earlier ones; absent ones stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetLimits {
    /// Whether all limits are first given back to the options and the configuration.
    pub configured: bool,
    /// Whether the alternative rate limits are in force.
    pub alternative: Option<bool>,
    /// Download limit in bytes per second; 0 for no limit.
    pub max_down: Option<u32>,
    /// Upload limit in bytes per second; 0 for no limit.
    pub max_up: Option<u32>,
    /// Alternative download limit in bytes per second; 0 for none.
    pub alt_max_down: Option<u32>,
    /// Alternative upload limit in bytes per second; 0 for none.
    pub alt_max_up: Option<u32>,
}

/// A category that is removed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveCategory {
    /// Name of the category, which must exist.
    pub name: String,
}

/// Where `ctl queue` moves a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum QueuePlace {
    /// The first place.
    Top,
    /// One place towards the first.
    Up,
    /// One place towards the last.
    Down,
    /// The last place.
    Bottom,
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
    /// A torrent was removed.
    Removed(Named),
    /// The choices for a torrent were changed.
    Changed(Named),
    /// The move of a torrent's content was recorded, and begins.
    Moving(Named),
    /// A verification will begin.
    Verifying(Named),
    /// A torrent was paused.
    Paused(Named),
    /// A torrent was resumed.
    Resumed(Named),
    /// A torrent was moved in the queue.
    Reordered(Named),
    /// One of the categories that were asked for.
    Category(CategoryReply),
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

/// The folder and the goal of a category, and whether requests can change it.
#[derive(Debug, Serialize, Deserialize)]
pub struct CategoryReply {
    /// Name of the category, by which torrents refer to it.
    pub name: String,
    /// Folder for the content of new torrents; `None` for that of the daemon.
    pub folder: Option<String>,
    /// The ratio after which its torrents are paused.
    pub seed_ratio: Option<f64>,
    /// Seconds of serving after which its torrents are paused.
    pub seed_seconds: Option<u64>,
    /// Torrents in the category.
    pub torrents: u64,
    /// Whether it is set in the configuration, so that requests cannot change it.
    pub configured: bool,
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
