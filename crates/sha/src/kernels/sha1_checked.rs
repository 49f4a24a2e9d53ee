//! SHA-1 with the detection of collision attacks, in the lanes of vectors, with one body for each
//! width.
//!
//! Source: M. Stevens and D. Shumow, "Speeding up detection of SHA-1 collision attacks using
//! unavoidable attack conditions", USENIX Security 2017.
//!
//! # Idea
//!
//! An attack has two messages, and the detector sees only one. It guesses the disturbance vector,
//! and so the other block. Both blocks have the same variables at some round, so the detector can
//! compute the other block's states before and after the block. Equal states after both blocks are
//! an attack:
//!
//! ```text
//! for each block:
//!     compress it, and keep the words 35 to 64 of its schedule
//!     met = the vectors whose unavoidable conditions the words meet      (sha1_conditions.rs)
//! for each vector that is met, once for 20 random blocks:
//!     other = words ^ difference of the vector
//!     before' = variables at round 58 or 65, rounds undone with other
//!     after'  = before' + variables at round 58 or 65, remaining rounds with other
//!     attack if after' == after
//! ```
//!
//! The first part runs in lanes, and so does the second: suspects are collected until there is one
//! for each lane.

use hashlane_simd::Simd;

use crate::types::{Block, LaneStates, MAX_LANES, State};

use super::rounds::{Rounds, place, unroll};
use super::sha1::Sha1Compression;
use super::sha1_conditions::{FIRST_WORD, N_WORDS, or, vectors_met};
use super::sha1_vectors::{EQUAL_AT, LaneDifferences};

/// The largest number of blocks of each lane that a call of a kernel compresses.
pub(crate) const MAX_BLOCKS: usize = 8;

/// The disturbance vectors whose conditions a block in each lane meets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// The lanes in which the conditions of a vector are met.
    pub(crate) lanes: u32,
    /// The vectors in each lane: see `sha1_conditions.rs`.
    vectors: [[u32; MAX_LANES]; 2],
}

impl Met {
    pub(crate) const NONE: Self = Self {
        lanes: 0,
        vectors: [[0; MAX_LANES]; 2],
    };

    /// Returns the slots of the vectors in a lane.
    pub(crate) fn slots(&self, lane: usize) -> u64 {
        let [low, high] = &self.vectors;
        u64::from(low[lane]) | u64::from(high[lane]) << 32
    }

    /// Stores the vectors whose conditions the words 35 to 64 of the schedule meet.
    #[inline(always)]
    fn store<S: Simd>(&mut self, s: S, words: &[S::V; N_WORDS]) {
        let met = vectors_met(s, words);
        let any = or(s, met[0], met[1]);
        let all = (1_u32 << S::LANES) - 1;
        self.lanes = !s.zero_lanes(any) & all;
        s.store(met[0], &mut self.vectors[0]);
        s.store(met[1], &mut self.vectors[1]);
    }
}

/// The blocks of a call of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screened {
    /// For each block, the vectors.
    pub(crate) met: [Met; MAX_BLOCKS],
    /// For each block, the states before it.
    before: [[[u32; MAX_LANES]; 5]; MAX_BLOCKS],
}

impl Screened {
    pub(crate) const NONE: Self = Self {
        met: [Met::NONE; MAX_BLOCKS],
        before: [[[0; MAX_LANES]; 5]; MAX_BLOCKS],
    };

    /// Returns the state of a lane before block `n`.
    pub(crate) fn before(&self, n: usize, lane: usize) -> State {
        let mut state = [0; 8];
        for (word, lanes) in state.iter_mut().zip(&self.before[n]) {
            *word = lanes[lane];
        }
        state
    }
}

/// Compresses `n_blocks` blocks of each lane's input, and tests the conditions.
///
/// # Panics
/// If the input of one of the first `S::LANES` lanes is shorter than `n_blocks`, or `n_blocks`
/// exceeds [`MAX_BLOCKS`].
#[inline(always)]
pub(crate) fn compress_lanes<S: Simd>(
    s: S,
    states: &mut LaneStates,
    inputs: &[&[Block]; MAX_LANES],
    n_blocks: usize,
    screened: &mut Screened,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut state = [s.splat(0); 5];
            for i in 0..5 {
                state[i] = s.load(&states.0[i]);
            }
            let mut blocks: [&[Block]; MAX_LANES] = [&[]; MAX_LANES];
            for i in 0..S::LANES {
                blocks[i] = &inputs[i][..n_blocks];
            }
            for n in 0..n_blocks {
                for i in 0..5 {
                    s.store(state[i], &mut screened.before[n][i]);
                }
                let mut w = s.load_block(&blocks, n);
                let mut words = [s.splat(0); N_WORDS];
                let mut v = state;
                unroll!(T in 0..80 => {
                    if T / 16 != 0 {
                        Sha1Compression::next_word::<{ T % 16 }, S>(s, &mut w);
                    }
                    if const { is_compared(T) } {
                        words[(T + 80 - FIRST_WORD) % 80 % N_WORDS] = w[T % 16];
                    }
                    round::<T, S>(s, &mut v, w[T % 16]);
                });
                for i in 0..5 {
                    state[i] = s.add(state[i], v[i]);
                }
                screened.met[n].store(s, &words);
            }
            for i in 0..5 {
                s.store(state[i], &mut states.0[i]);
            }
        },
    );
}

/// Returns `true` if conditions name word `t` of the schedule.
const fn is_compared(t: usize) -> bool {
    t >= FIRST_WORD && t < FIRST_WORD + N_WORDS
}

/// Returns `true` if both blocks may have had the same variables before round `t`.
const fn follows_equal(t: usize) -> bool {
    t >= EQUAL_AT[0]
}

