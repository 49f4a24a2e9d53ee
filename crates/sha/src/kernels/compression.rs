//! The compression function of an algorithm, for every kind of kernel.

use super::rounds::Rounds;

#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use crate::types::{Block, State};

/// The token of the CPU's SHA instructions.
#[cfg(target_arch = "aarch64")]
pub(crate) use crate::simd::ArmSha as ShaToken;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) use crate::simd::ShaNi as ShaToken;

/// The compression function of an algorithm: its rounds on words and vectors, and its kernels with
/// the CPU's SHA instructions.
pub trait Compression: Rounds {
    /// Compresses `n_blocks` blocks of `N` messages with the CPU's SHA instructions.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
    fn compress_streams<const N: usize>(
        token: ShaToken,
        states: &mut [State; N],
        inputs: [&[Block]; N],
        n_blocks: usize,
    );
}

/// On targets without SHA instructions the trait adds nothing.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
impl<R: Rounds> Compression for R {}
