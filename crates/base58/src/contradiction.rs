//! Why a text can be no string of a kind.

use std::fmt;
use std::sync::Arc;

use crate::alphabet::Alphabet;
use crate::check::CHECKSUM_LEN;
use crate::kind::Kind;
use crate::pattern::Pattern;
use crate::space::{Space, bounds, digits_of};
use crate::value::Value;

/// Why a text can be no string of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The name of the kind.
    pub kind: String,
    /// What does not fit.
    pub reason: Reason,
}

/// What does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The number of characters.
    Length {
        /// How many there are.
        found: usize,
        /// How many there must be at least.
        least: usize,
        /// How many there can be at most.
        most: usize,
    },
    /// A character, after those before it: all strings of that length lie between two others.
    Character {
        /// Which one, from 0 on.
        position: usize,
        /// The first of those strings.
        first: String,
        /// The last.
        last: String,
    },
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = &self.kind;
        match &self.reason {
            Reason::Length { found, least, most } if least == most => {
                write!(f, "{found} characters, and {kind} has {least}")
            }
            Reason::Length { found, least, most } => {
                write!(f, "{found} characters, and {kind} has {least} to {most}")
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

impl Contradiction {
    /// Of a pattern that no string of the kind fits.
    pub(crate) fn of(pattern: &Pattern, kind: &Arc<Kind>) -> Self {
        let n = pattern.places.len();
        let all = kind.versions.iter().flat_map(|version| {
            let zeros = 0..kind.payload_len + CHECKSUM_LEN;
            zeros.filter_map(move |n_zeros| {
                Some((version, n_zeros, bounds(kind, version, n_zeros)?))
            })
        });
        let all: Vec<_> = all.collect();
        let lens = |value: fn(&(Value, Value)) -> &Value| {
            all.iter()
                .map(move |(_, n_zeros, bounds)| n_zeros + n_digits(value(bounds)))
        };
        let least = lens(|bounds| &bounds.0).min().unwrap_or(0);
        let most = lens(|bounds| &bounds.1).max().unwrap_or(0);
        let kind_name = kind.name.to_string();
        if !(least..=most).contains(&n) {
            let reason = Reason::Length {
                found: n,
                least,
                most,
            };
            return Self {
                kind: kind_name,
                reason,
            };
        }
        // The bounds that it stays within for longest.
        let mut reason = Reason::Length {
            found: n,
            least,
            most,
        };
        let mut best = None;
        for (version, n_zeros, (low, high)) in &all {
            let (Some(low), Some(high)) = (digits_of(low, n), digits_of(high, n)) else {
                continue;
            };
            let fits = Space::beginning_that_fits(pattern, kind, version, *n_zeros);
            if best.is_none_or(|best| fits > best) {
                best = Some(fits);
                reason = Reason::Character {
                    position: fits.min(n - 1),
                    first: characters(&low, kind.alphabet),
                    last: characters(&high, kind.alphabet),
                };
            }
        }
        Self {
            kind: kind_name,
            reason,
        }
    }
}

fn characters(digits: &[u8], alphabet: Alphabet) -> String {
    digits
        .iter()
        .map(|digit| alphabet.character(*digit))
        .collect()
}

/// How many digits a number has in base 58.
fn n_digits(value: &Value) -> usize {
    let mut rest = *value;
    let mut n = 0;
    while rest != Value::default() {
        rest = rest.divided_by(crate::BASE.into()).0;
        n += 1;
    }
    n
}
