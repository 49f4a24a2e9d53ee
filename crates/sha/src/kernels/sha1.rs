//! SHA-1 (FIPS 180-4 section 6.1): constants, round, and the schedule in words and in vectors.

use hashlane_simd::Simd;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use hashlane_simd::{Group, Schedule};

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use crate::types::Block;
use crate::types::State;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use super::one_message::{load_quarter, one_message};
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use super::rounds::unroll;
use super::rounds::{Rounds, place};

/// The initial hash value of SHA-1 (FIPS 180-4 section 5.3.1). Five words are in use.
const IV: State = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
    0,
    0,
    0,
];

/// The constants, one for every twenty rounds (FIPS 180-4 section 4.2.1).
pub(crate) const K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// Returns the constant of round `t`.
const fn k(t: usize) -> u32 {
    K[t / 20]
}

/// The compression function of SHA-1.
#[derive(Clone, Copy, Debug)]
pub struct Sha1Compression;

impl Rounds for Sha1Compression {
    const NAME: &'static str = "sha1";
    const INDEX: usize = 0;
    type Variables<V: Copy> = [V; 5];
    const IV: State = IV;
    const N_WORDS: usize = 5;
    const N_ROUNDS: usize = 80;

    #[inline(always)]
    fn k(t: usize) -> u32 {
        k(t)
    }

    /// Computes a word as in FIPS 180-4 section 6.1.3, with the schedule in sixteen words.
    #[inline(always)]
    fn next_word<const T: usize, S: Simd>(s: S, w: &mut [S::V; 16]) {
        s.fragment(
            #[inline(always)]
            move || {
                let sum = s.parity(w[(T + 13) % 16], w[(T + 8) % 16], w[(T + 2) % 16]);
                w[T] = s.rotl::<1, 31>(s.xor(sum, w[T]));
            },
        );
    }

    #[inline(always)]
    fn variables<V: Copy>(words: &mut [V; 8]) -> &mut [V; 5] {
        let (used, _) = words.split_first_chunk_mut().expect("8 words");
        used
    }

    /// Computes a round as in FIPS 180-4 section 6.1.2, step 3.
    ///
    /// The terms are added in the order in which they become available. The last one is ROTL5(a),
    /// which depends on the last addition of the round before.
    #[inline(always)]
    fn round<const T: usize, S: Simd>(s: S, v: &mut [S::V; 5], _: &mut S::V, w_k: S::V) {
        s.fragment(
            #[inline(always)]
            move || {
                let a = v[const { place(0, T, 5) }];
                let b = v[const { place(1, T, 5) }];
                let c = v[const { place(2, T, 5) }];
                let d = v[const { place(3, T, 5) }];
                let f = match T / 20 {
                    0 => s.ch(b, c, d),
                    2 => s.maj(b, c, d),
                    _ => s.parity(b, c, d),
                };
                let e = &mut v[const { place(4, T, 5) }];
                *e = s.add(s.add(s.add(*e, w_k), f), s.rotl::<5, 27>(a));
                v[const { place(1, T, 5) }] = s.rotl::<30, 2>(b);
            },
        );
    }

    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    #[inline(always)]
    fn compress_scheduled<S: Schedule>(s: S, state: &mut State, blocks: &[Block]) {
        let mut w = [s.splat(0); 8];
        one_message!(Self, S, blocks, state,
            groups: 20 in 0..20,
            prepare: |G, STAGE, first, groups| {
                // One call per group, between the second and the third round.
                if STAGE == usize::from(S::QUADS == 1) {
                    prepare::<G, S>(s, &mut w, blocks, first, groups);
                }
            }
        );
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
/// Prepares group `G` of four words from the eight groups before it.
///
/// In W(t) = ROTL1(W(t-3) ^ W(t-8) ^ W(t-14) ^ W(t-16)), W(t + 3) depends on W(t), which is in the
/// same vector. Since ROTL1(x ^ y) = ROTL1(x) ^ ROTL1(y), the word is computed without that term,
/// and ROTL2 of the term is added afterwards. From W(32) on, an equivalent recurrence has six
/// independent words: W(t) = ROTL2(W(t-6) ^ W(t-16) ^ W(t-28) ^ W(t-32)) (Locktyukhin, 2010). SSE2
/// reaches 1.08 GB/s with both recurrences and 1.005 GB/s with the first alone (Xeon, Sapphire
/// Rapids generation, 2026-11).
#[inline(always)]
fn prepare<const G: usize, S: Schedule>(
    s: S,
    w: &mut [S::V; 8],
    blocks: &[Block],
    first: usize,
    groups: &mut [Group; 20],
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
    s.store_group(s.add(group, s.splat(const { k(4 * G) })), &mut groups[G]);
}
