//! One lane of plain integers. All targets have this backend, and tests compare the other backends
//! with it.

use crate::{Block, LongBlock, MAX_LANES, Simd, Simd64, Vectorize};

/// Runs `f` in a separate function. If kernels were inlined into every entry point, they would be a
/// third of the engine's code and of its compile time.
#[inline(never)]
pub(super) fn outlined<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// The token of the portable backend, which needs no CPU feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portable;

impl Portable {
    /// Returns the token. The portable backend is always available.
    #[inline]
    pub fn detect() -> Option<Self> {
        Some(Self)
    }

    /// Returns the sixteen big-endian words of a block.
    #[inline(always)]
    pub fn load_one(self, block: &Block) -> [u32; 16] {
        let (words, _) = block.as_chunks::<4>();
        let mut w = [0; 16];
        for i in 0..16 {
            w[i] = u32::from_be_bytes(words[i]);
        }
        w
    }
}

/// Implements [`Simd`] and [`Simd64`] for a token whose vector is one word.
macro_rules! simd_word {
    ($name:ident, enable: |$f:ident| $enable:expr $(, overrides: { $($overrides:tt)* })?) => {
        impl Vectorize for $name {
            #[inline(always)]
            fn vectorize<R>(self, $f: impl FnOnce() -> R) -> R {
                $enable
            }
        }

        impl Simd for $name {
            type V = u32;
            const LANES: usize = 1;

            #[inline(always)]
            fn splat(self, word: u32) -> u32 {
                word
            }
            #[inline(always)]
            fn add(self, a: u32, b: u32) -> u32 {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn sub(self, a: u32, b: u32) -> u32 {
                a.wrapping_sub(b)
            }
            #[inline(always)]
            fn min(self, a: u32, b: u32) -> u32 {
                a.min(b)
            }
            #[inline(always)]
            fn zero_lanes(self, a: u32) -> u32 {
                u32::from(a == 0)
            }
            #[inline(always)]
            fn and(self, a: u32, b: u32) -> u32 {
                a & b
            }
            #[inline(always)]
            fn xor(self, a: u32, b: u32) -> u32 {
                a ^ b
            }
            #[inline(always)]
            fn shl<const N: i32>(self, a: u32) -> u32 {
                a << N
            }
            #[inline(always)]
            fn shr<const N: i32>(self, a: u32) -> u32 {
                a >> N
            }
            #[inline(always)]
            fn rotl<const L: i32, const R: i32>(self, a: u32) -> u32 {
                // The compiler does not recognise a rotation in the exclusive-or of two shifts.
                const { assert!(L + R == 32) }
                a.rotate_left(L.cast_unsigned())
            }
            #[inline(always)]
            fn load(self, words: &[u32; MAX_LANES]) -> u32 {
                words[0]
            }
            #[inline(always)]
            fn store(self, a: u32, words: &mut [u32; MAX_LANES]) {
                words[0] = a;
            }
            #[inline(always)]
            fn load_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [u32; 16] {
                Portable.load_one(&inputs[0][n])
            }
            $($($overrides)*)?
        }

        impl Simd64 for $name {
            type V = u64;
            const LANES: usize = 1;

            #[inline(always)]
            fn splat(self, word: u64) -> u64 {
                word
            }
            #[inline(always)]
            fn add(self, a: u64, b: u64) -> u64 {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn and(self, a: u64, b: u64) -> u64 {
                a & b
            }
            #[inline(always)]
            fn xor(self, a: u64, b: u64) -> u64 {
                a ^ b
            }
            #[inline(always)]
            fn shl<const N: i32>(self, a: u64) -> u64 {
                a << N
            }
            #[inline(always)]
            fn shr<const N: i32>(self, a: u64) -> u64 {
                a >> N
            }
            #[inline(always)]
            fn rotr<const R: i32, const L: i32>(self, a: u64) -> u64 {
                // As in `rotl`.
                const { assert!(L + R == 64) }
                a.rotate_right(R.cast_unsigned())
            }
            #[inline(always)]
            fn load(self, words: &[u64; MAX_LANES]) -> u64 {
                words[0]
            }
            #[inline(always)]
            fn store(self, a: u64, words: &mut [u64; MAX_LANES]) {
                words[0] = a;
            }
            #[inline(always)]
            fn load_block(self, inputs: &[&[LongBlock]; MAX_LANES], n: usize) -> [u64; 16] {
                let (words, _) = inputs[0][n].as_chunks::<8>();
                let mut w = [0; 16];
                for i in 0..16 {
                    w[i] = u64::from_be_bytes(words[i]);
                }
                w
            }
        }
    };
}
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(super) use simd_word;

simd_word!(Portable, enable: |f| outlined(f));
