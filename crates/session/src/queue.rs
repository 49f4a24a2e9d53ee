//! The queue: the torrents that run now, and those that wait for their turn.
//!
//! The first torrents in the order of the queue run, as many as the limits allow. A torrent that has transferred nothing for
//! long runs on without a place, so that it does not keep the others waiting. A forced torrent has no place either.
//! Metadata is fetched, and content is verified, without a turn.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Instant;

use hashlane_api::QueueMove;
use hashlane_client::{Activity, TorrentSnapshot};

use super::config::QueueLimits;

/// Returns the order after a move of some of the torrents, which keep the order that they have.
pub(super) fn moved<K: Copy + Eq + Hash>(mut order: Vec<K>, some: &[K], to: QueueMove) -> Vec<K> {
    let some: HashSet<K> = some.iter().copied().collect();
    let to = match to {
        QueueMove::Up => {
            for place in 1..order.len() {
                if some.contains(&order[place]) && !some.contains(&order[place - 1]) {
                    order.swap(place - 1, place);
                }
            }
            return order;
        }
        QueueMove::Down => {
            for place in (1..order.len()).rev() {
                if some.contains(&order[place - 1]) && !some.contains(&order[place]) {
                    order.swap(place - 1, place);
                }
            }
            return order;
        }
        QueueMove::Top => 0,
        QueueMove::Bottom => usize::MAX,
        QueueMove::To(place) => place,
    };
    let (some, mut others): (Vec<K>, Vec<K>) =
        order.into_iter().partition(|one| some.contains(one));
    let place = to.min(others.len());
    others.splice(place..place, some);
    others
}

/// The work of a torrent that needs a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Download,
    Upload,
}

impl Work {
    /// Returns the work of a torrent, and the bytes that it has transferred; `None` if it needs no place now.
    fn of(snapshot: &TorrentSnapshot) -> Option<(Self, u64)> {
        match snapshot.activity {
            Activity::Downloading | Activity::Serving | Activity::Paused => {}
            _ => return None,
        }
        if snapshot.is_complete || !snapshot.is_download {
            return Some((Self::Upload, snapshot.uploaded_bytes));
        }
        // The metadata of a magnet link that is not known yet needs no place.
        snapshot.name.as_ref()?;
        Some((Self::Download, snapshot.downloaded_bytes))
    }
}

/// The turn of a torrent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Whether the torrent waits.
    pub(super) is_waiting: bool,
    /// The work, and the transferred bytes when there were last new ones.
    transferred: Option<(Work, u64)>,
    /// The time when bytes were last transferred, or the turn began.
    since: Instant,
}

impl Turn {
    /// Returns the turn of a torrent that was added.
    pub(super) fn new(is_waiting: bool, now: Instant) -> Self {
        Self {
            is_waiting,
            transferred: None,
            since: now,
        }
    }

    /// Returns `true` if the torrent runs and transfers nothing.
    fn is_stalled(&mut self, transferred: (Work, u64), limits: &QueueLimits, now: Instant) -> bool {
        if self.transferred != Some(transferred) {
            (self.transferred, self.since) = (Some(transferred), now);
        }
        !self.is_waiting && now.duration_since(self.since) >= limits.stalled_after
    }
}

/// A torrent that may run.
pub(super) struct Candidate<'a> {
    pub(super) turn: &'a mut Turn,
    pub(super) is_forced: bool,
    pub(super) snapshot: &'a TorrentSnapshot,
}

