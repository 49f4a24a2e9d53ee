//! The search for texts in an alphabet that contain a checksum. Kinds differ only in their [`Layout`].

use std::panic::resume_unwind;

use zeroize::Zeroizing;

use crate::kind::{Count, Kind, Likeness, Refusal, Repaired};
use crate::places::{Place, edited, for_each, read_as};

/// Maximum number of candidates: some seconds of one core.
const MAX_CANDIDATES: f64 = 4e7;

/// Number of candidates from which all cores search.
const PARALLEL: f64 = 1e5;

/// Number of candidates that are checked at once.
const BATCH: usize = 64;

/// The alphabet, the layout and the checksum of a kind.
pub(crate) trait Layout: Sync {
    /// The kind in words.
    const WHAT: &'static str;

    /// The characters by value.
    const ALPHABET: &'static str;

    /// `true` if the case of a letter matters.
    const HAS_CASE: bool;

    /// Number of bits of the checksum, and others that are known.
    const CHECKED_BITS: i32;

    /// Returns the fixed start of a text and the rest, or `None` for a text that looks different.
    fn split(text: &str) -> Option<(&'static str, &str)>;

    /// Returns the possible numbers of characters after this start.
    fn lens(start: &str) -> &'static [usize];

    /// Returns `true` if no other kind looks like a text with this start and these characters, apart from wrong ones.
    fn is_certain(start: &str, text: &str) -> bool;

    /// Returns the name of each valid text of a batch, and whether it is secret, by its number. A text is the values of its
    /// characters after the start.
    fn valid(start: &str, texts: &[Zeroizing<Vec<u8>>]) -> Vec<(usize, String, bool)>;
}

/// A kind that is searched for.
pub(crate) struct Searched<L>(pub(crate) L);

/// Maximum number of characters that no intact text has, in one that is of the kind all the same.
const MAX_WRONG: usize = 2;

/// Returns the start of a text and its places after it.
fn places<L: Layout>(text: &str) -> Option<(&'static str, Vec<Place>)> {
    let (start, rest) = L::split(text)?;
    let has = |is_of_case: fn(&char) -> bool| rest.chars().any(|c| is_of_case(&c));
    let is_mixed = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
    let places = read_as(rest, L::ALPHABET, L::HAS_CASE && is_mixed).ok()?;
    let is_near = |len: &usize| len.abs_diff(places.len()) <= MAX_WRONG;
    let n_wrong = places.iter().filter(|place| place.is_wrong).count();
    (L::lens(start).iter().any(is_near) && n_wrong <= MAX_WRONG).then_some((start, places))
}

/// Returns the texts that edits can have turned into these places.
fn patterns<L: Layout>(start: &str, places: &[Place], errors: u8) -> Vec<(Vec<Place>, u32)> {
    let lens = L::lens(start).iter();
    let n = L::ALPHABET.len();
    lens.flat_map(|len| edited(places.to_vec(), errors, *len, n))
        .collect()
}

fn count<L: Layout>(patterns: &[(Vec<Place>, u32)]) -> Result<Count, Refusal> {
    let n_values = |place: &Place| f64::from(place.values.count_ones());
    let candidates = patterns
        .iter()
        .map(|(places, _)| places.iter().map(n_values).product::<f64>());
    let candidates = candidates.sum();
    let accidental_hits = candidates / 2_f64.powi(L::CHECKED_BITS);
    Count {
        candidates,
        accidental_hits,
    }
    .within(MAX_CANDIDATES)
}

/// Returns the positions of a hit whose characters were not those of the text.
fn changed(start: &str, written: &[Place], pattern: &[Place], values: &[u8]) -> Vec<usize> {
    let is_moved = written.len() != pattern.len();
    let is_changed = |i: &usize| {
        let place = if is_moved { &pattern[*i] } else { &written[*i] };
        place.is_open() || place.values >> values[*i] & 1 == 0
    };
    (0..values.len())
        .filter(is_changed)
        .map(|i| i + start.len())
        .collect()
}

/// Returns the valid texts of patterns, some of them several times.
fn search<'p, L: Layout>(
    start: &'static str,
    written: &[Place],
    patterns: impl Iterator<Item = &'p (Vec<Place>, u32)>,
) -> Vec<Repaired> {
    let mut found = Vec::new();
    let mut texts = vec![Zeroizing::new(Vec::new()); BATCH];
    for (pattern, edits) in patterns {
        let mut check = |texts: &[Zeroizing<Vec<u8>>]| {
            for (number, what, is_secret) in L::valid(start, texts) {
                let values = &texts[number];
                let mut text = Zeroizing::new(String::with_capacity(start.len() + values.len()));
                text.push_str(start);
                let characters = values
                    .iter()
                    .map(|value| L::ALPHABET.as_bytes()[usize::from(*value)]);
                text.extend(characters.map(char::from));
                let changed = changed(start, written, pattern, values);
                found.push(Repaired {
                    text,
                    what,
                    is_secret,
                    edits: *edits,
                    changed,
                });
            }
        };
        let mut n = 0;
        for_each(pattern, |values| {
            texts[n].clear();
            texts[n].extend_from_slice(values);
            n += 1;
            if n == BATCH {
                check(&texts);
                n = 0;
            }
        });
        check(&texts[..n]);
    }
    found
}

impl<L: Layout> Kind for Searched<L> {
    fn recognize(&self, text: &str, _: bool) -> Option<Likeness> {
        let (start, _) = places::<L>(text)?;
        Some(if L::is_certain(start, text) {
            Likeness::Certain(L::WHAT.into())
        } else {
            Likeness::Possible
        })
    }

    fn count(&self, text: &str, errors: u8) -> Result<Count, Refusal> {
        let (start, places) = places::<L>(text).unwrap_or_default();
        count::<L>(&patterns::<L>(start, &places, errors))
    }

    fn originals(&self, text: &str, errors: u8) -> Result<(Vec<Repaired>, Count), Refusal> {
        let (start, written) = places::<L>(text).unwrap_or_default();
        let patterns = patterns::<L>(start, &written, errors);
        let count = count::<L>(&patterns)?;
        // Each core has every n-th pattern, as their sizes fall with the number of edits.
        let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_threads = if count.candidates < PARALLEL {
            1
        } else {
            n_threads
        };
        let mut found: Vec<Repaired> = std::thread::scope(|scope| {
            let search = |part| {
                let patterns = patterns.iter().skip(part).step_by(n_threads);
                search::<L>(start, &written, patterns)
            };
            let threads = (1..n_threads).map(|part| scope.spawn(move || search(part)));
            let threads: Vec<_> = threads.collect();
            let mut found = search(0);
            for thread in threads {
                found.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            found
        });
        found.sort_by(|one, other| {
            (one.text.as_str(), one.edits).cmp(&(other.text.as_str(), other.edits))
        });
        found.dedup_by(|later, first| later.text == first.text);
        found.sort_by_key(|repaired| repaired.edits);
        Ok((found, count))
    }

    fn max_errors(&self) -> u8 {
        2
    }
}
