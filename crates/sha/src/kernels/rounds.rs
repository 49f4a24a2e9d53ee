//! The trait of both algorithms, and the compression of a block in lanes: a schedule and rounds on
//! words or vectors.
//!
//! The working variables are renamed from round to round instead of moved. In round `T`, variable
//! number `i` (`a` is 0) is at index (i − T) mod 5 or 8, so a round writes two words and copies
//! none. `T` is a constant, so the compiler assigns each index a register.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use hashlane_simd::Schedule;
use hashlane_simd::{Portable, Simd};

use crate::types::{Block, State};

/// Repeats a block with each number of a range as a constant.
macro_rules! unroll {
    ($i:ident in 0..4 => $body:block) => { unroll!(@ $i $body 0 1 2 3) };
    ($i:ident in 0..16 => $body:block) => {
        unroll!(@ $i $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($i:ident in 0..20 => $body:block) => {
        unroll!(@ $i $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    ($i:ident in 0..80 => $body:block) => {
        unroll!(@ $i $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
            20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39
            40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
            60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79)
    };
    // The groups of a kernel. A loop over them would be unrolled too late for the compiler to see what
    // rounds have in common: MD5 and SHA-512 lose 3 to 10 % of their speed.
    ($i:ident in 0..$n_groups:ident => $body:block) => {
        unroll!(@ $i { if const { $i < $n_groups } $body } 0 1 2)
    };
    (@ $i:ident $body:block $($n:literal)*) => { $({ const $i: usize = $n; $body })* };
}
pub(super) use unroll;

/// An algorithm: its constants, and the steps of its compression function. The kernels put the
/// steps together for every width of vectors.
pub trait Rounds {
    /// The name in lower case without a hyphen, as in kernel names.
    const NAME: &'static str;

    /// The position of the algorithm where both have an entry: SHA-1, SHA-256.
    const INDEX: usize;

    /// The working variables of a block: an array of [`Self::N_WORDS`] words.
    type Variables<V: Copy>: Copy;

    /// The initial hash value (FIPS 180-4 section 5.3).
    const IV: State;

    /// Number of words of the state in use: 5 or 8.
    const N_WORDS: usize;

    /// Number of rounds: 80 or 64.
    const N_ROUNDS: usize;

    /// Returns the constant of round `t`.
    fn k(t: usize) -> u32;

    /// Computes W(t) for t >= 16, at index `T` = t mod 16 of the last sixteen words.
    fn next_word<const T: usize, S: Simd>(s: S, w: &mut [S::V; 16]);

    /// Returns the words in use.
    fn variables<V: Copy>(words: &mut [V; 8]) -> &mut Self::Variables<V>;

    /// Computes round `T`. `w_k` is W(t) + K(t).
    ///
    /// `b_xor_c` holds b ^ c of this round before the call, and b ^ c of the next round after it, if
    /// the vectors use it. SHA-1 does not.
    fn round<const T: usize, S: Simd>(
        s: S,
        v: &mut Self::Variables<S::V>,
        b_xor_c: &mut S::V,
        w_k: S::V,
    );

    /// Compresses the blocks of one message, with the schedule in the vectors of `s`.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn compress_scheduled<S: Schedule>(s: S, state: &mut State, blocks: &[Block]);
}

/// Compresses a block in every lane of `G` groups. `w` holds the sixteen words of the block and is
/// overwritten. The groups take turns in each round, so that the CPU runs them side by side.
#[inline(always)]
pub(crate) fn compress_block<A: Rounds, S: Simd, const G: usize>(
    s: S,
    states: &mut [[S::V; 8]; G],
    w: &mut [[S::V; 16]; G],
) {
    let mut v = *states;
    let mut b_xor_c = [s.splat(0); G];
    unroll!(I in 0..G => {
        b_xor_c[I] = s.xor(v[I][1], v[I][2]);
    });
    unroll!(T in 0..80 => {
        if const { T < A::N_ROUNDS } {
            unroll!(I in 0..G => {
                if T / 16 != 0 {
                    A::next_word::<{ T % 16 }, S>(s, &mut w[I]);
                }
                let w_k = s.add(w[I][T % 16], s.splat(A::k(T)));
                A::round::<T, S>(s, A::variables(&mut v[I]), &mut b_xor_c[I], w_k);
            });
        }
    });
    unroll!(I in 0..G => {
        for i in 0..A::N_WORDS {
            states[I][i] = s.add(states[I][i], v[I][i]);
        }
    });
}

/// Compresses the same block in every lane of `G` groups, with the schedule from [`schedule`].
#[inline(always)]
pub(super) fn compress_scheduled_block<A: Rounds, S: Simd, const G: usize>(
    s: S,
    states: &mut [[S::V; 8]; G],
    w_k: &[u32; 80],
) {
    let mut v = *states;
    let mut b_xor_c = [s.splat(0); G];
    unroll!(I in 0..G => {
        b_xor_c[I] = s.xor(v[I][1], v[I][2]);
    });
    unroll!(T in 0..80 => {
        if const { T < A::N_ROUNDS } {
            unroll!(I in 0..G => {
                let w_k = s.splat(w_k[T]);
                A::round::<T, S>(s, A::variables(&mut v[I]), &mut b_xor_c[I], w_k);
            });
        }
    });
    unroll!(I in 0..G => {
        for i in 0..A::N_WORDS {
            states[I][i] = s.add(states[I][i], v[I][i]);
        }
    });
}

/// Returns W(t) + K(t) of a block for each round. SHA-256 uses the first 64 words.
#[inline(never)]
pub(super) fn schedule<A: Rounds>(block: &Block) -> [u32; 80] {
    let s = Portable;
    let mut w = s.load_one(block);
    let mut w_k = [0; 80];
    for from in (0..A::N_ROUNDS).step_by(16) {
        unroll!(T in 0..16 => {
            if from > 0 {
                A::next_word::<T, Portable>(s, &mut w);
            }
            w_k[from + T] = s.add(w[T], A::k(from + T));
        });
    }
    w_k
}

/// Returns the index of variable number `i` of `n` in round `t`.
pub(super) const fn place(i: usize, t: usize, n: usize) -> usize {
    (i + n * 16 - t) % n
}

/// The last block of several messages of equal length, with its schedule.
pub(crate) struct Padding {
    pub(crate) block: Block,
    /// W(t) + K(t) for each round. SHA-256 uses the first 64 words.
    pub(crate) w_k: [u32; 80],
}

impl Padding {
    pub(crate) fn new<A: Rounds>(block: &Block) -> Self {
        Self {
            block: *block,
            w_k: schedule::<A>(block),
        }
    }
}
