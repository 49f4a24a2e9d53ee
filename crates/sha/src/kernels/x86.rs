//! The kernels of x86 and x86-64.
//!
//! Rates: messages of 16 KiB on one core of an Intel Xeon of the Sapphire Rapids generation, rustc
//! 1.95, 2026-11. Three and four messages at once with the SHA extensions gain nothing over two (SHA-1
//! 2.11 and 1.88, SHA-256 2.07 and 2.16, where two reach 2.19 and 2.11 in the same run): the unit is
//! full, and the registers are too.

use crate::algorithm::{Algorithm, Block, State};
use crate::backend::{Backend, MAX_LANES};
use crate::simd::{Avx, Avx2, Avx512, Avx512Vl, Portable, ShaNi, Sse2, Ssse3};

use super::{LaneStates, Padding, Rates, kernel_table, lanes, schedule, sha_streams};

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: 0.85, sha256: 0.39, lanes::compress::<A>;
        Sse2X1(Sse2) of Sse2, sha1: 1.08, sha256: 0.47, schedule::compress::<A, _>;
        Ssse3X1(Ssse3) of Ssse3, sha1: 1.09, sha256: 0.476, schedule::compress::<A, _>;
        AvxX1(Avx) of Avx, sha1: 1.04, sha256: 0.477, schedule::compress::<A, _>;
        Avx2X1(Avx2) of Avx2, sha1: 1.11, sha256: 0.504, schedule::compress::<A, _>;
        Avx512VlX1(Avx512Vl) of Avx512Vl, sha1: 1.12, sha256: 0.526, schedule::compress::<A, _>;
        ShaNiX1(ShaNi) of ShaNi, sha1: 2.03, sha256: 1.86, sha_streams::compress::<A>;
    }
    lanes {
        Sse2X4(Sse2) of Sse2 x 4, sha1: 1.83, sha256: 0.77, lanes<_>;
        Ssse3X4(Ssse3) of Ssse3 x 4, sha1: 1.9, sha256: 0.785, lanes<_>;
        AvxX4(Avx) of Avx x 4, sha1: 1.9, sha256: 0.787, lanes<_>;
        Avx2X8(Avx2) of Avx2 x 8, sha1: 3.73, sha256: 1.67, lanes<_>;
        Avx512VlX8(Avx512Vl) of Avx512Vl x 8, sha1: 6.31, sha256: 3.19, lanes<_>;
        Avx512X16(Avx512) of Avx512 x 16, sha1: 8.65, sha256: 4.33, lanes<_>;
        ShaNiX2(ShaNi) of ShaNi x 2, sha1: 2.45, sha256: 2.25, sha_streams<2>;
    }
}
