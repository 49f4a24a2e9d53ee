//! Adapters for the kernels that use the CPU's SHA instructions, for one message or for the lanes
//! of a state table. These kernels keep the state of each message in separate registers.

use crate::types::{Block, LaneStates, MAX_LANES, State};

#[cfg(target_arch = "aarch64")]
use super::aarch64_sha::{sha1, sha256};
use super::rounds::{Padding, Rounds};
use super::sha1::Sha1Compression;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use super::x86_sha::{sha1, sha256};

/// The token of the CPU's SHA instructions.
#[cfg(target_arch = "aarch64")]
pub(crate) use hashlane_simd::ArmSha as ShaToken;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) use hashlane_simd::ShaNi as ShaToken;

/// Compresses `n_blocks` blocks of `N` messages.
#[inline(always)]
pub(crate) fn compress_streams<A: Rounds, const N: usize>(
    s: ShaToken,
    states: &mut [State; N],
    inputs: [&[Block]; N],
    n_blocks: usize,
) {
    if const { A::INDEX == Sha1Compression::INDEX } {
        sha1(s, states, inputs, n_blocks);
    } else {
        sha256(s, states, inputs, n_blocks);
    }
}

/// Compresses one message.
#[inline(always)]
pub(crate) fn compress<A: Rounds>(s: ShaToken, state: &mut State, blocks: &[Block]) {
    compress_streams::<A, _>(s, core::array::from_mut(state), [blocks], blocks.len());
}

/// Compresses `n_blocks` blocks of the first `N` lanes.
#[inline(always)]
pub(crate) fn compress_lanes<A: Rounds, const N: usize>(
    s: ShaToken,
    [states]: &mut [LaneStates; 1],
    [inputs]: &[[&[Block]; MAX_LANES]; 1],
    n_blocks: usize,
) {
    let mut lanes = [[0; 8]; N];
    let mut blocks: [&[Block]; N] = [&[]; N];
    for n in 0..N {
        lanes[n] = states.lane(n);
        blocks[n] = inputs[n];
    }
    compress_streams::<A, _>(s, &mut lanes, blocks, n_blocks);
    for n in 0..N {
        states.set_lane(n, &lanes[n]);
    }
}

/// Compresses `n_blocks` blocks and the padding of `N` messages that start with `start`. Passes the
/// number and the state of each to `done`.
///
/// The states are not in a table: to copy its columns would take as long as to compress a block.
/// The schedule of the padding is computed again for each message: a precomputed one would save
/// time only for messages of very few blocks.
#[inline(always)]
pub(crate) fn compress_equal<A: Rounds, const N: usize>(
    s: ShaToken,
    start: &State,
    [inputs]: &[[&[Block]; MAX_LANES]; 1],
    n_blocks: usize,
    padding: &Padding,
    mut done: impl FnMut(usize, &State),
) {
    let mut states = [*start; N];
    let mut blocks: [&[Block]; N] = [&[]; N];
    blocks.copy_from_slice(&inputs[..N]);
    compress_streams::<A, _>(s, &mut states, blocks, n_blocks);
    let last = core::slice::from_ref(&padding.block);
    compress_streams::<A, _>(s, &mut states, [last; N], 1);
    for (n, state) in states.iter().enumerate() {
        done(n, state);
    }
}
