//! Operation tables of the vector instruction sets of 64-bit ARM, one line per intrinsic.
//!
//! The words of a vector are named from the lowest, as a little-endian load orders them. Big-endian
//! systems have no tokens.
//!
#![allow(unsafe_code, reason = "calls intrinsics")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "a block without a comment calls intrinsics in a function that receives a token: \
              the token exists, so the CPU has their features"
)]
#![allow(
    clippy::wildcard_imports,
    reason = "a table of intrinsics names thirty of them"
)]
#![allow(
    inline_always_mismatching_target_features,
    reason = "a method becomes part of the entry that has the feature, and then the intrinsic does"
)]

use core::arch::aarch64::*;
use core::arch::asm;

use crate::wide::transpose_long_block;
use crate::{Block, CpuFeature, LongBlock, MAX_LANES, MAX_QUADS, Quads, Simd, Simd64, Vectorize};

/// Four words.
type V = uint32x4_t;

#[cfg(feature = "std")]
macro_rules! has_feature {
    ($feature:tt) => {
        std::arch::is_aarch64_feature_detected!($feature)
    };
}
#[cfg(not(feature = "std"))]
macro_rules! has_feature {
    ($feature:tt) => {
        cfg!(target_feature = $feature)
    };
}

/// The token of a backend. Its features include NEON.
trait Token: Copy {}

/// Defines a token, and the function that runs code with its feature. The feature is written once,
/// so the detected feature and the enabled feature are the same.
///
/// The standard library detects the feature. For "sha2", which enables both sets of instructions,
/// it checks `FEAT_SHA1` and `FEAT_SHA256`, and it supports every operating system of the target.
/// The crate `cpufeatures` checks only `FEAT_SHA256`, and reports no features outside Linux and
/// Apple systems. Only the operating system knows the features, so without the standard library the
/// features of the target count.
macro_rules! token {
    ($(#[$doc:meta])* $name:ident: $feature:tt) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(());

        impl Token for $name {}

        impl $name {
            /// Returns the token if this CPU and the operating system support the instructions.
            /// Miri implements few of the intrinsics and no assembly.
            #[inline]
            pub fn detect() -> Option<Self> {
                let is_available = cfg!(all(target_endian = "little", not(miri)))
                    && has_feature!($feature);
                is_available.then_some(Self(()))
            }
        }

        impl Vectorize for $name {
            #[inline(always)]
            fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
                #[inline(never)]
                #[target_feature(enable = $feature)]
                fn enabled<F: FnOnce() -> R, R>(f: F) -> R {
                    f()
                }
                // SAFETY: `self` exists, so `detect` has seen the feature enabled here.
                unsafe { enabled(f) }
            }

            #[inline(always)]
            fn fragment<R>(self, f: impl FnOnce() -> R) -> R {
                #[inline]
                #[target_feature(enable = $feature)]
                fn enabled<F: FnOnce() -> R, R>(f: F) -> R {
                    f()
                }
                // SAFETY: `self` exists, so `detect` has seen the feature enabled here.
                unsafe { enabled(f) }
            }
        }
    };
}

token!(
    /// 128-bit integer vectors: every 64-bit ARM CPU that runs an operating system.
    Neon: "neon"
);
token!(
    /// NEON with the instructions of `FEAT_SHA3`, such as the exclusive-or of three
    /// vectors.
    NeonSha3: "sha3"
);
token!(
    /// The SHA-1 and SHA-256 instructions.
    ArmSha: "sha2"
);

/// Returns the CPU features that a backend can use, each with its availability.
pub fn features() -> impl Iterator<Item = CpuFeature> {
    let feature = |name, is_available| CpuFeature { name, is_available };
    [
        feature("neon", has_feature!("neon")),
        feature("sha3", has_feature!("sha3")),
        feature("sha2", has_feature!("sha2")),
    ]
    .into_iter()
}

mod bytes;

/// Defines methods that are one intrinsic each.
macro_rules! ops {
    ($($vis:vis fn $name:ident($($arg:ident: $t:ty),+) -> $v:ty = $intrinsic:ident;)*) => { $(
        #[doc = concat!("Executes `", stringify!($intrinsic), "`.")]
        #[inline(always)]
        $vis fn $name(self, $($arg: $t),+) -> $v {
            unsafe { $intrinsic($($arg),+) }
        }
    )* };
}

