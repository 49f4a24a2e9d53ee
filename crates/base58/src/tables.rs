//! Tables: a space prepared for a device.
//!
//! The number of a string is the sum of the contributions of its digits. The *outer* digits are the
//! most significant ones. Together they are a *prefix*, and the search iterates over the prefixes.
//! A table holds all sums of the *inner* digits, sorted by their contribution to the low F bits of
//! the number. The carry out of these bits is then constant within a slice of the table, so kernels
//! need not compute it. The *tail* is the last five digits. They change only the checksum and its
//! carry, so one hash decides all tails.
//!
//! F is 32, the number of bits in the checksum. If the payload ends in known bytes (payloads of
//! compressed private keys end in 1), F includes these bits as well. The search then hashes only
//! the slice of the table in which the known byte is right: one of 256 messages.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::check::BASE;
use crate::message::{CHECKSUM_BITS, Message};
use crate::sha256d::{Addends, Query, Shape};
use crate::space::{Space, TAIL_LEN};
use crate::value::Value;

/// Number of sums of inner digits. It is large enough to make the cost of an outer digit
/// negligible, and small enough for the cache.
const TABLE_LEN: usize = 1 << 12;

/// Number of sums of inner digits if the payload has a suffix. Only a slice of the table is then
/// hashed, and the needless sums at the end of a slice should be a small part of it. The largest
/// table takes about 40 ms to sort, so only long searches use it.
const TABLE_LENS_WITH_SUFFIX: std::ops::RangeInclusive<usize> = 1 << 12..=1 << 18;

/// The number of prefixes from which a larger table is used.
const MANY_PREFIXES: u128 = 1 << 13;

/// Number of leading bits of a key that select its bucket.
const BUCKET_BITS: u32 = 12;

/// A carry into the words before those of the table costs a second query. The table is made such
/// that this happens at most once in 2^RARE queries.
const RARE: u32 = 4;

/// The largest number of digits at a tail position for which the steps are exact.
const EXACT_DIGITS: usize = 7;

/// A position with several possible digits.
#[derive(Clone, Debug)]
struct Wheel {
    place: usize,
    /// The contribution of each digit to the number, minus that of the lowest digit.
    steps: Vec<Value>,
}

/// A message whose hash matches, expressed in terms of [`Tables`]. Search backends make candidates,
/// so a new field is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Position of the prefix in its space, whose prefixes are numbered without gaps.
    pub prefix: u128,
    /// The index of the inner sum in the table.
    pub sum: usize,
    /// The checksum minus the low word, modulo 2³².
    pub tail: u32,
}

/// A space of strings, prepared for a [`SearchBackend`](crate::SearchBackend).
#[derive(Debug)]
pub struct Tables<'s> {
    space: &'s Space,
    /// The possible digits of each position in ascending order. Position 0 is the most significant.
    digits: Vec<Vec<u8>>,
    message: Message,
    outer: Vec<Wheel>,
    inner: Vec<Wheel>,
    /// The number of the string that consists of the lowest digits.
    base: Value,
    /// The largest contribution of the tail.
    span: u32,
    /// See [`Query::tail`].
    tail_steps: Vec<u32>,
    /// The tail that consists of the lowest digits.
    tail_base: u32,
    shape: Shape,
    /// The contribution of each sum modulo 2^F, sorted.
    keys: Vec<u64>,
    /// For each value of the leading bits, the index of its first key.
    buckets: Vec<u32>,
    /// For each key, the index of its sum in the order of the inner digits.
    ids: Vec<u32>,
    low: Vec<u32>,
    words: Vec<Vec<u32>>,
    /// The largest sum.
    greatest: Value,
}

/// The amount of work in a space.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    /// The range of the prefixes; see [`Space::prefixes`].
    pub(crate) prefixes: Range<u128>,
    /// Number of sums of inner digits, which are made and sorted before anything is hashed.
    pub(crate) n_sums: f64,
    /// Expected number of hashes per prefix.
    pub(crate) hashes: f64,
}

impl Size {
    /// Returns the amount of work in a space without doing any of it.
    pub(crate) fn of(space: &Space) -> Self {
        let message = Message::new(&space.kind);
        let split = Split::new(space, &message);
        let inner = split.n_outer..split.tail;
        let n_sums: f64 = inner
            .map(|place| space.digits(place).len() as f64)
            .product();
        let span = tail_span(space, split.tail);
        // The sums with the right suffix whose checksum the tail can reach.
        let window = 2_f64.powi(CHECKSUM_BITS as i32) + f64::from(span);
        Self {
            prefixes: space.prefixes(split.n_outer),
            n_sums,
            hashes: n_sums * window / 2_f64.powi(message.low_bits as i32),
        }
    }

