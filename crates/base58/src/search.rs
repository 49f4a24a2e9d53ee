//! The search: what it would cost, and how it is done.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hashlane_sha::{Sha256, Sha256Digest, Sha256dKernel};
use zeroize::Zeroizing;

use crate::alphabet::Alphabet;
use crate::check::decode_check;
use crate::contradiction::Contradiction;
use crate::kind::{Kind, MAX_PAYLOAD_LEN};
use crate::pattern::{self, Damage, Pattern, PatternError};
use crate::space::Space;
use crate::tables::{self, Size, Tables};

/// The longest suffix of a payload that is searched for, in bytes. No kind has a longer one; if more
/// were known, going through the beginnings would take longer than the hashes, which [`Estimate`]
/// counts.
pub const MAX_SUFFIX_LEN: usize = 1;

/// Hashes in a unit of work: some 16 ms of the fastest kernels, and a fifth of a second of the slowest. A
/// search ends between two of them, and the last ones of its threads end as far apart.
const UNIT_HASHES: f64 = 524_288.0;

/// The most hits of one search. Where more strings fit, so much of it is unknown that nothing can be
/// decided, and they would only fill memory.
pub const MAX_HITS: usize = 100_000;

/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Why there is nothing to search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The text says nothing about a string.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A kind that is not searched for.
    #[error("{kind}: {reason}")]
    Kind {
        /// Its name.
        kind: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// More candidates than can be counted.
    #[error("there are more than 2^{bits} candidates, which nobody can search")]
    TooLarge {
        /// Bits of their number, rounded down.
        bits: u32,
    },
}

/// What there is to search: all strings that a text can have been, of some kinds.
#[derive(Debug)]
pub struct Search {
    /// What can have been meant, with errors at unknown places left aside, by kind.
    written: Vec<(Arc<Kind>, Pattern)>,
    spaces: Vec<Space>,
    /// How much there is to do in each of them.
    sizes: Vec<Size>,
}

/// What a search would cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Strings that are possible, but for the checksum.
    pub candidates: u128,
    /// Messages that are to be hashed twice, on average over all payloads.
    pub hashes: f64,
    /// How many candidates are expected to have a checksum that fits by accident: one of 2³².
    pub accidental_hits: f64,
    /// Names of the kinds that have candidates.
    pub kinds: Vec<String>,
}

/// A string whose checksum fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The string.
    pub text: Zeroizing<String>,
    /// The name of its kind.
    pub kind: String,
    /// Whether it can spend something.
    pub is_secret: bool,
    /// How many characters differ from the text that was given, but for their case and for what was
    /// unknown there.
    pub edits: u32,
    /// The payload, version first, without the checksum.
    pub payload: Zeroizing<Vec<u8>>,
    /// The unit of work in which it was found.
    pub unit: u64,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Units of work that are done.
    pub done: u64,
    /// How many of them are done without one before them that is not: from there on the search can go
    /// on later.
    pub done_in_order: u64,
    /// Units of work that there are.
    pub total: u64,
    /// Messages that were hashed twice.
    pub hashes: u64,
}

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kernel, as [`measure`](crate::measure) finds them.
    pub kernel: Sha256dKernel,
    /// Threads; `None` for as many as there are cores.
    pub threads: Option<NonZeroUsize>,
    /// Which units of work are to be done, in this order, of the [`Search::n_units`] that there are;
    /// `None` for all.
    pub units: Option<Vec<Range<u64>>>,
}

/// What happens in a search.
#[derive(Debug)]
pub enum Event {
    /// A string was found.
    Hit(Hit),
    /// Some more was done.
    Progress(Progress),
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Whether everything that was to be searched was.
    pub is_complete: bool,
    /// Whether it ended because there were [`MAX_HITS`].
    pub has_too_many_hits: bool,
    /// What was done.
    pub progress: Progress,
    /// On the clock.
    pub elapsed: Duration,
}

impl Hit {
    /// Tells one from another, and holds nothing secret.
    fn fingerprint(&self) -> Sha256Digest {
        let mut hasher = Sha256::new();
        hasher.update(self.kind.as_bytes());
        hasher.update(&[0]);
        hasher.update(self.text.as_bytes());
        hasher.finalize()
    }
}

impl Search {
    /// The search for what `text` can have been.
    ///
    /// # Errors
    /// A [`SearchError`]. That there are no candidates is none: see [`Self::estimate`].
    pub fn new(text: &str, damage: Damage, kinds: &[Kind]) -> Result<Self, SearchError> {
        kinds.iter().try_for_each(check_kind)?;
        let mut written = Vec::new();
        let mut spaces = Vec::new();
        for alphabet in Alphabet::ALL {
            let kinds = kinds.iter().filter(|kind| kind.alphabet == alphabet);
            let kinds: Vec<Arc<Kind>> = kinds.cloned().map(Arc::new).collect();
            if kinds.is_empty() {
                continue;
            }
            // The first is the one without errors.
            let patterns = pattern::read(text, damage, alphabet)?;
            for kind in kinds {
                written.push((Arc::clone(&kind), patterns[0].clone()));
                spaces.extend(
                    patterns
                        .iter()
                        .flat_map(|pattern| Space::all(pattern, &kind)),
                );
            }
        }
        let sizes = spaces.iter().map(tables::size).collect();
        Ok(Self {
            written,
            spaces,
            sizes,
        })
    }

