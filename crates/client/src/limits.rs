//! Limits of rates and of serving.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

/// Limits after which a torrent is no longer served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeedLimits {
    /// The ratio, as [`sent_ratio`] counts it.
    pub ratio: Option<f64>,
    /// Time of serving, without pauses.
    pub time: Option<Duration>,
}

/// Returns the ratio of a torrent: sent bytes as a multiple of the received bytes, or of the length of the selected files if fewer
/// bytes were received.
#[expect(clippy::cast_precision_loss, reason = "a ratio needs no more digits")]
pub fn sent_ratio(sent: u64, received: u64, selected: u64) -> f64 {
    sent as f64 / received.max(selected).max(1) as f64
}

/// Rate limits of the session or of one torrent, in bytes per second. `None` leaves a limit as it is, `Some(None)` removes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Download limit; that of the session holds for all torrents together.
    #[serde(default, deserialize_with = "present")]
    pub max_down: Option<Option<NonZeroU32>>,
    /// Upload limit; that of the session holds for all torrents together.
    #[serde(default, deserialize_with = "present")]
    pub max_up: Option<Option<NonZeroU32>>,
}

impl Limits {
    /// Changes limits.
    pub(crate) fn change(self, max_down: &mut Option<u32>, max_up: &mut Option<u32>) {
        for (limit, new) in [(max_down, self.max_down), (max_up, self.max_up)] {
            if let Some(new) = new {
                *limit = new.map(NonZeroU32::get);
            }
        }
    }
}

/// Reads a field that is present and may be null.
#[expect(clippy::option_option, reason = "absent and null differ")]
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}