#[inline(always)]
fn load_16(_: impl Token, bytes: &[u8; 16]) -> V {
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    unsafe { vreinterpretq_u32_u8(vld1q_u8(bytes.as_ptr())) }
}

/// Reverses the bytes of each word.
#[inline(always)]
fn swap_bytes(_: impl Token, a: V) -> V {
    unsafe { vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(a))) }
}

/// Implements [`Simd`] and [`Quads`] for a token of NEON. `overrides` are operations for which the
/// token has better instructions.
macro_rules! simd_neon {
    ($name:ident, overrides: { $($overrides:tt)* }) => {
        impl Simd for $name {
            type V = uint32x4_t;
            const LANES: usize = 4;

            ops!(
                fn splat(word: u32) -> V = vdupq_n_u32;
                fn add(a: V, b: V) -> V = vaddq_u32;
                fn sub(a: V, b: V) -> V = vsubq_u32;
                fn min(a: V, b: V) -> V = vminq_u32;
                fn and(a: V, b: V) -> V = vandq_u32;
                fn xor(a: V, b: V) -> V = veorq_u32;
                // Takes bits of `y` where `x` has ones, and bits of `z` where `x` has zeros.
                fn ch(x: V, y: V, z: V) -> V = vbslq_u32;
            );
            #[inline(always)]
            fn zero_lanes(self, a: V) -> u32 {
                // SAFETY: the array has four words.
                unsafe {
                    let bits = vld1q_u32([1, 2, 4, 8].as_ptr());
                    vaddvq_u32(vandq_u32(vceqzq_u32(a), bits))
                }
            }
            #[inline(always)]
            fn maj(self, x: V, y: V, z: V) -> V {
                // Where `x` and `y` differ, `z` decides; elsewhere both are the result. Without
                // assembly, the compiler would rewrite this Boolean expression to four
                // instructions.
                let mut mask_to_maj = Simd::xor(self, x, y);
                // SAFETY: `self` exists, so the CPU has the instruction, which changes one
                // register.
                unsafe {
                    asm!(
                        "bsl {0:v}.16b, {1:v}.16b, {2:v}.16b",
                        inout(vreg) mask_to_maj, in(vreg) z, in(vreg) y,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                mask_to_maj
            }
            #[inline(always)]
            fn shl<const N: i32>(self, a: V) -> V {
                unsafe { vshlq_n_u32::<N>(a) }
            }
            #[inline(always)]
            fn shr<const N: i32>(self, a: V) -> V {
                unsafe { vshrq_n_u32::<N>(a) }
            }
            #[inline(always)]
            fn rotl<const L: i32, const R: i32>(self, a: V) -> V {
                const { assert!(L + R == 32) }
                // The compiler turns the intrinsic into a shift and add with twice the latency: 4
                // cycles instead of 2 on a Neoverse N1. Rotations are on the critical path from
                // round to round.
                let mut shifted_to_rotated = Simd::shl::<L>(self, a);
                // SAFETY: `self` exists, so the CPU has the instruction, which changes one
                // register.
                unsafe {
                    asm!(
                        "sri {0:v}.4s, {1:v}.4s, #{2}",
                        inout(vreg) shifted_to_rotated, in(vreg) a, const R,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                shifted_to_rotated
            }
            #[inline(always)]
            fn load(self, words: &[u32; MAX_LANES]) -> V {
                // SAFETY: a vector is no longer than the words.
                unsafe { vld1q_u32(words.as_ptr()) }
            }
            #[inline(always)]
            fn store(self, a: V, words: &mut [u32; MAX_LANES]) {
                // SAFETY: as in `load`.
                unsafe { vst1q_u32(words.as_mut_ptr(), a) }
            }
            #[inline(always)]
            fn load_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [V; 16] {
                self.transpose_block(inputs, n)
            }
            $($overrides)*
        }

        impl Quads for $name {
            ops!(
                fn zip_lo32(a: V, b: V) -> V = vzip1q_u32;
                fn zip_hi32(a: V, b: V) -> V = vzip2q_u32;
            );
            #[inline(always)]
            fn zip_lo64(self, a: V, b: V) -> V {
                unsafe {
                    let (a, b) = (vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b));
                    vreinterpretq_u32_u64(vzip1q_u64(a, b))
                }
            }
            #[inline(always)]
            fn zip_hi64(self, a: V, b: V) -> V {
                unsafe {
                    let (a, b) = (vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b));
                    vreinterpretq_u32_u64(vzip2q_u64(a, b))
                }
            }
            #[inline(always)]
            fn swap_bytes(self, a: V) -> V {
                swap_bytes(self, a)
            }
            #[inline(always)]
            fn load_quads(self, quarters: [&[u8; 16]; MAX_QUADS]) -> V {
                load_16(self, quarters[0])
            }
        }
    };
}

simd_neon!(Neon, overrides: {});
simd_neon!(NeonSha3, overrides: {
    ops!(
        fn parity(x: V, y: V, z: V) -> V = veor3q_u32;
    );
});

/// Implements [`Simd64`] for a token of NEON.
macro_rules! simd_64_neon {
    ($name:ident, overrides: { $($overrides:tt)* }) => {
        impl Simd64 for $name {
            type V = uint64x2_t;
            const LANES: usize = 2;

            ops!(
                fn splat(word: u64) -> uint64x2_t = vdupq_n_u64;
                fn add(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = vaddq_u64;
                fn and(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = vandq_u64;
                fn xor(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = veorq_u64;
                // Takes bits of `y` where `x` has ones, and bits of `z` where `x` has zeros.
                fn ch(x: uint64x2_t, y: uint64x2_t, z: uint64x2_t) -> uint64x2_t = vbslq_u64;
            );
            #[inline(always)]
            fn shl<const N: i32>(self, a: uint64x2_t) -> uint64x2_t {
                unsafe { vshlq_n_u64::<N>(a) }
            }
            #[inline(always)]
            fn shr<const N: i32>(self, a: uint64x2_t) -> uint64x2_t {
                unsafe { vshrq_n_u64::<N>(a) }
            }
            #[inline(always)]
            fn rotr<const R: i32, const L: i32>(self, a: uint64x2_t) -> uint64x2_t {
                const { assert!(L + R == 64) }
                // Assembly for the reason in `rotl`.
                let mut shifted_to_rotated = unsafe { vshlq_n_u64::<L>(a) };
                // SAFETY: `self` exists, so the CPU has the instruction, which changes one
                // register.
                unsafe {
                    asm!(
                        "sri {0:v}.2d, {1:v}.2d, #{2}",
                        inout(vreg) shifted_to_rotated, in(vreg) a, const R,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                shifted_to_rotated
            }
            #[inline(always)]
            fn load(self, words: &[u64; MAX_LANES]) -> uint64x2_t {
                // SAFETY: a vector is no longer than the words.
                unsafe { vld1q_u64(words.as_ptr()) }
            }
            #[inline(always)]
            fn store(self, a: uint64x2_t, words: &mut [u64; MAX_LANES]) {
                // SAFETY: as in `load`.
                unsafe { vst1q_u64(words.as_mut_ptr(), a) }
            }
            #[inline(always)]
            fn load_block(self, inputs: &[&[LongBlock]; MAX_LANES], n: usize) -> [uint64x2_t; 16] {
                let words = transpose_long_block(
                    self,
                    inputs,
                    n,
                    #[inline(always)]
                    |a| unsafe { vreinterpretq_u32_u8(vrev64q_u8(vreinterpretq_u8_u32(a))) },
                );
                words.map(
                    #[inline(always)]
                    |words| unsafe { vreinterpretq_u64_u32(words) },
                )
            }
            $($overrides)*
        }
    };
}

simd_64_neon!(Neon, overrides: {});
simd_64_neon!(NeonSha3, overrides: {
    ops!(
        fn parity(x: uint64x2_t, y: uint64x2_t, z: uint64x2_t) -> uint64x2_t = veor3q_u64;
    );
});

/// The operations of kernels with the SHA instructions, named after the instructions.
impl ArmSha {
    /// Loads four big-endian words.
    #[inline(always)]
    pub fn load_bytes(self, bytes: &[u8; 16]) -> V {
        swap_bytes(self, load_16(self, bytes))
    }

    /// Loads four words.
    #[inline(always)]
    pub fn load_words(self, words: &[u32; 4]) -> V {
        // SAFETY: the array has four words.
        unsafe { vld1q_u32(words.as_ptr()) }
    }

    /// Returns the four words.
    #[inline(always)]
    pub fn store_words(self, a: V) -> [u32; 4] {
        let mut words = [0; 4];
        // SAFETY: as in `load_words`.
        unsafe { vst1q_u32(words.as_mut_ptr(), a) };
        words
    }

    /// Returns `e` four rounds later: `a`, rotated.
    #[inline(always)]
    pub fn sha1h(self, abcd: V) -> u32 {
        unsafe { vsha1h_u32(vgetq_lane_u32::<0>(abcd)) }
    }

    ops!(
        pub fn splat(word: u32) -> V = vdupq_n_u32;
        pub fn add(a: V, b: V) -> V = vaddq_u32;
        pub fn sha1c(abcd: V, e: u32, w_k: V) -> V = vsha1cq_u32;
        pub fn sha1p(abcd: V, e: u32, w_k: V) -> V = vsha1pq_u32;
        pub fn sha1m(abcd: V, e: u32, w_k: V) -> V = vsha1mq_u32;
        pub fn sha1su0(w0: V, w4: V, w8: V) -> V = vsha1su0q_u32;
        pub fn sha1su1(a: V, w12: V) -> V = vsha1su1q_u32;
        pub fn sha256h(abcd: V, efgh: V, w_k: V) -> V = vsha256hq_u32;
        pub fn sha256h2(efgh: V, abcd: V, w_k: V) -> V = vsha256h2q_u32;
        pub fn sha256su0(w0: V, w4: V) -> V = vsha256su0q_u32;
        pub fn sha256su1(a: V, w8: V, w12: V) -> V = vsha256su1q_u32;
    );
}

/// The operations of the kernel with the SHA-512 instructions, named after the instructions. A vector has two words of 64 bits.
impl NeonSha3 {
    /// Loads two big-endian words.
    #[inline(always)]
    pub fn load_long_bytes(self, bytes: &[u8; 16]) -> uint64x2_t {
        // SAFETY: the array has 16 bytes, and the load needs no alignment.
        unsafe { vreinterpretq_u64_u8(vrev64q_u8(vld1q_u8(bytes.as_ptr()))) }
    }

    /// Loads two words.
    #[inline(always)]
    pub fn load_long_words(self, words: &[u64; 2]) -> uint64x2_t {
        // SAFETY: the array has two words.
        unsafe { vld1q_u64(words.as_ptr()) }
    }

    /// Returns the two words.
    #[inline(always)]
    pub fn store_long_words(self, a: uint64x2_t) -> [u64; 2] {
        let mut words = [0; 2];
        // SAFETY: as in `load_long_words`.
        unsafe { vst1q_u64(words.as_mut_ptr(), a) };
        words
    }

    /// Returns the high word of `a`, then the low word of `b`.
    #[inline(always)]
    pub fn ext(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        unsafe { vextq_u64::<1>(a, b) }
    }

    ops!(
        pub fn add_long(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = vaddq_u64;
        pub fn sha512h(sum: uint64x2_t, fg: uint64x2_t, de: uint64x2_t) -> uint64x2_t = vsha512hq_u64;
        pub fn sha512h2(t: uint64x2_t, cd: uint64x2_t, ab: uint64x2_t) -> uint64x2_t = vsha512h2q_u64;
        pub fn sha512su0(w0: uint64x2_t, w2: uint64x2_t) -> uint64x2_t = vsha512su0q_u64;
        pub fn sha512su1(a: uint64x2_t, w14: uint64x2_t, w9: uint64x2_t) -> uint64x2_t = vsha512su1q_u64;
    );
}
