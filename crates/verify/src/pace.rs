//! Whether a disk that seeks is in the way.

use std::time::Duration;

/// Bytes a second that no rotating disk reaches, and any page cache does.
const DISK_LIMIT: u64 = 500_000_000;

/// Loads of fewer bytes say nothing: the time is that of the system calls.
pub(crate) const MIN_SAMPLE_LEN: u64 = 128 << 10;

/// How often a promise of speed may be broken before none is believed any more.
const MAX_STRIKES: u8 = 3;

/// Decides, load by load, whether bytes may be fetched in any order.
///
/// A disk that rotates wants its files in order. But its bytes may be in the page cache already,
/// and some disks that do not rotate say that they do (virtual ones, often). How fast the last
/// load was tells, on any system: what comes faster than such a disk can deliver did not come from
/// one. Whoever was promised speed and waits has been mistaken, goes back to reading in order, and
/// after a few mistakes stays there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    is_fast: bool,
    /// Whether there was a load that says something.
    is_known: bool,
    strikes: u8,
    /// Never: the disk does not seek, or nobody asked to care.
    cares: bool,
}

impl Pace {
    pub(crate) fn new(disk_seeks: bool) -> Self {
        Self {
            is_fast: !disk_seeks,
            is_known: !disk_seeks,
            strikes: 0,
            cares: disk_seeks,
        }
    }

    /// Whether bytes may be fetched in any order.
    pub(crate) fn allows_any_order(self) -> bool {
        self.is_fast
    }

    /// Whether anything is known of the disk by now. If not, a little of it is to be tried.
    pub(crate) fn is_known(self) -> bool {
        self.is_known
    }

    /// Notes how long it took to load `len_bytes` bytes.
    pub(crate) fn note(&mut self, len_bytes: u64, elapsed: Duration) {
        if !self.cares || len_bytes < MIN_SAMPLE_LEN || self.strikes == MAX_STRIKES {
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

#[cfg(test)]
mod tests {
    use super::*;

    const WARM: Duration = Duration::from_micros(500);
    const COLD: Duration = Duration::from_millis(30);
    const BATCH: u64 = 4 << 20;

    #[test]
    fn a_disk_that_does_not_seek_is_never_doubted() {
        let mut pace = Pace::new(false);
        pace.note(BATCH, COLD);
        assert!(pace.allows_any_order());
    }

    #[test]
    fn a_disk_that_seeks_has_to_show_that_it_does_not() {
        let mut pace = Pace::new(true);
        assert!(!pace.allows_any_order());
        pace.note(BATCH, COLD);
        assert!(!pace.allows_any_order());
        pace.note(1000, Duration::ZERO);
        assert!(!pace.allows_any_order(), "too few bytes to tell");
        pace.note(BATCH, WARM);
        assert!(pace.allows_any_order());
    }

    #[test]
    fn three_mistakes_are_enough() {
        let mut pace = Pace::new(true);
        for _ in 0..3 {
            pace.note(BATCH, WARM);
            assert!(pace.allows_any_order());
            pace.note(BATCH, COLD);
            assert!(!pace.allows_any_order());
        }
        pace.note(BATCH, WARM);
        assert!(!pace.allows_any_order());
    }
}
