//! The kernels of x86 and x86-64.
//!
//! The rates are in GB/s for messages of 16 KiB on one core. Only the ratios within a column
//! matter:
//!
//! 1. Intel and unknown CPUs: Xeon of the Sapphire Rapids generation, rustc 1.95, 2026-11.
//! 2. AMD Zen, Zen 3 and Zen 4: EPYC of the Zen 3 generation (family 25, model 1), rustc 1.95,
//!    2026-11-22 and 2026-11-23, best of 300 runs or more in turns. The SHA instructions of Zen 4
//!    have the throughput of Zen 3 (`InstLatX64`, Ryzen 9 7950X, 2022-09-26). Zen 3 has no AVX-512,
//!    so the rates of AVX-512 in this column are estimates. SHA-1 with AVX-512VL scales AVX2 by
//!    their ratio on Intel. AVX-512 is 1.15 times AVX-512VL, as in the search on an EPYC with
//!    AVX-512 (2026-11-21), and as expected of Zen 4 with its 256-bit units. On that EPYC, SHA-256
//!    was 3.34 GB/s with AVX-512 and 3.42 GB/s with two streams of SHA instructions; this column
//!    keeps that ratio. The first Zen has half of Zen 2's rate with AVX2 and the same SHA
//!    instructions, so this column chooses well for it, too.
//! 3. AMD Zen 2: estimates for 3.25 GHz, from throughputs of instructions (`InstLatX64`, Ryzen 7
//!    3800XT, 2020-07-19) as in `bench/PORTS.md`. `SHA1RNDS4` starts every fourth cycle, so SHA-1
//!    takes 80 cycles per block in any number of streams. AVX2 takes at least 48 and, with the
//!    share of Zen 3, 61. `SHA256RNDS2` and `SHA256MSG2` start every second cycle. In one unit they
//!    take 88 cycles, and AVX2 at least 156, because one pipe shifts. Others found the same order
//!    for SHA-256 (`firedancer-io/firedancer`, pull request 1071, 2023-12-17).
//! 4. AMD Zen 5: estimates for 3.25 GHz. AVX-512 starts four additions and two rotations of
//!    512 bits per cycle (`InstLatX64`, Ryzen 9 9950X, 2025-11-14), which bounds the kernels as
//!    `bench/PORTS.md` shows. The estimate is three quarters of that bound: the kernels of AVX2
//!    reach that share of theirs on Zen 3. `SHA256RNDS2` and `SHA256MSG2` are as slow as on Zen 2.
//!
//! Where there is no estimate, columns 3 and 4 repeat the rates of Zen 3, which ran at 3.25 GHz.
//!
//! - There are no lanes of SSSE3: they gained 3.5 % over SSE2 with SHA-1 and 1.3 % with SHA-256 on
//!   messages of 16 KiB, and 1 % on messages of 64 bytes (Xeon with AVX-512, 2026-11-24).
//! - AVX gains nothing over SSSE3 on Intel, and up to a factor of 1.36 on AMD (SHA-256 x4).
//! - One stream of SHA instructions waits for its own results. Zen 3 runs four streams of SHA-1 in
//!   1.43 times the rate of two, and four of SHA-256 in 1.08 times. More streams gain little or
//!   lose: SHA-1 reached 4.27 GB/s with six and 4.21 with four in one run, and SHA-256 3.17 GB/s
//!   with five and 3.36 with four. On Intel the unit is full with two streams. SHA-1 reached 2.11
//!   and 1.88 GB/s with three and four, against 2.19 with two in the same run. SHA-256 reached 2.07
//!   and 2.16 GB/s, against 2.11.
//! - Intel cores without AVX-512 use the first column, too, which chooses the SHA instructions for
//!   SHA-256. `SHA256RNDS2` starts every third cycle on the Xeon and on the P-cores of Raptor Lake,
//!   every cycle on its E-cores, and twice per cycle on the P-cores of Arrow Lake (`InstLatX64`).
//! - Mixing SHA instructions with lanes of AVX or AVX2 in one instruction stream gains nothing
//!   (sketched on Zen 3). The SHA instructions have no VEX form.
//!   Beside lanes of AVX2, whose upper halves are dirty, SHA-256 falls to 0.03 GB/s (a sketch with
//!   two streams and eight lanes on Zen 3). Beside lanes of AVX, which are clean, SHA-256 reaches
//!   at most 2.36 GB/s in any ratio, while two streams alone reach 3.20 GB/s. One block of the
//!   lanes and sixteen of the streams take 778 ns together and 648 ns one after the other, because
//!   there are too few registers. On Intel, lanes of AVX would reach 0.84 and two streams 2.26
//!   GB/s, while lanes of AVX-512 reach 4.34 GB/s.
//! - `bench/PORTS.md` in the repository compares each kernel with the limits of the CPU's ports.

