//! SHA-1 of one message with the x86 SHA extensions, which tests the conditions of collision attacks
//! beside the rounds.
//!
//! # Idea
//!
//! The rounds of a block wait for each other, and leave most of the CPU idle. The conditions of the
//! block before are tested meanwhile:
//!
//! ```text
//! for each block:
//!     compress it, and store the words 32 to 67 of its schedule
//!     test the conditions of the block before                      (sha1_one_block.rs)
//! ```
//!
//! # Trick
//!
//! The words are loaded in eights after they were stored in fours. A CPU delays such loads until the
//! stores have left its buffer, which those of the block before have.

use hashlane_simd::{Avx2, ShaNi, Vectorize as _};

use crate::types::{Block, State};

use super::sha1_one_block::{FIRST_STORED, N_GROUPS, Words, slots_met};
use super::x86_sha::{load_sha1_state, sha1_block, store_sha1_state};

/// Compresses blocks of one message. Passes the blocks that meet all conditions of a vector to
/// `found`: the state before, the block, the slots of the vectors, and the state after, which `found`
/// may change if it returns `true`.
pub(crate) fn compress(
    s: ShaNi,
    conditions: Avx2,
    state: &mut State,
    blocks: &[Block],
    mut found: impl FnMut(&State, &Block, u64, &mut State) -> bool,
) {
    let mut words = [[0; 56]; 2];
    let mut before = [*state; 2];
    for n in 0..blocks.len() {
        let (this, last) = (n % 2, (n + 1) % 2);
        before[this] = *state;
        compress_block(s, state, &blocks[n], &mut words[this]);
        if n == 0 {
            continue;
        }
        let slots = slots_met(conditions, &words[last]);
        if slots != 0 {
            let mut after = before[this];
            if found(&before[last], &blocks[n - 1], slots, &mut after) {
                (before[this], *state) = (after, after);
                compress_block(s, state, &blocks[n], &mut words[this]);
            }
        }
    }
    if let Some((block, others)) = blocks.split_last() {
        let last = others.len() % 2;
        let slots = slots_met(conditions, &words[last]);
        if slots != 0 {
            found(&before[last], block, slots, state);
        }
    }
}

/// Compresses a block, and stores words of its schedule.
#[inline(always)]
fn compress_block(s: ShaNi, state: &mut State, block: &Block, words: &mut Words) {
    s.vectorize(
        #[inline(always)]
        || {
            let (abcd, e) = load_sha1_state(s, state);
            let (mut abcd, mut e) = ([abcd], [e]);
            sha1_block(
                s,
                &mut abcd,
                &mut e,
                &[core::slice::from_ref(block)],
                0,
                #[inline(always)]
                |group, w| {
                    let first = FIRST_STORED / 4;
                    if group >= first && group < first + N_GROUPS {
                        let four = s.store_words(s.reverse_words(w));
                        words[(group - first) * 4..][..4].copy_from_slice(&four);
                    }
                },
            );
            store_sha1_state(s, abcd[0], e[0], state);
        },
    );
}
