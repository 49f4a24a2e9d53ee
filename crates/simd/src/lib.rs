#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | contents |
//! |---|---|
//! | `lib.rs` | the traits of tokens: lanes, quads, and the schedule of a single message; what CPUs without tokens have |
//! | `wide.rs` | the trait of lanes with words of 64 bits |
//! | `bytes.rs` | the traits of vectors of bytes, for finite fields |
//! | `portable.rs` | one lane of plain integers |
//! | `{x86,aarch64,wasm}.rs` | the tokens of each architecture |
//! | `{x86,aarch64}/bytes.rs` | their operations on bytes. These files and the tokens have all unsafe code |
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | word | 32 bits, or 64 bits in `wide.rs` |
//! | lane | the position of a word in a vector; lane `i` of all vectors holds the words of message `i` |
//! | quad | 128 bits of a vector: four words |
//! | quarter | 16 of the 64 bytes of a block: four words |
//! | group | four consecutive rounds, or the four words of the schedule for them |
//! | fragment | a round, or another small function that a kernel is composed of |
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a #[target_feature] entry is compiled without the feature"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over words index several arrays, with constants once unrolled"
)]

mod bytes;
mod portable;
mod wide;

cfg_if::cfg_if! {
    if #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] {
        mod x86;
        pub use self::x86::{
            Avx, Avx2, Avx2Gfni, Avx512, Avx512Gfni, Avx512Vl, Family, ShaNi, Sse2, Ssse3, features,
        };
    } else if #[cfg(target_arch = "aarch64")] {
        mod aarch64;
        pub use aarch64::{ArmSha, Neon, NeonSha3, features};
    } else if #[cfg(all(target_family = "wasm", target_feature = "simd128"))] {
        mod wasm;
        pub use wasm::{Simd128, features};
    } else {
        /// Returns the CPU features that a token can use: none on this architecture.
        pub fn features() -> impl Iterator<Item = CpuFeature> {
            core::iter::empty()
        }
    }
}
pub use bytes::{Affine, ByteTables, Bytes, PortableMatrices, UNIT_LEN, Unit};
pub use portable::Portable;
pub use wide::{LONG_BLOCK_LEN, LongBlock, Simd64};

/// Length in bytes of a block, the unit in which messages are loaded.
pub const BLOCK_LEN: usize = 64;

/// One block of a message: sixteen big-endian words.
pub type Block = [u8; BLOCK_LEN];

/// The largest number of lanes: of 32-bit words in a vector.
pub const MAX_LANES: usize = 16;

/// A CPU feature that a kernel uses, or could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuFeature {
    /// The name, as in the compiler's `target_feature`.
    pub name: &'static str,
    /// Whether this CPU and the operating system support the feature.
    pub is_available: bool,
}

/// CPUs whose kernels have the same ratios of rates. A new family is a breaking change, as on x86.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    #[default]
    /// All CPUs of this architecture.
    Any = 0,
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
impl Family {
    /// Returns the family of this CPU.
    #[inline]
    pub fn detect() -> Self {
        Self::Any
    }
}

/// A token that runs code with its instructions enabled.
pub trait Vectorize: Copy {
    /// Runs `f`, which must be `#[inline(always)]`, with these instructions enabled.
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R;

    /// Runs `f`, a fragment of a closure that [`Self::vectorize`] runs. `f` must be
    /// `#[inline(always)]`.
    ///
    /// The compiler simplifies a fragment as a separate function before it inlines the fragment
    /// into the kernel. Each vector operation starts as some twenty instructions that pass vectors
    /// by reference, and LLVM promotes references to registers in quadratic time. Without fragments,
    /// the engine takes four times as long to compile. A fragment is a round, small enough that LLVM
    /// always inlines it; `tools/symbols` checks this.
    #[inline(always)]
    fn fragment<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// A vector instruction set with 32-bit lanes.
///
/// All methods of all implementations are `#[inline(always)]`. A function below
/// [`Vectorize::vectorize`] that is not inlined is compiled without the CPU feature, and no test
/// fails.
pub trait Simd: Vectorize {
    /// [`Self::LANES`] words, one word per message.
    type V: Copy;

    /// The number of messages that are compressed at once.
    const LANES: usize;