/// Decides which torrents run. They are in the order of the queue, without those that a person paused or that wait for other
/// reasons.
pub(super) fn assign<'a>(
    limits: &QueueLimits,
    candidates: impl IntoIterator<Item = Candidate<'a>>,
    now: Instant,
) {
    let (mut downloads, mut uploads) = (0, 0);
    for Candidate {
        turn,
        is_forced,
        snapshot,
    } in candidates
    {
        if is_forced {
            turn.is_waiting = false;
            continue;
        }
        let Some(transferred) = Work::of(snapshot) else {
            continue;
        };
        if turn.is_stalled(transferred, limits, now) {
            continue;
        }
        let (n_running, limit) = match transferred.0 {
            Work::Download => (&mut downloads, limits.downloads),
            Work::Upload => (&mut uploads, limits.uploads),
        };
        let has_place = limit.is_none_or(|limit| *n_running < limit.get());
        if has_place {
            *n_running += 1;
        }
        if has_place && turn.is_waiting {
            turn.since = now;
        }
        turn.is_waiting = !has_place;
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn download(number: usize) -> TorrentSnapshot {
        let mut snapshot = TorrentSnapshot::new(number, "");
        snapshot.name = Some(number.to_string());
        snapshot.is_download = true;
        snapshot.activity = Activity::Downloading;
        snapshot
    }

    fn upload(number: usize) -> TorrentSnapshot {
        let mut snapshot = download(number);
        snapshot.is_complete = true;
        snapshot.activity = Activity::Serving;
        snapshot
    }

    /// Torrents in the order of the queue, with their turns.
    struct Queue {
        limits: QueueLimits,
        torrents: Vec<(TorrentSnapshot, Turn, bool)>,
    }

    impl Queue {
        fn new(
            limits: (Option<u32>, Option<u32>),
            torrents: Vec<TorrentSnapshot>,
            now: Instant,
        ) -> Self {
            let (downloads, uploads) = limits;
            let torrents = torrents.into_iter();
            Self {
                limits: QueueLimits {
                    downloads: downloads.and_then(NonZeroU32::new),
                    uploads: uploads.and_then(NonZeroU32::new),
                    stalled_after: 30 * MINUTE,
                },
                torrents: torrents
                    .map(|torrent| (torrent, Turn::new(true, now), false))
                    .collect(),
            }
        }

        /// Returns the numbers of the torrents that run.
        fn running(&mut self, now: Instant) -> Vec<usize> {
            let candidates =
                self.torrents
                    .iter_mut()
                    .map(|(snapshot, turn, is_forced)| Candidate {
                        turn,
                        is_forced: *is_forced,
                        snapshot,
                    });
            assign(&self.limits, candidates, now);
            let running = self.torrents.iter().filter(|(_, turn, _)| !turn.is_waiting);
            running
                .map(|(snapshot, ..)| snapshot.identity.number)
                .collect()
        }
    }

    #[test]
    fn torrents_move_together() {
        let order = || (0..6).collect::<Vec<u8>>();
        for (to, expected) in [
            (QueueMove::Top, [2, 4, 0, 1, 3, 5]),
            (QueueMove::Up, [0, 2, 1, 4, 3, 5]),
            (QueueMove::Down, [0, 1, 3, 2, 5, 4]),
            (QueueMove::Bottom, [0, 1, 3, 5, 2, 4]),
            (QueueMove::To(1), [0, 2, 4, 1, 3, 5]),
            (QueueMove::To(9), [0, 1, 3, 5, 2, 4]),
        ] {
            assert_eq!(moved(order(), &[4, 2], to), expected, "{to:?}");
        }
        // Those at the end stay there, in their order.
        assert_eq!(moved(order(), &[1, 0], QueueMove::Up), order());
        assert_eq!(moved(order(), &[4, 5], QueueMove::Down), order());
    }

    #[test]
    fn the_first_torrents_run() {
        let now = Instant::now();
        let torrents = vec![
            upload(0),
            download(1),
            download(2),
            upload(3),
            download(4),
            upload(5),
        ];
        let mut queue = Queue::new((Some(2), Some(1)), torrents, now);
        assert_eq!(queue.running(now), [0, 1, 2]);
        // A complete download makes a place for the next one, and waits for one among the uploads.
        queue.torrents[1].0.is_complete = true;
        assert_eq!(queue.running(now), [0, 2, 4]);
        queue.torrents.swap(0, 3);
        assert_eq!(queue.running(now), [3, 2, 4]);
        queue.limits = QueueLimits {
            downloads: None,
            uploads: None,
            ..queue.limits
        };
        assert_eq!(queue.running(now).len(), 6);
    }

    #[test]
    fn a_stalled_torrent_holds_no_place() {
        let start = Instant::now();
        let mut queue = Queue::new((Some(1), None), vec![download(0), download(1)], start);
        assert_eq!(queue.running(start), [0]);
        assert_eq!(queue.running(start + 29 * MINUTE), [0]);
        queue.torrents[0].0.downloaded_bytes = 1;
        assert_eq!(queue.running(start + 29 * MINUTE), [0]);
        assert_eq!(queue.running(start + 58 * MINUTE), [0]);
        // It runs on, and the next one runs too.
        assert_eq!(queue.running(start + 59 * MINUTE), [0, 1]);
        // As soon as it receives something, it has its place again.
        queue.torrents[0].0.downloaded_bytes = 2;
        assert_eq!(queue.running(start + 60 * MINUTE), [0]);
        // The wait of the other one does not count.
        queue.torrents[0].0.is_complete = true;
        assert_eq!(queue.running(start + 200 * MINUTE), [0, 1]);
        queue
            .torrents
            .push((download(2), Turn::new(true, start), false));
        assert_eq!(queue.running(start + 229 * MINUTE), [0, 1]);
        assert_eq!(queue.running(start + 230 * MINUTE), [0, 1, 2]);
    }

    #[test]
    fn a_forced_torrent_needs_no_place() {
        let now = Instant::now();
        let mut queue = Queue::new((Some(1), Some(1)), (0..3).map(download).collect(), now);
        queue.torrents[2].2 = true;
        assert_eq!(queue.running(now), [0, 2]);
    }

    #[test]
    fn torrents_at_other_work_have_no_place() {
        let now = Instant::now();
        let mut torrents: Vec<_> = (0..4).map(download).collect();
        torrents[0].activity = Activity::Verifying;
        torrents[1].activity = Activity::Metadata;
        (torrents[2].activity, torrents[2].name) = (Activity::Paused, None);
        let mut queue = Queue::new((Some(1), None), torrents, now);
        assert_eq!(queue.running(now), [3]);
    }
}
