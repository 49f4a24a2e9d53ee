//! A launch: the queries that a device hashes at once, one of them with a known answer.

use std::ops::Range;

use hashlane_base58::{Addends, MAX_MESSAGE_WORDS, Query};
use hashlane_sha::{Sha256, digest};

/// A query as sixteen words, the form in which devices read it: the words of the message, the low
/// word, and the first addend and the number of addends to add. The last word is zero.
pub type QueryWords = [u32; 16];

const LOW: usize = MAX_MESSAGE_WORDS;
const FIRST: usize = LOW + 1;
const LEN: usize = LOW + 2;

/// Queries of one table of addends.
#[derive(Debug, Default)]
pub struct Launch {
    queries: Vec<QueryWords>,
    /// The prefix of each query. The planted query has none.
    prefixes: Vec<Option<u128>>,
    /// See [`Query::tail`].
    tail: Vec<u32>,
    /// The last word of the block of each message: its length in bits.
    message_bits: u32,
    hashes: u64,
}

/// A message that a device found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The index of the query in the launch.
    pub query: u32,
    /// The index of the addend.
    pub addend: u32,
    /// The checksum minus the low word, modulo 2³².
    pub tail: u32,
}

impl Launch {
    /// Adds a query.
    pub(crate) fn push(&mut self, prefix: u128, query: &Query<'_>, addends: Range<usize>) {
        if addends.is_empty() {
            return;
        }
        self.hashes += addends.len() as u64;
        if self.queries.is_empty() {
            self.tail = query.tail.to_vec();
            self.message_bits = query.block[15];
        }
        let mut words = [0; 16];
        words[..MAX_MESSAGE_WORDS].copy_from_slice(&query.block[..MAX_MESSAGE_WORDS]);
        words[LOW] = query.low;
        // A table has at most 2¹⁸ addends.
        words[FIRST] = addends.start as u32;
        words[LEN] = addends.len() as u32;
        self.queries.push(words);
        self.prefixes.push(Some(prefix));
    }

    /// Copies one addend of a query into a query of its own, and chooses its low word so that the
    /// device must find it. Returns what the device must find, or `None` if there are no queries.
    ///
    /// The copy, its tail and its position are chosen by `seed`.
    pub(crate) fn plant(&mut self, addends: &Addends<'_>, seed: u64) -> Option<Found> {
        let n = self.queries.len() as u64;
        let source = seed.checked_rem(n)? as usize;
        let mut words = self.queries[source];
        let nth = (seed / n) % u64::from(words[LEN]);
        let addend = words[FIRST] + nth as u32;
        let checksum = checksum(&words, self.message_bits, addends, addend as usize);
        // The sum of the first steps, which all of them reduce to zero, or no step.
        let n_steps = (seed >> 16) as usize % (self.tail.len() + 1);
        let tail: u32 = self.tail[..n_steps].iter().sum();
        words[LOW] = checksum
            .wrapping_sub(addends.low()[addend as usize])
            .wrapping_sub(tail);
        (words[FIRST], words[LEN]) = (addend, 1);
        self.queries.push(words);
        self.prefixes.push(None);
        let position = ((seed >> 32) % (n + 1)) as usize;
        self.queries.swap(position, n as usize);
        self.prefixes.swap(position, n as usize);
        Some(Found {
            query: position as u32,
            addend,
            tail,
        })
    }

    /// Returns the queries in the form in which devices read them.
    pub fn words(&self) -> &[QueryWords] {
        &self.queries
    }

    /// Returns the queries, and the range of addends of each.
    pub fn queries(&self) -> impl Iterator<Item = (Query<'_>, Range<usize>)> {
        self.queries.iter().map(|words| {
            let mut block = [0; 16];
            block[..MAX_MESSAGE_WORDS].copy_from_slice(&words[..MAX_MESSAGE_WORDS]);
            block[15] = self.message_bits;
            let query = Query {
                block,
                low: words[LOW],
                tail: &self.tail,
            };
            let first = words[FIRST] as usize;
            (query, first..first + words[LEN] as usize)
        })
    }

    /// Returns the steps that reduce the tail of a match to zero; see [`Query::tail`].
    pub fn tail(&self) -> &[u32] {
        &self.tail
    }

    /// Returns the last word of each block: the length of the message in bits.
    pub fn message_bits(&self) -> u32 {
        self.message_bits
    }

    /// Returns the number of messages to hash twice, without the planted one.
    pub(crate) fn hashes(&self) -> u64 {
        self.hashes
    }

    /// Returns the prefix of a query, or `None` if the query is planted or does not exist.
    pub(crate) fn prefix(&self, query: u32) -> Option<u128> {
        *self.prefixes.get(query as usize)?
    }
}

/// Returns the first word of the double hash of one message.
fn checksum(words: &QueryWords, message_bits: u32, addends: &Addends<'_>, addend: usize) -> u32 {
    let mut message = words[..MAX_MESSAGE_WORDS].to_vec();
    let range = addends.shape().words();
    let columns: Vec<&[u32]> = addends.columns().collect();
    let mut carry = false;
    for (word, column) in message[range].iter_mut().zip(columns).rev() {
        let (sum, first) = word.overflowing_add(column[addend]);
        let (sum, second) = sum.overflowing_add(carry.into());
        *word = sum;
        carry = first || second;
    }
    let bytes: Vec<u8> = message.iter().flat_map(|word| word.to_be_bytes()).collect();
    let first = digest::<Sha256>(&bytes[..message_bits as usize / 8]);
    let second = digest::<Sha256>(first.as_ref());
    let (word, _) = second
        .as_ref()
        .split_first_chunk()
        .expect("a digest has 32 bytes");
    u32::from_be_bytes(*word)
}
