//! The kernel of an architecture that has no others.

use core::ops::Range;

use crate::algorithm::{Algorithm, Block, State};
use crate::backend::{Backend, MAX_LANES};
use crate::sha256d::{Addends, Found, Query};
use crate::simd::Portable;

use super::sha256d::{self, search_table};
use super::{LaneStates, Padding, Rates, kernel_table, lanes};

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: 0.86, sha256: 0.35, lanes::compress::<A>;
    }
    lanes {
    }
}

search_table! {
    Portable(Portable) of Portable x 1, sha256d::find_in_few_lanes;
}
