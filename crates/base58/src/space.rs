//! Where the strings of one pattern lie that are of one kind.
//!
//! A string is a number in base 58, and strings of one length are ordered as their numbers are. So
//! those of a pattern whose numbers lie between two bounds are neighbours in the order of the pattern,
//! and so are all beginnings of such strings: how many there are is counted, number so-and-so is
//! written down, and none that cannot be is ever looked at.

use std::sync::Arc;

use crate::alphabet::BASE;
use crate::check::CHECKSUM_LEN;
use crate::kind::Kind;
use crate::pattern::{DigitSet, Pattern, Place};
use crate::value::Value;

/// How many digits at the end are left for the checksum to decide: as many as make a number of less
/// than 32 bits, 58⁵ = 656,356,768.
pub(crate) const TAIL_LEN: usize = 5;

/// The strings of a pattern that have so many leading zeros, and whose payload starts with one version.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) kind: Arc<Kind>,
    pub(crate) places: Vec<Place>,
    pub(crate) errors: u8,
    /// The digits of each place, from the lowest on; the most significant place first.
    pub(crate) digits: Vec<Vec<u8>>,
    /// The digits of the lowest and highest number that a string can be.
    low: Vec<u8>,
    high: Vec<u8>,
}

impl Space {
    /// The spaces of a pattern that have anything in them.
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
        // Or there would be one more.
        if let Some(place) = places.get_mut(n_zeros) {
            place.digits = place.digits.without(0);
        }
        let digits = places.iter().map(|place| place.digits.digits().collect());
        Some(Self {
            kind: Arc::clone(kind),
            digits: digits.collect(),
            low: digits_of(&low, places.len())?,
            // What is longer is greater than all that can be written.
            high: digits_of(&high, places.len()).unwrap_or_else(|| vec![BASE - 1; places.len()]),
            places,
            errors: pattern.errors,
        })
    }

    /// How many characters from the start on can be those of such a string.
    pub(crate) fn beginning_that_fits(
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

    /// How many beginnings of `len` digits there are of strings within the bounds. (The beginnings
    /// of the bounds themselves are counted even if nothing within them goes on from there.)
    pub(crate) fn count(&self, len: usize) -> u128 {
        let (first, end) = self.beginnings(len);
        end.saturating_sub(first)
    }

    /// The numbers of the beginnings of `len` digits, in the order of all those of the pattern.
    /// Saturated where a number has more than 128 bits.
    pub(crate) fn beginnings(&self, len: usize) -> (u128, u128) {
        let (below_low, _) = self.rank(&self.low[..len]);
        let (below_high, is_high) = self.rank(&self.high[..len]);
        (below_low, below_high.saturating_add(is_high.into()))
    }

    /// How many beginnings of the pattern are less than this one, and whether it is one.
    fn rank(&self, beginning: &[u8]) -> (u128, bool) {
        let mut n_below: u128 = 0;
        // Of those that are the same so far.
        let mut n_behind: Vec<u128> = vec![1; beginning.len() + 1];
        for i in (0..beginning.len()).rev() {
            n_behind[i] = n_behind[i + 1].saturating_mul(self.digits[i].len() as u128);
        }
        for (i, digit) in beginning.iter().enumerate() {
            let n_less = self.digits[i].partition_point(|other| other < digit);
            n_below = n_below.saturating_add(n_behind[i + 1].saturating_mul(n_less as u128));
            if self.digits[i].get(n_less) != Some(digit) {
                return (n_below, false);
            }
        }
        (n_below, true)
    }
}

/// The lowest and highest number of a payload with its checksum that starts with `version` and has
/// exactly so many leading zero bytes.
pub(crate) fn bounds(kind: &Kind, version: &[u8], n_zeros: usize) -> Option<(Value, Value)> {
    let len = kind.payload_len + CHECKSUM_LEN;
    let behind_version = 8 * (len - version.len()) as u32;
    let start = Value::from_bytes(version);
    let shift = |value: Value| value.shifted_left(behind_version);
    let one = Value::from(1_u64);
    let (low, high) = (shift(start), shift(start.plus(&one)).minus(&one));
    let top = 8 * (len - n_zeros) as u32;
    let (least, most) = (
        Value::power_of_two(top - 8),
        Value::power_of_two(top).minus(&one),
    );
    let (low, high) = (low.max(least), high.min(most));
    (low <= high).then_some((low, high))
}

/// A number as so many digits, the most significant first; `None` if it has more.
pub(crate) fn digits_of(value: &Value, len: usize) -> Option<Vec<u8>> {
    let mut digits = vec![0; len];
    let mut rest = *value;
    for digit in digits.iter_mut().rev() {
        let (quotient, remainder) = rest.divided_by(BASE.into());
        (rest, *digit) = (quotient, remainder as u8);
    }
    (rest == Value::default()).then_some(digits)
}
