//! The messages to hash, end to end in one buffer.

use std::fmt;

/// Alignment of a batch, so that its position does not change the results of a run.
const PAGE_LEN: usize = 4096;

/// Pseudorandom bytes, the same in every run.
pub struct Content {
    bytes: Vec<u8>,
    start: usize,
}

impl Content {
    /// Creates `len` bytes.
    pub fn new(len: usize) -> Self {
        let mut bytes = vec![0; len + PAGE_LEN];
        let start = bytes.as_ptr().align_offset(PAGE_LEN);
        bytes.truncate(start + len);
        let mut random = Random::new(1);
        for word in bytes[start..].chunks_mut(8) {
            word.copy_from_slice(&random.next_u64().to_le_bytes()[..word.len()]);
        }
        Self { bytes, start }
    }

    /// Returns the first `n` messages of `len` bytes.
    pub fn equal(&self, len: usize, n: usize) -> Batch<'_> {
        let bytes = &self.bytes[self.start..][..len * n];
        Batch {
            bytes,
            len: Some(len),
            messages: bytes.chunks_exact(len).collect(),
        }
    }

    /// Returns messages of these lengths.
    pub fn unequal(&self, lens: &[usize]) -> Batch<'_> {
        let (bytes, _) = self.bytes[self.start..].split_at(lens.iter().sum());
        let mut rest = bytes;
        let messages = lens.iter().map(|&len| {
            let (message, after) = rest.split_at(len);
            rest = after;
            message
        });
        Batch {
            messages: messages.collect(),
            bytes,
            len: None,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").finish_non_exhaustive()
    }
}

/// Messages that lie end to end, as the pieces of a file do.
pub struct Batch<'a> {
    bytes: &'a [u8],
    len: Option<usize>,
    messages: Vec<&'a [u8]>,
}

impl<'a> Batch<'a> {
    /// Returns all messages, end to end.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the messages one by one.
    pub fn messages(&self) -> &[&'a [u8]] {
        &self.messages
    }

    /// Returns the length of every message.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn message_len(&self) -> usize {
        self.len.expect("the messages have equal lengths")
    }

    /// Returns the length of every message, or `None` if the lengths differ.
    pub fn equal_len(&self) -> Option<usize> {
        self.len
    }
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("n_messages", &self.messages.len())
            .field("n_bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// `SplitMix64` (Steele, Lea and Flood, 2014): sufficient for content and for the order of turns.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next output of `SplitMix64`.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to 1, excluding 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns the numbers from 0 to `n`, excluding `n`, in random order (Fisher and Yates).
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, self.next_u64() as usize % (last + 1));
        }
        order
    }
}
