//! The numbers of groups of lanes that pay, by family of CPU.
//!
//! In one group, each round waits for the one before. Where the latency of its instructions exceeds
//! their number per port, a second and a third group fill the gaps. Where the ports are busy, groups
//! only cost registers.
//!
//! Zen 3 with AVX2, GB/s for messages of 16 KiB in the cache (EPYC, family 25 model 1, rustc 1.95,
//! 2026-12-01, best of 40 runs in turns):
//!
//! | groups | MD5 | SHA-1 | SHA-256 | SHA-512 |
//! |--:|--:|--:|--:|--:|
//! | 1 | 3.66 | 3.50 | 1.47 | 1.18 |
//! | 2 | 5.91 | 2.54 | 1.17 | 0.98 |
//! | 3 | 6.10 | 2.12 | | 0.91 |
//!
//! A third group of MD5 loses where its messages are not in the cache: 24 of 1 MiB reach 3.1 GB/s,
//! and 16 reach 5.1. With SSE2, two groups of MD5 reach 2.50 GB/s and one 1.47, but every CPU for
//! which that matters has AVX2.
//!
//! Zen 5 with AVX-512, in GB/s, by a sketch with the same rounds (EPYC, family 26 model 2): SHA-1 11.2, 16.6
//! and 16.6 in one, two and three groups, SHA-256 5.75, 8.0 and 4.4, and MD5 6.6, 16 and 21. The groups
//! of SHA-512 follow from SHA-256, which has the same shape. **The kernels of this crate with groups of
//! AVX-512 never ran**: no such CPU was available. Zen 4 and Intel keep one group until measured.

use hashlane_simd::Family;

use crate::backend::Backend;

/// Returns the number of groups in which lanes of MD5 run.
pub(crate) fn of_md5(family: Family, backend: Backend) -> usize {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    match (family, backend) {
        (Family::Zen5, Backend::Avx512) => return 3,
        // Its vectors have 128 bits, so a round takes as many cycles of the ports as of latency.
        (Family::Zen, Backend::Avx2) => return 1,
        (_, Backend::Avx2) => return 2,
        _ => {}
    }
    let _ = (family, backend);
    1
}

/// Returns the number of groups in which lanes of SHA-512 run.
pub(crate) fn of_sha512(family: Family, backend: Backend) -> usize {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if (family, backend) == (Family::Zen5, Backend::Avx512) {
        return 2;
    }
    let _ = (family, backend);
    1
}
