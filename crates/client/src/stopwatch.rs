//! Sums of time.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The time for which something was under way, in one or several periods. A period that has not ended counts up to now, so
/// a value does not have to be updated while it grows.
///
/// As JSON, it is the number of seconds. A value that is read from JSON does not run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, extend("minimum" = 0)))]
#[serde(into = "f64", from = "f64")]
pub struct Stopwatch {
    /// The sum of all periods that have ended, in seconds.
    seconds: f64,
    /// The start of the current period.
    since: Option<Instant>,
}

impl Stopwatch {
    /// Returns the time up to now in seconds.
    pub fn seconds(&self) -> f64 {
        let running = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.seconds + running.as_secs_f64()
    }

    /// Returns this time together with that of earlier periods. It runs on if this one does.
    #[must_use]
    pub fn after(mut self, seconds: f64) -> Self {
        self.seconds += seconds;
        self
    }

    /// Starts a period at `now`, unless one has started.
    pub(crate) fn start(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// Ends the current period at `now`.
    pub(crate) fn stop(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.seconds += (now - since).as_secs_f64();
        }
    }
}

impl From<Stopwatch> for f64 {
    fn from(stopwatch: Stopwatch) -> Self {
        stopwatch.seconds()
    }
}

impl From<f64> for Stopwatch {
    fn from(seconds: f64) -> Self {
        Self {
            seconds,
            since: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seconds of the periods that have ended.
    fn ended(stopwatch: &Stopwatch) -> f64 {
        Stopwatch {
            since: None,
            ..*stopwatch
        }
        .seconds()
    }

    #[test]
    fn periods_add_up() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut stopwatch = Stopwatch::from(10.0);
        stopwatch.stop(at(0));
        assert!((ended(&stopwatch) - 10.0).abs() < 1e-9);
        stopwatch.start(at(1));
        // It runs already.
        stopwatch.start(at(2));
        stopwatch.stop(at(4));
        assert!((ended(&stopwatch) - 13.0).abs() < 1e-9);
        stopwatch.stop(at(9));
        stopwatch.start(at(20));
        stopwatch.stop(at(21));
        assert!((ended(&stopwatch) - 14.0).abs() < 1e-9);
    }

    #[test]
    fn a_period_counts_before_its_end() {
        let mut stopwatch = Stopwatch::default();
        let Some(past) = Instant::now().checked_sub(Duration::from_secs(5)) else {
            // The machine has just started.
            return;
        };
        stopwatch.start(past);
        assert!(stopwatch.seconds() >= 5.0);
        assert!(stopwatch.after(7.0).seconds() >= 12.0);
        assert!(f64::from(stopwatch) >= 5.0);
    }
}
