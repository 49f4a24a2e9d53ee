//! Download and upload rates over the last seconds. libtorrent's own rates take longer to settle.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(4);

/// Computes the rates of one torrent.
#[derive(Debug, Default)]
pub(crate) struct RateMeter {
    /// Bytes received and sent until a time, the oldest first.
    samples: VecDeque<(Instant, u64, u64)>,
}

impl RateMeter {
    /// Records the bytes received and sent so far, and returns both rates in bytes per second.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a rate is an estimate, and not negative"
    )]
    pub(crate) fn update(&mut self, now: Instant, down: u64, up: u64) -> (u64, u64) {
        self.samples.push_back((now, down, up));
        // A sample that is older than the window is its beginning.
        while self
            .samples
            .get(1)
            .is_some_and(|(when, ..)| now - *when >= WINDOW)
        {
            self.samples.pop_front();
        }
        let (since, down_then, up_then) = self.samples[0];
        let seconds = (now - since).as_secs_f64();
        let rate = |bytes: u64| {
            if seconds > 0.0 {
                (bytes as f64 / seconds) as u64
            } else {
                0
            }
        };
        (
            rate(down.saturating_sub(down_then)),
            rate(up.saturating_sub(up_then)),
        )
    }

    /// Discards all records.
    pub(crate) fn reset(&mut self) {
        self.samples.clear();
    }
}
