//! The kernels of x86 and x86-64.
//!
//! Rates: messages of 16 KiB on one core of an Intel Xeon of the Sapphire Rapids generation, rustc
//! 1.95, 2026-11. Three and four messages at once with the SHA extensions gain nothing over two (SHA-1
//! 2.11 and 1.88, SHA-256 2.07 and 2.16, where two reach 2.19 and 2.11 in the same run): the unit is
//! full, and the registers are too.

use core::ops::Range;

use crate::backend::Backend;
use crate::kernels::compression::Compression;
use crate::kernels::states::{LaneStates, Padding};
use crate::kernels::{lanes, one_message, sha_streams, sha256d};
use crate::search::{Addends, Found, Query};
use crate::simd::{Avx, Avx2, Avx512, Avx512Vl, Portable, ShaNi, Sse2, Ssse3};
use crate::types::{Block, MAX_LANES, State};

use super::Rates;

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: 0.88, sha256: 0.397, lanes::compress::<A>;
        Sse2X1(Sse2) of Sse2, sha1: 1.09, sha256: 0.475, one_message::compress::<A, _>;
        Ssse3X1(Ssse3) of Ssse3, sha1: 1.1, sha256: 0.48, one_message::compress::<A, _>;
        AvxX1(Avx) of Avx, sha1: 1.05, sha256: 0.48, one_message::compress::<A, _>;
        Avx2X1(Avx2) of Avx2, sha1: 1.12, sha256: 0.504, one_message::compress::<A, _>;
        Avx512VlX1(Avx512Vl) of Avx512Vl, sha1: 1.13, sha256: 0.527, one_message::compress::<A, _>;
        ShaNiX1(ShaNi) of ShaNi, sha1: 2.05, sha256: 1.87, sha_streams::compress::<A>;
    }
    lanes {
        Sse2X4(Sse2) of Sse2 x 4, sha1: 1.83, sha256: 0.83, lanes<_>;
        Ssse3X4(Ssse3) of Ssse3 x 4, sha1: 1.9, sha256: 0.843, lanes<_>;
        AvxX4(Avx) of Avx x 4, sha1: 1.9, sha256: 0.842, lanes<_>;
        Avx2X8(Avx2) of Avx2 x 8, sha1: 3.73, sha256: 1.67, lanes<_>;
        Avx512VlX8(Avx512Vl) of Avx512Vl x 8, sha1: 6.32, sha256: 3.2, lanes<_>;
        Avx512X16(Avx512) of Avx512 x 16, sha1: 8.68, sha256: 4.34, lanes<_>;
        ShaNiX2(ShaNi) of ShaNi x 2, sha1: 2.41, sha256: 2.26, sha_streams<2>;
    }
}

search_table! {
    Portable(Portable) of Portable x 1, sha256d::find_in_few_lanes;
    Sse2(Sse2) of Sse2 x 4, sha256d::find_in_few_lanes;
    Avx(Avx) of Avx x 4, sha256d::find_in_few_lanes;
    Avx2(Avx2) of Avx2 x 8, sha256d::find_in_lanes;
    Avx512Vl(Avx512Vl) of Avx512Vl x 8, sha256d::find_in_lanes;
    Avx512(Avx512) of Avx512 x 16, sha256d::find_in_lanes;
    ShaNi(ShaNi) of ShaNi x 2, sha256d::find_in_streams::<2>;
}
