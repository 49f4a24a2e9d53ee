//! The kernels of 64-bit ARM.
//!
//! The rates are estimates: no ARM hardware was available, and an emulator does not show the speed
//! of a CPU. They are bytes per cycle, which is GB/s at 1 GHz. They follow from two sources. The
//! first is the number of instructions per block in the compiled kernels (rustc 1.95). The second
//! is the cost of each instruction on the Neoverse N1, which resembles the Cortex-A76, in LLVM's
//! scheduling model. That model follows Arm's Software Optimization Guide.
//!
//! - `arm-sha`: all SHA instructions share one pipe, which starts one instruction per cycle. One
//!   message is limited by latency: 20 SHA-1 steps of 4 cycles, or 16 pairs of SHA-256 steps of 5
//!   cycles, plus some ten cycles. Two messages are limited by the pipe: 72 instructions per block
//!   for SHA-1, 56 for SHA-256.
//! - `neon`: of the two pipes only one shifts. Four blocks take some 1180 vector instructions for
//!   SHA-1 (384 of them shifts), and 2680 for SHA-256 (1250 shifts). Not every slot is filled.
//! - `neon-sha3`: two exclusive-ors become one. This saves 104 of 1180 vector instructions for
//!   SHA-1 and 222 of 2740 for SHA-256. The rates of `neon` are scaled accordingly. Every known
//!   core with `FEAT_SHA3` also has the SHA instructions, so this backend runs only where those are
//!   excluded.
//! - `portable`: some 1000 instructions per block for SHA-1, in a chain on three pipes. SHA-256 has
//!   670 instructions with a shifted operand, all on one pipe.
//!
//! As a check, the authors of OpenSSL's code measured these cycles per byte (`sha1-armv8.pl`,
//! `sha512-armv8.pl`):
//!
//! | CPU | SHA-1, integers | SHA-1, SHA instructions | SHA-256, integers | SHA-256, SHA instructions |
//! |---|--:|--:|--:|--:|
//! | Cortex-A57 | 7.9 | 2.35 | 11.6 | 2.31 |
//! | Apple A7 | 4.1 | 2.31 | 10.5 | 1.97 |
//!
//! These figures agree that the SHA instructions gain more than NEON can.
//!
//! As a second check, others measured single instructions (`ocxtal/insn_bench_aarch64`, 2021 and
//! 2022). Neoverse N1 and V1 and Cortex-X1 start any SHA instruction every cycle, and return its
//! result after 2 to 4 cycles, as the model says. Cortex-A72 starts `SHA1C`, `SHA256H` and
//! `SHA256H2` every second cycle, so a second message gains little there. Apple's M1 starts `SHA1C`
//! every fourth cycle, `SHA256H` and `SHA256H2` every second, and four of any NEON instructions
//! every cycle. There, the rounds take at least 80 cycles per block of SHA-1 and 64 of SHA-256. One
//! message of SHA-1 takes 94 cycles (2.18 GB/s at 3.2 GHz, `RustCrypto/hashes` pull request 285,
//! 2021-07-04). `neon-sha3` takes at least 69 and 166 cycles. The rates below therefore choose well
//! on the M1, too; with SHA-1, `neon-sha3` may be up to 1.2 times as fast.
//!
//! The choice matters on CPUs without the SHA instructions, such as the Cortex-A72 of a Raspberry
//! Pi 4. This CPU also has two vector pipes, and one pipe shifts. The ratio of `neon` to `portable`
//! is assumed to be the same: `neon` is faster from three messages on, and equal for two.

use hashlane_simd::{ArmSha, Family, Neon, NeonSha3, Portable};

use crate::backend::Backend;
use crate::kernels::rounds::{Padding, Rounds};
use crate::kernels::{lanes, sha_streams};
use crate::table::estimate;
use crate::types::{Block, LaneStates, MAX_LANES, N_SETS, State};

kernel_table! {
    one {
        Portable(Portable), lanes::compress::<A>;
        ArmShaX1(ArmSha), sha_streams::compress::<A>;
    }
    lanes {
        NeonX4(Neon) x 4, lanes<_, 1>;
        NeonSha3X4(NeonSha3) x 4, lanes<_, 1>;
        ArmShaX2(ArmSha) x 2, sha_streams<2>;
    }
}

/// All CPUs: estimates in bytes per cycle, from the model of the Neoverse N1 (see above).
const ANY: Rates = Rates {
    Portable: estimate(0.19, 0.09),
    ArmShaX1: estimate(0.7, 0.7),
    NeonX4: estimate(0.36, 0.17),
    NeonSha3X4: estimate(0.395, 0.185),
    ArmShaX2: estimate(0.83, 1.05),
};

/// Returns the rates of all kernels on CPUs of a family.
fn rates_of(family: Family) -> &'static Rates {
    match family {
        Family::Any => &ANY,
    }
}
