//! Comparisons of the files of served torrents with their state at the last verifications.
//!
//! One job compares the files of all torrents for which that is due. A client with thousands of idle torrents so has one job
//! every few seconds, rather than one for each torrent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::inbox::Message;
use crate::stored::StoredTorrent;
use crate::worker::{Turn, Worker};

/// Minimum time between two comparisons.
const INTERVAL: Duration = Duration::from_secs(5);

/// Time after which the next comparison starts, however long the last one took.
const MAX_INTERVAL: Duration = Duration::from_secs(3600);

/// Comparisons take at most one part in this many of the time.
const MAX_SHARE: u32 = 400;

/// The schedule of comparisons.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    is_running: bool,
    /// The earliest time of the next one; `None` before the first.
    next: Option<Instant>,
}

impl Comparison {
    /// Returns `true` if a comparison may start.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        !self.is_running && self.next.is_none_or(|next| now >= next)
    }

    /// Compares the files of torrents, which have these numbers, on the worker's thread. [`Message::Compared`] follows.
    pub(crate) fn start(&mut self, worker: &Worker, torrents: Vec<(usize, Arc<StoredTorrent>)>) {
        if torrents.is_empty() {
            return;
        }
        self.is_running = true;
        // It is short, so it comes before verifications.
        worker.run_for_all(Turn::ByWork(0), move || {
            let started = Instant::now();
            let changed = torrents.iter().filter(|(_, files)| files.has_changed());
            Message::Compared {
                changed: changed.map(|(number, _)| *number).collect(),
                took: started.elapsed(),
            }
        });
    }

    /// Records the end of a comparison that took this long.
    pub(crate) fn end(&mut self, took: Duration) {
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
