//! What the algorithms have in common: a schedule, and rounds on words or vectors.
//!
//! The working variables stay where they are, and their names move: in round `T` variable number `i` (`a` is 0) sits
//! in place (i − T) mod 5 or 8, so that a round writes two words and copies none. `T` is a constant, so that places
//! are registers.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use crate::simd::Schedule;
use crate::simd::Simd;
use crate::types::{Block, State};

/// The rounds and the schedule of an algorithm, compiled for every width of vectors.
pub trait Rounds {
    /// The initial hash value, FIPS 180-4 section 5.3.
    const IV: State;

    /// Number of words of the state in use: 5 or 8.
    const N_WORDS: usize;

    /// The rounds of one block in every lane of `s`: `state` += compress(`state`, `w`).
    /// `w` holds the block's sixteen words and is used up.
    fn rounds<S: Simd>(s: S, state: &mut [S::V; 8], w: &mut [S::V; 16]);

    /// Returns W(t) + K(t) of a block for each round, in as many words as there are rounds.
    fn schedule(block: &Block) -> [u32; 80];

    /// Like [`Self::rounds`], of one block for all lanes, with a schedule that is already computed.
    fn scheduled_rounds<S: Simd>(s: S, state: &mut [S::V; 8], w_k: &[u32; 80]);

    /// The blocks of one message, with the schedule in the vectors of `s`.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn compress_scheduled<S: Schedule>(s: S, state: &mut State, blocks: &[Block]);
}

/// Returns the place of variable number `i` in round `t`, of `n` variables.
pub(super) const fn place(i: usize, t: usize, n: usize) -> usize {
    (i + n * 16 - t) % n
}
