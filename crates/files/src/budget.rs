//! The budget of open files in the process, and the choice of files to close.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::sys;

/// Descriptors that are neither sockets nor content: standard streams, event queues, log files.
const RESERVED: u64 = 20;

/// The budget is the limit divided by this. libtorrent uses up to 80 % of it for connections.
const LIMIT_PER_FILE: u64 = 5;

/// Number of files that are allowed under any limit that leaves room for them.
const MIN_FILES: u64 = 8;

/// Under a lower limit, the descriptors that are left are counted.
const LOW_LIMIT: u64 = 256;

/// Largest budget: a larger cache saves nothing.
const MAX_FILES: u64 = 1024;

/// Time between two attempts while every open file is in use.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Attempts without progress before an open fails: one second.
const MAX_RETRIES: usize = 100;

/// A soft limit on the files kept open, shared by all caches and streams of the process.
#[derive(Debug)]
pub(crate) struct Budget {
    max_files: usize,
    n_open: AtomicUsize,
    /// Advances with every file opened. A file's last use is the value it was used at.
    clock: AtomicU64,
    /// Whether a wait for a descriptor was in vain, and no file was opened since.
    is_starved: AtomicBool,
    /// Held while files are closed, so that two threads never close twice as many as needed.
    caches: Mutex<Caches>,
}

/// The caches of a budget by the numbers of their registration.
#[derive(Debug)]
struct Caches {
    next_number: u64,
    by_number: BTreeMap<u64, Weak<dyn IdleFiles>>,
}

