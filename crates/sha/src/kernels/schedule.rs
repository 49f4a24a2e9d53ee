//! One message, with its schedule in vectors.
//!
//! The rounds of one message are a chain: each waits for the one before, and no vector helps. The
//! schedule is not: W(t) to W(t + 3) fit in one vector and are computed together. So vectors prepare
//! W(t) + K(t) of the next block and put it into memory, while the rounds of the present block, on
//! single words, eat what was prepared for it, instruction by instruction between each other and
//! without a seam between blocks (Gaudet, 2002 to 2004, who prepared 12 rounds ahead; a whole block
//! ahead is simpler, and an out-of-order CPU starts on the first block before its schedule is done).
//!
//! SHA-1: W(t) = ROTL1(W(t-3) ^ W(t-8) ^ W(t-14) ^ W(t-16)) has W(t + 3) depend on W(t), which is in
//! the same vector. Since ROTL1(x ^ y) = ROTL1(x) ^ ROTL1(y), it is computed without that term, and
//! ROTL2 of the term is added afterwards. From W(32) on there is a better recurrence with the same
//! result, W(t) = ROTL2(W(t-6) ^ W(t-16) ^ W(t-28) ^ W(t-32)), in which six words are independent
//! (Locktyukhin, 2010). With SSE2 it takes 1.08 GB/s where the first one alone takes 1.005, so it is
//! used there too.
//!
//! SHA-256: W(t) needs W(t-2), so that the part of σ1 is computed for two words at a time. A group
//! takes thirty vector operations; put between two rounds, all of them are older than the chain's
//! next step and delay it, so they are spread over four stages.
//!
//! A vector of 256 bits prepares two blocks at once, at the price of one. How much can that bring?
//! With the schedule left out altogether, the rounds of SHA-256 alone run at 0.506 GB/s, where AVX
//! had 0.48 and AVX2 0.49 (BMI2's rotates included): what is left is the rounds. Their limit is
//! ports, and among these the two that rotate: [`Simd::add_aside`](crate::simd::Simd::add_aside)
//! gained as much as the wide vectors. All figures: one core of a Xeon, Sapphire Rapids generation,
//! 16 KiB, 2026-11.

use crate::simd::{Row, Schedule};
use crate::types::{Block, State};

use super::compression::Compression;
use super::constants::{SHA256_K, sha1_k};
use super::rounds::{sha1_round, sha256_round};

/// Compresses at least one block of one message.
#[inline(always)]
pub(crate) fn compress<A: Compression, S: Schedule>(s: S, state: &mut State, blocks: &[Block]) {
    s.vectorize(
        #[inline(always)]
        || A::compress_scheduled(s, state, blocks),
    );
}

/// Repeats a block for each number, as a constant.
macro_rules! unroll {
    ($i:ident in $($n:literal)* => $body:block) => { $({ const $i: usize = $n; $body })* };
}

/// Rows `4 * q` to `4 * q + 3` of the block's sixteen words are the four quarters of the block.
#[inline(always)]
fn load_quarter<S: Schedule>(s: S, blocks: &[Block], first: usize, q: usize) -> S::V {
    let last = blocks.len() - 1;
    let quarter = |part: usize| &blocks[(first + part).min(last)].as_chunks::<16>().0[q];
    let second = quarter(usize::from(S::PARTS > 1));
    let first = quarter(0);
    s.swap_bytes(s.load_parts([first, second, first, first]))
}

/// Prepares group `G` of four words, out of the eight groups before it.
#[inline(always)]
fn sha1_prepare<const G: usize, S: Schedule>(
    s: S,
    w: &mut [S::V; 8],
    blocks: &[Block],
    first: usize,
    rows: &mut [Row; 20],
) {
    let back = |n: usize| w[(G + 8 - n) % 8];
    let group = if G < 4 {
        load_quarter(s, blocks, first, G)
    } else if G < 8 {
        let zero = s.splat(0);
        let w14 = s.words_from::<8>(back(4), back(3));
        let w3 = s.words_from::<4>(back(1), zero);
        let sum = s.xor(s.xor(back(4), w14), s.xor(back(2), w3));
        let missing = s.words_from::<4>(zero, sum);
        s.xor(s.rotl::<1, 31>(sum), s.rotl::<2, 30>(missing))
    } else {
        let w6 = s.words_from::<8>(back(2), back(1));
        s.rotl::<2, 30>(s.xor(s.xor(back(8), back(7)), s.xor(back(4), w6)))
    };
    w[G % 8] = group;
    s.store_row(s.add(group, s.splat(const { sha1_k(4 * G) })), &mut rows[G]);
}

