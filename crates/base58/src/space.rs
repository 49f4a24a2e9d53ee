//! The strings of one pattern and one kind, numbered and counted by their prefixes.
//!
//! A string is a number in base 58, and strings of one length are ordered as their numbers are. The
//! strings of a pattern whose numbers lie between two bounds are therefore consecutive in the order of the
//! pattern, and so are their prefixes. Prefixes are counted and numbered without gaps, and the search
//! visits no impossible prefix.

use std::sync::Arc;

use crate::alphabet::BASE;
use crate::check::CHECKSUM_LEN;
use crate::kind::Kind;
use crate::pattern::{DigitSet, Pattern, Place};
use crate::value::Value;

/// Digits at the end that the checksum decides. They make a number of less than 32 bits:
/// 58⁵ = 656,356,768.
pub(crate) const TAIL_LEN: usize = 5;

/// The strings of a pattern with a given number of leading zeros and one version.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) kind: Arc<Kind>,
    pub(crate) places: Vec<Place>,
    pub(crate) errors: u8,
    /// The possible digits of each position in ascending order, the most significant position first.
    pub(crate) digits: Vec<Vec<u8>>,
    /// The digits of the lowest and of the highest number of a string.
    low: Vec<u8>,
    high: Vec<u8>,
}

impl Space {
    /// Returns the spaces of a pattern that are not empty.
    pub(crate) fn all(pattern: &Pattern, kind: &Arc<Kind>) -> Vec<Self> {
        let mut spaces = Vec::new();
        for version in kind.versions.iter() {
            for n_zeros in 0..=pattern
                .places
                .len()
                .min(kind.payload_len + CHECKSUM_LEN - 1)
            {
                if n_zeros > 0 && !pattern.places[n_zeros - 1].digits.has(0) {
                    break;
                }
                let space = Self::new(pattern, kind, version, n_zeros);
                spaces.extend(space.filter(|space| space.count(space.digits.len()) > 0));
            }
        }
        spaces
    }

    fn new(pattern: &Pattern, kind: &Arc<Kind>, version: &[u8], n_zeros: usize) -> Option<Self> {
        let (low, high) = bounds(kind, version, n_zeros)?;
        let mut places = pattern.places.clone();
        for place in &mut places[..n_zeros] {
            place.digits = DigitSet::only(0);
        }
        // Another zero would be a further leading zero.
        if let Some(place) = places.get_mut(n_zeros) {
            place.digits = place.digits.without(0);
        }
        let digits = places.iter().map(|place| place.digits.digits().collect());
        Some(Self {
            kind: Arc::clone(kind),
            digits: digits.collect(),
            low: digits_of(&low, places.len())?,
            // A longer number is greater than all strings of the pattern.
            high: digits_of(&high, places.len()).unwrap_or_else(|| vec![BASE - 1; places.len()]),
            places,
            errors: pattern.errors,
        })
    }

    /// Returns the number of characters, from the start, that fit such a string.
    pub(crate) fn longest_prefix(
        pattern: &Pattern,
        kind: &Arc<Kind>,
        version: &[u8],
        n_zeros: usize,
    ) -> usize {
        let places = &pattern.places;
        let zeros = places
            .iter()
            .take(n_zeros)
            .take_while(|place| place.digits.has(0))
            .count();
        if zeros < n_zeros.min(places.len()) {
            return zeros;
        }
        let Some(space) = Self::new(pattern, kind, version, n_zeros) else {
            return 0;
        };
        let fits = (0..=places.len()).take_while(|len| space.count(*len) > 0);
        fits.count().saturating_sub(1)
    }

    /// Returns the number of prefixes of `len` digits of strings within the bounds. The prefixes of the
    /// bounds themselves count even if no string within the bounds has them.
    pub(crate) fn count(&self, len: usize) -> u128 {
        let (first, end) = self.prefixes(len);
        end.saturating_sub(first)
    }

    /// Returns the numbers of the prefixes of `len` digits, in the order of all prefixes of the pattern:
    /// the first one and the one after the last. Saturates at 128 bits.
    pub(crate) fn prefixes(&self, len: usize) -> (u128, u128) {
        let (below_low, _) = self.rank(&self.low[..len]);
        let (below_high, is_high) = self.rank(&self.high[..len]);
        (below_low, below_high.saturating_add(is_high.into()))
    }

    /// Returns how many prefixes of the pattern are less than this one, and whether it is a prefix of
    /// the pattern.
    fn rank(&self, prefix: &[u8]) -> (u128, bool) {
        let mut n_below: u128 = 0;
        // The number of continuations of each shorter prefix.
        let mut n_after: Vec<u128> = vec![1; prefix.len() + 1];
        for i in (0..prefix.len()).rev() {
            n_after[i] = n_after[i + 1].saturating_mul(self.digits[i].len() as u128);
        }
        for (i, digit) in prefix.iter().enumerate() {
            let n_less = self.digits[i].partition_point(|other| other < digit);
            n_below = n_below.saturating_add(n_after[i + 1].saturating_mul(n_less as u128));
            if self.digits[i].get(n_less) != Some(digit) {
                return (n_below, false);
            }
        }
        (n_below, true)
    }
}

/// Returns the lowest and the highest number of a payload with its checksum that starts with `version`
/// and has exactly `n_zeros` leading zero bytes.
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