    /// What the search would cost: told in milliseconds, without doing any of it.
    pub fn estimate(&self) -> Estimate {
        let mut estimate = Estimate {
            candidates: 0,
            hashes: 0.0,
            accidental_hits: 0.0,
            kinds: Vec::new(),
        };
        for (space, size) in self.spaces.iter().zip(&self.sizes) {
            let candidates = space.count(space.digits.len());
            estimate.candidates = estimate.candidates.saturating_add(candidates);
            estimate.hashes += size.hashes * size.end.saturating_sub(size.first) as f64;
            let name = &space.kind.name;
            if !estimate.kinds.iter().any(|known| known == name) {
                estimate.kinds.push(name.to_string());
            }
            // What the payload must end in is as good as more of a checksum.
            let known = 32 + 8 * space.kind.suffix.len() as i32;
            estimate.accidental_hits += candidates as f64 / 2_f64.powi(known);
        }
        estimate
    }

    /// Why there are no candidates of some of the kinds, errors at unknown places left aside.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let none = self
            .written
            .iter()
            .filter(|(kind, pattern)| Space::all(pattern, kind).is_empty());
        none.map(|(kind, pattern)| Contradiction::of(pattern, kind))
            .collect()
    }

    /// Whether there are candidates that could spend something.
    pub fn is_secret(&self) -> bool {
        self.spaces.iter().any(|space| space.kind.is_secret)
    }

    /// How many units of work there are.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`].
    pub fn n_units(&self) -> Result<u64, SearchError> {
        Ok(Units::new(&self.sizes)?.total())
    }

    /// Searches, and calls `on_event` on this thread for each hit as soon as it is found, and for
    /// progress some ten times a second. It ends early, between two units of work, when `cancel` is
    /// set; hits are never lost.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`].
    pub fn run(
        &self,
        options: &Options,
        cancel: &AtomicBool,
        mut on_event: impl FnMut(Event),
    ) -> Result<Outcome, SearchError> {
        let started = Instant::now();
        let spaces = &self.spaces;
        let units = Units::new(&self.sizes)?;
        let total = units.total();
        let mut ranges: Vec<Range<u64>> = match &options.units {
            None => std::iter::once(0..total).collect(),
            Some(ranges) => ranges
                .iter()
                .map(|range| range.start..range.end.min(total))
                .collect(),
        };
        ranges.retain(|range| !range.is_empty());
        let turns = ranges.iter().map(|range| range.end - range.start).sum();
        let threads = options
            .threads
            .or_else(|| std::thread::available_parallelism().ok());
        let threads = (threads.map_or(1, NonZeroUsize::get) as u64)
            .min(turns)
            .max(1);
        let work = Work {
            units,
            ranges,
            turns,
            cancel,
            is_over: AtomicBool::new(false),
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            hashes: AtomicU64::new(0),
            current: (0..threads).map(|_| AtomicU64::new(0)).collect(),
        };
        let mut has_too_many_hits = false;
        std::thread::scope(|scope| {
            // Bounded, so that threads wait for whoever hears of so many.
            let (sender, receiver) = mpsc::sync_channel(1024);
            let mut threads = Vec::new();
            for current in &work.current {
                let (work, sender) = (&work, sender.clone());
                threads
                    .push(scope.spawn(move || work.run(spaces, options.kernel, current, &sender)));
            }
            drop(sender);
            // The same string can come of several patterns.
            let mut known: HashSet<Sha256Digest> = HashSet::new();
            loop {
                // Before the hits: what it says to be done has had its hits heard.
                let now = work.progress();
                match receiver.recv_timeout(PROGRESS_EVERY) {
                    Ok(_) if has_too_many_hits => {}
                    Ok(hit) => {
                        if known.insert(hit.fingerprint()) {
                            on_event(Event::Hit(hit));
                        }
                        has_too_many_hits = known.len() == MAX_HITS;
                        if has_too_many_hits {
                            work.is_over.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => on_event(Event::Progress(now)),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
            // The scope alone would wait for what they do, and not for the threads to be gone.
            for thread in threads {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        let progress = work.progress();
        Ok(Outcome {
            is_complete: progress.done == progress.total && !has_too_many_hits,
            has_too_many_hits,
            progress,
            elapsed: started.elapsed(),
        })
    }
}

/// What the threads of a search share: units of work in turns, which one counter hands out.
struct Work<'a> {
    units: Units,
    /// Those that are to be searched, in this order.
    ranges: Vec<Range<u64>>,
    turns: u64,
    cancel: &'a AtomicBool,
    is_over: AtomicBool,
    next: AtomicU64,
    done: AtomicU64,
    hashes: AtomicU64,
    /// The turn that each thread is at.
    current: Vec<AtomicU64>,
}

impl Work<'_> {
    /// One thread's part, whose turn is `current`.
    fn run(
        &self,
        spaces: &[Space],
        kernel: Sha256dKernel,
        current: &AtomicU64,
        sender: &mpsc::SyncSender<Hit>,
    ) {
        let mut tables: Option<(usize, Tables<'_>)> = None;
        loop {
            let turn = self.next.fetch_add(1, Ordering::SeqCst).min(self.turns);
            current.store(turn, Ordering::SeqCst);
            if turn == self.turns
                || self.cancel.load(Ordering::Relaxed)
                || self.is_over.load(Ordering::Relaxed)
            {
                break;
            }
            let unit = self.unit_of(turn);
            let (space, numbers) = self.units.of(unit);
            let tables = match &mut tables {
                Some((of, tables)) if *of == space => tables,
                other => &mut other.insert((space, Tables::new(&spaces[space]))).1,
            };
            let n = tables.search(kernel, numbers, &mut |digits| {
                if let Some(hit) = hit(tables.space, digits, unit) {
                    // It is there until all threads have ended.
                    let _ = sender.send(hit);
                }
            });
            self.hashes.fetch_add(n, Ordering::SeqCst);
            self.done.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn progress(&self) -> Progress {
        let turns = self.current.iter().map(|turn| turn.load(Ordering::SeqCst));
        Progress {
            done: self.done.load(Ordering::SeqCst),
            done_in_order: turns.min().unwrap_or(0),
            total: self.turns,
            hashes: self.hashes.load(Ordering::SeqCst),
        }
    }

    /// The unit of work whose turn it is.
    fn unit_of(&self, turn: u64) -> u64 {
        let mut before = 0;
        for range in &self.ranges {
            let len = range.end - range.start;
            if turn - before < len {
                return range.start + (turn - before);
            }
            before += len;
        }
        unreachable!("there are as many turns as units")
    }
}

/// All beginnings of all spaces, cut into units of work of about the same size.
struct Units {
    /// For each space: the first unit behind it, the beginnings, and how many of them are in a unit.
    spaces: Vec<(u64, Range<u128>, u128)>,
}

impl Units {
    fn new(sizes: &[Size]) -> Result<Self, SearchError> {
        let mut total: u64 = 0;
        let mut of_spaces = Vec::with_capacity(sizes.len());
        for size in sizes {
            let per_unit = (UNIT_HASHES / size.hashes.max(1.0)).max(1.0) as u128;
            let n_units = size.end.saturating_sub(size.first).div_ceil(per_unit);
            let n_units = u64::try_from(n_units)
                .ok()
                .and_then(|n| total.checked_add(n));
            total = n_units.ok_or(SearchError::TooLarge { bits: 64 })?;
            of_spaces.push((total, size.first..size.end, per_unit));
        }
        Ok(Self { spaces: of_spaces })
    }

    fn total(&self) -> u64 {
        self.spaces.last().map_or(0, |(end, ..)| *end)
    }

    /// The space of a unit, and the beginnings in it.
    fn of(&self, unit: u64) -> (usize, Range<u128>) {
        let space = self.spaces.partition_point(|(end, ..)| *end <= unit);
        let before = space
            .checked_sub(1)
            .map_or(0, |before| self.spaces[before].0);
        let (_, beginnings, per_unit) = &self.spaces[space];
        let first = beginnings.start + u128::from(unit - before) * per_unit;
        (space, first..beginnings.end.min(first + per_unit))
    }
}

/// The candidate, if it is one of the kind indeed: checked from its text on, by nothing that the
/// search has used.
fn hit(space: &Space, digits: &[u8], unit: u64) -> Option<Hit> {
    let kind = &space.kind;
    let characters = digits.iter().map(|digit| kind.alphabet.character(*digit));
    let text = Zeroizing::new(characters.collect::<String>());
    let payload = decode_check(&text, kind.alphabet).ok()?;
    if !kind.has(&payload) {
        return None;
    }
    let written = space.places.iter().zip(text.chars());
    let differs = |written: char, found: char| !written.eq_ignore_ascii_case(&found);
    let edits = written.filter(|(place, found)| place.written.is_some_and(|c| differs(c, *found)));
    let edits = edits.count() as u32 + u32::from(space.errors);
    Some(Hit {
        text,
        kind: kind.name.to_string(),
        is_secret: kind.is_secret,
        edits,
        payload,
        unit,
    })
}

fn check_kind(kind: &Kind) -> Result<(), SearchError> {
    let version_len = kind
        .versions
        .iter()
        .map(|version| version.len())
        .max()
        .unwrap_or(0);
    let reason = if kind.payload_len > MAX_PAYLOAD_LEN {
        "payloads of more than 44 bytes are not searched for"
    } else if kind.suffix.len() > MAX_SUFFIX_LEN {
        "suffixes of more than 3 bytes are not searched for"
    } else if kind.payload_len <= version_len + kind.suffix.len() {
        "version and suffix leave nothing of the payload"
    } else {
        return Ok(());
    };
    Err(SearchError::Kind {
        kind: kind.name.to_string(),
        reason,
    })
}