use hashlane_simd::{Avx, Avx2, Avx512, Avx512Vl, Family, Portable, ShaNi, Sse2, Ssse3};

use crate::backend::Backend;
use crate::kernels::rounds::{Padding, Rounds};
use crate::kernels::{lanes, one_message, sha_streams};
use crate::types::{Block, LaneStates, MAX_LANES, State};

kernel_table! {
    one {
        Portable(Portable), sha1: [0.88, 0.737, 0.737, 0.737], sha256: [0.397, 0.291, 0.291, 0.291], lanes::compress::<A>;
        Sse2X1(Sse2), sha1: [1.09, 0.888, 0.888, 0.888], sha256: [0.475, 0.423, 0.423, 0.423], one_message::compress::<A, _>;
        Ssse3X1(Ssse3), sha1: [1.1, 0.889, 0.889, 0.889], sha256: [0.48, 0.357, 0.357, 0.357], one_message::compress::<A, _>;
        AvxX1(Avx), sha1: [1.05, 0.847, 0.847, 0.847], sha256: [0.48, 0.404, 0.404, 0.404], one_message::compress::<A, _>;
        Avx2X1(Avx2), sha1: [1.12, 0.869, 0.869, 0.869], sha256: [0.504, 0.445, 0.445, 0.445], one_message::compress::<A, _>;
        Avx512VlX1(Avx512Vl), sha1: [1.13, 0.88, 0.88, 0.88], sha256: [0.527, 0.465, 0.465, 0.465], one_message::compress::<A, _>;
        ShaNiX1(ShaNi), sha1: [2.05, 1.695, 1.695, 1.695], sha256: [1.87, 1.588, 1.588, 1.588], sha_streams::compress::<A>;
    }
    lanes {
        Sse2X4(Sse2) x 4, sha1: [1.83, 1.711, 1.711, 1.711], sha256: [0.83, 0.55, 0.55, 0.55], lanes<_>;
        AvxX4(Avx) x 4, sha1: [1.9, 1.84, 1.78, 1.84], sha256: [0.842, 0.77, 0.598, 0.77], lanes<_>;
        Avx2X8(Avx2) x 8, sha1: [3.73, 3.593, 3.41, 3.593], sha256: [1.67, 1.486, 1.19, 1.486], lanes<_>;
        Avx512VlX8(Avx512Vl) x 8, sha1: [6.32, 6.06, 6.06, 5.85], sha256: [3.2, 2.65, 2.65, 2.96], lanes<_>;
        Avx512X16(Avx512) x 16, sha1: [8.68, 6.98, 6.98, 11.7], sha256: [4.34, 3.06, 3.06, 5.79], lanes<_>;
        ShaNiX2(ShaNi) x 2, sha1: [2.41, 2.97, 2.31, 2.97], sha256: [2.26, 3.13, 2.27, 2.37], sha_streams<2>;
        ShaNiX4(ShaNi) x 4, sha1: [2.07, 4.24, 2.44, 4.24], sha256: [2.31, 3.38, 2.31, 2.37], sha_streams<4>;
    }
}
