//! A space, laid out for the kernels: which digits are walked through, which are in the table, and
//! which are left to the checksum.
//!
//! The number of a string is the sum of what its digits stand for. The *outer* digits are the most
//! significant; they are walked through like an odometer. All sums of the *inner* ones are in a table,
//! sorted by what they add to the low bits of the number, modulo 2^F. What is carried out of these
//! bits is then the same for whole slices of the table, so that no kernel needs to look at it. The
//! *tail* is the last five digits, which change nothing but the checksum and what it carries: one hash
//! decides all of them.
//!
//! F is 32, the bits of the checksum. If the payload ends in bytes that are known (those of
//! compressed private keys end in 1), F has these as well, and of the sorted table only the slice is
//! looked at in which they come out right: one message of 256.

use hashlane_sha::{Addends, MAX_MESSAGE_WORDS, Query, Shape};
use zeroize::Zeroizing;

use crate::alphabet::BASE;
use crate::kind::Kind;
use crate::space::{Space, TAIL_LEN};
use crate::value::Value;

/// Bits of the checksum.
const CHECKSUM_BITS: u32 = 32;

/// Sums of inner digits: enough that what an outer digit costs does not matter, and few enough to
/// stay near the core.
const TABLE_LEN: usize = 1 << 12;

/// The same, if one of 256 is looked at, of which what is looked at too much at its end is to be a
/// small part. It takes some 40 ms to sort, so that it is only made where that is little.
const TABLE_LENS_WITH_SUFFIX: std::ops::RangeInclusive<usize> = 1 << 12..=1 << 18;

/// How many beginnings there should be at least, for a larger table.
const MANY_BEGINNINGS: u128 = 1 << 13;

/// Leading bits of a key by which the table is entered.
const BUCKET_BITS: u32 = 12;

/// How often, as a power of two, the words before those of the table may be reached by a carry: each
/// time costs a second look at the table.
const RARE: u32 = 4;

/// A place with several digits.
#[derive(Clone, Debug)]
struct Wheel {
    /// Which place.
    place: usize,
    /// What each digit adds to the number, less what the lowest adds.
    steps: Vec<Value>,
}

/// A space that is ready to be searched.
#[derive(Debug)]
pub(crate) struct Tables<'s> {
    pub(crate) space: &'s Space,
    message: Message,
    outer: Vec<Wheel>,
    inner: Vec<Wheel>,
    /// The number of the string of lowest digits.
    base: Value,
    /// What the tail adds at most.
    span: u32,
    /// See [`Query::tail`].
    tail_steps: Vec<u32>,
    /// The tail of lowest digits.
    tail_base: u32,
    shape: Shape,
    /// Sorted: what each sum adds modulo 2^F.
    keys: Vec<u64>,
    /// Where the keys start that have these leading bits.
    buckets: Vec<u32>,
    /// The numbers of the sums, as the inner digits are counted.
    ids: Vec<u32>,
    low: Vec<u32>,
    words: Vec<Vec<u32>>,
    /// The greatest sum.
    greatest: Value,
}

/// How a message lies in a number, and in a block.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// F.
    low_bits: u32,
    /// The value of the suffix.
    suffix: u64,
    /// Zeros to be put behind what is above F, so that it ends with a word.
    shift: u32,
    /// Words that what is above F takes.
    n_varying: usize,
    /// Words of the message with the first bit of the padding.
    n_words: usize,
    /// What is in every block: suffix, padding and length.
    constant: [u32; 16],
}

impl Message {
    fn new(kind: &Kind) -> Self {
        let above = kind.payload_len - kind.suffix.len();
        let mut block = [0_u8; 64];
        block[above..kind.payload_len].copy_from_slice(&kind.suffix);
        block[kind.payload_len] = 0x80;
        let bits = 8 * kind.payload_len as u64;
        block[56..].copy_from_slice(&bits.to_be_bytes());
        let (words, _) = block.as_chunks::<4>();
        let mut constant = [0; 16];
        for (word, bytes) in constant.iter_mut().zip(words) {
            *word = u32::from_be_bytes(*bytes);
        }
        Self {
            low_bits: CHECKSUM_BITS + 8 * kind.suffix.len() as u32,
            suffix: kind
                .suffix
                .iter()
                .fold(0, |value, byte| value << 8 | u64::from(*byte)),
            shift: (4 - above as u32 % 4) % 4 * 8,
            n_varying: above.div_ceil(4),
            n_words: kind.payload_len / 4 + 1,
            constant,
        }
    }

