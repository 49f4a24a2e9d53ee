//! The kernels of x86 and x86-64.
//!
//! Rates: messages of 16 KiB on one core of an Intel Xeon of the Sapphire Rapids generation, rustc
//! 1.95, 2026-11. Three and four messages at once with the SHA extensions gain nothing over two (SHA-1
//! 2.11 and 1.88, SHA-256 2.07 and 2.16, where two reach 2.19 and 2.11 in the same run): the unit is
//! full, and the registers are too.

use crate::algorithm::{Algorithm, Block, State};
use crate::backend::{Backend, MAX_LANES};
use crate::simd::{Avx, Avx2, Avx512, Avx512Vl, Portable, ShaNi, Sse2, Ssse3};

use super::{LaneStates, Rates, kernel_table, lanes, x86_sha};

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: 0.86, sha256: 0.35, lanes::compress::<A>;
        ShaNiX1(ShaNi) of ShaNi, sha1: 1.97, sha256: 1.83, x86_sha::compress::<A>;
    }
    lanes {
        Sse2X4(Sse2) of Sse2 x 4, sha1: 1.6, sha256: 0.72, lanes::compress_lanes::<A, _>;
        Ssse3X4(Ssse3) of Ssse3 x 4, sha1: 1.9, sha256: 0.8, lanes::compress_lanes::<A, _>;
        AvxX4(Avx) of Avx x 4, sha1: 1.9, sha256: 0.8, lanes::compress_lanes::<A, _>;
        Avx2X8(Avx2) of Avx2 x 8, sha1: 3.5, sha256: 1.6, lanes::compress_lanes::<A, _>;
        Avx512VlX8(Avx512Vl) of Avx512Vl x 8, sha1: 5.9, sha256: 3.0, lanes::compress_lanes::<A, _>;
        Avx512X16(Avx512) of Avx512 x 16, sha1: 8.1, sha256: 4.1, lanes::compress_lanes::<A, _>;
        ShaNiX2(ShaNi) of ShaNi x 2, sha1: 2.36, sha256: 2.21, x86_sha::compress_lanes::<A, 2>;
    }
}
