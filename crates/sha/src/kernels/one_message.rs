//! One message, with its rounds on words and its schedule in vectors.
//!
//! # Idea
//!
//! The rounds of one message are a chain: each round waits for the one before, so vectors do not
//! help. The schedule is not a chain: four words fit in one vector and are computed together.
//! Vectors compute W(t) + K(t) of the next block and store it. Meanwhile the rounds of the current
//! block run on words and read the values stored for them:
//!
//! ```text
//! current = W + K of block 0
//! for each block n:
//!     for each group of four rounds:
//!         for each of the four rounds:
//!             v = round(v, current[group][round])
//!             prepare a quarter of this group of block n + 1 in `next`
//!     state += v
//!     swap current and next
//! ```
//!
//! # Tricks
//!
//! - Rounds and preparation alternate instruction by instruction, also across blocks. Gaudet (2002
//!   to 2004) prepared 12 rounds ahead. A whole block ahead is simpler, and an out-of-order CPU
//!   starts on the first block before its schedule is done.
//! - A vector of 256 bits prepares two blocks at the cost of one.
//! - [`Simd::add_aside`](hashlane_simd::Simd::add_aside) does not use the two ports that rotate. It
//!   gained as much as the wide vectors.
//!
//! # Known weakness
//!
//! The rounds limit the rate, and the ports that rotate limit the rounds. Rates of SHA-256 on one
//! core of a Xeon, Sapphire Rapids generation, 16 KiB, 2026-11:
//!
//! | kernel | GB/s |
//! |---|--:|
//! | rounds alone, without a schedule | 0.506 |
//! | AVX | 0.48 |
//! | AVX2, with the rotates of BMI2 | 0.49 |

use hashlane_simd::Schedule;

use crate::types::{Block, State};

use super::rounds::Rounds;

/// Compresses at least one block of one message.
#[inline(always)]
pub(crate) fn compress<A: Rounds, S: Schedule>(s: S, state: &mut State, blocks: &[Block]) {
    s.vectorize(
        #[inline(always)]
        || A::compress_scheduled(s, state, blocks),
    );
}

/// Loads quarter `q` (words `4 * q` to `4 * q + 3`) of block `first`, and of the next block if
/// the vector has two quads.
#[inline(always)]
pub(super) fn load_quarter<S: Schedule>(s: S, blocks: &[Block], first: usize, q: usize) -> S::V {
    let last = blocks.len() - 1;
    let quarter = |quad: usize| &blocks[(first + quad).min(last)].as_chunks::<16>().0[q];
    let second = quarter(usize::from(S::QUADS > 1));
    let first = quarter(0);
    s.swap_bytes(s.load_quads([first, second, first, first]))
}

/// Compresses `blocks` into `state` with the rounds of an algorithm.
///
/// - `groups`: the number of groups of four rounds, and their range.
/// - `prepare`: computes stage `STAGE` (0 to 3) of group `G` of the blocks from `first` on.
macro_rules! one_message {
    ($A:ty, $S:ident, $blocks:ident, $state:ident,
     groups: $n_groups:literal in $from:tt .. $to:tt,
     prepare: |$G:ident, $STAGE:ident, $first:ident, $groups:ident| $prepare:block) => {
        let mut h = *<$A>::variables(&mut *$state);
        let (current, next) = &mut ([[0; 8]; $n_groups], [[0; 8]; $n_groups]);
        let (mut current, mut next) = (current, next);
        unroll!($G in $from .. $to => {
            unroll!($STAGE in 0..4 => {
                let ($first, $groups) = (0, &mut *current);
                $prepare
            });
        });
        let mut n = 0;
        while n < $blocks.len() {
            macro_rules! block {
                ($quad:literal) => {
                    let mut v = h;
                    let mut b_xor_c = h[1] ^ h[2];
                    unroll!(I in $from .. $to => {
                        let group = current[I];
                        unroll!(J in 0..4 => {
                            let w_k = group[4 * $quad + J];
                            <$A>::round::<{ 4 * I + J }, _>($S::WORD, &mut v, &mut b_xor_c, w_k);
                            if $S::QUADS == 1 {
                                const $G: usize = I;
                                const $STAGE: usize = J;
                                let ($first, $groups) = (n + 1, &mut *next);
                                $prepare
                            } else if J % 2 == 1 {
                                const $G: usize = $n_groups / 2 * $quad + I / 2;
                                const $STAGE: usize = I % 2 * 2 + J / 2;
                                let ($first, $groups) = (n + 2, &mut *next);
                                $prepare
                            }
                        });
                    });
                    for i in 0..h.len() {
                        h[i] = h[i].wrapping_add(v[i]);
                    }
                };
            }
            block!(0);
            if $S::QUADS == 2 && n + 1 < $blocks.len() {
                block!(1);
            }
            n += $S::QUADS;
            core::mem::swap(&mut current, &mut next);
        }
        $state[..h.len()].copy_from_slice(&h);
    };
}
pub(super) use one_message;
