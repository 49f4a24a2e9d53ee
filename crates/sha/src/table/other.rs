//! The only kernel of architectures without vector kernels.

use core::ops::Range;

use crate::backend::Backend;
use crate::kernels::compression::Compression;
use crate::kernels::states::{LaneStates, Padding};
use crate::kernels::{lanes, sha256d};
use crate::search::{Addends, Found, Query};
use crate::simd::{Family, Portable};
use crate::types::{Block, MAX_LANES, State};

use super::Rates;

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: [0.86], sha256: [0.35], lanes::compress::<A>;
    }
    lanes {
    }
}

search_table! {
    Portable(Portable) of Portable x 1, sha256d::find_in_few_lanes;
}
