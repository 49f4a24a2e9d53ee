//! The reason why no string of a kind matches a text.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::check::CHECKSUM_LEN;
use crate::check::{Alphabet, BASE};
use crate::kind::Kind;
use crate::pattern::Pattern;
use crate::space::{Bounds, Space, bounds};
use crate::value::Value;

/// The reason why no string of a kind matches a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The name of the kind.
    pub kind: String,
    /// The part that does not match.
    pub reason: Reason,
}

/// The part of a text that does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The number of characters does not match.
    Length {
        /// Number of characters in the text.
        found: usize,
        /// Number of characters in the shortest string of the kind.
        min: usize,
        /// Number of characters in the longest string of the kind.
        max: usize,
    },
    /// A character is impossible after those before it. All strings of this length lie between
    /// `first` and `last`.
    Character {
        /// The position of the character, from 0.
        position: usize,
        /// The first string of this length.
        first: String,
        /// The last string of this length.
        last: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = &self.kind;
        match &self.reason {
            Reason::Length { found, min, max } if min == max => {
                write!(f, "{found} characters, and {kind} has {min}")
            }
            Reason::Length { found, min, max } => {
                write!(f, "{found} characters, and {kind} has {min} to {max}")
            }
            Reason::Character {
                position,
                first,
                last,
            } => {
                let (n, position) = (first.len(), position + 1);
                write!(
                    f,
                    "character {position} does not fit: {kind} of {n} characters goes from {first} to {last}"
                )
            }
        }
    }
}

/// The numbers of a kind's strings with one version and a given number of leading zero bytes.
struct Interval {
    n_zeros: usize,
    low: Value,
    high: Value,
}

impl Mismatch {
    /// Returns the reason why no string of the kind matches a pattern.
    pub(crate) fn of(pattern: &Pattern, kind: &Arc<Kind>) -> Self {
        Self {
            kind: kind.name.to_string(),
            reason: reason(pattern, kind),
        }
    }
}

fn reason(pattern: &Pattern, kind: &Arc<Kind>) -> Reason {
    let n = pattern.places.len();
    let (min, max) = lengths(kind).into_inner();
    let length = Reason::Length { found: n, min, max };
    if !(min..=max).contains(&n) {
        return length;
    }
    // The bounds with the longest matching prefix are the best explanation.
    let mut best = None;
    let mut reason = length;
    for bounds in Bounds::all(kind, n) {
        let fits = Space::longest_prefix(pattern, kind, &bounds);
        if best.is_none_or(|best| fits > best) {
            best = Some(fits);
            reason = Reason::Character {
                position: fits.min(n - 1),
                first: characters(&bounds.low, kind.alphabet),
                last: characters(&bounds.high, kind.alphabet),
            };
        }
    }
    reason
}

/// Returns the range of lengths of a kind's strings, in characters. Empty if the kind has no
/// strings.
pub(crate) fn lengths(kind: &Kind) -> RangeInclusive<usize> {
    let intervals = intervals(kind);
    let lens = |end: fn(&Interval) -> Value| {
        let lens = intervals.iter();
        lens.map(move |interval| interval.n_zeros + n_digits(end(interval)))
    };
    let min = lens(|interval| interval.low).min().unwrap_or(1);
    let max = lens(|interval| interval.high).max().unwrap_or(0);
    min..=max
}

fn intervals(kind: &Kind) -> Vec<Interval> {
    let of_version = |version| {
        let all_zeros = 0..kind.payload_len + CHECKSUM_LEN;
        all_zeros.filter_map(move |n_zeros| {
            let (low, high) = bounds(kind, version, n_zeros)?;
            Some(Interval { n_zeros, low, high })
        })
    };
    let versions = kind.versions.iter().map(AsRef::as_ref);
    versions.flat_map(of_version).collect()
}

fn characters(digits: &[u8], alphabet: Alphabet) -> String {
    digits
        .iter()
        .map(|digit| alphabet.character(*digit))
        .collect()
}

/// Returns the number of digits of a number in base 58.
fn n_digits(value: Value) -> usize {
    let mut rest = value;
    let mut n = 0;
    while rest != Value::default() {
        rest = rest.divided_by(BASE.into()).0;
        n += 1;
    }
    n
}
