//! Operations on the bytes of x86 vectors.
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

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx2, Avx2Gfni, Avx512, Avx512Gfni, Ssse3, load_16};
use crate::bytes::{Affine, ByteTables, Bytes, UNIT_LEN, Unit};

/// Implements [`Bytes`] for a token.
macro_rules! bytes {
    ($name:ident, $v:ident, load: $load:ident, store: $store:ident, xor: $xor:ident) => {
        impl Bytes for $name {
            type B = $v;
            const PER_UNIT: usize = UNIT_LEN / size_of::<$v>();

            #[inline(always)]
            fn load_bytes(self, unit: &Unit, n: usize) -> $v {
                let (vectors, _) = unit.as_chunks::<{ size_of::<$v>() }>();
                // SAFETY: the chunk is as long as a vector, and the load needs no alignment.
                unsafe { $load(vectors[n].as_ptr().cast()) }
            }

            #[inline(always)]
            fn store_bytes(self, a: $v, unit: &mut Unit, n: usize) {
                let (vectors, _) = unit.as_chunks_mut::<{ size_of::<$v>() }>();
                // SAFETY: the chunk is as long as a vector, and the store needs no alignment.
                unsafe { $store(vectors[n].as_mut_ptr().cast(), a) }
            }

            #[inline(always)]
            fn xor_bytes(self, a: $v, b: $v) -> $v {
                unsafe { $xor(a, b) }
            }
        }
    };
}

/// Implements [`ByteTables`] for a token.
macro_rules! byte_tables {
    ($name:ident, $v:ident, table: |$table_a:ident| $table:expr, look_up: $look_up:ident,
     and: $and:ident, splat: $splat:ident, shr: $shr:ident) => {
        impl ByteTables for $name {
            #[inline(always)]
            fn table(self, table: &[u8; 16]) -> $v {
                let $table_a = load_16(self, table);
                #[allow(unused_unsafe, reason = "a vector of 16 bytes is the table")]
                unsafe {
                    $table
                }
            }

            #[inline(always)]
            fn look_up(self, table: $v, indices: $v) -> $v {
                unsafe { $look_up(table, indices) }
            }

            #[inline(always)]
            fn low_nibbles(self, a: $v) -> $v {
                unsafe { $and(a, $splat(0x0f)) }
            }

            #[inline(always)]
            fn high_nibbles(self, a: $v) -> $v {
                unsafe { $and($shr::<4>(a), $splat(0x0f)) }
            }
        }
    };
}

/// Implements [`Affine`] for a token.
macro_rules! affine {
    ($name:ident, $v:ident, splat: $splat:ident, multiply: $multiply:ident) => {
        impl Affine for $name {
            #[inline(always)]
            fn matrix(self, rows: u64) -> $v {
                unsafe { $splat(rows.cast_signed()) }
            }

            #[inline(always)]
            fn multiply(self, matrix: $v, a: $v) -> $v {
                unsafe { $multiply::<0>(a, matrix) }
            }
        }
    };
}

bytes!(Ssse3, __m128i, load: _mm_loadu_si128, store: _mm_storeu_si128, xor: _mm_xor_si128);
bytes!(Avx2, __m256i, load: _mm256_loadu_si256, store: _mm256_storeu_si256, xor: _mm256_xor_si256);
bytes!(Avx512, __m512i, load: _mm512_loadu_si512, store: _mm512_storeu_si512, xor: _mm512_xor_si512);
bytes!(Avx2Gfni, __m256i, load: _mm256_loadu_si256, store: _mm256_storeu_si256, xor: _mm256_xor_si256);
bytes!(Avx512Gfni, __m512i, load: _mm512_loadu_si512, store: _mm512_storeu_si512, xor: _mm512_xor_si512);

byte_tables!(Ssse3, __m128i, table: |table| table, look_up: _mm_shuffle_epi8,
    and: _mm_and_si128, splat: _mm_set1_epi8, shr: _mm_srli_epi16);
byte_tables!(Avx2, __m256i, table: |table| _mm256_broadcastsi128_si256(table),
    look_up: _mm256_shuffle_epi8,
    and: _mm256_and_si256, splat: _mm256_set1_epi8, shr: _mm256_srli_epi16);
byte_tables!(Avx512, __m512i, table: |table| _mm512_broadcast_i32x4(table),
    look_up: _mm512_shuffle_epi8,
    and: _mm512_and_si512, splat: _mm512_set1_epi8, shr: _mm512_srli_epi16);

affine!(Avx2Gfni, __m256i, splat: _mm256_set1_epi64x, multiply: _mm256_gf2p8affine_epi64_epi8);
affine!(Avx512Gfni, __m512i, splat: _mm512_set1_epi64, multiply: _mm512_gf2p8affine_epi64_epi8);
