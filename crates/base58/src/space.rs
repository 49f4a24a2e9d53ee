//! The strings of one pattern and one kind, counted and numbered by their prefixes.
//!
//! A string is a number in base 58, and strings of one length have the order of their numbers. The
//! strings of a pattern between two bounds are therefore consecutive in the order of the pattern,
//! and so are their prefixes. Prefixes are counted and numbered without gaps, and the search visits
//! no impossible prefix.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use crate::check::BASE;
use crate::check::CHECKSUM_LEN;
use crate::kind::Kind;
use crate::pattern::{DigitSet, Pattern};
use crate::value::Value;

/// Number of digits at the end that the checksum determines. They are a number of less than 32
/// bits: 58⁵ = 656,356,768.
pub(crate) const TAIL_LEN: usize = 5;

/// The strings of a pattern with a given number of leading zeros and one version.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) kind: Arc<Kind>,
    pub(crate) pattern: Pattern,
    bounds: Arc<Bounds>,
}

/// The lowest and the highest string of a kind for one version, number of leading zeros and length.
#[derive(Debug)]
pub(crate) struct Bounds {
    n_zeros: usize,
    /// Digits, the most significant first.
    pub(crate) low: Vec<u8>,
    pub(crate) high: Vec<u8>,
}

impl Bounds {
    /// Returns the bounds of all strings of a kind with `len` characters.
    pub(crate) fn all(kind: &Kind, len: usize) -> Vec<Arc<Self>> {
        let of = |version: &[u8], n_zeros| {
            let (low, high) = bounds(kind, version, n_zeros)?;
            Some(Arc::new(Self {
                n_zeros,
                low: digits_of(&low, len)?,
                // A longer number exceeds all strings of this length.
                high: digits_of(&high, len).unwrap_or_else(|| vec![BASE - 1; len]),
            }))
        };
        let n_zeros = 0..=len.min(kind.payload_len + CHECKSUM_LEN - 1);
        let versions = kind.versions.iter();
        versions
            .flat_map(|version| n_zeros.clone().filter_map(move |n| of(version, n)))
            .collect()
    }

    /// Returns the possible digits of a position, given the number of leading zeros.
    fn digits(&self, pattern: &Pattern, place: usize) -> DigitSet {
        let digits = pattern.places[place].digits;
        match place.cmp(&self.n_zeros) {
            Ordering::Less if digits.has(0) => DigitSet::only(0),
            Ordering::Less => DigitSet::none(),
            // Another zero would be one more leading zero.
            Ordering::Equal => digits.without(0),
            Ordering::Greater => digits,
        }
    }

    /// Returns `false` if no string of the pattern is within the bounds. Compares only the digits
    /// that both bounds share, and the digit after them. This rules out most patterns with errors
    /// before they are counted.
    fn may_have(&self, pattern: &Pattern) -> bool {
        for (place, (low, high)) in self.low.iter().zip(&self.high).enumerate() {
            if !self.digits(pattern, place).has_between(*low, *high) {
                return false;
            }
            if low != high {
                break;
            }
        }
        true
    }
}

impl Space {
    /// Returns the spaces of a pattern that are not empty. `all` holds the bounds of the kind's
    /// strings of this length.
    pub(crate) fn all(
        pattern: &Pattern,
        kind: &Arc<Kind>,
        all: &[Arc<Bounds>],
    ) -> impl Iterator<Item = Self> {
        let spaces = all.iter().filter(|bounds| bounds.may_have(pattern));
        let spaces = spaces.map(|bounds| Self {
            kind: Arc::clone(kind),
            pattern: pattern.clone(),
            bounds: Arc::clone(bounds),
        });
        spaces.filter(|space| space.count(space.len()) > 0)
    }

    /// Returns the number of digits.
    pub(crate) fn len(&self) -> usize {
        self.pattern.places.len()
    }

    /// Returns the possible digits of a position. Position 0 is the most significant.
    pub(crate) fn digits(&self, place: usize) -> DigitSet {
        self.bounds.digits(&self.pattern, place)
    }

