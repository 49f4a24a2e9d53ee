//! A limit of the work that several searches do together.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Maximum number of entries of all folders to look at.
const MAX_ENTRIES: u64 = 1_000_000;

/// Maximum number of bytes to hash.
const MAX_BYTES: u64 = 256 << 20;

/// The work that some searches may still do, also on several threads: together, they look at a million entries
/// of folders and hash 256 MiB.
#[derive(Debug)]
pub struct SearchBudget {
    entries: AtomicU64,
    bytes: AtomicU64,
    is_exhausted: AtomicBool,
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self {
            entries: AtomicU64::new(MAX_ENTRIES),
            bytes: AtomicU64::new(MAX_BYTES),
            is_exhausted: AtomicBool::new(false),
        }
    }
}

impl SearchBudget {
    /// Returns `true` if a search was left out or cut short, because there was not enough left for it.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }

    /// Notes that a search was cut short.
    pub(crate) fn note_exhausted(&self) {
        self.is_exhausted.store(true, Ordering::Relaxed);
    }

    /// Returns the number of bytes that may still be hashed. Other searches can take them at any time.
    pub(crate) fn bytes_left(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Takes a number of bytes if they are left. Returns `false` otherwise.
    pub(crate) fn take_bytes(&self, n_bytes: u64) -> bool {
        let subtract = |left: u64| left.checked_sub(n_bytes);
        let order = Ordering::Relaxed;
        let is_left = self.bytes.fetch_update(order, order, subtract).is_ok();
        if !is_left {
            self.note_exhausted();
        }
        is_left
    }

    /// Takes as many entries as are left, `max` at most. Returns their number. The caller notes if entries are left out.
    pub(crate) fn take_entries(&self, max: u64) -> u64 {
        let order = Ordering::Relaxed;
        let subtract = |left: u64| Some(left.saturating_sub(max));
        let left = self.entries.fetch_update(order, order, subtract);
        left.unwrap_or_else(|left| left).min(max)
    }

    /// Gives back entries that were taken and not looked at.
    pub(crate) fn return_entries(&self, n_entries: u64) {
        self.entries.fetch_add(n_entries, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_share_what_is_left() {
        let budget = SearchBudget::default();
        assert_eq!(budget.take_entries(10_000), 10_000);
        budget.return_entries(9_000);
        assert_eq!(budget.take_entries(u64::MAX), MAX_ENTRIES - 1_000);
        assert_eq!(budget.take_entries(1), 0);
        assert!(!budget.is_exhausted());

        let budget = SearchBudget::default();
        assert!(budget.take_bytes(MAX_BYTES - 1));
        assert!(!budget.is_exhausted());
        assert!(!budget.take_bytes(2));
        assert!(budget.is_exhausted());
        assert!(budget.take_bytes(1));
        assert_eq!(budget.bytes_left(), 0);
    }
}
