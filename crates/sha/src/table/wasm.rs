//! The kernels of WebAssembly with 128-bit vectors.
//!
//! Rates are in GB/s for messages of 16 KiB in Node.js 20 (V8), on one core of an AMD EPYC of the
//! Zen 3 generation (rustc 1.95, 2026-11).

use hashlane_simd::{Family, Portable, Simd128};

use crate::backend::Backend;
use crate::kernels::lanes;
use crate::kernels::rounds::Rounds;
use crate::kernels::states::{LaneStates, Padding};
use crate::types::{Block, MAX_LANES, State};

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: [0.73], sha256: [0.24], lanes::compress::<A>;
    }
    lanes {
        Simd128X4(Simd128) of Simd128 x 4, sha1: [1.77], sha256: [0.49], lanes<_>;
    }
}
