//! Comparisons of the files of served torrents with their state at the last verifications.
//!
//! One job compares the files of all torrents of a disk for which that is due. A client with thousands of idle torrents so has one
//! job every few seconds, rather than one for each torrent.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::inbox::Message;
use crate::stored::StoredTorrent;
use crate::worker::{Turn, Workers};

/// Minimum time between two comparisons.
const INTERVAL: Duration = Duration::from_secs(5);

/// Time after which the next comparison starts, however long the last one took.
const MAX_INTERVAL: Duration = Duration::from_secs(3600);

/// Comparisons take at most one part in this many of the time.
const MAX_SHARE: u32 = 400;

/// The schedules of comparisons by the disks of files, `None` for local file systems.
#[derive(Debug, Default)]
pub(crate) struct Comparisons(HashMap<Option<PathBuf>, Comparison>);

impl Comparisons {
    /// Returns `true` if a comparison may start on some disk.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.0.is_empty() || self.0.values().any(|schedule| schedule.is_due(now))
    }

    /// Compares the files of torrents, which have these numbers, on the threads of their disks, if comparisons may start there.
    /// [`Message::Compared`] follows for each disk.
    pub(crate) fn start(
        &mut self,
        workers: &Workers,
        now: Instant,
        torrents: impl Iterator<Item = (usize, Arc<StoredTorrent>)>,
    ) {
        let mut due: HashMap<Option<PathBuf>, Vec<_>> = HashMap::new();
        for (number, stored) in torrents {
            let schedule = self.0.get(&stored.disk);
            if schedule.is_none_or(|schedule| schedule.is_due(now)) {
                let of_disk = due.entry(stored.disk.clone()).or_default();
                of_disk.push((number, stored));
            }
        }
        for (disk, torrents) in due {
            self.0.entry(disk.clone()).or_default().is_running = true;
            // It is short, so it comes before verifications.
            workers.run_for_all(disk.clone().as_deref(), Turn::ByWork(0), move || {
                let started = Instant::now();
                let changed = torrents.iter().filter(|(_, files)| files.has_changed());
                Message::Compared {
                    disk,
                    changed: changed.map(|(number, _)| *number).collect(),
                    took: started.elapsed(),
                }
            });
        }
    }

    /// Records the end of a comparison on a disk that took this long.
    pub(crate) fn end(&mut self, disk: Option<PathBuf>, took: Duration) {
        self.0.entry(disk).or_default().end(took);
    }
}

/// The schedule of comparisons on one disk.
#[derive(Debug, Default)]
struct Comparison {
    is_running: bool,
    /// The earliest time of the next one; `None` before the first.
    next: Option<Instant>,
}

impl Comparison {
    /// Returns `true` if a comparison may start.
    fn is_due(&self, now: Instant) -> bool {
        !self.is_running && self.next.is_none_or(|next| now >= next)
    }

    /// Records the end of a comparison that took this long.
    fn end(&mut self, took: Duration) {
        self.is_running = false;
        let pause = took.saturating_mul(MAX_SHARE);
        self.next = Some(Instant::now() + pause.clamp(INTERVAL, MAX_INTERVAL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_comparisons_are_rare() {
        let mut comparison = Comparison::default();
        let start = Instant::now();
        assert!(comparison.is_due(start));
        comparison.end(Duration::from_millis(1));
        let end = Instant::now();
        assert!(!comparison.is_due(start + Duration::from_millis(4_999)));
        assert!(comparison.is_due(end + INTERVAL));
        comparison.end(Duration::from_secs(1));
        assert!(!comparison.is_due(start + Duration::from_secs(399)));
        assert!(comparison.is_due(Instant::now() + Duration::from_secs(400)));
    }
}