    /// Returns the number of prefixes, or a lower bound if they cannot be numbered.
    pub(crate) fn n_prefixes(&self) -> u128 {
        self.prefixes.end.saturating_sub(self.prefixes.start)
    }

    /// Returns `false` if 128 bits cannot number the prefixes.
    pub(crate) fn is_exact(&self) -> bool {
        self.prefixes.end < u128::MAX
    }
}

/// The positions at which the outer digits end and the tail starts. The inner digits are between
/// them.
struct Split {
    n_outer: usize,
    tail: usize,
}

impl Split {
    fn new(space: &Space, message: &Message) -> Self {
        let n = space.len();
        let tail = n.saturating_sub(TAIL_LEN);
        let max_len = if message.low_bits > CHECKSUM_BITS {
            let (smallest, largest) = TABLE_LENS_WITH_SUFFIX.into_inner();
            let share = space.count(tail) / MANY_PREFIXES;
            usize::try_from(share)
                .unwrap_or(usize::MAX)
                .clamp(smallest, largest)
        } else {
            TABLE_LEN
        };
        // Number of bits in the narrow shape of this message.
        let narrow = Shape::new(message.n_words, message.n_words - 1).words();
        let narrow = 32 * message.n_varying.saturating_sub(narrow.start) as u32;
        let bits = (message.low_bits + narrow).saturating_sub(message.shift + RARE);
        let (mut n_outer, mut len) = (tail, 1);
        let mut weight = power(n - tail);
        while n_outer > 0 {
            let n_digits = space.digits(n_outer - 1).len();
            weight = weight.times(BASE.into());
            let fits = weight < Value::power_of_two(bits);
            if n_digits > 1 && (len * n_digits > max_len || !fits) {
                break;
            }
            len *= n_digits;
            n_outer -= 1;
        }
        Self { n_outer, tail }
    }
}

impl<'s> Tables<'s> {
    pub(crate) fn new(space: &'s Space) -> Self {
        let message = Message::new(&space.kind);
        let Split { n_outer, tail } = Split::new(space, &message);
        let n = space.len();
        let digits = (0..n).map(|place| space.digits(place).digits().collect());
        let digits: Vec<Vec<u8>> = digits.collect();
        let weights: Vec<Value> = (0..n).map(|place| power(n - 1 - place)).collect();
        let wheels = |places: Range<usize>| -> Vec<Wheel> {
            places
                .filter(|place| digits[*place].len() > 1)
                .map(|place| Wheel::new(place, &digits[place], &weights[place]))
                .collect()
        };
        let base = digits.iter().zip(&weights);
        let base = base.map(|(digits, weight)| weight.times(digits[0].into()));
        let base = base.fold(Value::default(), |sum, value| sum.plus(&value));
        let tail_base = digits[tail..].iter();
        let tail_base = tail_base.fold(0, |sum, digits| {
            sum * u32::from(BASE) + u32::from(digits[0])
        });
        let inner = wheels(n_outer..tail);
        let sums = sums_of(&inner);
        let greatest = *sums.last().expect("there is at least one sum");

        let sorted = sums
            .iter()
            .zip(0_u32..)
            .map(|(sum, id)| (message.below(sum), id));
        let mut sorted: Vec<(u64, u32)> = sorted.collect();
        sorted.sort_unstable();
        let (keys, ids): (Vec<u64>, Vec<u32>) = sorted.into_iter().unzip();
        let (shape, words) = columns(&message, &sums, &ids, &greatest);
        let margin = [0; Addends::MARGIN];
        let low = keys.iter().map(|key| *key as u32).chain(margin).collect();
        Self {
            space,
            message,
            outer: wheels(0..n_outer),
            inner,
            base,
            span: tail_span(space, tail),
            tail_steps: tail_steps(&digits[tail..]),
            tail_base,
            shape,
            buckets: buckets(&keys, message.low_bits),
            keys,
            ids,
            low,
            words,
            greatest,
            digits,
        }
    }

