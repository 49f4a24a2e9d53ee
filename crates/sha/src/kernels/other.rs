//! The kernel of an architecture that has no others.

use crate::algorithm::{Algorithm, Block, State};
use crate::backend::{Backend, MAX_LANES};
use crate::simd::Portable;

use super::{LaneStates, Padding, Rates, kernel_table, lanes};

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: 0.86, sha256: 0.35, lanes::compress::<A>;
    }
    lanes {
    }
}
