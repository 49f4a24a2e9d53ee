//! The expected time of a search: for hashes, tables, and the iteration over prefixes.
//!
//! The rate of hashes is the rate of the backend. The two other rates are measured on a sample of
//! the spaces. They matter with two errors at unknown positions, when tens of thousands of spaces
//! have few hashes each. Sorting tables can then take longer than hashing.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::backend::SearchBackend;
use crate::check::encode_check;
use crate::filter::Filter;
use crate::hit::Hit;
use crate::kind::Kind;
use crate::space::Space;
use crate::tables::{Size, Tables};

/// Number of spaces in the sample.
const N_SAMPLES: usize = 16;

/// The measurement of the sample ends after this time.
const MEASURE_FOR: Duration = Duration::from_millis(25);

/// Hashes in each space of the sample: well below a millisecond.
const SAMPLE_HASHES: f64 = 4096.0;

/// The largest table in the sample, in sums. Larger tables take tens of milliseconds. They belong
/// to spaces in which hashing takes far longer than the tables.
const MAX_SAMPLE_SUMS: f64 = 16384.0;

/// Number of checks by a filter in a measurement: about a millisecond.
const N_CHECKS: u32 = 8;

/// The time to make an empty table, expressed in sums.
const SUMS_OF_EMPTY_TABLE: f64 = 256.0;

/// A part of a space that is to be searched.
#[derive(Clone, Copy)]
pub(crate) struct Part<'s> {
    pub(crate) space: &'s Space,
    pub(crate) size: &'s Size,
    pub(crate) n_prefixes: f64,
    /// The number of threads that make tables of the space.
    pub(crate) n_threads: f64,
}

/// Seconds for each unit of work of a search.
struct Rates {
    /// With all workers. The others are seconds of one worker.
    hash: f64,
    prefix: f64,
    table_sum: f64,
}

impl Part<'_> {
    fn hashes(&self) -> f64 {
        self.n_prefixes * self.size.hashes
    }

    /// Returns the expected number of accidental hits: one of 2³² candidates, and of 2⁴⁰ if a byte of the payload is known.
    fn accidental_hits(&self) -> f64 {
        let all = self.space.count(self.space.len()) as f64;
        let share = self.n_prefixes / (self.size.n_prefixes() as f64).max(1.0);
        let known = 32 + 8 * self.space.kind.suffix.len() as i32;
        all * share / 2_f64.powi(known)
    }

    fn sums(&self) -> f64 {
        self.size.n_sums + SUMS_OF_EMPTY_TABLE
    }
}

/// Returns the expected seconds that the workers of a backend need for these parts, and for the facts that rule out their
/// accidental hits.
pub(crate) fn seconds(parts: &[Part<'_>], filter: &Filter, backend: &dyn SearchBackend) -> f64 {
    let rates = Rates::measured(parts, backend);
    let n_workers = backend.n_workers().get() as f64;
    let mut checks: HashMap<&str, f64> = HashMap::new();
    let seconds = parts.iter().map(|part| {
        let kind = &part.space.kind;
        let check = checks.entry(&kind.name);
        let check = check.or_insert_with(|| seconds_to_check(kind, filter));
        let besides_hashing = part.n_prefixes * rates.prefix
            + part.sums() * part.n_threads * rates.table_sum
            + part.accidental_hits() * *check;
        part.hashes() * rates.hash + besides_hashing / n_workers
    });
    // `sum` of no numbers would be -0.0.
    seconds.fold(0.0, |sum, seconds| sum + seconds)
}

/// Returns the seconds that a filter needs for a hit of a kind. It derives the addresses of private keys.
fn seconds_to_check(kind: &Kind, filter: &Filter) -> f64 {
    if filter.known.is_none() || !kind.is_secret {
        return 0.0;
    }
    let version: &[u8] = kind.versions.first().map_or(&[], |version| version);
    let n_unknown = kind
        .payload_len
        .saturating_sub(version.len() + kind.suffix.len());
    let payload = [version, &vec![1; n_unknown], &kind.suffix].concat();
    let text = encode_check(&payload, kind.alphabet);
    let Some(hit) = Hit::intact(&text, std::slice::from_ref(kind)) else {
        return 0.0;
    };
    let started = Instant::now();
    for _ in 0..N_CHECKS {
        std::hint::black_box(filter.accepts(&hit));
    }
    started.elapsed().as_secs_f64() / f64::from(N_CHECKS)
}

impl Rates {
    /// Measures a sample of spaces that are spread over all parts.
    fn measured(parts: &[Part<'_>], backend: &dyn SearchBackend) -> Self {
        let hash = 1.0 / backend.total_hashes_per_second();
        let started = Instant::now();
        let small = parts
            .iter()
            .filter(|part| part.size.n_sums <= MAX_SAMPLE_SUMS);
        let small: Vec<_> = small.collect();
        let step = small.len().div_ceil(N_SAMPLES).max(1);
        let (mut n_sums, mut n_prefixes) = (0.0, 0.0);
        let (mut table_seconds, mut prefix_seconds) = (0.0, 0.0);
        for part in small.into_iter().step_by(step) {
            let before = Instant::now();
            let tables = Tables::new(part.space);
            table_seconds += before.elapsed().as_secs_f64();
            n_sums += part.sums();

            let prefixes = part.size.prefixes.clone();
            // At least one prefix, and at most all prefixes of the space.
            let n = (SAMPLE_HASHES / part.size.hashes.max(1.0)).clamp(1.0, 4096.0) as u128;
            let end = prefixes.start.saturating_add(n).min(prefixes.end);
            let besides_hashing = backend.seconds_besides_hashing(&tables, prefixes.start..end);
            prefix_seconds += besides_hashing.max(0.0);
            n_prefixes += end.saturating_sub(prefixes.start) as f64;
            if started.elapsed() > MEASURE_FOR {
                break;
            }
        }
        Self {
            hash,
            prefix: prefix_seconds / f64::max(n_prefixes, 1.0),
            table_sum: table_seconds / f64::max(n_sums, 1.0),
        }
    }
}
