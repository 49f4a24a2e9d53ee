//! Vector instruction sets as tokens.
//!
//! A value of a token type exists only where the CPU has the instructions (its `detect` is the
//! only constructor), so its methods are safe to call, and kernels that take a token hold no
//! unsafe code. Nearly all of the crate's unsafe code is the tables of this module.

mod portable;

cfg_if::cfg_if! {
    if #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] {
        mod x86;
        pub(crate) use self::x86::{
            Avx, Avx2, Avx512, Avx512Vl, Family, ShaNi, Sse2, Ssse3, features,
        };
    } else if #[cfg(target_arch = "aarch64")] {
        mod aarch64;
        mod one_family;
        pub(crate) use aarch64::{ArmSha, Neon, NeonSha3, features};
        pub(crate) use one_family::Family;
    } else if #[cfg(all(target_family = "wasm", target_feature = "simd128"))] {
        mod one_family;
        mod wasm;
        pub(crate) use one_family::Family;
        pub(crate) use wasm::{Simd128, features};
    } else {
        mod one_family;
        mod other;
        pub(crate) use one_family::Family;
        pub(crate) use other::features;
    }
}
pub(crate) use portable::Portable;

use crate::types::{Block, MAX_LANES};

/// A vector instruction set with 32-bit lanes.
///
/// Every method of every implementation is `#[inline(always)]`: see `kernels/lanes.rs`.
pub trait Simd: Copy {
    /// [`Self::LANES`] words, one of each message.
    type V: Copy;

    /// Messages that are compressed at once.
    const LANES: usize;

    /// Runs `f`, which must be `#[inline(always)]`, with these instructions enabled.
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R;

    /// Runs `f`, a part of what [`Self::vectorize`] runs. `f` must be `#[inline(always)]`.
    ///
    /// A part is a function of its own until the compiler has simplified it, and then becomes part of
    /// the kernel. Every vector operation starts as some twenty instructions, which pass vectors by
    /// reference, and LLVM promotes references to registers in quadratic time: without parts the
    /// crate compiles for four times as long. Parts are rounds: small enough that LLVM inlines all
    /// of them. `tools/symbols` finds those that it does not.
    #[inline(always)]
    fn part<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }

    fn splat(self, word: u32) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn shl<const N: i32>(self, a: Self::V) -> Self::V;
    fn shr<const N: i32>(self, a: Self::V) -> Self::V;

    /// The lesser of two words, as numbers without a sign.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;

    /// A bit for each lane, set where the word is zero.
    fn zero_lanes(self, a: Self::V) -> u32;

    /// The first `LANES` words.
    fn load(self, words: &[u32; MAX_LANES]) -> Self::V;

    /// Overwrites the first `LANES` words.
    fn store(self, a: Self::V, words: &mut [u32; MAX_LANES]);

    /// Block `n` of each lane's input as sixteen schedule words.
    ///
    /// # Panics
    /// If an input of the first `LANES` has no block `n`.
    fn load_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [Self::V; 16];

    /// Asks for block `n` of `blocks` to be brought nearer, if there is one. It changes nothing but
    /// the time that a later load takes.
    #[inline(always)]
    fn prefetch(self, blocks: &[Block], n: usize) {
        let _ = (blocks, n);
    }

    /// An addition that leaves the ports of the rotates alone, where there is a choice.
    #[inline(always)]
    fn add_aside(self, a: Self::V, b: Self::V) -> Self::V {
        self.add(a, b)
    }

    /// x + y + `late`, where `late` is known last.
    #[inline(always)]
    fn add_late(self, x: Self::V, y: Self::V, late: Self::V) -> Self::V {
        self.add(self.add(x, y), late)
    }

    /// Rotates to the left by `L` bits; `R` is 32 - `L`.
    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self, a: Self::V) -> Self::V {
        const { assert!(L + R == 32) }
        self.xor(self.shl::<L>(a), self.shr::<R>(a))
    }

    /// Ch(x, y, z), FIPS 180-4 section 4.1.
    #[inline(always)]
    fn ch(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(z, self.and(x, self.xor(y, z)))
    }

    /// Maj(x, y, z), FIPS 180-4 section 4.1.
    #[inline(always)]
    fn maj(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(self.and(self.xor(x, y), z), self.and(x, y))
    }

    /// Maj(x, y, z) in a chain in which x of one call is y of the next, and y is z: `y_xor_z` holds
    /// what the call before left there, x ^ y, with which three operations are enough.
    #[inline(always)]
    fn maj_in_chain(self, x: Self::V, y: Self::V, z: Self::V, y_xor_z: &mut Self::V) -> Self::V {
        let _ = z;
        let x_xor_y = self.xor(x, y);
        let maj = self.xor(y, self.and(x_xor_y, *y_xor_z));
        *y_xor_z = x_xor_y;
        maj
    }

    /// Parity(x, y, z), FIPS 180-4 section 4.1: the exclusive or of three.
    #[inline(always)]
    fn parity(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(self.xor(x, y), z)
    }
}

