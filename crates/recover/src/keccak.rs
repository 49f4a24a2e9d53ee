//! Keccak-256 of many short messages in lanes: the hash of Ethereum, with the padding of Keccak
//! before it became SHA-3 (FIPS 202).

#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a #[target_feature] entry is compiled without the feature"
)]

use hashlane_simd::{MAX_LANES, Portable, Simd64, Vectorize as _};

/// Length in bytes of a block: the rate of Keccak-256.
const RATE: usize = 136;

/// Number of words of a digest.
const DIGEST_WORDS: usize = 4;

/// The first words of a digest, little-endian: bit 7 of a byte is bit 3 of its first hexadecimal digit.
pub(crate) type Words = [u64; DIGEST_WORDS];

/// A message that fits into one block, with its padding.
#[derive(Clone, Copy)]
pub(crate) struct Block([u64; RATE / 8]);

impl Block {
    /// Pads a message.
    ///
    /// # Panics
    /// If the message has more than 135 bytes.
    pub(crate) fn new(message: &[u8]) -> Self {
        let mut bytes = [0; RATE];
        bytes[..message.len()].copy_from_slice(message);
        bytes[message.len()] = 1;
        bytes[RATE - 1] |= 0x80;
        let (words, _) = bytes.as_chunks::<8>();
        Self(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
    }

    /// Returns the first bytes of the message.
    pub(crate) fn message(&self, len: usize) -> Vec<u8> {
        let bytes = self.0.iter().flat_map(|word| word.to_le_bytes());
        bytes.take(len).collect()
    }
}

/// Defines the kernels: the instructions of each, and where it exists. The fastest one is last.
macro_rules! kernels {
    ($($(#[$available:meta])* $name:ident($token:ident);)*) => {
        /// The instructions of a kernel, whose vectors have a message in each lane.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Kernel {
            /// One message at a time.
            Portable,
            $($(#[$available])* $name(hashlane_simd::$token),)*
        }

        impl Kernel {
            /// Returns the kernels that this CPU can run, the fastest last.
            pub(crate) fn available() -> impl Iterator<Item = Self> {
                let all = [
                    Some(Self::Portable),
                    $($(#[$available])* hashlane_simd::$token::detect().map(Self::$name),)*
                ];
                all.into_iter().flatten()
            }

            /// Overwrites the first digests, one for each block.
            pub(crate) fn digest(self, blocks: &[Block], digests: &mut [Words]) {
                match self {
                    Self::Portable => digest_in_lanes(Portable, blocks, digests),
                    $($(#[$available])* Self::$name(token) => token.vectorize(
                        #[inline(always)]
                        || digest_in_lanes(token, blocks, digests),
                    ),)*
                }
            }
        }
    };
}

kernels! {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2(Avx2);
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512(Avx512);
    #[cfg(target_arch = "aarch64")]
    Neon(Neon);
}

impl Kernel {
    /// Returns the fastest kernel.
    pub(crate) fn fastest() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }
}

#[inline(always)]
fn digest_in_lanes<S: Simd64>(s: S, blocks: &[Block], digests: &mut [Words]) {
    let groups = blocks.chunks(S::LANES).zip(digests.chunks_mut(S::LANES));
    for (blocks, digests) in groups {
        let mut state = [s.splat(0); 25];
        for (i, vector) in state.iter_mut().take(RATE / 8).enumerate() {
            let mut words = [0; MAX_LANES];
            for (word, block) in words.iter_mut().zip(blocks) {
                *word = block.0[i];
            }
            *vector = s.load(&words);
        }
        let state = permute(s, state);
        for (i, vector) in state.into_iter().take(DIGEST_WORDS).enumerate() {
            let mut words = [0; MAX_LANES];
            s.store(vector, &mut words);
            for (digest, word) in digests.iter_mut().zip(words) {
                digest[i] = word;
            }
        }
    }
}

/// The constants of ι (FIPS 202, section 3.2.5).
const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

/// Returns Keccak-f\[1600\] of the state whose word (x, y) is number x + 5 y. A caller that reads few
/// words leaves few operations of the last round.
#[inline(always)]
fn permute<S: Simd64>(s: S, mut state: [S::V; 25]) -> [S::V; 25] {
    for constant in &ROUND_CONSTANTS[..23] {
        state = s.fragment(
            #[inline(always)]
            || round(s, state, *constant),
        );
    }
    round(s, state, ROUND_CONSTANTS[23])
}

#[inline(always)]
fn round<S: Simd64>(s: S, a: [S::V; 25], constant: u64) -> [S::V; 25] {
    // θ
    let parity = |x: usize| s.parity(s.parity(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
    let c: [S::V; 5] = [parity(0), parity(1), parity(2), parity(3), parity(4)];
    let d = |x: usize| s.xor(c[(x + 4) % 5], s.rotr::<63, 1>(c[(x + 1) % 5]));
    let d = [d(0), d(1), d(2), d(3), d(4)];
    // ρ and π: each word, its place and its rotation to the left.
    let mut b = a;
    macro_rules! turn {
        ($($from:literal to $to:literal by $by:literal;)*) => { $(
            b[$to] = s.rotr::<{ 64 - $by }, $by>(s.xor(a[$from], d[$from % 5]));
        )* };
    }
    b[0] = s.xor(a[0], d[0]);
    turn! {
        1 to 10 by 1; 2 to 20 by 62; 3 to 5 by 28; 4 to 15 by 27;
        5 to 16 by 36; 6 to 1 by 44; 7 to 11 by 6; 8 to 21 by 55; 9 to 6 by 20;
        10 to 7 by 3; 11 to 17 by 10; 12 to 2 by 43; 13 to 12 by 25; 14 to 22 by 39;
        15 to 23 by 41; 16 to 8 by 45; 17 to 18 by 15; 18 to 3 by 21; 19 to 13 by 8;
        20 to 14 by 18; 21 to 24 by 2; 22 to 9 by 61; 23 to 19 by 56; 24 to 4 by 14;
    }
    // χ and ι
    let mut e = b;
    for y in [0, 5, 10, 15, 20] {
        for x in 0..5 {
            let others = s.and_not(b[y + (x + 1) % 5], b[y + (x + 2) % 5]);
            e[y + x] = s.xor(b[y + x], others);
        }
    }
    e[0] = s.xor(e[0], s.splat(constant));
    e
}

#[cfg(test)]
mod tests {
    use sha3::{Digest as _, Keccak256};

    use super::*;

    fn bytes(words: Words) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Each kernel agrees with another implementation for each length of a block and each number of
    /// messages in lanes.
    #[test]
    fn digests() {
        let messages: Vec<Vec<u8>> = (0..RATE)
            .map(|len| (0..len).map(|i| (i * 7 + len) as u8).collect())
            .collect();
        for kernel in Kernel::available() {
            for n in [1, 2, 3, 4, 5, 7, RATE] {
                for messages in messages.chunks(n) {
                    let blocks: Vec<Block> = messages.iter().map(|m| Block::new(m)).collect();
                    let mut digests = vec![[0; DIGEST_WORDS]; blocks.len()];
                    kernel.digest(&blocks, &mut digests);
                    for (message, digest) in messages.iter().zip(digests) {
                        let expected = Keccak256::digest(message);
                        assert_eq!(bytes(digest)[..], expected[..], "{kernel:?}");
                    }
                }
            }
        }
    }

    /// The digest of no bytes, which Ethereum's yellow paper names.
    #[test]
    fn empty_message() {
        let mut digests = [[0; DIGEST_WORDS]];
        Kernel::fastest().digest(&[Block::new(b"")], &mut digests);
        assert_eq!(bytes(digests[0])[..4], [0xc5, 0xd2, 0x46, 0x01]);
    }
}
