//! Settings of the session that requests have changed, in one file.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use hashlane_api::{Goal, Target};

/// Settings of the session that requests have changed. Each of them wins over the configuration;
/// [`Target::Inherited`] leaves it to the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Session {
    /// Whether the alternative rate limits are in force.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alternative: bool,
    /// Whether torrents that programs add start paused, if the request does not say.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adds_paused: bool,
    /// Download limit of all torrents together in bytes per second.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    pub max_down: Target<NonZeroU32>,
    /// Upload limit of all torrents together in bytes per second.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    pub max_up: Target<NonZeroU32>,
    /// Alternative download limit in bytes per second.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    pub alt_max_down: Target<NonZeroU32>,
    /// Alternative upload limit in bytes per second.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    pub alt_max_up: Target<NonZeroU32>,
    /// Maximum number of active downloads.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    pub max_active_downloads: Target<NonZeroU32>,
    /// Maximum number of complete torrents that are served.
    #[serde(skip_serializing_if = "Target::is_inherited")]
    pub max_active_uploads: Target<NonZeroU32>,
    /// When torrents without another goal have been served for long enough.
    #[serde(skip_serializing_if = "Goal::is_inherited")]
    pub goal: Goal,
}
