//! The trait of both algorithms: a schedule, and rounds on words or vectors.
//!
//! The working variables are renamed from round to round instead of moved. In round `T`, variable
//! number `i` (`a` is 0) is at index (i − T) mod 5 or 8, so a round writes two words and copies
//! none. `T` is a constant, so the compiler assigns each index a register.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use crate::simd::Schedule;
use crate::simd::{Portable, Simd};
use crate::types::{Block, State};

/// Repeats a body for 0 to 15, with the number as a constant.
macro_rules! each16 {
    ($t:ident => $body:block) => { each16!(@ $t $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (@ $t:ident $body:block $($n:literal)*) => { $({ const $t: usize = $n; $body })* };
}

/// Runs sixteen rounds for each number in the list. That number, and the index of the round within
/// the sixteen, are constants. With a loop over the sixteen rounds, SHA-256 x16 would be half a
/// percent slower.
macro_rules! rounds {
    ([$($n:literal)*] |$from:ident, $t:ident| $round:block) => { $(
        each16!($t => {
            const $from: usize = $n;
            $round
        });
    )* };
}
pub(super) use {each16, rounds};

/// The rounds and the schedule of an algorithm, compiled for every width of vectors.
pub trait Rounds {
    /// The initial hash value (FIPS 180-4 section 5.3).
    const IV: State;

    /// Number of words of the state in use: 5 or 8.
    const N_WORDS: usize;

    /// Number of rounds: 80 or 64.
    const N_ROUNDS: usize;

    /// Returns the constant of round `t`.
    fn k(t: usize) -> u32;

    /// Runs the rounds of one block in every lane of `s`: `state` += compress(`state`, `w`). `w`
    /// holds the sixteen words of the block and is overwritten.
    fn rounds<S: Simd>(s: S, state: &mut [S::V; 8], w: &mut [S::V; 16]);

    /// Computes W(t) for t >= 16, at index `T` = t mod 16 of the last sixteen words.
    fn next_word<const T: usize, S: Simd>(s: S, w: &mut [S::V; 16]);

    /// Returns W(t) + K(t) of a block for each round. SHA-256 uses the first 64 words.
    #[inline(never)]
    fn schedule(block: &Block) -> [u32; 80] {
        let s = Portable;
        let mut w = s.load_one(block);
        let mut w_k = [0; 80];
        for from in (0..Self::N_ROUNDS).step_by(16) {
            each16!(T => {
                if from > 0 {
                    Self::next_word::<T, Portable>(s, &mut w);
                }
                w_k[from + T] = s.add(w[T], Self::k(from + T));
            });
        }
        w_k
    }

    /// Runs the rounds of one block in every lane, with a precomputed schedule.
    fn scheduled_rounds<S: Simd>(s: S, state: &mut [S::V; 8], w_k: &[u32; 80]);

    /// Compresses the blocks of one message, with the schedule in the vectors of `s`.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn compress_scheduled<S: Schedule>(s: S, state: &mut State, blocks: &[Block]);
}

/// Returns the index of variable number `i` of `n` in round `t`.
pub(super) const fn place(i: usize, t: usize, n: usize) -> usize {
    (i + n * 16 - t) % n
}
