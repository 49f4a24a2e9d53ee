//! Threads that take work units, let the backend search them, and report hits and progress.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

use hashlane_sha::Sha256Digest;

use crate::backend::SearchBackend;
use crate::filter::Filter;
use crate::hit::Hit;
use crate::space::Space;
use crate::tables::{Candidate, Tables};
use crate::units::{Batch, Units};

/// The progress of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Number of completed work units.
    pub done: u64,
    /// Number of completed work units before the first incomplete one. A search can be resumed
    /// there.
    pub done_in_order: u64,
    /// Number of work units in this run.
    pub total: u64,
    /// Number of messages that were hashed twice.
    pub hashes: u64,
}

/// A string whose checksum matches.
pub(crate) enum Found {
    Hit(Hit),
    /// The fingerprint of a hit that the filter rules out.
    Rejected(Sha256Digest),
}

/// The state that the threads of a search share.
pub(crate) struct Workers<'a> {
    spaces: &'a [Space],
    units: &'a Units,
    backend: &'a dyn SearchBackend,
    filter: &'a Filter,
    cancel: &'a AtomicBool,
    /// Set when the search must end without a request of the caller.
    pub(crate) is_over: AtomicBool,
    queue: Mutex<Queue>,
    total: u64,
    done: AtomicU64,
    hashes: AtomicU64,
    /// For each thread, the number of work units handed out before its current batch.
    positions: Vec<AtomicU64>,
}

/// The work units that no thread has taken yet.
struct Queue {
    /// Ranges in reverse order of the search.
    ranges: Vec<Range<u64>>,
    n_taken: u64,
}

impl<'a> Workers<'a> {
    /// Returns the shared state of a search of these work units, in this order.
    pub(crate) fn new(
        spaces: &'a [Space],
        units: &'a Units,
        mut ranges: Vec<Range<u64>>,
        backend: &'a dyn SearchBackend,
        filter: &'a Filter,
        cancel: &'a AtomicBool,
    ) -> Self {
        for range in &mut ranges {
            range.end = range.end.min(units.total());
        }
        ranges.retain(|range| !range.is_empty());
        ranges.reverse();
        let total = ranges.iter().map(|range| range.end - range.start).sum();
        let n_threads = (backend.n_workers().get() as u64).min(total).max(1);
        Self {
            spaces,
            units,
            backend,
            filter,
            cancel,
            is_over: AtomicBool::new(false),
            queue: Mutex::new(Queue { ranges, n_taken: 0 }),
            total,
            done: AtomicU64::new(0),
            hashes: AtomicU64::new(0),
            positions: (0..n_threads).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn n_threads(&self) -> usize {
        self.positions.len()
    }

    /// Works as thread number `thread` until all work units are done or the search is cancelled.
    pub(crate) fn work(&self, thread: usize, found: &SyncSender<Found>) {
        let mut next = self.take(thread);
        while let Some(first) = next {
            let index = first.space;
            let tables = Tables::new(&self.spaces[index]);
            let mut search = self.backend.prepare(thread, &tables);
            next = Some(first);
            // Reuse the tables while batches belong to the same space.
            while let Some(batch) = next.take_if(|batch| batch.space == index) {
                let mut on_candidate = |candidate: Candidate| {
                    let hit = tables.digits(candidate).and_then(|digits| {
                        Hit::check(
                            &self.spaces[index],
                            &digits,
                            batch.unit_of(candidate.prefix),
                        )
                    });
                    if let Some(hit) = hit {
                        let is_accepted = self.filter.accepts(&hit);
                        // The receiver exists until all threads have ended.
                        let _ = found.send(if is_accepted {
                            Found::Hit(hit)
                        } else {
                            Found::Rejected(hit.fingerprint())
                        });
                    }
                };
                let mut left = batch.prefixes.clone();
                while !left.is_empty() {
                    if self.is_over() && left.start > batch.prefixes.start {
                        // The work units of the batch do not count as done.
                        return;
                    }
                    let searched = search.search(left.clone(), &mut on_candidate);
                    self.hashes.fetch_add(searched.hashes, Ordering::SeqCst);
                    left.start = searched.end;
                }
                let n_units = batch.units.end - batch.units.start;
                self.done.fetch_add(n_units, Ordering::SeqCst);
                next = self.take(thread);
            }
        }
    }

    /// Takes the next batch, or returns `None` at the end of the search.
    fn take(&self, thread: usize) -> Option<Batch> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        self.positions[thread].store(queue.n_taken, Ordering::SeqCst);
        if self.is_over() {
            return None;
        }
        let range = queue.ranges.last_mut()?;
        let limit = self.backend.units_per_call(thread).get();
        let batch = self.units.batch(range, limit);
        range.start = batch.units.end;
        if range.is_empty() {
            queue.ranges.pop();
        }
        queue.n_taken += batch.units.end - batch.units.start;
        Some(batch)
    }

    fn is_over(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn progress(&self) -> Progress {
        let positions = self.positions.iter();
        let positions = positions.map(|position| position.load(Ordering::SeqCst));
        Progress {
            done: self.done.load(Ordering::SeqCst),
            done_in_order: positions.min().unwrap_or(0),
            total: self.total,
            hashes: self.hashes.load(Ordering::SeqCst),
        }
    }
}
