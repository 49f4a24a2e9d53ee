//! A search: estimate, remaining work, execution.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hashlane_sha::Sha256Digest;

use crate::backend::SearchBackend;
use crate::check::Alphabet;
use crate::cost::{self, Part};
use crate::damage::Damage;
use crate::error::SearchError;
use crate::filter::Filter;
use crate::hit::Hit;
use crate::kind::Kind;
use crate::lookup;
use crate::mismatch::{self, Mismatch};
use crate::patience::Patience;
use crate::pattern::{self, Pattern};
use crate::space::{Bounds, Space};
use crate::tables::Size;
use crate::units::Units;
use crate::workers::{Found, Progress, Workers};

/// The maximum number of hits of one search. A text with more hits has too many unknown characters
/// for a decision, and further hits would only fill memory.
pub const MAX_HITS: usize = 100_000;

/// Interval of progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Number of hits that may wait for the caller before threads block.
const MAX_PENDING_HITS: usize = 1024;

/// A search for all strings of some kinds that a damaged text can have been.
#[derive(Debug)]
pub struct Search {
    /// The pattern of each kind, without errors at unknown positions.
    patterns: Vec<(Arc<Kind>, Pattern)>,
    spaces: Vec<Space>,
    /// The amount of work in each space.
    sizes: Vec<Size>,
    /// The work units of all spaces, or the reason why they cannot be numbered. Without numbered
    /// work units, a search still has an estimate.
    units: Result<Units, SearchError>,
    /// Whether some of the spaces are missing.
    is_part: bool,
    /// Facts that rule out hits.
    filter: Arc<Filter>,
}

/// The cost of a search, and the number of hits to expect.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Number of possible strings, without regard to the checksum. Saturates at [`u128::MAX`].
    pub candidates: u128,
    /// Number of messages to hash twice, averaged over all payloads.
    pub hashes: f64,
    /// Expected number of candidates whose checksum matches by accident: one of 2³².
    pub accidental_hits: f64,
    /// Names of the kinds with candidates.
    pub kinds: Vec<String>,
    /// Whether the numbers are lower bounds: some of the strings are left out (see
    /// [`Search::is_part`]), or too many to be counted in 128 bits.
    pub is_lower_bound: bool,
}

/// Options of a search. Write `..Options::default()` in a literal, because options may be added.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The work units to search, in this order, or `None` for all of [`Search::n_units`].
    pub units: Option<Vec<Range<u64>>>,
}

/// An event of a running search. A program must not overlook an event, so a new event is a breaking
/// change.
#[derive(Debug)]
pub enum Event {
    /// A string was found.
    Hit(Hit),
    /// Work was done.
    Progress(Progress),
}

