//! Operations on the bytes of NEON vectors.
#![allow(unsafe_code, reason = "calls intrinsics")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "a block without a comment calls intrinsics in a function that receives a token: \
              the token exists, so the CPU has their features"
)]
#![allow(
    inline_always_mismatching_target_features,
    reason = "a method becomes part of the entry that has the feature, and then the intrinsic does"
)]

use core::arch::aarch64::{
    uint8x16_t, vandq_u8, vdupq_n_u8, veorq_u8, vld1q_u8, vqtbl1q_u8, vshrq_n_u8, vst1q_u8,
};

use super::Neon;
use crate::bytes::{ByteTables, Bytes, UNIT_LEN, Unit};

impl Bytes for Neon {
    type B = uint8x16_t;
    const PER_UNIT: usize = UNIT_LEN / 16;

    #[inline(always)]
    fn load_bytes(self, unit: &Unit, n: usize) -> uint8x16_t {
        let (vectors, _) = unit.as_chunks::<16>();
        // SAFETY: the chunk is as long as a vector.
        unsafe { vld1q_u8(vectors[n].as_ptr()) }
    }

    #[inline(always)]
    fn store_bytes(self, a: uint8x16_t, unit: &mut Unit, n: usize) {
        let (vectors, _) = unit.as_chunks_mut::<16>();
        // SAFETY: the chunk is as long as a vector.
        unsafe { vst1q_u8(vectors[n].as_mut_ptr(), a) }
    }

    #[inline(always)]
    fn xor_bytes(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        unsafe { veorq_u8(a, b) }
    }
}

impl ByteTables for Neon {
    #[inline(always)]
    fn table(self, table: &[u8; 16]) -> uint8x16_t {
        // SAFETY: the table is as long as a vector.
        unsafe { vld1q_u8(table.as_ptr()) }
    }

    #[inline(always)]
    fn look_up(self, table: uint8x16_t, indices: uint8x16_t) -> uint8x16_t {
        unsafe { vqtbl1q_u8(table, indices) }
    }

    #[inline(always)]
    fn low_nibbles(self, a: uint8x16_t) -> uint8x16_t {
        unsafe { vandq_u8(a, vdupq_n_u8(0x0f)) }
    }

    #[inline(always)]
    fn high_nibbles(self, a: uint8x16_t) -> uint8x16_t {
        unsafe { vshrq_n_u8::<4>(a) }
    }
}