/// The most 128-bit parts in any vector.
const MAX_PARTS: usize = MAX_LANES / 4;

/// Operations on vectors of 128-bit parts that transpose a block. Each part holds four messages:
/// lane = 4 · part + word.
#[cfg_attr(
    not(any(target_arch = "x86", target_arch = "x86_64")),
    expect(unreachable_pub, reason = "only `Schedule` shows it")
)]
pub trait Quads: Simd {
    /// 128-bit parts in a vector: 1, 2 or 4.
    const PARTS: usize = Self::LANES / 4;

    fn zip_lo32(self, a: Self::V, b: Self::V) -> Self::V;
    fn zip_hi32(self, a: Self::V, b: Self::V) -> Self::V;
    fn zip_lo64(self, a: Self::V, b: Self::V) -> Self::V;
    fn zip_hi64(self, a: Self::V, b: Self::V) -> Self::V;

    /// Reverses the four bytes of each word.
    fn swap_bytes(self, a: Self::V) -> Self::V;

    /// One row of sixteen bytes a part; rows beyond the parts are not looked at.
    fn load_parts(self, rows: [&[u8; 16]; MAX_PARTS]) -> Self::V;

    /// The four quarters of one block a part, with the bytes of each word reversed; blocks beyond
    /// the parts are not looked at.
    ///
    /// The bytes are reversed here and not after the transpose: there the compiler would melt each
    /// reversal with the shuffle before it, into two reversals and an OR.
    ///
    /// Parts are put together one by one, which takes the load ports and any vector port. To load
    /// whole lines of 64 bytes and shuffle parts takes fewer operations, and all of them on the one
    /// port that shuffles: SHA-1 x16 8.65 GB/s so, and 7.7 with whole lines.
    #[inline(always)]
    fn load_quarters(self, blocks: [&Block; MAX_PARTS]) -> [Self::V; 4] {
        let [a, b, c, d] = blocks.map(|block| block.as_chunks::<16>().0);
        [
            self.swap_bytes(self.load_parts([&a[0], &b[0], &c[0], &d[0]])),
            self.swap_bytes(self.load_parts([&a[1], &b[1], &c[1], &d[1]])),
            self.swap_bytes(self.load_parts([&a[2], &b[2], &c[2], &d[2]])),
            self.swap_bytes(self.load_parts([&a[3], &b[3], &c[3], &d[3]])),
        ]
    }

