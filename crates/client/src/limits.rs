//! Limits of serving.

use std::num::NonZeroU32;
use std::time::Duration;

use hashlane_api::RatesPatch;

/// Limits after which a torrent is no longer served.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// Changes rate limits.
pub(crate) fn change(patch: RatesPatch, max_down: &mut Option<u32>, max_up: &mut Option<u32>) {
    for (limit, new) in [(max_down, patch.max_down), (max_up, patch.max_up)] {
        if let Some(new) = new {
            *limit = new.map(NonZeroU32::get);
        }
    }
}
