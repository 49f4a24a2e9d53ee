//! The measured speed of reading, used to detect rotational disks.

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use nix::sys::resource::{UsageWho, getrusage};

/// Bytes per second that every page cache reaches and no rotational disk does.
const DISK_LIMIT: u64 = 500_000_000;

/// Shorter loads are not measured: system calls take most of their time.
pub(crate) const MIN_SAMPLE_LEN: u64 = 128 << 10;

/// Number of times that a fast load may be followed by a slow one before fast loads are ignored.
const MAX_STRIKES: u8 = 3;

/// The order in which messages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadOrder {
    /// Any order: several messages side by side, which keeps all lanes busy.
    Any,
    /// In the order of their numbers, unless the bytes arrive faster than a rotational disk can deliver them.
    InOrderIfSlow,
    /// In the order of their numbers.
    InOrder,
}

/// The decision whether bytes may be read in any order, made after each load.
///
/// Files on a rotational disk need to be read in order. But the bytes may already be in the page
/// cache, and some disks, virtual ones in particular, wrongly report that they rotate. The speed of
/// the last load therefore decides: bytes that arrive faster than a rotational disk can deliver
/// them do not come from one. After a few fast loads that were followed by slow ones, reading stays
/// in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSpeed {
    is_fast: bool,
    /// Whether a load was measured.
    is_known: bool,
    strikes: u8,
    /// `false` if the disk is not rotational, or if the caller has fixed the order.
    is_measured: bool,
}

impl ReadSpeed {
    pub(crate) fn new(disk_seeks: bool) -> Self {
        Self {
            is_fast: !disk_seeks,
            is_known: !disk_seeks,
            strikes: 0,
            is_measured: disk_seeks,
        }
    }

    /// Returns the speed that a set of files asks for.
    pub(crate) fn of_order(order: ReadOrder) -> Self {
        match order {
            ReadOrder::Any => Self::new(false),
            ReadOrder::InOrderIfSlow => Self::new(true),
            ReadOrder::InOrder => Self::always_slow(),
        }
    }

    /// Returns the speed of a rotational disk, independent of measurements.
    pub(crate) fn always_slow() -> Self {
        Self {
            is_known: true,
            strikes: MAX_STRIKES,
            ..Self::new(true)
        }
    }

    /// Returns `true` if bytes may be read in any order.
    pub(crate) fn allows_any_order(self) -> bool {
        self.is_fast
    }

    /// Returns `true` if the speed is known. Otherwise a small load should measure it.
    pub(crate) fn is_known(self) -> bool {
        self.is_known
    }

    /// Returns `true` if the next load is to be measured.
    pub(crate) fn measures(self) -> bool {
        self.is_measured && self.strikes < MAX_STRIKES
    }

    /// Records for how long a load of `len_bytes` bytes waited; see [`Load::wait`].
    pub(crate) fn note(&mut self, len_bytes: u64, elapsed: Duration) {
        if !self.measures() || len_bytes < MIN_SAMPLE_LEN {
            return;
        }
        let is_fast =
            u128::from(len_bytes) * 1_000_000_000 >= u128::from(DISK_LIMIT) * elapsed.as_nanos();
        if self.is_fast && !is_fast {
            self.strikes += 1;
        }
        self.is_fast = is_fast;
        self.is_known = true;
    }
}

/// A running load of this thread.
pub(crate) struct Load {
    started: Instant,
    waits: Option<u64>,
}

impl Load {
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            waits: waits(),
        }
    }

    /// Returns the time since the start, or zero if the thread has not waited since: then all bytes were in memory. The time of
    /// such a load says nothing about the disk if other threads used the processor meanwhile.
    pub(crate) fn wait(&self) -> Duration {
        let elapsed = self.started.elapsed();
        if self.waits.is_some() && self.waits == waits() {
            return Duration::ZERO;
        }
        elapsed
    }
}

/// Returns how often this thread has waited, if the system counts it.
fn waits() -> Option<u64> {
    #[cfg(target_os = "linux")]
    let waits = getrusage(UsageWho::RUSAGE_THREAD)
        .ok()
        .and_then(|usage| usage.voluntary_context_switches().try_into().ok());
    #[cfg(not(target_os = "linux"))]
    let waits = None;
    waits
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const WARM: Duration = Duration::from_micros(500);
    const COLD: Duration = Duration::from_millis(30);
    const BATCH: u64 = 4 << 20;

    #[test]
    fn a_disk_that_does_not_rotate_is_always_fast() {
        let mut speed = ReadSpeed::new(false);
        speed.note(BATCH, COLD);
        assert!(speed.allows_any_order());
    }

    #[test]
    fn a_rotational_disk_is_slow_until_a_fast_load() {
        let mut speed = ReadSpeed::new(true);
        assert!(!speed.allows_any_order());
        speed.note(BATCH, COLD);
        assert!(!speed.allows_any_order());
        speed.note(1000, Duration::ZERO);
        assert!(!speed.allows_any_order(), "too few bytes to measure");
        speed.note(BATCH, WARM);
        assert!(speed.allows_any_order());
    }

    #[test]
    fn a_thread_that_sleeps_has_waited() {
        let load = Load::start();
        thread::sleep(COLD);
        assert!(load.wait() >= COLD);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_without_a_processor_has_not_waited() {
        let load = Load::start();
        let start = Instant::now();
        while start.elapsed() < COLD {}
        assert_eq!(load.wait(), Duration::ZERO);
    }

    #[test]
    fn three_fast_loads_followed_by_slow_ones_are_enough() {
        let mut speed = ReadSpeed::new(true);
        for _ in 0..3 {
            speed.note(BATCH, WARM);
            assert!(speed.allows_any_order());
            speed.note(BATCH, COLD);
            assert!(!speed.allows_any_order());
        }
        speed.note(BATCH, WARM);
        assert!(!speed.allows_any_order());
    }
}
