//! Reads for which the system takes very long.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::FileIndex;

/// The file that a worker reads, for a thread that notices if the system does not answer. The worker may also be hashing what it
/// has read, which takes no longer than milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Reading(Mutex<Option<Read>>);

#[derive(Debug)]
struct Read {
    file: FileIndex,
    start: Instant,
    is_reported: bool,
}

impl Reading {
    /// Notes that the worker now opens or reads a file.
    pub(crate) fn start(&self, file: FileIndex) {
        *self.lock() = Some(Read {
            file,
            start: Instant::now(),
            is_reported: false,
        });
    }

    /// Notes that the worker now waits for something else than a file.
    pub(crate) fn stop(&self) {
        *self.lock() = None;
    }

    /// Returns the file if the worker has read it for longer than `patience`. Returns each read once.
    pub(crate) fn overdue(&self, patience: Duration) -> Option<FileIndex> {
        let mut reading = self.lock();
        let read = reading.as_mut()?;
        if read.is_reported || read.start.elapsed() < patience {
            return None;
        }
        read.is_reported = true;
        Some(read.file)
    }

    /// The value is valid whenever its lock is released, so that a poisoned lock is no problem.
    fn lock(&self) -> MutexGuard<'_, Option<Read>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_read_is_overdue_once() {
        let reading = Reading::default();
        assert_eq!(reading.overdue(Duration::ZERO), None);
        let file = FileIndex::new(3);
        reading.start(file);
        assert_eq!(reading.overdue(Duration::MAX), None);
        assert_eq!(reading.overdue(Duration::ZERO), Some(file));
        assert_eq!(reading.overdue(Duration::ZERO), None);
        reading.start(file);
        assert_eq!(reading.overdue(Duration::ZERO), Some(file));
        reading.start(file);
        reading.stop();
        assert_eq!(reading.overdue(Duration::ZERO), None);
    }
}
