//! The kernels of x86 and x86-64.
//!
//! [`rates_of`] has one row for each family of CPUs, in GB/s for messages of 16 KiB on one core. Only
//! the ratios within a row matter. The comment of a row gives the machine and the date of the
//! measurement. `estimate` marks rates that were not measured on a CPU of the family.
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
use crate::table::{estimate, measured, not_chosen};
use crate::types::{Block, LaneStates, MAX_LANES, N_SETS, State};

kernel_table! {
    one {
        Portable(Portable), lanes::compress::<A>;
        Sse2X1(Sse2), one_message::compress::<A, _>;
        Ssse3X1(Ssse3), one_message::compress::<A, _>;
        AvxX1(Avx), one_message::compress::<A, _>;
        Avx2X1(Avx2), one_message::compress::<A, _>;
        Avx512VlX1(Avx512Vl), one_message::compress::<A, _>;
        ShaNiX1(ShaNi), sha_streams::compress::<A>;
    }
    lanes {
        Sse2X4(Sse2) x 4, lanes<_, 1>;
        AvxX4(Avx) x 4, lanes<_, 1>;
        Avx2X8(Avx2) x 8, lanes<_, 1>;
        Avx512VlX8(Avx512Vl) x 8, lanes<_, 1>;
        Avx512X16(Avx512) x 16, lanes<_, 1>;
        Avx512X32(Avx512) x 32, lanes<_, 2>;
        ShaNiX2(ShaNi) x 2, sha_streams<2>;
        ShaNiX4(ShaNi) x 4, sha_streams<4>;
    }
}

/// Intel Sapphire Rapids and Emerald Rapids. Measured: Xeon of the Sapphire Rapids generation, rustc
/// 1.95, 2026-11; a Xeon of 2023 is in `bench/emerald-rapids/SHA.md` (2026-11-24).
const SAPPHIRE_RAPIDS: Rates = Rates {
    Portable: measured(0.88, 0.397),
    Sse2X1: measured(1.09, 0.475),
    Ssse3X1: measured(1.1, 0.48),
    AvxX1: measured(1.05, 0.48),
    Avx2X1: measured(1.12, 0.504),
    Avx512VlX1: measured(1.13, 0.527),
    ShaNiX1: measured(2.05, 1.87),
    Sse2X4: measured(1.83, 0.83),
    AvxX4: measured(1.9, 0.842),
    Avx2X8: measured(3.73, 1.67),
    Avx512VlX8: measured(6.32, 3.2),
    Avx512X16: measured(8.68, 4.34),
    Avx512X32: not_chosen(),
    ShaNiX2: measured(2.41, 2.26),
    ShaNiX4: measured(2.07, 2.31),
};

/// Other CPUs of Intel, and unknown ones. Estimates: the rates of the Xeon. Cores without AVX-512 use
/// the row, too. It chooses the SHA instructions for SHA-256: `SHA256RNDS2` starts every third cycle on
/// the Xeon and on the P-cores of Raptor Lake, every cycle on its E-cores, and twice per cycle on the
/// P-cores of Arrow Lake (`InstLatX64`).
const OTHER: Rates = SAPPHIRE_RAPIDS.as_estimates();

/// AMD Zen and Zen+. Estimates: Zen has half of Zen 2's rate with AVX2, and the same SHA
/// instructions, so the rates of Zen 3 choose well for it.
const ZEN: Rates = ZEN3.as_estimates();

/// AMD Zen 2. Estimates for 3.25 GHz, from throughputs of instructions (`InstLatX64`, Ryzen 7 3800XT,
/// 2020-07-19) as in `bench/PORTS.md`. `SHA1RNDS4` starts every fourth cycle, so SHA-1 takes 80
/// cycles per block in any number of streams. AVX2 takes at least 48 and, with the share of Zen 3,
/// 61. `SHA256RNDS2` and `SHA256MSG2` start every second cycle. In one unit they take 88 cycles, and
/// AVX2 at least 156, because one pipe shifts. Others found the same order for SHA-256
/// (`firedancer-io/firedancer`, pull request 1071, 2023-12-17). The other rates are those of Zen 3.
const ZEN2: Rates = Rates {
    AvxX4: estimate(1.78, 0.598),
    Avx2X8: estimate(3.41, 1.19),
    ShaNiX2: estimate(2.31, 2.27),
    ShaNiX4: estimate(2.44, 2.31),
    ..ZEN3.as_estimates()
};