    /// The part of a number that is in the words that vary, as they are in a block.
    #[inline]
    fn above(&self, value: &Value) -> Value {
        value.shifted_right(self.low_bits).shifted_left(self.shift)
    }

    /// A number modulo 2^F.
    #[inline]
    fn below(&self, value: &Value) -> u64 {
        value.low_u64_from(0) & u64::MAX >> (64 - self.low_bits)
    }

    /// Word number `index` of what [`Self::above`] gives.
    #[inline]
    fn word(&self, above: &Value, index: usize) -> u32 {
        match self.n_varying.checked_sub(index + 1) {
            Some(behind) => above.word(32 * behind as u32),
            None => 0,
        }
    }

    /// The word that the carry out of F is added to has this as its 1.
    fn carry(&self) -> Value {
        Value::from(1_u64).shifted_left(self.shift)
    }
}

/// How much there is to do in a space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// The numbers of the first beginning, and of the one behind the last.
    pub(crate) first: u128,
    pub(crate) end: u128,
    /// Hashes for each of them.
    pub(crate) hashes: f64,
}

/// How many places are outer ones, and how many of those behind them are inner.
struct Split {
    n_outer: usize,
    tail: usize,
}

impl Split {
    fn new(space: &Space, message: &Message) -> Self {
        let n = space.digits.len();
        let tail = n.saturating_sub(TAIL_LEN);
        let most = if message.low_bits > CHECKSUM_BITS {
            let (smallest, largest) = TABLE_LENS_WITH_SUFFIX.into_inner();
            let share = space.count(tail) / MANY_BEGINNINGS;
            usize::try_from(share)
                .unwrap_or(usize::MAX)
                .clamp(smallest, largest)
        } else {
            TABLE_LEN
        };
        // Bits of the number that the narrow shape of this message has.
        let narrow = Shape::new(message.n_words, message.n_words - 1).words();
        let narrow = 32 * message.n_varying.saturating_sub(narrow.start) as u32;
        let bits = (message.low_bits + narrow).saturating_sub(message.shift + RARE);
        let (mut n_outer, mut len) = (tail, 1);
        let mut weight = power(n - tail);
        while n_outer > 0 {
            let n_digits = space.digits[n_outer - 1].len();
            weight = weight.times(BASE.into());
            let fits = weight < Value::power_of_two(bits);
            if n_digits > 1 && (len * n_digits > most || !fits) {
                break;
            }
            len *= n_digits;
            n_outer -= 1;
        }
        Self { n_outer, tail }
    }
}

/// 58^`exponent`.
fn power(exponent: usize) -> Value {
    (0..exponent).fold(Value::from(1_u64), |power, _| power.times(BASE.into()))
}

/// How much there is to do, without doing any of it.
pub(crate) fn size(space: &Space) -> Size {
    let message = Message::new(&space.kind);
    let split = Split::new(space, &message);
    let (first, end) = space.beginnings(split.n_outer);
    let inner = space.digits[split.n_outer..split.tail].iter();
    let n_inner: f64 = inner.map(|digits| digits.len() as f64).product();
    let span = tail_span(space, split.tail);
    // Those whose checksum can be reached with the suffix right.
    let window = 2_f64.powi(CHECKSUM_BITS as i32) + f64::from(span);
    let hashes = n_inner * window / 2_f64.powi(message.low_bits as i32);
    Size { first, end, hashes }
}

fn tail_span(space: &Space, tail: usize) -> u32 {
    let span = space.digits[tail..].iter().fold(0_u64, |span, digits| {
        let width = digits
            .last()
            .zip(digits.first())
            .map_or(0, |(last, first)| last - first);
        span * u64::from(BASE) + u64::from(width)
    });
    span as u32
}

