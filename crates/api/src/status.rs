//! Answers about all torrents together, and names of single ones.

use serde::{Deserialize, Serialize};

/// A limit of all torrents together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// The long name of its option, such as `max-down`.
    pub limit: String,
    /// The limit in the unit of the option, seconds for a time; `None` for no limit.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>", range(min = 0)))]
    pub value: Option<LimitValue>,
    /// The limit of the options and the configuration; `None` for no limit.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>", range(min = 0)))]
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

/// The state of a program that has torrents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// The version of the program.
    pub version: String,
    /// Process ID of the program.
    pub process: u32,
    /// The state folder of a daemon; `None` in other programs.
    pub state: Option<String>,
    /// Number of torrents, whatever they do.
    pub torrents: u64,
    /// Number of torrents that are downloaded now.
    pub downloading: u64,
    /// Number of torrents that are served now.
    pub serving: u64,
    /// Number of torrents that are verified now, or wait for it.
    pub verifying: u64,
    /// Number of torrents that wait for their turn in the queue.
    pub queued: u64,
    /// Number of torrents that are paused.
    pub paused: u64,
    /// Number of torrents that failed, have ended, or wait because of an error or for their content.
    pub failed: u64,
    /// Download rate of all torrents.
    pub down_bytes_per_second: u64,
    /// Upload rate of all torrents.
    pub up_bytes_per_second: u64,
    /// Download limit in force in bytes per second, with the schedule and the alternative limits; `None` for no limit.
    pub max_down: Option<u32>,
    /// Upload limit in force in bytes per second, with the schedule and the alternative limits; `None` for no limit.
    pub max_up: Option<u32>,
    /// Whether the alternative rate limits are on.
    pub alternative: bool,
    /// Whether torrents that programs add start paused, if the request does not say.
    pub adds_paused: bool,
    /// The limits that requests have set, which win over the configuration, by the long names of their options.
    pub requested_limits: Vec<String>,
    /// Bytes of content received, in a daemon since its state folder was made.
    pub received_bytes: u64,
    /// Bytes of content sent, in a daemon since its state folder was made.
    pub sent_bytes: u64,
    /// Files of the state folder that cannot be used, and the reason why there are no connections.
    pub problems: Vec<String>,
}