    /// Returns the length of the longest prefix that a string within these bounds has, in
    /// characters.
    pub(crate) fn longest_prefix(
        pattern: &Pattern,
        kind: &Arc<Kind>,
        bounds: &Arc<Bounds>,
    ) -> usize {
        let space = Self {
            kind: Arc::clone(kind),
            pattern: pattern.clone(),
            bounds: Arc::clone(bounds),
        };
        let fits = (0..=space.len()).take_while(|len| space.count(*len) > 0);
        fits.count().saturating_sub(1)
    }

    /// Returns the number of prefixes of `len` digits among the strings within the bounds. The
    /// prefixes of the bounds themselves count even if no string within the bounds has them.
    /// Saturates at 128 bits.
    pub(crate) fn count(&self, len: usize) -> u128 {
        let (below_low, _) = self.rank(&self.bounds.low[..len]);
        let (below_high, is_high) = self.rank(&self.bounds.high[..len]);
        // The rank of the lower bound is at most the rank of the upper one. Where no prefix lies
        // between the bounds, they are equal.
        let n = below_high.minus(&below_low).to_u128();
        n.unwrap_or(u128::MAX).saturating_add(is_high.into())
    }

    /// Returns the prefixes of `len` digits as numbers in the order of all prefixes of the pattern.
    /// If 128 bits cannot number them, the range has all numbers and ends at [`u128::MAX`].
    pub(crate) fn prefixes(&self, len: usize) -> Range<u128> {
        let (below_low, _) = self.rank(&self.bounds.low[..len]);
        let (below_high, is_high) = self.rank(&self.bounds.high[..len]);
        let end = below_high.to_u128();
        let end = end.and_then(|end| end.checked_add(is_high.into()));
        match (below_low.to_u128(), end) {
            (Some(first), Some(end)) => first..end,
            _ => 0..u128::MAX,
        }
    }

    /// Returns the number of prefixes of the pattern that are less than `prefix`, and whether
    /// `prefix` is a prefix of the pattern.
    ///
    /// The number is exact: at most the number with the digits of `prefix`, which is at most the
    /// greatest [`Value`].
    fn rank(&self, prefix: &[u8]) -> (Value, bool) {
        // From the last digit to the first. After each digit, `n_below` counts the prefixes less
        // than the digits seen so far.
        let mut n_below = Value::default();
        let mut is_prefix = true;
        let mut n_after = Value::from(1_u64);
        for (place, digit) in prefix.iter().enumerate().rev() {
            let digits = self.digits(place);
            let has = digits.has(*digit);
            let n_less = n_after.times(digits.n_below(*digit) as u64);
            n_below = if has { n_less.plus(&n_below) } else { n_less };
            is_prefix &= has;
            n_after = n_after.times(digits.len() as u64);
        }
        (n_below, is_prefix)
    }
}

/// Returns the lowest and the highest number of a payload with its checksum that starts with
/// `version` and has exactly `n_zeros` leading zero bytes.
pub(crate) fn bounds(kind: &Kind, version: &[u8], n_zeros: usize) -> Option<(Value, Value)> {
    let len = kind.payload_len + CHECKSUM_LEN;
    let after_version = 8 * (len - version.len()) as u32;
    let start = Value::from_bytes(version);
    let shift = |value: Value| value.shifted_left(after_version);
    let one = Value::from(1_u64);
    let (low, high) = (shift(start), shift(start.plus(&one)).minus(&one));
    let top = 8 * (len - n_zeros) as u32;
    let (min, max) = (
        Value::power_of_two(top - 8),
        Value::power_of_two(top).minus(&one),
    );
    let (low, high) = (low.max(min), high.min(max));
    (low <= high).then_some((low, high))
}

/// Returns a number as `len` digits, the most significant first, or `None` if it has more digits.
pub(crate) fn digits_of(value: &Value, len: usize) -> Option<Vec<u8>> {
    let mut digits = vec![0; len];
    let mut rest = *value;
    for digit in digits.iter_mut().rev() {
        let (quotient, remainder) = rest.divided_by(BASE.into());
        (rest, *digit) = (quotient, remainder as u8);
    }
    (rest == Value::default()).then_some(digits)
}