/// The end of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Whether all requested work units were searched.
    pub is_complete: bool,
    /// Whether the search ended because of [`MAX_HITS`].
    pub has_too_many_hits: bool,
    /// Number of strings that were found and that the filter ruled out.
    pub n_rejected: u64,
    /// The work that was done.
    pub progress: Progress,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl Search {
    /// Prepares the search for the strings that `text` can have been.
    ///
    /// # Errors
    /// A [`SearchError`] if the text is not a pattern, or a kind cannot be searched for. A text
    /// without candidates is not an error: see [`Self::estimate`].
    pub fn new(text: &str, damage: Damage, kinds: &[Kind]) -> Result<Self, SearchError> {
        Self::new_until(text, damage, kinds, &|| false)
    }

    /// Prepares the same search as [`Self::new`], unless `is_over` returns `true` first. Two errors
    /// at unknown positions make tens of thousands of patterns, which takes seconds to prepare.
    ///
    /// # Errors
    /// The errors of [`Self::new`], and [`SearchError::Ended`] soon after `is_over` returns `true`.
    pub fn new_until(
        text: &str,
        damage: Damage,
        kinds: &[Kind],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, SearchError> {
        Self::prepare(text, damage, kinds, &Patience::new(is_over, None))
    }

    /// Returns the same search as [`Self::new_until`], or only a part of it if preparing all of it
    /// takes longer than `time`. Then [`Self::is_part`] returns `true`, and the search is only good
    /// for lower bounds of the cost. A part has candidates: if none is found in `time`, all of the
    /// search is prepared, which takes up to some seconds.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new_until`].
    pub fn part_within(
        text: &str,
        damage: Damage,
        kinds: &[Kind],
        time: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, SearchError> {
        // A time that no clock reaches is no limit.
        let until = Instant::now().checked_add(time);
        let part = Self::prepare(text, damage, kinds, &Patience::new(is_over, until))?;
        if part.is_part && part.estimate().candidates == 0 {
            // Otherwise it would look as if no string fits.
            return Self::new_until(text, damage, kinds, is_over);
        }
        Ok(part)
    }

    fn prepare(
        text: &str,
        damage: Damage,
        kinds: &[Kind],
        patience: &Patience<'_>,
    ) -> Result<Self, SearchError> {
        for kind in kinds {
            kind.check().map_err(|reason| SearchError::Kind {
                kind: kind.name.to_string(),
                reason,
            })?;
        }
        let mut without_errors = Vec::new();
        let mut spaces = Vec::new();
        let mut n_left = kinds.len();
        for alphabet in Alphabet::ALL {
            let kinds = kinds.iter().filter(|kind| kind.alphabet == alphabet);
            let kinds = kinds.map(|kind| (Arc::new(kind.clone()), mismatch::lengths(kind)));
            let kinds: Vec<_> = kinds.collect();
            let lengths = kinds.iter().map(|(_, lengths)| lengths.clone());
            let Some(lengths) =
                lengths.reduce(|a, b| *a.start().min(b.start())..=*a.end().max(b.end()))
            else {
                continue;
            };
            let patterns = pattern::read(text, damage, alphabet)?;
            let pattern = patterns[0].clone();
            // Half of the time of these kinds.
            let until = patience.share(kinds.len(), 2 * n_left);
            let is_over = || patience.is_over(until);
            let patterns = pattern::with_errors(patterns, damage.errors, &lengths, &is_over);
            patience.check()?;
            for (kind, lengths) in kinds {
                let until = patience.share(1, n_left);
                n_left -= 1;
                without_errors.push((Arc::clone(&kind), pattern.clone()));
                let mut bounds: HashMap<usize, Vec<Arc<Bounds>>> = HashMap::new();
                let with_gap = |pattern| pattern::with_gap(pattern, damage.gap, &lengths);
                for (position, pattern) in patterns.iter().flat_map(with_gap).enumerate() {
                    // A part has at least the strings without errors.
                    if position > 0 && patience.is_over(until) {
                        patience.check()?;
                        break;
                    }
                    let len = pattern.places.len();
                    if lengths.contains(&len) {
                        let of_len = bounds.entry(len);
                        let bounds = of_len.or_insert_with(|| Bounds::all(&kind, len));
                        spaces.extend(Space::all(&pattern, &kind, bounds));
                    }
                }
            }
        }
        // Patterns with the fewest errors first.
        spaces.sort_by_key(|space| space.pattern.errors);
        let sizes: Vec<Size> = spaces.iter().map(Size::of).collect();
        Ok(Self {
            patterns: without_errors,
            units: Units::new(&sizes),
            spaces,
            sizes,
            is_part: patience.is_part.get(),
            filter: Arc::default(),
        })
    }

    /// Returns this search with facts that rule out hits. Only hits that agree with them are reported, and count for
    /// [`MAX_HITS`]. If the facts are the hashes in all possible addresses, no candidate is hashed.
    #[must_use]
    pub fn filtered(mut self, filter: Arc<Filter>) -> Self {
        self.filter = filter;
        self
    }

    /// Returns `true` if some of the strings are left out; see [`Self::part_within`].
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// Returns the cost of the whole search without doing any of it.
    pub fn estimate(&self) -> Estimate {
        let mut estimate = Estimate {
            candidates: 0,
            hashes: 0.0,
            accidental_hits: 0.0,
            kinds: Vec::new(),
            is_lower_bound: self.is_part,
        };
        for (space, size) in self.spaces.iter().zip(&self.sizes) {
            let candidates = space.count(space.len());
            estimate.is_lower_bound |= candidates == u128::MAX || !size.is_exact();
            estimate.candidates = estimate.candidates.saturating_add(candidates);
            estimate.hashes += size.hashes * size.n_prefixes() as f64;
            let name = &space.kind.name;
            if !estimate.kinds.iter().any(|known| known == name) {
                estimate.kinds.push(name.to_string());
            }
            // A known suffix rules out candidates as additional checksum bits would.
            let known = 32 + 8 * space.kind.suffix.len() as i32;
            estimate.accidental_hits += candidates as f64 / 2_f64.powi(known);
        }
        if self.filter.known.is_some() {
            // Of 2¹⁶⁰ keys, one owns a known address.
            estimate.accidental_hits = 0.0;
        }
        if self.is_lookup() {
            estimate.hashes = 0.0;
        }
        estimate
    }

    /// Returns `true` if known addresses are looked up, and no candidate is hashed.
    fn is_lookup(&self) -> bool {
        lookup::is_possible(&self.spaces, &self.filter)
    }

    /// Returns the expected number of hashes in the given work units. Work units from
    /// [`Self::n_units`] on do not count.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] if the work units cannot be numbered.
    pub fn hashes_in(&self, units: &[Range<u64>]) -> Result<f64, SearchError> {
        let all = self.units()?;
        if self.is_lookup() {
            return Ok(0.0);
        }
        let hashes = units.iter().map(|units| all.hashes_in(units));
        Ok(hashes.fold(0.0, |sum, hashes| sum + hashes))
    }

    /// Returns the expected seconds that the workers of `backend` need for the given work units, or
    /// for all work units. The latter need not be numbered.
    ///
    /// Takes about 25 ms, to measure the work that is not hashing.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] if `units` are given and the work units cannot be numbered.
    pub fn seconds_in(
        &self,
        units: Option<&[Range<u64>]>,
        backend: &dyn SearchBackend,
    ) -> Result<f64, SearchError> {
        let n_workers = backend.n_workers().get() as f64;
        let part = |(index, n_units, n_prefixes): (usize, u64, f64)| Part {
            space: &self.spaces[index],
            size: &self.sizes[index],
            n_prefixes,
            n_threads: n_workers.min(n_units as f64),
        };
        let parts: Vec<Part<'_>> = match (units, &self.units) {
            (Some(units), _) => {
                let all = self.units()?;
                let parts = units.iter().flat_map(|units| all.parts_of(units));
                parts.map(part).collect()
            }
            (None, Ok(all)) => all.parts_of(&(0..all.total())).map(part).collect(),
            (None, Err(_)) => {
                let sizes = self.sizes.iter().enumerate();
                let whole =
                    |(index, size): (usize, &Size)| (index, u64::MAX, size.n_prefixes() as f64);
                sizes.map(whole).map(part).collect()
            }
        };
        if self.is_lookup() {
            return Ok(0.0);
        }
        Ok(cost::seconds(&parts, &self.filter, backend))
    }

    /// Returns the reason for each kind without candidates. Errors at unknown positions are not
    /// considered.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        self.patterns
            .iter()
            .filter(|(kind, pattern)| {
                let bounds = Bounds::all(kind, pattern.places.len());
                Space::all(pattern, kind, &bounds).next().is_none()
            })
            .map(|(kind, pattern)| Mismatch::of(pattern, kind))
            .collect()
    }

    /// Returns `true` if some candidates are private keys or seeds.
    pub fn is_secret(&self) -> bool {
        self.spaces.iter().any(|space| space.kind.is_secret)
    }

    /// Returns the number of work units.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] if the work units cannot be numbered.
    pub fn n_units(&self) -> Result<u64, SearchError> {
        Ok(self.units()?.total())
    }

    fn units(&self) -> Result<&Units, SearchError> {
        self.units.as_ref().map_err(SearchError::clone)
    }

    /// Searches with the workers of `backend`.
    ///
    /// Calls `on_event` on the calling thread for each hit as soon as it is found, and about ten
    /// times per second for progress. After `cancel` is set, the search ends when the current calls
    /// of the backend end, and reports all hits found until then.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] if the work units cannot be numbered.
    /// [`SearchError::Thread`] if the system cannot start all threads.
    pub fn run(
        &self,
        backend: &dyn SearchBackend,
        options: &Options,
        cancel: &AtomicBool,
        on_event: impl FnMut(Event),
    ) -> Result<Outcome, SearchError> {
        let started = Instant::now();
        if self.is_lookup() {
            return Ok(self.look_up(options, cancel, on_event));
        }
        let units = self.units()?;
        let ranges = options
            .units
            .clone()
            .unwrap_or_else(|| std::iter::once(0..units.total()).collect());
        let workers = Workers::new(&self.spaces, units, ranges, backend, &self.filter, cancel);
        let (has_too_many_hits, n_rejected) = std::thread::scope(|scope| {
            // The channel is bounded, so that threads wait for a slow caller.
            let (sender, receiver) = mpsc::sync_channel(MAX_PENDING_HITS);
            let mut threads = Vec::new();
            for thread in 0..workers.n_threads() {
                let (workers, sender) = (&workers, sender.clone());
                let work = move || workers.work(thread, &sender);
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(started) => threads.push(started),
                    Err(error) => {
                        // Each thread has its own part of the work.
                        workers.is_over.store(true, Ordering::Relaxed);
                        return Err(SearchError::Thread(error.to_string()));
                    }
                }
            }
            drop(sender);
            // If `on_event` panics, the scope waits for the workers, which need not go on.
            let end = EndOnDrop(&workers.is_over);
            let counts = report(&workers, &receiver, on_event);
            drop(end);
            // The end of a scope waits only for the closures, not for the threads.
            for thread in threads {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            Ok(counts)
        })?;
        let progress = workers.progress();
        Ok(Outcome {
            is_complete: progress.done == progress.total && !has_too_many_hits,
            has_too_many_hits,
            n_rejected,
            progress,
            elapsed: started.elapsed(),
        })
    }

    /// Reports the known addresses among the strings of all work units.
    fn look_up(
        &self,
        options: &Options,
        cancel: &AtomicBool,
        mut on_event: impl FnMut(Event),
    ) -> Outcome {
        let started = Instant::now();
        let mut n_hits = 0;
        lookup::look_up(&self.spaces, &self.filter, |hit| {
            on_event(Event::Hit(hit));
            n_hits += 1;
            n_hits < MAX_HITS && !cancel.load(Ordering::Relaxed)
        });
        let all = self.units.as_ref().map_or(0, Units::total);
        let units = options.units.iter().flatten();
        let wanted = units.map(|units| units.end.min(all).saturating_sub(units.start));
        let total = match options.units {
            Some(_) => wanted.sum(),
            None => all,
        };
        let has_too_many_hits = n_hits == MAX_HITS;
        Outcome {
            is_complete: !has_too_many_hits && !cancel.load(Ordering::Relaxed),
            has_too_many_hits,
            n_rejected: 0,
            progress: Progress {
                done: total,
                done_in_order: total,
                total,
                hashes: 0,
            },
            elapsed: started.elapsed(),
        }
    }
}