    /// Returns `word` in each lane.
    fn splat(self, word: u32) -> Self::V;

    /// Returns a + b modulo 2³² in each lane.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns a − b modulo 2³² in each lane.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns the bits that both have.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns the bits that exactly one of both has.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;

    /// Shifts each word left by `N` bits.
    fn shl<const N: i32>(self, a: Self::V) -> Self::V;

    /// Shifts each word right by `N` bits.
    fn shr<const N: i32>(self, a: Self::V) -> Self::V;

    /// Returns the lesser of two unsigned words in each lane.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns a bit for each lane, set if the word is zero.
    fn zero_lanes(self, a: Self::V) -> u32;

    /// Loads the first `LANES` words.
    fn load(self, words: &[u32; MAX_LANES]) -> Self::V;

    /// Overwrites the first `LANES` words.
    fn store(self, a: Self::V, words: &mut [u32; MAX_LANES]);

    /// Returns block `n` of each lane's input as sixteen schedule words.
    ///
    /// # Panics
    /// If one of the first `LANES` inputs has no block `n`.
    fn load_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [Self::V; 16];

    /// Prefetches block `n` of `blocks`, if it exists.
    #[inline(always)]
    fn prefetch(self, blocks: &[Block], n: usize) {
        let _ = (blocks, n);
    }

    /// Adds without the ports that rotate, where the instruction set offers a choice.
    #[inline(always)]
    fn add_aside(self, a: Self::V, b: Self::V) -> Self::V {
        self.add(a, b)
    }

    /// Returns x + y + `late`, where `late` is available last.
    #[inline(always)]
    fn add_late(self, x: Self::V, y: Self::V, late: Self::V) -> Self::V {
        self.add(self.add(x, y), late)
    }

    /// Rotates left by `L` bits; `R` is 32 - `L`.
    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self, a: Self::V) -> Self::V {
        const { assert!(L + R == 32) }
        self.xor(self.shl::<L>(a), self.shr::<R>(a))
    }

    /// Returns Ch(x, y, z), FIPS 180-4 section 4.1.
    #[inline(always)]
    fn ch(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(z, self.and(x, self.xor(y, z)))
    }

    /// Returns Maj(x, y, z), FIPS 180-4 section 4.1.
    #[inline(always)]
    fn maj(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(self.and(self.xor(x, y), z), self.and(x, y))
    }

    /// Returns Maj(x, y, z) with three operations, for a chain of calls in which `x` becomes `y` of
    /// the next call and `y` becomes `z`. `y_xor_z` holds x ^ y of the previous call; vectors with an
    /// operation for Maj ignore it.
    #[inline(always)]
    fn maj_in_chain(self, x: Self::V, y: Self::V, z: Self::V, y_xor_z: &mut Self::V) -> Self::V {
        let _ = z;
        let x_xor_y = self.xor(x, y);
        let maj = self.xor(y, self.and(x_xor_y, *y_xor_z));
        *y_xor_z = x_xor_y;
        maj
    }

    /// Returns Parity(x, y, z), FIPS 180-4 section 4.1: x ^ y ^ z.
    #[inline(always)]
    fn parity(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V {
        self.xor(self.xor(x, y), z)
    }
}

/// The largest number of quads in a vector.
pub const MAX_QUADS: usize = MAX_LANES / 4;

/// A vector instruction set whose vectors consist of quads, with the operations to transpose a
/// block. Each quad holds four lanes: lane = 4 · quad + word.
pub trait Quads: Simd {
    /// The number of quads in a vector: 1, 2 or 4.
    const QUADS: usize = Self::LANES / 4;

    /// Alternates the words of the low halves of `a` and `b`, in each quad.
    fn zip_lo32(self, a: Self::V, b: Self::V) -> Self::V;

