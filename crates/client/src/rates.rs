//! Download and upload rates over the last seconds. libtorrent's own rates take longer to settle.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(4);

/// Number of samples for which an idle torrent has memory.
const MIN_SAMPLES: usize = 4;

/// The rates of one torrent in the last five minutes, the oldest first. Those before the first transfer are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateHistory {
    /// Download rates in bytes per second.
    pub down: VecDeque<u64>,
    /// Upload rates in bytes per second.
    pub up: VecDeque<u64>,
    /// Number of rates at the end that are 0.
    n_idle: usize,
}

impl RateHistory {
    /// Time between two rates.
    pub const INTERVAL: Duration = Duration::from_secs(2);

    /// Maximum number of rates: those of five minutes.
    pub const MAX_LEN: usize = 150;

    fn push(&mut self, down: u64, up: u64) {
        self.n_idle = if (down, up) == (0, 0) {
            self.n_idle + 1
        } else {
            0
        };
        if self.n_idle == RateHistory::MAX_LEN {
            // Most torrents of a large client are idle, and need no memory for that.
            *self = Self::default();
            return;
        }
        for (rates, rate) in [(&mut self.down, down), (&mut self.up, up)] {
            if rates.len() == RateHistory::MAX_LEN {
                rates.pop_front();
            }
            rates.push_back(rate);
        }
    }
}

/// Computes the rates of one torrent.
#[derive(Debug, Default)]
pub(crate) struct RateMeter {
    /// Bytes received and sent until a time, the oldest first.
    samples: VecDeque<(Instant, u64, u64)>,
    history: Arc<RateHistory>,
    /// The time when rates were last added to the history.
    recorded: Option<Instant>,
}

impl RateMeter {
    /// Records the bytes received and sent so far, and returns both rates in bytes per second.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a rate is an estimate, and not negative"
    )]
    pub(crate) fn update(&mut self, now: Instant, down: u64, up: u64) -> (u64, u64) {
        let start = now.checked_sub(WINDOW);
        if let ([idle], Some(start)) = (self.samples.make_contiguous(), start) {
            // Nothing was received or sent until a moment ago.
            idle.0 = idle.0.max(start);
        }
        self.samples.push_back((now, down, up));
        // One sample older than the window stays as the start of the window.
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
        let rates = (
            rate(down.saturating_sub(down_then)),
            rate(up.saturating_sub(up_then)),
        );
        if rates == (0, 0)
            && now - since >= WINDOW
            && let Some(start) = start
        {
            // One sample says the same.
            self.samples.clear();
            self.samples.shrink_to(MIN_SAMPLES);
            self.samples.push_back((start, down, up));
        }
        if self
            .recorded
            .is_none_or(|last| now - last >= RateHistory::INTERVAL)
        {
            self.recorded = Some(now);
            if rates != (0, 0) || !self.history.down.is_empty() {
                Arc::make_mut(&mut self.history).push(rates.0, rates.1);
            }
        }
        rates
    }

    /// Returns `true` if the rates and their history are 0, and remain so until bytes are received or sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.samples.len() <= 1 && self.history.down.is_empty()
    }

    /// Returns the rates of the last minutes.
    pub(crate) fn history(&self) -> Arc<RateHistory> {
        Arc::clone(&self.history)
    }

    /// Discards all samples but keeps the history.
    pub(crate) fn reset(&mut self) {
        self.samples = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_torrent_has_no_history() {
        let mut meter = RateMeter::default();
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        for second in 0..=10 {
            meter.update(at(second), 0, 0);
        }
        assert!(meter.is_idle());
        // The rate is that of the whole window, as if there were samples in it.
        assert_eq!(meter.update(at(11), 1000, 400), (250, 100));
        assert!(!meter.is_idle());
        for second in 12..200 {
            meter.update(at(second), 1000, 400);
            assert!(!meter.is_idle());
        }
        // The transfer is five minutes ago.
        for second in 200..330 {
            meter.update(at(second), 1000, 400);
        }
        assert!(meter.is_idle());
        assert_eq!(*meter.history(), RateHistory::default());
        assert_eq!(meter.update(at(330), 1000, 800), (0, 100));
    }

    #[test]
    fn the_history_is_bounded() {
        let mut meter = RateMeter::default();
        let start = Instant::now();
        for second in 0..1000 {
            meter.update(start + Duration::from_secs(second), second * 100, 0);
        }
        let history = meter.history();
        assert_eq!(history.down.len(), RateHistory::MAX_LEN);
        assert_eq!(history.up.len(), RateHistory::MAX_LEN);
        assert_eq!(history.down.back(), Some(&100));
    }
}