/// Tells the workers to end when it is dropped, also by a panic.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls `on_event` until all workers have ended. Returns `true` if there were too many hits, and the number of those that were
/// ruled out.
fn report(
    workers: &Workers<'_>,
    found: &mpsc::Receiver<Found>,
    mut on_event: impl FnMut(Event),
) -> (bool, u64) {
    // Several patterns can contain the same string.
    let mut known: HashSet<Sha256Digest> = HashSet::new();
    let mut rejected: HashSet<Sha256Digest> = HashSet::new();
    let mut n_rejected = 0;
    let mut has_too_many_hits = false;
    loop {
        // Read the progress before the hits: the hits of all completed work units are then reported
        // first.
        let progress = workers.progress();
        match found.recv_timeout(PROGRESS_INTERVAL) {
            Ok(_) if has_too_many_hits => {}
            Ok(Found::Rejected(fingerprint)) => {
                // Above the limit, a string can count several times.
                n_rejected += u64::from(rejected.len() == MAX_HITS || rejected.insert(fingerprint));
            }
            Ok(Found::Hit(hit)) => {
                if known.insert(hit.fingerprint()) {
                    on_event(Event::Hit(hit));
                }
                has_too_many_hits = known.len() == MAX_HITS;
                if has_too_many_hits {
                    workers.is_over.store(true, Ordering::Relaxed);
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => on_event(Event::Progress(progress)),
            Err(mpsc::RecvTimeoutError::Disconnected) => return (has_too_many_hits, n_rejected),
        }
    }
}
