//! The unavoidable conditions on the schedule of a block that is part of a collision attack, and
//! their test in lanes.
//!
//! Source: M. Stevens and D. Shumow, "Speeding up detection of SHA-1 collision attacks using
//! unavoidable attack conditions", USENIX Security 2017, section 4 and its published list. Every
//! differential path that an attack with a disturbance vector can follow in the rounds 35 to 64
//! meets all conditions of the vector. A condition says that two bits of the schedule are equal, or
//! that they differ.
//!
//! # Idea
//!
//! The conditions of a family of vectors repeat: the vector of the next round has the same
//! conditions one word later. The test therefore turns the schedule by 90 degrees:
//!
//! ```text
//! rows[p] = bit p of the words 35 to 64, one bit for each word         (each lane on its own)
//! for each pair of bits (p, q) that some conditions compare:
//!     v = rows[p] ^ rows[q] >> distance                                 (all words at once)
//!     for each distance of the pair from the vector:
//!         violated |= (v shifted to the slots of the vectors) & mask    (all vectors at once)
//! ```
//!
//! 373 conditions of 32 vectors become 67 steps of a shift and two operations.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "rounds, bits and shifts are below 100"
)]
#![allow(
    clippy::items_after_statements,
    reason = "`unroll!` and `shift!` need constants where they are used"
)]

use hashlane_simd::Simd;

use super::rounds::unroll;
use super::sha1_vectors::{Family, I_0, I_2, II_0, II_2, SLOTS};

/// The first word of the schedule that a condition names.
pub(crate) const FIRST_WORD: usize = 35;

/// Number of words from the first to the last that a condition names.
pub(crate) const N_WORDS: usize = 30;

/// Conditions on bit `first` of word t and bit `second` of word t + `apart`. They are equal, or
/// they differ.
pub(super) struct Conditions {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) apart: usize,
    pub(super) equal: bool,
    /// The vectors with such a condition: their family, t minus the first round of the vector, and
    /// that round.
    pub(super) of: &'static [(Family, isize, &'static [u8])],
}

