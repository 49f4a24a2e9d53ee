//! The trait of devices that search for candidates, and several devices as one.

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::time::Instant;

use crate::tables::{Candidate, Tables};

/// A device that hashes the messages of [`Tables`] and returns candidates.
///
/// The search prepares a space of strings as tables, and each worker thread requests a
/// [`TableSearch`] for them from the backend. The backend hashes; the search decodes every
/// candidate and checks its checksum again with separate code. A backend may therefore return
/// candidates whose checksum does not match, but it must not miss any that match.
///
/// Workers are numbered from 0 to [`Self::n_workers`] - 1. They may differ in speed: all workers
/// take work units from one queue.
pub trait SearchBackend: fmt::Debug + Send + Sync {
    /// Returns the name that is shown to users, for example `sha256d_x16_avx512`.
    fn name(&self) -> String;

    /// Returns the number of threads that drive the device.
    fn n_workers(&self) -> NonZeroUsize;

    /// Returns the number of messages per second that a worker hashes twice.
    fn hashes_per_second(&self, worker: usize) -> f64;

    /// Returns the number of messages per second that all workers together hash twice.
    fn total_hashes_per_second(&self) -> f64 {
        let workers = 0..self.n_workers().get();
        workers.map(|worker| self.hashes_per_second(worker)).sum()
    }

    /// Returns the maximum number of work units that a worker takes at once.
    ///
    /// A work unit has about half a million hashes. Devices with thousands of lanes need several
    /// work units at once.
    fn units_per_call(&self, worker: usize) -> NonZeroU64 {
        let _ = worker;
        NonZeroU64::MIN
    }

    /// Prepares tables for one worker, for example by copying them to the device.
    fn prepare<'t>(&'t self, worker: usize, tables: &'t Tables<'_>) -> Box<dyn TableSearch + 't>;

    /// Measures the seconds that worker 0 needs for these prefixes, without the time for hashing.
    fn seconds_besides_hashing(&self, tables: &Tables<'_>, prefixes: Range<u128>) -> f64 {
        let before = Instant::now();
        let mut search = self.prepare(0, tables);
        let hashes = search_all(&mut *search, prefixes);
        before.elapsed().as_secs_f64() - hashes as f64 / self.hashes_per_second(0)
    }

    /// Returns the reason if a device has stopped working. A backend with such a device continues
    /// on the CPU, so a failure costs time but no results.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// Tables prepared for one worker of a [`SearchBackend`].
pub trait TableSearch {
    /// Hashes messages whose strings start with one of these prefixes, and calls `on_candidate`
    /// for each match. Begins with the first prefix, and ends after at least one prefix.
    ///
    /// The search asks again for the prefixes that are left, unless it was cancelled meanwhile. A
    /// call should therefore take at most 0.1 s. Prefixes are passed on to
    /// [`Tables::for_each_query`].
    fn search(
        &mut self,
        prefixes: Range<u128>,
        on_candidate: &mut dyn FnMut(Candidate),
    ) -> Searched;
}

/// The result of a call of [`TableSearch::search`]. Search backends make it, so a new field is a
/// breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The first prefix that was not searched.
    pub end: u128,
    /// Number of messages that were hashed twice.
    pub hashes: u64,
}

/// Searches all of these prefixes, and returns the number of hashes. Drops the candidates.
fn search_all(search: &mut dyn TableSearch, mut prefixes: Range<u128>) -> u64 {
    let mut hashes = 0;
    while !prefixes.is_empty() {
        let searched = search.search(prefixes.clone(), &mut |_| ());
        hashes += searched.hashes;
        prefixes.start = searched.end;
    }
    hashes
}

/// Several backends as one. Their workers share the queue of a search.
#[derive(Debug)]
pub struct SeveralBackends(Vec<Box<dyn SearchBackend>>);

impl SeveralBackends {
    /// Returns these backends as one. Searches with few work units use the first backends only.
    ///
    /// # Panics
    /// If there are no backends.
    pub fn new(backends: Vec<Box<dyn SearchBackend>>) -> Self {
        assert!(!backends.is_empty(), "no backends");
        Self(backends)
    }

    /// Returns the backend that a worker belongs to, and the worker's number in that backend.
    fn of_worker(&self, mut worker: usize) -> (&dyn SearchBackend, usize) {
        for backend in &self.0 {
            let n = backend.n_workers().get();
            if worker < n {
                return (&**backend, worker);
            }
            worker -= n;
        }
        panic!("worker {worker} after the last one");
    }
}

impl SearchBackend for SeveralBackends {
    fn name(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|backend| backend.name()).collect();
        names.join(" + ")
    }

    fn n_workers(&self) -> NonZeroUsize {
        let n = self.0.iter().map(|backend| backend.n_workers().get()).sum();
        NonZeroUsize::new(n).expect("each backend has workers")
    }

    fn hashes_per_second(&self, worker: usize) -> f64 {
        let (backend, worker) = self.of_worker(worker);
        backend.hashes_per_second(worker)
    }

    fn units_per_call(&self, worker: usize) -> NonZeroU64 {
        let (backend, worker) = self.of_worker(worker);
        backend.units_per_call(worker)
    }

    fn prepare<'t>(&'t self, worker: usize, tables: &'t Tables<'_>) -> Box<dyn TableSearch + 't> {
        let (backend, worker) = self.of_worker(worker);
        backend.prepare(worker, tables)
    }

    fn seconds_besides_hashing(&self, tables: &Tables<'_>, prefixes: Range<u128>) -> f64 {
        self.0[0].seconds_besides_hashing(tables, prefixes)
    }

    fn failure(&self) -> Option<String> {
        let failures: Vec<String> = self
            .0
            .iter()
            .filter_map(|backend| backend.failure())
            .collect();
        (!failures.is_empty()).then(|| failures.join("; "))
    }
}