/// AMD Zen 3. Measured: EPYC (family 25, model 1), rustc 1.95, 2026-11-22 and 2026-11-23, best of 300
/// runs or more in turns; a run with load is in `bench/epyc/SHA.md` (2026-11-23).
const ZEN3: Rates = Rates {
    Portable: measured(0.737, 0.291),
    Sse2X1: measured(0.888, 0.423),
    Ssse3X1: measured(0.889, 0.357),
    AvxX1: measured(0.847, 0.404),
    Avx2X1: measured(0.869, 0.445),
    ShaNiX1: measured(1.695, 1.588),
    Sse2X4: measured(1.711, 0.55),
    AvxX4: measured(1.84, 0.77),
    Avx2X8: measured(3.593, 1.486),
    ShaNiX2: measured(2.97, 3.13),
    ShaNiX4: measured(4.24, 3.38),
    // No Zen 3 has AVX-512. For virtual machines that claim it, SHA-1 with AVX-512VL scales AVX2 by
    // their ratio on Intel, and the rest follows from the search on an EPYC with AVX-512 (2026-11-21).
    Avx512VlX1: estimate(0.88, 0.465),
    Avx512VlX8: estimate(6.06, 2.65),
    Avx512X16: estimate(6.98, 3.06),
    Avx512X32: not_chosen(),
};

/// AMD Zen 4. Measured: EPYC (family 25, model 17), rustc 1.95, 2026-11-26, medians of six runs of
/// `hashlane kernels` on the quiet machine.
const ZEN4: Rates = Rates {
    Portable: measured(0.752, 0.384),
    Sse2X1: measured(0.978, 0.483),
    Ssse3X1: measured(0.984, 0.486),
    AvxX1: measured(0.945, 0.454),
    Avx2X1: measured(0.975, 0.514),
    Avx512VlX1: measured(0.96, 0.529),
    ShaNiX1: measured(1.91, 1.78),
    Sse2X4: measured(2.0, 0.925),
    AvxX4: measured(2.13, 0.946),
    Avx2X8: measured(4.08, 1.85),
    Avx512VlX8: measured(6.18, 3.06),
    Avx512X16: measured(6.67, 3.53),
    Avx512X32: not_chosen(),
    ShaNiX2: measured(3.21, 3.48),
    ShaNiX4: measured(4.81, 3.83),
};

/// AMD Zen 5. Estimates. Those of 512 bits are the rates of a sketch with the same rounds (EPYC, family
/// 26 model 2; see `groups.rs`): one group waits for latency, because its operations take two cycles.
/// **The kernel of two groups never ran**: no such CPU was available. AVX-512VL is an estimate from
/// throughputs (`InstLatX64`, Ryzen 9 9950X, 2025-11-14). `SHA256RNDS2` and `SHA256MSG2` are as slow as on Zen 2. The other rates are those
/// of Zen 3.
const ZEN5: Rates = Rates {
    Avx512VlX8: estimate(5.85, 2.96),
    Avx512X16: estimate(11.2, 5.75),
    Avx512X32: estimate(16.0, 8.0),
    ShaNiX2: estimate(2.97, 2.37),
    ShaNiX4: estimate(4.24, 2.37),
    ..ZEN3.as_estimates()
};

/// Returns the rates of all kernels on CPUs of a family.
fn rates_of(family: Family) -> &'static Rates {
    match family {
        Family::Other => &OTHER,
        Family::Zen => &ZEN,
        Family::Zen2 => &ZEN2,
        Family::Zen3 => &ZEN3,
        Family::Zen4 => &ZEN4,
        Family::Zen5 => &ZEN5,
        Family::SapphireRapids => &SAPPHIRE_RAPIDS,
    }
}
