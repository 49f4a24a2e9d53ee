//! What the rules of the configuration set.

use serde::{Deserialize, Serialize};

use crate::identity::Named;

/// The rules of a daemon, and what they set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rules {
    /// The names of the rules, in their order.
    pub rules: Vec<String>,
    /// The torrents for which a rule sets something, in the order of the queue.
    pub torrents: Vec<TorrentRules>,
}

/// What rules set for a torrent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TorrentRules {
    /// The torrent.
    #[serde(flatten)]
    pub torrent: Named,
    /// What is set, and by which rule.
    pub effects: Vec<RuleEffect>,
    /// Whether the torrent runs and has reached its goal, so that the daemon pauses it, or limits its uploads (`throttle`).
    pub reached_goal: bool,
}

/// Something that a rule sets for a torrent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleEffect {
    /// The name of the rule: the first one that sets it.
    pub rule: String,
    /// The key of the configuration: `seed-ratio`, `seed-time`, `idle-time`, `max-down`, `max-up`, `throttle`, `keep-seeders`, `category` or
    /// `label`.
    pub setting: String,
    /// The value: times in seconds, rates in bytes per second; `never` for no limit.
    pub value: String,
    /// Whether a person chose another value for the torrent, which wins.
    pub overridden: bool,
}