/// Tests the conditions of the first block of each lane's input, without compressing it.
///
/// # Panics
/// If the input of one of the first `S::LANES` lanes is empty.
#[inline(always)]
pub(crate) fn screen_blocks<S: Simd>(s: S, inputs: &[&[Block]; MAX_LANES], met: &mut Met) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut w = s.load_block(inputs, 0);
            let mut words = [s.splat(0); N_WORDS];
            unroll!(T in 0..80 => {
                if const { T / 16 != 0 && T < FIRST_WORD + N_WORDS } {
                    Sha1Compression::next_word::<{ T % 16 }, S>(s, &mut w);
                }
                if const { is_compared(T) } {
                    words[(T + 80 - FIRST_WORD) % 80 % N_WORDS] = w[T % 16];
                }
            });
            met.store(s, &words);
        },
    );
}

/// Computes round `T`.
#[inline(always)]
fn round<const T: usize, S: Simd>(s: S, v: &mut [S::V; 5], w: S::V) {
    let w_k = s.add(w, s.splat(Sha1Compression::k(T)));
    let mut unused = w;
    Sha1Compression::round::<T, S>(s, v, &mut unused, w_k);
}

/// Undoes round `T`.
#[inline(always)]
fn undo_round<const T: usize, S: Simd>(s: S, v: &mut [S::V; 5], w: S::V) {
    s.fragment(
        #[inline(always)]
        || {
            let a = v[const { place(0, T, 5) }];
            let b = s.rotl::<2, 30>(v[const { place(1, T, 5) }]);
            let c = v[const { place(2, T, 5) }];
            let d = v[const { place(3, T, 5) }];
            let f = match T / 20 {
                0 => s.ch(b, c, d),
                2 => s.maj(b, c, d),
                _ => s.parity(b, c, d),
            };
            let added = s.add(s.add(w, s.splat(Sha1Compression::k(T))), f);
            let e = &mut v[const { place(4, T, 5) }];
            *e = s.sub(*e, s.add(added, s.rotl::<5, 27>(a)));
            v[const { place(1, T, 5) }] = b;
        },
    );
}

/// Replaces words by the words of `other` in the lanes whose bits in `mask` are set.
#[inline(always)]
fn replace<S: Simd>(s: S, words: &mut [S::V; 5], mask: S::V, other: &[S::V; 5]) {
    for i in 0..5 {
        words[i] = s.ch(mask, other[i], words[i]);
    }
}

/// The lanes whose block is part of an attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attacks {
    /// The other block leads to the same state.
    pub(crate) collisions: u32,
    /// The other block starts in the same state, as in attacks on SHA-1 with fewer rounds.
    pub(crate) equal_starts: u32,
}

/// Returns the lanes in which the block and the block with the difference are the two blocks of an
/// attack. A block follows the state in `before`, and is the first of the lane's input.
///
/// # Panics
/// If the input of one of the first `S::LANES` lanes is empty.
#[inline(always)]
pub(crate) fn attacks<S: Simd>(
    s: S,
    before: &LaneStates,
    inputs: &[&[Block]; MAX_LANES],
    differences: &LaneDifferences,
) -> Attacks {
    s.vectorize(
        #[inline(always)]
        || {
            let at_65 = s.load(&differences.is_equal_at_65);
            let mut start = [s.splat(0); 5];
            for i in 0..5 {
                start[i] = s.load(&before.0[i]);
            }
            let mut w = s.load_block(inputs, 0);
            let mut other_w = w;
            for i in 0..16 {
                other_w[i] = s.xor(other_w[i], s.load(&differences.words[i]));
            }
            let mut other_words = [s.splat(0); 80];
            let mut v = start;
            let mut equal = [[s.splat(0); 5]; 2];
            unroll!(T in 0..80 => {
                if T / 16 != 0 {
                    Sha1Compression::next_word::<{ T % 16 }, S>(s, &mut w);
                    Sha1Compression::next_word::<{ T % 16 }, S>(s, &mut other_w);
                }
                other_words[T] = other_w[T % 16];
                if const { T == EQUAL_AT[0] } {
                    equal[0] = v;
                }
                if const { T == EQUAL_AT[1] } {
                    equal[1] = v;
                }
                round::<T, S>(s, &mut v, w[T % 16]);
            });
            let mut end = v;
            for i in 0..5 {
                end[i] = s.add(start[i], v[i]);
            }

            // Backwards, from round 65 in some lanes and from round 58 in the others.
            let mut other_start = equal[1];
            unroll!(BACK in 0..80 => {
                const T: usize = 79 - BACK;
                if const { T < EQUAL_AT[1] } {
                    undo_round::<T, S>(s, &mut other_start, other_words[T]);
                }
                if const { T == EQUAL_AT[0] } {
                    let from_65 = other_start;
                    other_start = equal[0];
                    replace(s, &mut other_start, at_65, &from_65);
                }
            });
            // Forwards in the same way.
            let mut other_end = equal[0];
            unroll!(T in 0..80 => {
                if const { T == EQUAL_AT[1] } {
                    replace(s, &mut other_end, at_65, &equal[1]);
                }
                if const { follows_equal(T) } {
                    round::<T, S>(s, &mut other_end, other_words[T]);
                }
            });

            let mut differ = [s.splat(0); 2];
            for i in 0..5 {
                let other = s.add(other_start[i], other_end[i]);
                let ends = s.xor(other, end[i]);
                let starts = s.xor(other_start[i], start[i]);
                differ[0] = or(s, differ[0], ends);
                differ[1] = or(s, differ[1], starts);
            }
            Attacks {
                collisions: s.zero_lanes(differ[0]),
                equal_starts: s.zero_lanes(differ[1]),
            }
        },
    )
}