/// All conditions.
pub(super) const CONDITIONS: [Conditions; 22] = [
    Conditions {
        first: 29,
        second: 29,
        apart: 1,
        equal: true,
        of: &[
            (I_0, -8, &[48, 49, 50, 51, 52]),
            (I_0, -7, &[47, 48, 49, 50, 51, 52]),
            (I_0, -4, &[44, 45, 46, 47, 48, 49, 50, 51, 52]),
            (I_0, 3, &[43, 44, 45, 46, 47, 48, 49, 50, 51, 52]),
            (II_0, -16, &[56]),
            (II_0, -7, &[47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
            (II_0, -6, &[46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
            (II_0, -2, &[45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
            (II_0, -1, &[45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
            (II_0, 4, &[45, 46, 47, 48, 49, 50, 51, 52, 53, 54]),
            (II_0, 7, &[45, 46, 47, 48, 49, 50, 51, 52]),
        ],
    },
    Conditions {
        first: 4,
        second: 29,
        apart: 3,
        equal: true,
        of: &[
            (I_0, -10, &[47, 48, 49, 50, 51, 52]),
            (I_0, -6, &[43, 44, 45, 46, 47, 48, 49, 50, 51, 52]),
            (I_0, -4, &[43, 44, 45, 46, 47, 48, 49, 50, 51, 52]),
            (I_0, -2, &[43, 44, 45, 46, 47, 48, 49, 50, 51, 52]),
            (I_0, 0, &[43, 44, 45, 46, 47, 48, 49, 50, 51, 52]),
            (II_0, -18, &[55, 56]),
            (II_0, -16, &[53, 54, 55, 56]),
            (II_0, -9, &[46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
            (II_0, -4, &[45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
            (II_0, 2, &[45, 46, 47, 48, 49, 50, 51, 52, 53, 54]),
            (II_0, 4, &[45, 46, 47, 48, 49, 50, 51, 52]),
        ],
    },
    Conditions {
        first: 1,
        second: 6,
        apart: 1,
        equal: false,
        of: &[
            (I_0, 18, &[43, 44, 45]),
            (I_2, -14, &[49, 50, 51]),
            (I_2, -11, &[46, 47, 48, 50, 51]),
            (I_2, -7, &[46, 47, 48, 51]),
            (II_0, 18, &[45]),
            (II_2, -10, &[46, 49, 50, 51]),
            (II_2, -5, &[46, 49]),
        ],
    },
    Conditions {
        first: 4,
        second: 29,
        apart: 4,
        equal: true,
        of: &[
            (I_0, -13, &[48, 49, 50, 51, 52]),
            (I_0, -10, &[45, 46]),
            (II_0, -12, &[47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
            (II_0, -9, &[45]),
            (II_0, 4, &[53, 54, 55, 56]),
        ],
    },
    Conditions {
        first: 6,
        second: 1,
        apart: 1,
        equal: true,
        of: &[
            (I_2, -10, &[49, 50, 51]),
            (I_2, 0, &[46, 47, 48, 49, 50, 51]),
            (II_2, -9, &[49, 50, 51]),
            (II_2, -4, &[46, 49, 50, 51]),
            (II_2, 4, &[46, 49, 50, 51]),
        ],
    },
    Conditions {
        first: 29,
        second: 29,
        apart: 2,
        equal: false,
        of: &[
            (I_0, -3, &[47, 48, 49, 50, 51, 52]),
            (I_0, -1, &[45, 46, 47, 48, 49, 50, 51]),
            (I_0, 1, &[43, 44, 45, 46, 47, 48, 49]),
            (II_0, 5, &[45]),
        ],
    },
    Conditions {
        first: 6,
        second: 6,
        apart: 2,
        equal: true,
        of: &[
            (I_2, -6, &[46, 47, 48, 49, 50, 51]),
            (I_2, -4, &[46, 47, 48, 49, 50, 51]),
            (I_2, -2, &[46, 47, 48, 49, 50, 51]),
            (II_2, 2, &[46, 49, 50, 51]),
        ],
    },
    Conditions {
        first: 4,
        second: 4,
        apart: 2,
        equal: false,
        of: &[
            (I_0, -6, &[43, 44, 45, 46]),
            (I_0, -4, &[43, 44]),
            (II_0, -18, &[54, 55, 56]),
            (II_0, -16, &[52, 53, 54, 55, 56]),
        ],
    },
    Conditions {
        first: 29,
        second: 29,
        apart: 3,
        equal: false,
        of: &[
            (I_0, 1, &[50, 52]),
            (II_0, 4, &[47, 49, 52]),
            (II_0, 5, &[46, 48, 50, 51, 53]),
        ],
    },
    Conditions {
        first: 5,
        second: 30,
        apart: 4,
        equal: true,
        of: &[
            (I_0, 16, &[43, 44]),
            (I_2, -16, &[51]),
            (II_2, -12, &[49, 50, 51]),
        ],
    },
    Conditions {
        first: 0,
        second: 5,
        apart: 1,
        equal: false,
        of: &[(I_0, 15, &[45, 46, 47, 48]), (II_0, 15, &[45, 46, 47, 48])],
    },
    Conditions {
        first: 2,
        second: 7,
        apart: 1,
        equal: false,
        of: &[(I_2, 15, &[46, 47, 48]), (II_2, 15, &[46])],
    },
    Conditions {
        first: 29,
        second: 29,
        apart: 7,
        equal: false,
        of: &[(I_0, -4, &[52]), (I_0, -3, &[51])],
    },
    Conditions {
        first: 3,
        second: 28,
        apart: 4,
        equal: true,
        of: &[
            (I_0, -16, &[51]),
            (II_0, -12, &[47, 48, 49, 50, 51, 52, 53, 54, 55, 56]),
        ],
    },
    Conditions {
        first: 0,
        second: 30,
        apart: 5,
        equal: false,
        of: &[(I_0, 15, &[43, 44]), (II_2, -13, &[49, 50, 51])],
    },
    Conditions {
        first: 1,
        second: 1,
        apart: 2,
        equal: false,
        of: &[(I_2, -11, &[49]), (II_2, -5, &[50, 51])],
    },
    Conditions {
        first: 1,
        second: 1,
        apart: 8,
        equal: false,
        of: &[(I_2, -7, &[49, 50])],
    },
    Conditions {
        first: 4,
        second: 4,
        apart: 1,
        equal: false,
        of: &[(I_0, -14, &[50, 51, 52])],
    },
    Conditions {
        first: 1,
        second: 6,
        apart: 0,
        equal: true,
        of: &[(I_2, -14, &[51])],
    },
    Conditions {
        first: 1,
        second: 1,
        apart: 4,
        equal: false,
        of: &[(II_2, 1, &[46, 49, 50, 51])],
    },
    Conditions {
        first: 30,
        second: 28,
        apart: 5,
        equal: false,
        of: &[(II_0, -13, &[48, 49, 50, 51, 52])],
    },
    Conditions {
        first: 4,
        second: 29,
        apart: 2,
        equal: true,
        of: &[(II_0, 2, &[55])],
    },
];

/// A step of the test.
#[derive(Clone, Copy)]
struct Step {
    first: usize,
    second: usize,
    apart: usize,
    equal: bool,
    /// The word of the violated vectors: slots 0 to 31 or slots 32 to 63.
    word: usize,
    /// From the bit of word t to the slot of the vector; to the left if positive.
    shift: isize,
    /// The slots of the vectors with the condition.
    mask: u32,
}

const NO_STEP: Step = Step {
    first: 0,
    second: 0,
    apart: 0,
    equal: true,
    word: 0,
    shift: 0,
    mask: 0,
};

/// The steps of the test. Vectors of the two types share a step where the shift is the same.
const STEPS: [Step; 80] = {
    let mut steps = [NO_STEP; 80];
    let mut n_steps = 0;
    let mut row = 0;
    while row < CONDITIONS.len() {
        let conditions = &CONDITIONS[row];
        let first_step = n_steps;
        let mut i = 0;
        while i < conditions.of.len() {
            let (family, offset, rounds) = conditions.of[i];
            let mut round = 0;
            while round < rounds.len() {
                let slot = family.slot_of(rounds[round]);
                let t = rounds[round] as isize + offset;
                let step = Step {
                    first: conditions.first,
                    second: conditions.second,
                    apart: conditions.apart,
                    equal: conditions.equal,
                    word: slot / 32,
                    shift: (slot % 32) as isize - (t - FIRST_WORD as isize),
                    mask: 0,
                };
                let mut place = first_step;
                while place < n_steps
                    && !(steps[place].word == step.word && steps[place].shift == step.shift)
                {
                    place += 1;
                }
                if place == n_steps {
                    steps[place] = step;
                    n_steps += 1;
                }
                steps[place].mask |= 1 << (slot % 32);
                round += 1;
            }
            i += 1;
        }
        row += 1;
    }
    steps
};

/// A set of vectors in each lane: a bit for each slot, in two words.
pub(crate) type Vectors<V> = [V; 2];

/// Returns the bits that at least one of both has. The compiler makes one operation of the three.
#[inline(always)]
pub(super) fn or<S: Simd>(s: S, a: S::V, b: S::V) -> S::V {
    s.xor(s.xor(a, b), s.and(a, b))
}

/// Shifts by a constant, to the left if it is positive. A macro, because the type of a function
/// cannot depend on a number that is computed from its parameter.
macro_rules! shift {
    ($s:expr, $a:expr, $by:expr) => {{
        const BY: isize = $by;
        const LEFT: i32 = if BY > 0 { BY as i32 } else { 1 };
        const RIGHT: i32 = if BY < 0 { -BY as i32 } else { 1 };
        if const { BY > 0 } {
            $s.shl::<LEFT>($a)
        } else if const { BY < 0 } {
            $s.shr::<RIGHT>($a)
        } else {
            $a
        }
    }};
}

/// Returns the vectors whose conditions are all met by the words 35 to 64 of each lane's schedule.
#[inline(always)]
pub(crate) fn vectors_met<S: Simd>(s: S, words: &[S::V; N_WORDS]) -> Vectors<S::V> {
    let rows = rows(s, words);
    let mut violated = [s.splat(0); 2];
    unroll!(N in 0..80 => {
        if const { STEPS[N].mask != 0 } {
            const STEP: Step = STEPS[N];
            s.fragment(
                #[inline(always)]
                || {
                    let later = shift!(s, rows[const { row(STEP.second) }], -(STEP.apart as isize));
                    let differ = s.xor(rows[const { row(STEP.first) }], later);
                    let mask = s.splat(STEP.mask);
                    let wrong = s.and(shift!(s, differ, STEP.shift), mask);
                    let wrong = if STEP.equal { wrong } else { s.xor(wrong, mask) };
                    let all = &mut violated[STEP.word];
                    *all = or(s, *all, wrong);
                },
            );
        }
    });
    let mut met = [s.splat(0); 2];
    for n in 0..2 {
        let slots = s.splat((SLOTS >> (32 * n)) as u32);
        met[n] = s.xor(slots, s.and(slots, violated[n]));
    }
    met
}

/// Number of rows: bits 0 to 7, and bits 28 to 31 after them.
const N_ROWS: usize = 12;

/// Returns the row of a bit.
const fn row(bit: usize) -> usize {
    if bit < 8 { bit } else { bit - 20 }
}

/// Returns the bits of the words that conditions compare, in rows: bit i of the row of p is bit p of
/// word 35 + i.
///
/// Four words put their low bytes into one vector, and eight words their four high bits. These
/// vectors are then transposed, all bytes or all groups of four bits at once: see Hacker's Delight,
/// section 7-3.
#[inline(always)]
fn rows<S: Simd>(s: S, words: &[S::V; N_WORDS]) -> [S::V; N_ROWS] {
    let mut rows = [s.splat(0); N_ROWS];
    unroll!(I in 0..80 => {
        if const { I < N_WORDS } {
            s.fragment(
                #[inline(always)]
                || {
                    const BYTE: isize = (I % N_WORDS / 8 * 8) as isize;
                    let bits = shift!(s, words[I % N_WORDS], BYTE);
                    let bits = s.and(bits, s.splat(0xff << BYTE));
                    rows[I % 8] = s.xor(rows[I % 8], bits);

                    const GROUP: isize = (I % N_WORDS / 4 * 4) as isize;
                    let bits = shift!(s, words[I % N_WORDS], GROUP - 28);
                    let bits = s.and(bits, s.splat(0xf << GROUP));
                    rows[8 + I % 4] = s.xor(rows[8 + I % 4], bits);
                },
            );
        }
    });
    unroll!(P in 0..4 => {
        exchange::<4, S>(s, &mut rows, P, 0x0f0f_0f0f);
    });
    unroll!(P in 0..4 => {
        exchange::<2, S>(s, &mut rows, P / 2 * 4 + P % 2, 0x3333_3333);
    });
    unroll!(P in 0..4 => {
        exchange::<1, S>(s, &mut rows, P * 2, 0x5555_5555);
    });
    unroll!(P in 0..4 => {
        if const { P < 2 } {
            exchange::<2, S>(s, &mut rows, 8 + P, 0x3333_3333);
        }
    });
    unroll!(P in 0..4 => {
        if const { P < 2 } {
            exchange::<1, S>(s, &mut rows, 8 + P * 2, 0x5555_5555);
        }
    });
    rows
}

/// Exchanges the bits of row `low` above the bits in `mask` with those of row `low` + `N` in
/// `mask`.
#[inline(always)]
fn exchange<const N: i32, S: Simd>(s: S, rows: &mut [S::V; N_ROWS], low: usize, mask: u32) {
    s.fragment(
        #[inline(always)]
        || {
            let high = low + N as usize;
            let differ = s.xor(s.shr::<N>(rows[low]), rows[high]);
            let differ = s.and(differ, s.splat(mask));
            rows[high] = s.xor(rows[high], differ);
            rows[low] = s.xor(rows[low], s.shl::<N>(differ));
        },
    );
}

#[cfg(test)]
mod tests;
