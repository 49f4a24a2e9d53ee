//! Op table of WebAssembly's 128-bit vectors.
//!
//! There is nothing to detect at run time. A module is compiled with or without these instructions,
//! and an engine that lacks them refuses the module. This file is compiled only if the target has
//! the feature `simd128`, so its intrinsics are safe to call.

#![allow(unsafe_code)]

use core::arch::wasm32::{
    i8x16_shuffle, i32x4_shuffle, u32x4_add, u32x4_bitmask, u32x4_eq, u32x4_min, u32x4_shl,
    u32x4_shr, u32x4_splat, u32x4_sub, u64x2_add, u64x2_shl, u64x2_shr, u64x2_splat, v128,
    v128_and, v128_load, v128_store, v128_xor,
};

use crate::portable::outlined;
use crate::wide::transpose_long_block;
use crate::{Block, CpuFeature, LongBlock, MAX_LANES, MAX_QUADS, Quads, Simd, Simd64, Vectorize};

/// 128-bit vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd128(());

impl Simd128 {
    /// Returns the token. The module was compiled with the instructions.
    #[inline]
    pub fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

/// Returns the CPU features that a backend can use.
pub fn features() -> impl Iterator<Item = CpuFeature> {
    core::iter::once(CpuFeature {
        name: "simd128",
        is_available: true,
    })
}

/// Defines methods that are one intrinsic each.
macro_rules! ops {
    ($(fn $name:ident($($arg:ident: $t:ty),+) = $intrinsic:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, $($arg: $t),+) -> v128 {
            $intrinsic($($arg),+)
        }
    )* };
}

impl Vectorize for Simd128 {
    #[inline(always)]
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        outlined(f)
    }
}

impl Simd for Simd128 {
    type V = v128;
    const LANES: usize = 4;

    ops!(
        fn splat(word: u32) = u32x4_splat;
        fn add(a: v128, b: v128) = u32x4_add;
        fn sub(a: v128, b: v128) = u32x4_sub;
        fn min(a: v128, b: v128) = u32x4_min;
        fn and(a: v128, b: v128) = v128_and;
        fn xor(a: v128, b: v128) = v128_xor;
    );
    #[inline(always)]
    fn shl<const N: i32>(self, a: v128) -> v128 {
        u32x4_shl(a, N.cast_unsigned())
    }
    #[inline(always)]
    fn shr<const N: i32>(self, a: v128) -> v128 {
        u32x4_shr(a, N.cast_unsigned())
    }
    #[inline(always)]
    fn zero_lanes(self, a: v128) -> u32 {
        u32::from(u32x4_bitmask(u32x4_eq(a, u32x4_splat(0))))
    }
    #[inline(always)]
    fn load(self, words: &[u32; MAX_LANES]) -> v128 {
        // SAFETY: a vector is no longer than the words, and the load needs no alignment.
        unsafe { v128_load(words.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, a: v128, words: &mut [u32; MAX_LANES]) {
        // SAFETY: as in `load`.
        unsafe { v128_store(words.as_mut_ptr().cast(), a) }
    }
    #[inline(always)]
    fn load_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [v128; 16] {
        self.transpose_block(inputs, n)
    }
}

impl Quads for Simd128 {
    ops!(
        fn zip_lo32(a: v128, b: v128) = i32x4_shuffle::<0, 4, 1, 5>;
        fn zip_hi32(a: v128, b: v128) = i32x4_shuffle::<2, 6, 3, 7>;
        fn zip_lo64(a: v128, b: v128) = i32x4_shuffle::<0, 1, 4, 5>;
        fn zip_hi64(a: v128, b: v128) = i32x4_shuffle::<2, 3, 6, 7>;
    );
    #[inline(always)]
    fn swap_bytes(self, a: v128) -> v128 {
        i8x16_shuffle::<3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12>(a, a)
    }
    #[inline(always)]
    fn load_quads(self, quarters: [&[u8; 16]; MAX_QUADS]) -> v128 {
        // SAFETY: the type says that there are 16 bytes, and the load needs no alignment.
        unsafe { v128_load(quarters[0].as_ptr().cast()) }
    }
}

impl Simd64 for Simd128 {
    type V = v128;
    const LANES: usize = 2;

    ops!(
        fn splat(word: u64) = u64x2_splat;
        fn add(a: v128, b: v128) = u64x2_add;
        fn and(a: v128, b: v128) = v128_and;
        fn xor(a: v128, b: v128) = v128_xor;
    );
    #[inline(always)]
    fn shl<const N: i32>(self, a: v128) -> v128 {
        u64x2_shl(a, N.cast_unsigned())
    }
    #[inline(always)]
    fn shr<const N: i32>(self, a: v128) -> v128 {
        u64x2_shr(a, N.cast_unsigned())
    }
    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> v128 {
        // SAFETY: a vector is no longer than the words, and the load needs no alignment.
        unsafe { v128_load(words.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, a: v128, words: &mut [u64; MAX_LANES]) {
        // SAFETY: as in `load`.
        unsafe { v128_store(words.as_mut_ptr().cast(), a) }
    }
    #[inline(always)]
    fn load_block(self, inputs: &[&[LongBlock]; MAX_LANES], n: usize) -> [v128; 16] {
        transpose_long_block(self, inputs, n, |a| {
            i8x16_shuffle::<7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8>(a, a)
        })
    }
}
