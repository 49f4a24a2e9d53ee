//! Adapters for the kernels that use the CPU's SHA instructions, for one message or for the lanes
//! of a state table. These kernels keep the state of each message in separate registers.

use crate::types::{Block, MAX_LANES, State};

use super::compression::{Compression, ShaToken};
use super::states::{LaneStates, Padding};

/// Compresses one message.
#[inline(always)]
pub(crate) fn compress<A: Compression>(s: ShaToken, state: &mut State, blocks: &[Block]) {
    A::compress_streams(s, core::array::from_mut(state), [blocks], blocks.len());
}

/// Compresses `n_blocks` blocks of the first `N` lanes.
#[inline(always)]
pub(crate) fn compress_lanes<A: Compression, const N: usize>(
    s: ShaToken,
    states: &mut LaneStates,
    inputs: &[&[Block]; MAX_LANES],
    n_blocks: usize,
) {
    let mut lanes = [[0; 8]; N];
    let mut blocks: [&[Block]; N] = [&[]; N];
    for n in 0..N {
        lanes[n] = states.lane(n);
        blocks[n] = inputs[n];
    }
    A::compress_streams(s, &mut lanes, blocks, n_blocks);
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
pub(crate) fn compress_equal<A: Compression, const N: usize>(
    s: ShaToken,
    start: &State,
    inputs: &[&[Block]; MAX_LANES],
    n_blocks: usize,
    padding: &Padding,
    mut done: impl FnMut(usize, &State),
) {
    let mut states = [*start; N];
    let mut blocks: [&[Block]; N] = [&[]; N];
    blocks.copy_from_slice(&inputs[..N]);
    A::compress_streams(s, &mut states, blocks, n_blocks);
    let last = core::slice::from_ref(&padding.block);
    A::compress_streams(s, &mut states, [last; N], 1);
    for (n, state) in states.iter().enumerate() {
        done(n, state);
    }
}

/// Repeats a macro with each number of a group of four rounds as a constant.
macro_rules! each_quad {
    ($quad:ident: $($q:literal)*) => { $( $quad!($q); )* };
}
pub(super) use each_quad;
