//! SHA-1 and SHA-256 of several messages in the lanes of vectors: one body each, for every width.
//!
//! # Idea
//!
//! A vector holds the same word of `LANES` independent messages. A round is written as in FIPS 180-4, and
//! costs the same for 16 messages as for one:
//!
//! ```text
//! for each block:
//!     w[0..16] = the words of the block, one vector for each     (transposed as they are loaded)
//!     v = state
//!     for each round t:
//!         if t >= 16: w[t % 16] = next word of the schedule
//!         v = round(v, w[t % 16] + K[t])
//!     state += v
//! ```
//!
//! With one lane (`Portable`) the same body is the scalar implementation.
//!
//! # Tricks
//!
//! - The schedule is kept in sixteen words, in place, so that it stays in registers.
//! - Variables do not move from round to round. Their names do: see `rounds.rs`.
//! - All rounds are unrolled, so that places and constants are known to the compiler.
//! - A block is prefetched a few blocks ahead: the hardware does not follow streams across pages.
//! - The padding of messages of equal length is one block with one schedule, computed once.
//!
//! # Known weakness
//!
//! - Throughput is bound by the ports for vector logic. SHA-256 rotates six times a round, and before
//!   AVX-512 each rotation is two shifts and an `or`.
//! - A step runs as many blocks as its shortest message has left. Unequal messages cost steps.
//! - A function below [`Simd::vectorize`] that is not inlined is compiled without the CPU feature, and no
//!   test fails. Everything is `#[inline(always)]`, closures too, and `make symbols` checks it.

use crate::simd::{Portable, Simd};
use crate::types::{Block, MAX_LANES, State};

use super::rounds::Rounds;
use super::states::{LaneStates, Padding};

/// How many blocks before its turn a block is asked for. The hardware follows sixteen streams well,
/// but not across the border of a page, and all lanes come to theirs at the same time. Messages of
/// 256 KiB that lie in memory one after the other, SHA-1 x16 in GB/s: 7.5 without, 7.6 with 2
/// blocks, 7.8 with 4 and 8, 7.7 with 16 (Xeon, Sapphire Rapids generation, 2026-11).
const PREFETCH_AHEAD: usize = 4;

/// Compresses `n_blocks` blocks of each lane's input.
///
/// # Panics
/// If the input of one of the `S::LANES` first lanes is shorter than `n_blocks`.
#[inline(always)]
pub(crate) fn compress_lanes<A: Rounds, S: Simd>(
    s: S,
    states: &mut LaneStates,
    inputs: &[&[Block]; MAX_LANES],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut state = [s.splat(0); 8];
            for i in 0..A::N_WORDS {
                state[i] = s.load(&states.0[i]);
            }
            // All of one length, so that one look at it is enough for all lanes.
            let mut blocks: [&[Block]; MAX_LANES] = [&[]; MAX_LANES];
            for i in 0..S::LANES {
                blocks[i] = &inputs[i][..n_blocks];
            }
            for n in 0..n_blocks {
                for lane in &blocks[..S::LANES] {
                    s.prefetch(lane, n + PREFETCH_AHEAD);
                }
                let mut w = s.load_block(&blocks, n);
                A::rounds(s, &mut state, &mut w);
            }
            for i in 0..A::N_WORDS {
                s.store(state[i], &mut states.0[i]);
            }
        },
    );
}

/// Compresses the same block in every lane, with a schedule that is already computed.
#[inline(always)]
pub(crate) fn compress_padding<A: Rounds, S: Simd>(
    s: S,
    states: &mut LaneStates,
    padding: &Padding,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut state = [s.splat(0); 8];
            for i in 0..A::N_WORDS {
                state[i] = s.load(&states.0[i]);
            }
            A::scheduled_rounds(s, &mut state, &padding.w_k);
            for i in 0..A::N_WORDS {
                s.store(state[i], &mut states.0[i]);
            }
        },
    );
}

/// Compresses one message without a detour over lanes: with one lane a vector is a word.
#[inline(always)]
pub(crate) fn compress<A: Rounds>(s: Portable, state: &mut State, blocks: &[Block]) {
    s.vectorize(
        #[inline(always)]
        || {
            for block in blocks {
                let mut w = s.load_one(block);
                A::rounds(s, state, &mut w);
            }
        },
    );
}