    /// Alternates the words of the high halves of `a` and `b`, in each quad.
    fn zip_hi32(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns the low half of `a`, then that of `b`, in each quad.
    fn zip_lo64(self, a: Self::V, b: Self::V) -> Self::V;

    /// Returns the high half of `a`, then that of `b`, in each quad.
    fn zip_hi64(self, a: Self::V, b: Self::V) -> Self::V;

    /// Reverses the four bytes of each word.
    fn swap_bytes(self, a: Self::V) -> Self::V;

    /// Loads one quarter of a block into each quad. Quarters beyond the number of quads are ignored.
    fn load_quads(self, quarters: [&[u8; 16]; MAX_QUADS]) -> Self::V;

    /// Loads the four quarters of one block per quad, with the bytes of each word reversed. Blocks
    /// beyond the number of quads are ignored.
    ///
    /// The bytes are reversed before the transpose. After the transpose, the compiler would merge
    /// each reversal with the preceding shuffle into two reversals and an OR.
    ///
    /// Quads are loaded one by one, which uses the load ports and any vector port. Loads of whole
    /// 64-byte lines take fewer operations, but all shuffles then compete for one port. SHA-1 x16
    /// reaches 8.65 GB/s with quads and 7.7 GB/s with whole lines.
    #[inline(always)]
    fn load_quarters(self, blocks: [&Block; MAX_QUADS]) -> [Self::V; 4] {
        let [a, b, c, d] = blocks.map(|block| block.as_chunks::<16>().0);
        [
            self.swap_bytes(self.load_quads([&a[0], &b[0], &c[0], &d[0]])),
            self.swap_bytes(self.load_quads([&a[1], &b[1], &c[1], &d[1]])),
            self.swap_bytes(self.load_quads([&a[2], &b[2], &c[2], &d[2]])),
            self.swap_bytes(self.load_quads([&a[3], &b[3], &c[3], &d[3]])),
        ]
    }

    /// Implements [`Simd::load_block`]: a 4×4 transpose in each quad, for each quarter of
    /// the block.
    ///
    /// All quarters of a block are loaded before the block of the next lane. The pieces of a
    /// torrent start a power of two apart, so the blocks of all lanes map to one set of the
    /// first-level cache. The set has fewer ways than there are lanes, so a block that is read
    /// again later would have been evicted.
    #[inline(always)]
    fn transpose_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [Self::V; 16] {
        let block = |word: usize, quad: usize| &inputs[word + 4 * (quad % Self::QUADS)][n];
        let blocks = |word| {
            [
                block(word, 0),
                block(word, 1),
                block(word, 2),
                block(word, 3),
            ]
        };
        let a = self.load_quarters(blocks(0));
        let b = self.load_quarters(blocks(1));
        let c = self.load_quarters(blocks(2));
        let d = self.load_quarters(blocks(3));
        let [w0, w1, w2, w3] = self.transpose_words(a[0], b[0], c[0], d[0]);
        let [w4, w5, w6, w7] = self.transpose_words(a[1], b[1], c[1], d[1]);
        let [w8, w9, w10, w11] = self.transpose_words(a[2], b[2], c[2], d[2]);
        let [w12, w13, w14, w15] = self.transpose_words(a[3], b[3], c[3], d[3]);
        [
            w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15,
        ]
    }

    /// Transposes 4×4 words in each quad.
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

/// The schedule of a group for one or two blocks, passed from vectors to words.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub type Group = [u32; 8];

/// A vector instruction set with the operations for the schedule of a single message. Here a
/// quad holds the words of one group of one block, and vectors have no lanes.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub trait Schedule: Quads {
    /// The token for the rounds, which run on single words.
    type Word: Simd<V = u32>;

    /// The token for the rounds.
    const WORD: Self::Word;

    /// Returns the same four words in each quad.
    fn splat_quad(self, words: &[u32; 4]) -> Self::V;

    /// Reorders the words in each quad. `ORDER` has two bits per word.
    fn shuffle<const ORDER: i32>(self, a: Self::V) -> Self::V;

    /// Shifts 64-bit words right.
    fn shr64<const N: i32>(self, a: Self::V) -> Self::V;

    /// Returns sixteen bytes of `lo` followed by `hi`, from byte `BYTES` (4 or 8) on, in each
    /// quad.
    fn words_from<const BYTES: i32>(self, lo: Self::V, hi: Self::V) -> Self::V;

    /// Returns words 0 and 1 of `a` and words 2 and 3 of `b`, in each quad.
    fn halves(self, a: Self::V, b: Self::V) -> Self::V;

    /// Overwrites the first words of a group, as many as the vector has.
    fn store_group(self, a: Self::V, group: &mut Group);
}