    /// Returns the inner sums as columns of words. A query's range is a range of their indexes.
    pub fn addends(&self) -> Addends<'_> {
        let columns = self.words.iter().map(Vec::as_slice);
        Addends::new(self.shape, &self.low, columns)
    }

    /// Calls `on_query` for each query needed to search the strings with one of these prefixes. The
    /// arguments are the number of the prefix, the query, and the range of [`Self::addends`] to
    /// add.
    #[inline]
    pub fn for_each_query(
        &self,
        prefixes: Range<u128>,
        mut on_query: impl FnMut(u128, &Query<'_>, Range<usize>),
    ) {
        let mut odometer = Odometer::new(&self.outer, &self.base, prefixes.start);
        for prefix in prefixes {
            self.queries_of_prefix(&odometer.value, &mut |query, sums| {
                on_query(prefix, query, sums);
            });
            odometer.advance(&self.outer);
        }
    }

    /// Calls `on_query` for one prefix. `value` is the number of the string with this prefix whose
    /// other digits are the lowest.
    #[inline]
    fn queries_of_prefix(
        &self,
        value: &Value,
        on_query: &mut impl FnMut(&Query<'_>, Range<usize>),
    ) {
        let message = &self.message;
        let below = message.below(value);
        // The low bits that the sum must reach, without tail and carry.
        let target = message.suffix << CHECKSUM_BITS;
        let (from, to) = (
            i128::from(target) - i128::from(self.span),
            i128::from(target) + (1 << CHECKSUM_BITS),
        );
        let mut above = message.above(value);
        for carry in 0..=2_i128 {
            let shift = (carry << message.low_bits) - i128::from(below);
            let sums = self.first_key(from + shift)..self.first_key(to + shift);
            if !sums.is_empty() {
                self.queries_of_slice(&above, value.word(0), sums, on_query);
            }
            above = above.plus(&message.carry());
        }
    }

    /// Calls `on_query` for a slice of the table in which the carry is constant.
    #[inline]
    fn queries_of_slice(
        &self,
        above: &Value,
        low: u32,
        sums: Range<usize>,
        on_query: &mut impl FnMut(&Query<'_>, Range<usize>),
    ) {
        let message = &self.message;
        let mut query = Query {
            block: message.block(above),
            low,
            tail: &self.tail_steps,
        };
        on_query(&query, sums.clone());
        // A sum may carry 1 into the words before those of the table.
        let n_after = message.n_varying.saturating_sub(self.shape.words().start);
        let bits = 32 * n_after as u32;
        let sum = above
            .plus(&message.above(&self.greatest))
            .plus(&message.carry());
        if self.shape.words().start > 0 && sum.shifted_right(bits) != above.shifted_right(bits) {
            query.block = message.block(&above.plus(&Value::power_of_two(bits)));
            on_query(&query, sums);
        }
    }

    /// Returns the index of the first key that is not less than `key`.
    #[inline]
    fn first_key(&self, key: i128) -> usize {
        let Ok(key) = u64::try_from(key) else {
            return if key < 0 { 0 } else { self.keys.len() };
        };
        let bucket = key >> (self.message.low_bits - BUCKET_BITS);
        if bucket >= 1 << BUCKET_BITS {
            return self.keys.len();
        }
        let start = self.buckets[bucket as usize] as usize;
        let end = self.buckets[bucket as usize + 1] as usize;
        start + self.keys[start..end].partition_point(|other| *other < key)
    }

    /// Returns the digits of a candidate, or `None` if one of them is impossible at its position.
    pub(crate) fn digits(&self, candidate: Candidate) -> Option<Zeroizing<Vec<u8>>> {
        let tail = self.tail_digits(candidate.tail)?;
        let id = *self.ids.get(candidate.sum)?;
        // The string may be a private key.
        let mut digits: Zeroizing<Vec<u8>> =
            Zeroizing::new(self.digits.iter().map(|digits| digits[0]).collect());
        for (digit, tail) in digits.iter_mut().rev().zip(tail.iter()) {
            *digit = *tail;
        }
        self.set_digits(&mut digits, &self.outer, candidate.prefix);
        self.set_digits(&mut digits, &self.inner, id.into());
        Some(digits)
    }

    /// Returns the digits of a tail, the last one first, or `None` if a digit is impossible.
    fn tail_digits(&self, tail: u32) -> Option<Zeroizing<[u8; TAIL_LEN]>> {
        let mut rest = tail.checked_add(self.tail_base)?;
        let mut digits = Zeroizing::new([0; TAIL_LEN]);
        for (digit, place) in digits.iter_mut().zip((0..self.space.len()).rev()) {
            *digit = (rest % u32::from(BASE)) as u8;
            rest /= u32::from(BASE);
            if !self.space.digits(place).has(*digit) {
                return None;
            }
        }
        (rest == 0).then_some(digits)
    }

    /// Writes the digits of combination `number` of these wheels.
    fn set_digits(&self, digits: &mut [u8], wheels: &[Wheel], number: u128) {
        let mut rest = number;
        for wheel in wheels.iter().rev() {
            let possible = &self.digits[wheel.place];
            digits[wheel.place] = possible[(rest % possible.len() as u128) as usize];
            rest /= possible.len() as u128;
        }
    }
}

impl Wheel {
    fn new(place: usize, digits: &[u8], weight: &Value) -> Self {
        let steps = digits.iter();
        let steps = steps.map(|digit| weight.times(u64::from(digit - digits[0])));
        Self {
            place,
            steps: steps.collect(),
        }
    }
}

/// The outer digits as an odometer whose last digit turns fastest.
struct Odometer {
    value: Value,
    /// For each wheel, the index of its current digit.
    positions: Vec<usize>,
}

impl Odometer {
    fn new(wheels: &[Wheel], base: &Value, number: u128) -> Self {
        let mut rest = number;
        let mut positions = vec![0; wheels.len()];
        let mut value = *base;
        for (wheel, position) in wheels.iter().zip(&mut positions).rev() {
            *position = (rest % wheel.steps.len() as u128) as usize;
            rest /= wheel.steps.len() as u128;
            value = value.plus(&wheel.steps[*position]);
        }
        Self { value, positions }
    }

    fn advance(&mut self, wheels: &[Wheel]) {
        for (wheel, position) in wheels.iter().zip(&mut self.positions).rev() {
            self.value = self.value.minus(&wheel.steps[*position]);
            *position += 1;
            if *position < wheel.steps.len() {
                self.value = self.value.plus(&wheel.steps[*position]);
                return;
            }
            *position = 0;
        }
    }
}

/// Returns 58^`exponent`.
fn power(exponent: usize) -> Value {
    (0..exponent).fold(Value::from(1_u64), |power, _| power.times(BASE.into()))
}

/// Returns all sums of one step per wheel, in the order of the digits.
fn sums_of(wheels: &[Wheel]) -> Vec<Value> {
    wheels.iter().fold(vec![Value::default()], |sums, wheel| {
        let with_steps = |sum: &Value| {
            let sums = wheel.steps.iter().map(|step| sum.plus(step));
            sums.collect::<Vec<_>>()
        };
        sums.iter().flat_map(with_steps).collect()
    })
}

/// Returns the narrowest shape for the sums, and their words as columns in the order of `ids`.
fn columns(
    message: &Message,
    sums: &[Value],
    ids: &[u32],
    greatest: &Value,
) -> (Shape, Vec<Vec<u32>>) {
    let above = message.above(greatest);
    let first = (0..message.n_words).find(|word| message.word(&above, *word) != 0);
    let shape = Shape::new(message.n_words, first.unwrap_or(message.n_words - 1));
    let column = |word: usize| {
        let word_of = |id: &u32| message.word(&message.above(&sums[*id as usize]), word);
        let margin = [0; Addends::MARGIN];
        ids.iter().map(word_of).chain(margin).collect()
    };
    (shape, shape.words().map(column).collect())
}

/// Returns the index of the first key of each bucket.
fn buckets(keys: &[u64], low_bits: u32) -> Vec<u32> {
    let mut buckets = Vec::with_capacity((1 << BUCKET_BITS) + 1);
    for (key, index) in keys.iter().zip(0..) {
        // This key is the first of its bucket and of all empty buckets before it.
        let bucket = (key >> (low_bits - BUCKET_BITS)) as usize;
        buckets.resize(buckets.len().max(bucket + 1), index);
    }
    buckets.resize((1 << BUCKET_BITS) + 1, keys.len() as u32);
    buckets
}

/// Returns the largest contribution of the tail.
fn tail_span(space: &Space, tail: usize) -> u32 {
    let span = (tail..space.len()).fold(0_u64, |span, place| {
        let digits = space.digits(place);
        let width = digits.highest().saturating_sub(digits.lowest());
        span * u64::from(BASE) + u64::from(width)
    });
    span as u32
}

/// Returns steps that reduce the contribution of a possible tail to zero. Each step is subtracted
/// unless it exceeds the rest. A step is the weight of a position times the distance between two
/// adjacent possible digits.
///
/// For a position with many digits, the steps are powers of two times the weight. They also reduce
/// a few impossible tails to zero.
fn tail_steps(digits: &[Vec<u8>]) -> Vec<u32> {
    let mut steps = Vec::new();
    let n = digits.len();
    for (place, digits) in digits.iter().enumerate() {
        let weight = u32::from(BASE).pow((n - 1 - place) as u32);
        let (first, last) = (digits[0], digits[digits.len() - 1]);
        if digits.len() <= EXACT_DIGITS {
            steps.extend(
                digits
                    .windows(2)
                    .map(|pair| weight * u32::from(pair[1] - pair[0])),
            );
        } else {
            let bits = 8 - (last - first).leading_zeros();
            steps.extend((0..bits).rev().map(|bit| weight << bit));
        }
    }
    steps
}