impl<'s> Tables<'s> {
    pub(crate) fn new(space: &'s Space) -> Self {
        let message = Message::new(&space.kind);
        let Split { n_outer, tail } = Split::new(space, &message);
        let n = space.digits.len();
        let weights: Vec<Value> = (0..n).map(|place| power(n - 1 - place)).collect();
        let wheel = |place: usize| {
            let digits = &space.digits[place];
            let step = |digit: &u8| weights[place].times(u64::from(digit - digits[0]));
            Wheel {
                place,
                steps: digits.iter().map(step).collect(),
            }
        };
        let wheels = |places: std::ops::Range<usize>| -> Vec<Wheel> {
            places
                .filter(|place| space.digits[*place].len() > 1)
                .map(wheel)
                .collect()
        };
        let lowest = space.digits.iter().zip(&weights);
        let lowest = lowest.map(|(digits, weight)| weight.times(digits[0].into()));
        let base = lowest.fold(Value::default(), |sum, value| sum.plus(&value));
        let tail_base = space.digits[tail..].iter();
        let tail_base = tail_base.fold(0, |sum, digits| {
            sum * u32::from(BASE) + u32::from(digits[0])
        });
        let inner = wheels(n_outer..tail);

        let mut sums = vec![Value::default()];
        for wheel in &inner {
            let of = |sum: &Value| {
                wheel
                    .steps
                    .iter()
                    .map(|step| sum.plus(step))
                    .collect::<Vec<_>>()
            };
            sums = sums.iter().flat_map(of).collect();
        }
        let greatest = *sums.last().expect("there is one at least");
        let sorted = sums
            .iter()
            .zip(0_u32..)
            .map(|(sum, id)| (message.below(sum), id));
        let mut sorted: Vec<(u64, u32)> = sorted.collect();
        sorted.sort_unstable();
        let (keys, ids): (Vec<u64>, Vec<u32>) = sorted.into_iter().unzip();
        let buckets = (0..=1_u64 << BUCKET_BITS).map(|bucket| {
            let key = bucket << (message.low_bits - BUCKET_BITS);
            keys.partition_point(|other| *other < key) as u32
        });
        let buckets = buckets.collect();

        let above = message.above(&greatest);
        let first = (0..message.n_words).find(|word| message.word(&above, *word) != 0);
        let shape = Shape::new(message.n_words, first.unwrap_or(message.n_words - 1));
        let margin = [0; Addends::MARGIN];
        let low = keys.iter().map(|key| *key as u32).chain(margin).collect();
        let words = shape.words().map(|word| {
            let of = |id: &u32| message.word(&message.above(&sums[*id as usize]), word);
            ids.iter().map(of).chain(margin).collect()
        });
        let words = words.collect();
        Self {
            space,
            message,
            outer: wheels(0..n_outer),
            inner,
            base,
            span: tail_span(space, tail),
            tail_steps: tail_steps(&space.digits[tail..]),
            tail_base,
            shape,
            keys,
            buckets,
            ids,
            low,
            words,
            greatest,
        }
    }

    /// Calls `on_candidate` with the digits of strings that begin as the beginnings of these numbers,
    /// and whose checksum is likely to fit. The result is how many messages were hashed.
    pub(crate) fn search(
        &self,
        kernel: hashlane_sha::Sha256dKernel,
        numbers: std::ops::Range<u128>,
        on_candidate: &mut dyn FnMut(&[u8]),
    ) -> u64 {
        let columns = self.words.iter().map(Vec::as_slice);
        let addends = Addends::new(self.shape, &self.low, columns);
        let digits = self.space.digits.iter().map(|digits| digits[0]);
        // Of a private key, it may be.
        let mut digits: Zeroizing<Vec<u8>> = Zeroizing::new(digits.collect());
        let mut n_hashes = 0;
        let mut odometer = Odometer::new(&self.outer, &self.base, numbers.start);
        for _ in numbers {
            n_hashes += self.look(kernel, &addends, &odometer.value, &mut |index, tail| {
                if self.set_tail(&mut digits, tail) {
                    for (wheel, position) in self.outer.iter().zip(&odometer.positions) {
                        digits[wheel.place] = self.space.digits[wheel.place][*position];
                    }
                    self.set_inner(&mut digits, self.ids[index]);
                    on_candidate(&digits);
                }
            });
            odometer.advance(&self.outer);
        }
        n_hashes
    }