/// An open file that counts towards a budget.
#[derive(Debug)]
pub(crate) struct Slot(&'static Budget);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.n_open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A cache whose idle files a budget can close.
pub(crate) trait IdleFiles: Send + Sync + std::fmt::Debug {
    /// Appends the last use of each file that no caller holds.
    fn last_uses(&self, last_uses: &mut Vec<u64>);

    /// Closes up to `max_files` idle files whose last use is not after `last_use`. Returns the
    /// number of closed files.
    fn close_until(&self, last_use: u64, max_files: usize) -> usize;
}

impl Budget {
    /// Returns the budget of the process. Its size is fixed at the first call.
    pub(crate) fn of_process() -> &'static Self {
        static BUDGET: OnceLock<Budget> = OnceLock::new();
        BUDGET.get_or_init(|| Self::new(files_of_process(sys::max_open_files())))
    }

    pub(crate) const fn new(max_files: usize) -> Self {
        Self {
            max_files,
            n_open: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            is_starved: AtomicBool::new(false),
            caches: Mutex::new(Caches {
                next_number: 0,
                by_number: BTreeMap::new(),
            }),
        }
    }

    /// Registers a cache, and returns the number for [`Self::unregister`].
    pub(crate) fn register(&self, cache: Weak<dyn IdleFiles>) -> u64 {
        let mut caches = self.caches();
        let number = caches.next_number;
        caches.next_number += 1;
        caches.by_number.insert(number, cache);
        number
    }

    pub(crate) fn unregister(&self, number: u64) {
        self.caches().by_number.remove(&number);
    }

    /// Returns the stamp of a use at this moment.
    pub(crate) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Counts a file that was opened, for as long as the slot exists.
    pub(crate) fn take_slot(&'static self) -> Slot {
        self.n_open.fetch_add(1, Ordering::Relaxed);
        self.clock.fetch_add(1, Ordering::Relaxed);
        Slot(self)
    }

    /// Returns the number of files that may stay open.
    pub(crate) fn max_files(&self) -> usize {
        self.max_files
    }

    /// Returns `true` if more files are held by callers than the budget allows.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.n_open.load(Ordering::Relaxed) > self.max_files
    }

    /// Closes files if the budget is used up, so that one more file fits. If every file is in use,
    /// the budget is exceeded, and the system decides whether the next file opens.
    pub(crate) fn make_room(&self) {
        if self.n_open.load(Ordering::Relaxed) >= self.max_files {
            self.close_least_recently_used();
        }
    }

    /// Calls `open` until it no longer fails because no descriptor is left. Closes the least
    /// recently used files before each new attempt. If none can be closed, waits for at most one
    /// second. After a wait in vain, no other call waits until a file was opened.
    pub(crate) fn retry<T>(&self, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let mut n_retries = 0;
        loop {
            match open() {
                Err(error) if is_out_of_descriptors(&error) => {
                    if self.close_least_recently_used() > 0 {
                        continue;
                    }
                    if n_retries == MAX_RETRIES || self.is_starved.load(Ordering::Relaxed) {
                        self.is_starved.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                    n_retries += 1;
                    thread::sleep(RETRY_INTERVAL);
                }
                result => {
                    if self.is_starved.load(Ordering::Relaxed) {
                        self.is_starved.store(false, Ordering::Relaxed);
                    }
                    return result;
                }
            }
        }
    }

    /// Closes the least recently used files of all caches, and returns their number. Closes an
    /// eighth of the budget at once, because a search visits every cache.
    fn close_least_recently_used(&self) -> usize {
        let caches = self.caches();
        let caches: Vec<_> = caches
            .by_number
            .values()
            .filter_map(Weak::upgrade)
            .collect();
        let mut last_uses = Vec::new();
        for cache in &caches {
            cache.last_uses(&mut last_uses);
        }
        let n_to_close = (self.max_files / 8).clamp(1, last_uses.len().max(1));
        if last_uses.is_empty() {
            return 0;
        }
        let (_, &mut threshold, _) = last_uses.select_nth_unstable(n_to_close - 1);
        let mut n_closed = 0;
        for cache in &caches {
            n_closed += cache.close_until(threshold, n_to_close - n_closed);
        }
        n_closed
    }

    fn caches(&self) -> MutexGuard<'_, Caches> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the number of files that the process keeps open. All [`FileCache`](crate::FileCache)s
/// and [`ByteStream`](crate::ByteStream)s share this budget, which is fixed at its first use.
pub fn max_kept_open() -> usize {
    Budget::of_process().max_files()
}

/// Returns the number of files that may stay open under a limit of `max_descriptors`. Under a low limit, other open
/// descriptors can leave less room than the least number of files. One descriptor is left for other uses.
fn files_of_process(max_descriptors: u64) -> usize {
    let n_files = files_within(max_descriptors);
    if max_descriptors >= LOW_LIMIT {
        return n_files;
    }
    let free: Vec<File> = std::iter::from_fn(|| File::open("/").ok())
        .take(n_files + 1)
        .collect();
    free.len().saturating_sub(1).clamp(1, n_files)
}

/// Returns the number of files that may stay open under a limit of `max_descriptors`.
fn files_within(max_descriptors: u64) -> usize {
    let n_files = max_descriptors.saturating_sub(RESERVED) / LIMIT_PER_FILE;
    usize::try_from(n_files.clamp(MIN_FILES, MAX_FILES)).unwrap_or(usize::MAX)
}

/// Returns `true` if the system or the process had no descriptor left: EMFILE and ENFILE, which
/// [`io::ErrorKind`] does not distinguish. The numbers are the same on every Unix.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_in_vain_is_not_repeated() {
        const EMFILE: i32 = 24;
        let budget = Budget::new(1);
        let attempts = |n_failures: usize| {
            let mut n = 0;
            let result = budget.retry(|| {
                n += 1;
                let error = || io::Error::from_raw_os_error(EMFILE);
                if n > n_failures { Ok(()) } else { Err(error()) }
            });
            (n, result.is_ok())
        };
        assert_eq!(attempts(3), (4, true));
        assert_eq!(attempts(usize::MAX), (MAX_RETRIES + 1, false));
        assert_eq!(attempts(usize::MAX), (1, false));
        // Another file was closed.
        assert_eq!(attempts(0), (1, true));
        assert_eq!(attempts(3), (4, true));
    }
}
