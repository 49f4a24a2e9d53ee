//! The only kernel of architectures without vector kernels.

use hashlane_simd::{Family, Portable};

use crate::backend::Backend;
use crate::kernels::lanes;
use crate::kernels::rounds::Rounds;
use crate::kernels::states::{LaneStates, Padding};
use crate::types::{Block, MAX_LANES, State};

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: [0.86], sha256: [0.35], lanes::compress::<A>;
    }
    lanes {
    }
}