#[inline(always)]
pub(crate) fn sha1<S: Schedule>(s: S, state: &mut State, blocks: &[Block]) {
    let (current, next) = &mut ([[0; 8]; 20], [[0; 8]; 20]);
    let (mut current, mut next) = (current, next);
    let mut w = [s.splat(0); 8];
    let [a, b, c, d, e, ..] = *state;
    let mut h = [a, b, c, d, e];
    unroll!(G in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 => {
        sha1_prepare::<G, S>(s, &mut w, blocks, 0, current);
    });
    let mut n = 0;
    while n < blocks.len() {
        macro_rules! block {
            ($part:literal) => {
                let mut v = h;
                unroll!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 => {
                    let row = current[I];
                    sha1_round::<{ 4 * I % 5 }, { I / 5 }, _>(S::WORD, &mut v, row[4 * $part]);
                    sha1_round::<{ (4 * I + 1) % 5 }, { I / 5 }, _>(S::WORD, &mut v, row[4 * $part + 1]);
                    if S::PARTS == 1 {
                        sha1_prepare::<I, S>(s, &mut w, blocks, n + 1, next);
                    } else if I % 2 == 0 {
                        const G: usize = 10 * $part + I / 2;
                        sha1_prepare::<G, S>(s, &mut w, blocks, n + 2, next);
                    }
                    sha1_round::<{ (4 * I + 2) % 5 }, { I / 5 }, _>(S::WORD, &mut v, row[4 * $part + 2]);
                    sha1_round::<{ (4 * I + 3) % 5 }, { I / 5 }, _>(S::WORD, &mut v, row[4 * $part + 3]);
                });
                for i in 0..5 {
                    h[i] = h[i].wrapping_add(v[i]);
                }
            };
        }
        block!(0);
        if S::PARTS == 2 && n + 1 < blocks.len() {
            block!(1);
        }
        n += S::PARTS;
        core::mem::swap(&mut current, &mut next);
    }
    state[..5].copy_from_slice(&h);
}

/// The four next words of a schedule of SHA-256, out of the four groups before them, in four stages
/// that can be spread between rounds.
struct Sha256Group<V> {
    /// The four last groups; group `g` is in place g mod 4.
    w: [V; 4],
    /// What the terms of the group add up to so far.
    sum: V,
}

impl<V: Copy> Sha256Group<V> {
    #[inline(always)]
    fn new<S: Schedule<V = V>>(s: S) -> Self {
        let zero = s.splat(0);
        Self {
            w: [zero; 4],
            sum: zero,
        }
    }

    /// Stage `STAGE` of group `G`; the last one, 3, puts the group into its row.
    #[inline(always)]
    fn prepare<const G: usize, const STAGE: usize, S: Schedule<V = V>>(
        &mut self,
        s: S,
        blocks: &[Block],
        first: usize,
        rows: &mut [Row; 16],
    ) {
        let Self { w, sum } = self;
        let back = |n: usize| w[(G + 4 - n) % 4];
        match STAGE {
            0 if G < 4 => w[G] = load_quarter(s, blocks, first, G),
            0 => *sum = s.add(back(4), s.words_from::<4>(back(2), back(1))),
            1 if G >= 4 => {
                let w15 = s.words_from::<4>(back(4), back(3));
                let small_sigma0 =
                    s.parity(s.rotl::<25, 7>(w15), s.rotl::<14, 18>(w15), s.shr::<3>(w15));
                *sum = s.add(*sum, small_sigma0);
            }
            2 if G >= 4 => w[G % 4] = s.add_small_sigma1_low(*sum, back(1)),
            3 => {
                if G >= 4 {
                    w[G % 4] = s.add_small_sigma1_high(*sum, w[G % 4]);
                }
                let (k, _) = SHA256_K.as_chunks::<4>();
                s.store_row(s.add(w[G % 4], s.splat_part(&k[G])), &mut rows[G]);
            }
            _ => {}
        }
    }
}

#[inline(always)]
pub(crate) fn sha256<S: Schedule>(s: S, state: &mut State, blocks: &[Block]) {
    let (current, next) = &mut ([[0; 8]; 16], [[0; 8]; 16]);
    let (mut current, mut next) = (current, next);
    let mut group = Sha256Group::new(s);
    unroll!(G in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
        unroll!(STAGE in 0 1 2 3 => {
            group.prepare::<G, STAGE, S>(s, blocks, 0, current);
        });
    });
    let mut h = *state;
    let mut n = 0;
    while n < blocks.len() {
        macro_rules! block {
            ($part:literal) => {
                let mut v = h;
                let mut b_xor_c = v[1] ^ v[2];
                unroll!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
                    let row = current[I];
                    unroll!(J in 0 1 2 3 => {
                        sha256_round::<{ (4 * I + J) % 8 }, _>(S::WORD, &mut v, &mut b_xor_c, row[4 * $part + J]);
                        if S::PARTS == 1 {
                            group.prepare::<I, J, S>(s, blocks, n + 1, next);
                        } else if J % 2 == 1 {
                            const G: usize = 8 * $part + I / 2;
                            const STAGE: usize = I % 2 * 2 + J / 2;
                            group.prepare::<G, STAGE, S>(s, blocks, n + 2, next);
                        }
                    });
                });
                for i in 0..8 {
                    h[i] = h[i].wrapping_add(v[i]);
                }
            };
        }
        block!(0);
        if S::PARTS == 2 && n + 1 < blocks.len() {
            block!(1);
        }
        n += S::PARTS;
        core::mem::swap(&mut current, &mut next);
    }
    *state = h;
}