    /// [`Simd::load_block`]: a 4×4 transpose in each 128-bit part, for each quarter of the block.
    ///
    /// All quarters of a block are loaded before the next lanes' block is touched. Pieces of a
    /// torrent lie a power of two apart, so that the blocks of all lanes fall into one set of the
    /// first-level cache, which has fewer ways than there are lanes: code that returns to a
    /// block later finds it gone.
    #[inline(always)]
    fn transpose_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [Self::V; 16] {
        let part = |first: usize, part: usize| &inputs[first + 4 * (part % Self::PARTS)][n];
        let rows = |first| {
            [
                part(first, 0),
                part(first, 1),
                part(first, 2),
                part(first, 3),
            ]
        };
        let a = self.load_quarters(rows(0));
        let b = self.load_quarters(rows(1));
        let c = self.load_quarters(rows(2));
        let d = self.load_quarters(rows(3));
        let [w0, w1, w2, w3] = self.transpose_words(a[0], b[0], c[0], d[0]);
        let [w4, w5, w6, w7] = self.transpose_words(a[1], b[1], c[1], d[1]);
        let [w8, w9, w10, w11] = self.transpose_words(a[2], b[2], c[2], d[2]);
        let [w12, w13, w14, w15] = self.transpose_words(a[3], b[3], c[3], d[3]);
        [
            w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15,
        ]
    }

    /// A 4×4 transpose of words in each part.
    #[inline(always)]
    fn transpose_words(self, a: Self::V, b: Self::V, c: Self::V, d: Self::V) -> [Self::V; 4] {
        let (lo_ab, lo_cd) = (self.zip_lo32(a, b), self.zip_lo32(c, d));
        let (hi_ab, hi_cd) = (self.zip_hi32(a, b), self.zip_hi32(c, d));
        [
            self.zip_lo64(lo_ab, lo_cd),
            self.zip_hi64(lo_ab, lo_cd),
            self.zip_lo64(hi_ab, hi_cd),
            self.zip_hi64(hi_ab, hi_cd),
        ]
    }
}

/// W + K of four rounds, of one block or of two: what `kernels/schedule.rs` hands from vectors to
/// words.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) type Row = [u32; 8];

/// What the schedule of a single message needs: here a 128-bit part holds four words of one block.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub trait Schedule: Quads {
    /// The token for the single words of the rounds.
    type Word: Simd<V = u32>;
    const WORD: Self::Word;

    /// The same four words in each part.
    fn splat_part(self, words: &[u32; 4]) -> Self::V;

    /// Words in the order that `ORDER` has, two bits each, in each part.
    fn shuffle<const ORDER: i32>(self, a: Self::V) -> Self::V;

    /// Shifts 64-bit words.
    fn shr64<const N: i32>(self, a: Self::V) -> Self::V;

    /// Sixteen bytes of `lo` followed by `hi`, from byte `BYTES` on (4, 8 or 12), in each part.
    fn words_from<const BYTES: i32>(self, lo: Self::V, hi: Self::V) -> Self::V;

    /// Words 0 and 1 of `a`, and 2 and 3 of `b`, in each part.
    fn halves(self, a: Self::V, b: Self::V) -> Self::V;

    /// Overwrites the first words of a row, as many as there are lanes.
    fn store_row(self, a: Self::V, row: &mut Row);

    /// σ1 (FIPS 180-4 section 4.1.2) of words 2 and 3 of `last`, added to words 0 and 1 of `sum`.
    ///
    /// A word beside itself, shifted as 64 bits, is a word rotated.
    #[inline(always)]
    fn add_small_sigma1_low(self, sum: Self::V, last: Self::V) -> Self::V {
        let x = self.shuffle::<0b11_11_10_10>(last);
        let y = self.parity(self.shr64::<17>(x), self.shr64::<19>(x), self.shr::<10>(x));
        self.add(sum, self.shuffle::<0b10_00_10_00>(y))
    }

    /// Words 0 and 1 of `low`, and words 2 and 3 of `sum` with σ1 of the former added.
    #[inline(always)]
    fn add_small_sigma1_high(self, sum: Self::V, low: Self::V) -> Self::V {
        let x = self.shuffle::<0b01_01_00_00>(low);
        let y = self.parity(self.shr64::<17>(x), self.shr64::<19>(x), self.shr::<10>(x));
        let high = self.add(sum, self.shuffle::<0b10_00_10_00>(y));
        self.halves(low, high)
    }
}