    /// Looks at all strings of a beginning, whose number is `value` when all digits behind it are at
    /// their lowest.
    fn look(
        &self,
        kernel: hashlane_sha::Sha256dKernel,
        addends: &Addends<'_>,
        value: &Value,
        on_match: &mut dyn FnMut(usize, u32),
    ) -> u64 {
        let message = &self.message;
        let below = message.below(value);
        // Where the low bits have to come to, before what the tail adds, without any carry.
        let target = message.suffix << CHECKSUM_BITS;
        let (from, to) = (
            i128::from(target) - i128::from(self.span),
            i128::from(target) + (1 << CHECKSUM_BITS),
        );
        let mut n_hashes = 0;
        let mut above = message.above(value);
        for carry in 0..=2_i128 {
            let shift = (carry << message.low_bits) - i128::from(below);
            let range = self.first_key(from + shift)..self.first_key(to + shift);
            if !range.is_empty() {
                n_hashes += self.look_at(kernel, addends, &above, value.word(0), range, on_match);
            }
            above = above.plus(&message.carry());
        }
        n_hashes
    }

    /// Looks at a slice of the table.
    fn look_at(
        &self,
        kernel: hashlane_sha::Sha256dKernel,
        addends: &Addends<'_>,
        above: &Value,
        low: u32,
        range: std::ops::Range<usize>,
        on_match: &mut dyn FnMut(usize, u32),
    ) -> u64 {
        let message = &self.message;
        let mut on_match = |found: hashlane_sha::Match| on_match(found.index, found.tail);
        let mut look = |above: &Value| {
            let mut block = message.constant;
            for (index, word) in block[..MAX_MESSAGE_WORDS].iter_mut().enumerate() {
                *word |= message.word(above, index);
            }
            let query = Query {
                block,
                low,
                tail: &self.tail_steps,
            };
            kernel.find(&query, addends, range.clone(), &mut on_match);
        };
        look(above);
        // The words before those of the table, which a sum may carry a 1 into.
        let behind = message.n_varying.saturating_sub(self.shape.words().start);
        let bits = 32 * behind as u32;
        let sum = above
            .plus(&message.above(&self.greatest))
            .plus(&message.carry());
        if self.shape.words().start > 0 && sum.shifted_right(bits) != above.shifted_right(bits) {
            look(&above.plus(&Value::power_of_two(bits)));
            return 2 * range.len() as u64;
        }
        range.len() as u64
    }

    /// The first of the keys that is not less than this one.
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

    /// Writes the digits of a tail, if they are all possible.
    fn set_tail(&self, digits: &mut [u8], tail: u32) -> bool {
        let Some(mut rest) = tail.checked_add(self.tail_base) else {
            return false;
        };
        let first = digits.len().saturating_sub(TAIL_LEN);
        let places = digits[first..].iter_mut().zip(&self.space.digits[first..]);
        for (digit, possible) in places.rev() {
            *digit = (rest % u32::from(BASE)) as u8;
            rest /= u32::from(BASE);
            if possible.binary_search(digit).is_err() {
                return false;
            }
        }
        rest == 0
    }

    /// Writes the digits of an inner sum.
    fn set_inner(&self, digits: &mut [u8], id: u32) {
        let mut rest = id as usize;
        for wheel in self.inner.iter().rev() {
            let possible = &self.space.digits[wheel.place];
            digits[wheel.place] = possible[rest % possible.len()];
            rest /= possible.len();
        }
    }
}

/// The outer digits, of which the last turns fastest.
struct Odometer {
    value: Value,
    /// Which of its digits each wheel shows.
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

/// What is subtracted from a tail where that leaves it positive, to come to zero if it is a possible
/// one: each digit's weight times the distance from one possible digit to the next. Where there are
/// many digits, powers of two do for all of them, and a few that are not possible come to zero too.
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

/// Up to so many digits a tail is decided step by step.
const EXACT_DIGITS: usize = 7;
