//! Lanes with words of 64 bits, for SHA-384, SHA-512 and Keccak.

use crate::{MAX_LANES, MAX_QUADS, Quads, Vectorize};

/// Length in bytes of a block of algorithms with words of 64 bits.
pub const LONG_BLOCK_LEN: usize = 128;

/// One block of such an algorithm: sixteen big-endian words.
pub type LongBlock = [u8; LONG_BLOCK_LEN];

/// A vector instruction set with 64-bit lanes, half as many as [`Simd`](crate::Simd) has.
///
/// All methods of all implementations are `#[inline(always)]`, as in [`Simd`](crate::Simd).
pub trait Simd64: Vectorize {
    /// [`Self::LANES`] words, one word per message.
    type V: Copy;

    /// The number of messages that are compressed at once.
    const LANES: usize;

    /// Returns `word` in each lane.
    fn splat(self, word: u64) -> Self::V;

    /// Returns a + b modulo 2⁶⁴ in each lane.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns the bits that both have.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns the bits that exactly one of both has.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns the bits that `b` has and `a` does not have.
    #[inline(always)]
    fn and_not(self, a: Self::V, b: Self::V) -> Self::V {
        self.xor(b, self.and(a, b))
    }

    /// Shifts each word left by `N` bits.
    fn shl<const N: i32>(self, a: Self::V) -> Self::V;

    /// Shifts each word right by `N` bits.
    fn shr<const N: i32>(self, a: Self::V) -> Self::V;

    /// Loads the first `LANES` words.
    fn load(self, words: &[u64; MAX_LANES]) -> Self::V;

    /// Overwrites the first `LANES` words.
    fn store(self, a: Self::V, words: &mut [u64; MAX_LANES]);

    /// Returns block `n` of each lane's input as sixteen schedule words.
    ///
    /// # Panics
    /// If one of the first `LANES` inputs has no block `n`.
    fn load_block(self, inputs: &[&[LongBlock]; MAX_LANES], n: usize) -> [Self::V; 16];

    /// Prefetches block `n` of `blocks`, if it exists.
    #[inline(always)]
    fn prefetch(self, blocks: &[LongBlock], n: usize) {
        let _ = (blocks, n);
    }

    /// Rotates right by `R` bits; `L` is 64 - `R`.
    #[inline(always)]
    fn rotr<const R: i32, const L: i32>(self, a: Self::V) -> Self::V {
        const { assert!(L + R == 64) }
        self.xor(self.shr::<R>(a), self.shl::<L>(a))
    }

    /// Returns Ch(x, y, z), FIPS 180-4 section 4.1.
    #[inline(always)]
    fn ch(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(z, self.and(x, self.xor(y, z)))
    }

    /// Returns Maj(x, y, z) as [`Simd::maj_in_chain`](crate::Simd::maj_in_chain) does.
    #[inline(always)]
    fn maj_in_chain(self, x: Self::V, y: Self::V, z: Self::V, y_xor_z: &mut Self::V) -> Self::V {
        let _ = z;
        let x_xor_y = self.xor(x, y);
        let maj = self.xor(y, self.and(x_xor_y, *y_xor_z));
        *y_xor_z = x_xor_y;
        maj
    }

    /// Returns x ^ y ^ z.
    #[inline(always)]
    fn parity(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(self.xor(x, y), z)
    }
}

/// Implements [`Simd64::load_block`]. A quad holds the same two words of two messages, so one step transposes them. `swap_bytes`
/// reverses the bytes of each word of 64 bits.
#[cfg_attr(
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_family = "wasm", target_feature = "simd128")
    )),
    allow(dead_code, reason = "only vectors have quads")
)]
#[inline(always)]
pub(crate) fn transpose_long_block<S: Quads>(
    s: S,
    inputs: &[&[LongBlock]; MAX_LANES],
    n: usize,
    swap_bytes: impl Fn(S::V) -> S::V,
) -> [S::V; 16] {
    let mut words = [s.splat(0); 16];
    for pair in 0..8 {
        let even = swap_bytes(s.load_quads(pair_of_lanes::<S>(inputs, n, pair, 0)));
        let odd = swap_bytes(s.load_quads(pair_of_lanes::<S>(inputs, n, pair, 1)));
        words[2 * pair] = s.zip_lo64(even, odd);
        words[2 * pair + 1] = s.zip_hi64(even, odd);
    }
    words
}

/// Returns the same two words of the messages in every other lane, from lane `first` on.
#[cfg_attr(
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_family = "wasm", target_feature = "simd128")
    )),
    allow(dead_code, reason = "only vectors have quads")
)]
#[inline(always)]
fn pair_of_lanes<'m, S: Quads>(
    inputs: &[&'m [LongBlock]; MAX_LANES],
    n: usize,
    pair: usize,
    first: usize,
) -> [&'m [u8; 16]; MAX_QUADS] {
    let mut words = [&[0; 16]; MAX_QUADS];
    for quad in 0..S::QUADS {
        words[quad] = &inputs[2 * quad + first][n].as_chunks::<16>().0[pair];
    }
    words
}
