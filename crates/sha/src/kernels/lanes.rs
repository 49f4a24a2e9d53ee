//! SHA-1 and SHA-256 of several messages in the lanes of vectors, with one body for each width.
//!
//! # Idea
//!
//! A vector holds the same word of `LANES` independent messages. A round is written as in FIPS
//! 180-4 and costs the same for one message as for 16:
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
//! - The schedule has sixteen words and is updated in place, so it stays in registers.
//! - The working variables are renamed from round to round instead of moved: see `rounds.rs`.
//! - All rounds are unrolled, so the compiler knows all indices and constants.
//! - A block is prefetched a few blocks ahead, because the hardware prefetcher stops at page
//!   boundaries.
//! - Messages of equal length have the same padding block, whose schedule is computed once.
//!
//! # Known weakness
//!
//! - Throughput is limited by the ports for vector logic. SHA-256 rotates six times per round, and
//!   before AVX-512 each rotation is two shifts and an `or`.
//! - A step runs as many blocks as its shortest message has left, so messages of unequal lengths
//!   need more steps.
//! - A function below [`vectorize`](hashlane_simd::Vectorize::vectorize) that is not inlined is
//!   compiled without the CPU feature, and no test fails. All of them are therefore
//!   `#[inline(always)]`, including closures, and `cargo xtask symbols` checks the result.

use core::array::from_mut;

use hashlane_simd::{Portable, Simd, Vectorize as _};

use crate::types::{Block, LaneStates, MAX_LANES, State};

use super::rounds::{Padding, Rounds, compress_block, compress_scheduled_block, unroll};

/// Number of blocks between a prefetched block and the current one. The hardware follows sixteen
/// streams well, but not across page boundaries, and all lanes reach theirs at the same time. Rates
/// of SHA-1 x16 on consecutive messages of 256 KiB (Xeon, Sapphire Rapids generation, 2026-11):
///
/// | blocks ahead | GB/s |
/// |--:|--:|
/// | none | 7.5 |
/// | 2 | 7.6 |
/// | 4 and 8 | 7.8 |
/// | 16 | 7.7 |
const PREFETCH_AHEAD: usize = 4;

/// Compresses `n_blocks` blocks of each lane's input, in `G` groups of lanes.
///
/// # Panics
/// If the input of one of the first `S::LANES` lanes of a group is shorter than `n_blocks`.
#[inline(always)]
pub(crate) fn compress_lanes<A: Rounds, S: Simd, const G: usize>(
    s: S,
    states: &mut [LaneStates; G],
    inputs: &[[&[Block]; MAX_LANES]; G],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut state = [[s.splat(0); 8]; G];
            // All slices have one length, so one bounds check serves all lanes.
            let mut blocks: [[&[Block]; MAX_LANES]; G] = [[&[]; MAX_LANES]; G];
            unroll!(I in 0..G => {
                for i in 0..A::N_WORDS {
                    state[I][i] = s.load(&states[I].0[i]);
                }
                for i in 0..S::LANES {
                    blocks[I][i] = &inputs[I][i][..n_blocks];
                }
            });
            for n in 0..n_blocks {
                let mut w = [[s.splat(0); 16]; G];
                unroll!(I in 0..G => {
                    for lane in &blocks[I][..S::LANES] {
                        s.prefetch(lane, n + PREFETCH_AHEAD);
                    }
                    w[I] = s.load_block(&blocks[I], n);
                });
                compress_block::<A, S, G>(s, &mut state, &mut w);
            }
            unroll!(I in 0..G => {
                for i in 0..A::N_WORDS {
                    s.store(state[I][i], &mut states[I].0[i]);
                }
            });
        },
    );
}

/// Compresses `n_blocks` blocks and the padding of a message in each lane of `G` groups. All start
/// with `start`. Passes the number and the state of each to `done`.
#[inline(always)]
pub(crate) fn compress_equal<A: Rounds, S: Simd, const G: usize>(
    s: S,
    start: &State,
    inputs: &[[&[Block]; MAX_LANES]; G],
    n_blocks: usize,
    padding: &Padding,
    mut done: impl FnMut(usize, &State),
) {
    let mut states = [LaneStates::all(start); G];
    compress_lanes::<A, S, G>(s, &mut states, inputs, n_blocks);
    compress_padding::<A, S, G>(s, &mut states, padding);
    unroll!(I in 0..G => {
        for lane in 0..S::LANES {
            done(I * S::LANES + lane, &states[I].lane(lane));
        }
    });
}

/// Compresses the same block in every lane, with a precomputed schedule.
#[inline(always)]
fn compress_padding<A: Rounds, S: Simd, const G: usize>(
    s: S,
    states: &mut [LaneStates; G],
    padding: &Padding,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut state = [[s.splat(0); 8]; G];
            unroll!(I in 0..G => {
                for i in 0..A::N_WORDS {
                    state[I][i] = s.load(&states[I].0[i]);
                }
            });
            compress_scheduled_block::<A, S, G>(s, &mut state, &padding.w_k);
            unroll!(I in 0..G => {
                for i in 0..A::N_WORDS {
                    s.store(state[I][i], &mut states[I].0[i]);
                }
            });
        },
    );
}

/// Compresses one message without lanes: the vector of one lane is a word.
#[inline(always)]
pub(crate) fn compress<A: Rounds>(s: Portable, state: &mut State, blocks: &[Block]) {
    s.vectorize(
        #[inline(always)]
        || {
            for block in blocks {
                let w = s.load_one(block);
                compress_block::<A, Portable, 1>(s, from_mut(state), &mut [w]);
            }
        },
    );
}
