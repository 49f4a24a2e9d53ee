//! The layout of a payload in the words of a SHA-256 block.

use crate::kind::Kind;
use crate::sha256d::MAX_MESSAGE_WORDS;
use crate::value::Value;

/// Length of the checksum in bits.
pub(crate) const CHECKSUM_BITS: u32 = 32;

/// The layout of a kind's payload, in the number that a string encodes and in a block.
///
/// The number is payload · 2³² + checksum. Its lowest F bits hold the checksum and the suffix. The
/// suffix is constant, and the hash determines the checksum. The bits above F are the words of the
/// block that vary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// The number F of low bits.
    pub(crate) low_bits: u32,
    /// The value of the suffix.
    pub(crate) suffix: u64,
    /// Number of zero bits to append to the bits above F, so that they end at a word boundary.
    pub(crate) shift: u32,
    /// Number of words that hold the bits above F.
    pub(crate) n_varying: usize,
    /// Number of words in the message, including the word with the first bit of the padding.
    pub(crate) n_words: usize,
    /// The constant part of every block: suffix, padding and length.
    constant: [u32; 16],
}

impl Message {
    pub(crate) fn new(kind: &Kind) -> Self {
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

    /// Returns the bits of a number above F, shifted to their position in a block.
    #[inline]
    pub(crate) fn above(&self, value: &Value) -> Value {
        value.shifted_right(self.low_bits).shifted_left(self.shift)
    }

    /// Returns a number modulo 2^F.
    #[inline]
    pub(crate) fn below(&self, value: &Value) -> u64 {
        value.low_u64_from(0) & u64::MAX >> (64 - self.low_bits)
    }

    /// Returns word `index` of a result of [`Self::above`].
    #[inline]
    pub(crate) fn word(&self, above: &Value, index: usize) -> u32 {
        match self.n_varying.checked_sub(index + 1) {
            Some(n_after) => above.word(32 * n_after as u32),
            None => 0,
        }
    }

    /// Returns the block of a result of [`Self::above`].
    #[inline]
    pub(crate) fn block(&self, above: &Value) -> [u32; 16] {
        let mut block = self.constant;
        for (index, word) in block[..MAX_MESSAGE_WORDS].iter_mut().enumerate() {
            *word |= self.word(above, index);
        }
        block
    }

    /// Returns a carry out of the lowest F bits, in the form of [`Self::above`].
    pub(crate) fn carry(&self) -> Value {
        Value::from(1_u64).shifted_left(self.shift)
    }
}
