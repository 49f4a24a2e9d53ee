//! The kernels of 64-bit ARM.
//!
//! The rates are estimates, not measurements: no ARM hardware was available, and the time in an
//! emulator means nothing. They are bytes per cycle, which is GB/s at 1 GHz. They follow from two
//! sources: the number of instructions per block in the compiled kernels (rustc 1.95), and the cost
//! of each on the Neoverse N1, which resembles the Cortex-A76, in LLVM's scheduling model (it
//! follows Arm's Software Optimization Guide):
//!
//! - `arm-sha`: all SHA instructions share one pipe, which takes one per cycle. One message is bound
//!   by latency: 20 SHA-1 steps of 4 cycles, or 16 pairs of SHA-256 steps of 5, and some ten cycles
//!   around them. Two are bound by the pipe: 72 instructions per block for SHA-1, 56 for SHA-256.
//! - `neon`: two pipes, and only one shifts. Four blocks are some 1180 vector instructions, 384 of
//!   them shifts, for SHA-1, and 2680 and 1250 for SHA-256. Not every slot is filled.
//! - `neon-sha3`: the same with 104 vector instructions fewer of 1180 for SHA-1, and 222 of 2740 for SHA-256, where two
//!   exclusive ors become one. The rates of `neon` are scaled by these numbers. Every core with `FEAT_SHA3` that we know
//!   has the SHA instructions too, so this backend runs where those are excluded.
//! - `portable`: some 1000 instructions per block for SHA-1, on three pipes but in a chain; for
//!   SHA-256 670 with a shifted operand, all in one pipe.
//!
//! As a check, the authors of OpenSSL's code measured these cycles per byte (`sha1-armv8.pl`,
//! `sha512-armv8.pl`):
//!
//! | CPU | SHA-1, integers | SHA-1, SHA instructions | SHA-256, integers | SHA-256, SHA instructions |
//! |---|--:|--:|--:|--:|
//! | Cortex-A57 | 7.9 | 2.35 | 11.6 | 2.31 |
//! | Apple A7 | 4.1 | 2.31 | 10.5 | 1.97 |
//!
//! There, too, the SHA instructions gain more than NEON can. Later cores of Apple are reported to
//! have four vector pipes that shift. `neon` may be nearly as fast as `arm-sha` there for SHA-1,
//! which has not been measured.
//!
//! The choice matters on a CPU without the SHA instructions, such as the Cortex-A72 of a Raspberry
//! Pi 4. It also has two vector pipes, and one of them shifts. The ratio of `neon` to `portable` is
//! assumed to be the same: `neon` is faster from three messages on, and two take about as long.

use core::ops::Range;

use crate::backend::Backend;
use crate::kernels::compression::Compression;
use crate::kernels::states::{LaneStates, Padding};
use crate::kernels::{lanes, sha_streams, sha256d};
use crate::search::{Addends, Found, Query};
use crate::simd::{ArmSha, Family, Neon, NeonSha3, Portable};
use crate::types::{Block, MAX_LANES, State};

use super::Rates;

kernel_table! {
    one {
        Portable(Portable) of Portable, sha1: [0.19], sha256: [0.09], lanes::compress::<A>;
        ArmShaX1(ArmSha) of ArmSha, sha1: [0.7], sha256: [0.7], sha_streams::compress::<A>;
    }
    lanes {
        NeonX4(Neon) of Neon x 4, sha1: [0.36], sha256: [0.17], lanes<_>;
        NeonSha3X4(NeonSha3) of NeonSha3 x 4, sha1: [0.395], sha256: [0.185], lanes<_>;
        ArmShaX2(ArmSha) of ArmSha x 2, sha1: [0.83], sha256: [1.05], sha_streams<2>;
    }
}

search_table! {
    Portable(Portable) of Portable x 1, sha256d::find_in_few_lanes;
    Neon(Neon) of Neon x 4, sha256d::find_in_few_lanes;
    NeonSha3(NeonSha3) of NeonSha3 x 4, sha256d::find_in_few_lanes;
    ArmSha(ArmSha) of ArmSha x 2, sha256d::find_in_streams::<2>;
}
