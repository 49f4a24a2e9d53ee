//! SHA-256 (FIPS 180-4 section 6.2): constants, round, and the schedule in words and in vectors.

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

/// The initial hash value of SHA-256 (FIPS 180-4 section 5.3.3).
pub(crate) const IV: State = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The round constants of SHA-256 (FIPS 180-4 section 4.2.2).
#[rustfmt::skip]
pub(crate) const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The compression function of SHA-256.
#[derive(Clone, Copy, Debug)]
pub struct Sha256Compression;

impl Rounds for Sha256Compression {
    const NAME: &'static str = "sha256";
    const INDEX: usize = 1;
    type Variables<V: Copy> = [V; 8];
    const IV: State = IV;
    const N_WORDS: usize = 8;
    const N_ROUNDS: usize = 64;

    #[inline(always)]
    fn k(t: usize) -> u32 {
        K[t]
    }

    /// Computes a word as in FIPS 180-4 section 6.2.2, step 1.
    #[inline(always)]
    fn next_word<const T: usize, S: Simd>(s: S, w: &mut [S::V; 16]) {
        s.fragment(
            #[inline(always)]
            move || {
                let (w15, w2) = (w[(T + 1) % 16], w[(T + 14) % 16]);
                let small_sigma0 =
                    s.parity(s.rotl::<25, 7>(w15), s.rotl::<14, 18>(w15), s.shr::<3>(w15));
                let small_sigma1 =
                    s.parity(s.rotl::<15, 17>(w2), s.rotl::<13, 19>(w2), s.shr::<10>(w2));
                w[T] = s.add(
                    s.add(w[T], small_sigma0),
                    s.add(w[(T + 9) % 16], small_sigma1),
                );
            },
        );
    }

    #[inline(always)]
    fn variables<V: Copy>(words: &mut [V; 8]) -> &mut [V; 8] {
        words
    }

    /// Computes a round as in FIPS 180-4 section 6.2.2, step 3.
    #[inline(always)]
    fn round<const T: usize, S: Simd>(s: S, v: &mut [S::V; 8], b_xor_c: &mut S::V, w_k: S::V) {
        s.fragment(
            #[inline(always)]
            move || {
                let a = v[const { place(0, T, 8) }];
                let b = v[const { place(1, T, 8) }];
                let c = v[const { place(2, T, 8) }];
                let d = v[const { place(3, T, 8) }];
                let e = v[const { place(4, T, 8) }];
                let f = v[const { place(5, T, 8) }];
                let g = v[const { place(6, T, 8) }];
                let h = v[const { place(7, T, 8) }];
                let big_sigma1 =
                    s.parity(s.rotl::<26, 6>(e), s.rotl::<21, 11>(e), s.rotl::<7, 25>(e));
                let t1 = s.add_aside(s.add_aside(s.add(h, w_k), s.ch(e, f, g)), big_sigma1);
                let big_sigma0 =
                    s.parity(s.rotl::<30, 2>(a), s.rotl::<19, 13>(a), s.rotl::<10, 22>(a));
                let maj = s.maj_in_chain(a, b, c, b_xor_c);
                v[const { place(3, T, 8) }] = s.add_aside(d, t1);
                v[const { place(7, T, 8) }] = s.add_late(maj, big_sigma0, t1);
            },
        );
    }

    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    #[inline(always)]
    fn compress_scheduled<S: Schedule>(s: S, state: &mut State, blocks: &[Block]) {
        let mut words = NextWords::new(s);
        one_message!(Self, S, blocks, state,
            groups: 16 in 0..16,
            prepare: |G, STAGE, first, groups| {
                words.prepare::<G, STAGE, S>(s, blocks, first, groups);
            }
        );
    }
}

/// The next four words of the schedule, computed from the four groups before them.
///
/// W(t) depends on W(t-2), so the σ1 terms are computed for two words at a time. A group takes
/// thirty vector operations. If all of them ran between two rounds, they would delay the next step
/// of the chain of rounds. The operations are therefore spread over four stages.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
struct NextWords<V> {
    /// The last four groups; group `g` is at index g mod 4.
    w: [V; 4],
    /// The sum of the terms that are already computed.
    sum: V,
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl<V: Copy> NextWords<V> {
    #[inline(always)]
    fn new<S: Schedule<V = V>>(s: S) -> Self {
        let zero = s.splat(0);
        Self {
            w: [zero; 4],
            sum: zero,
        }
    }

    /// Runs stage `STAGE` of group `G`. The last stage, 3, stores the group in its place.
    #[inline(always)]
    fn prepare<const G: usize, const STAGE: usize, S: Schedule<V = V>>(
        &mut self,
        s: S,
        blocks: &[Block],
        first: usize,
        groups: &mut [Group; 16],
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
            2 if G >= 4 => w[G % 4] = add_small_sigma1_low(s, *sum, back(1)),
            3 => {
                if G >= 4 {
                    w[G % 4] = add_small_sigma1_high(s, *sum, w[G % 4]);
                }
                let (k, _) = K.as_chunks::<4>();
                s.store_group(s.add(w[G % 4], s.splat_quad(&k[G])), &mut groups[G]);
            }
            _ => {}
        }
    }
}

/// Adds σ1 (FIPS 180-4 section 4.1.2) of words 2 and 3 of `last` to words 0 and 1 of `sum`.
///
/// A rotation of a word is a 64-bit shift of two copies of the word.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
fn add_small_sigma1_low<S: Schedule>(s: S, sum: S::V, last: S::V) -> S::V {
    let x = s.shuffle::<0b11_11_10_10>(last);
    let y = s.parity(s.shr64::<17>(x), s.shr64::<19>(x), s.shr::<10>(x));
    s.add(sum, s.shuffle::<0b10_00_10_00>(y))
}

/// Returns words 0 and 1 of `low`, and words 2 and 3 of `sum` plus σ1 of words 0 and 1 of
/// `low`.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
fn add_small_sigma1_high<S: Schedule>(s: S, sum: S::V, low: S::V) -> S::V {
    let x = s.shuffle::<0b01_01_00_00>(low);
    let y = s.parity(s.shr64::<17>(x), s.shr64::<19>(x), s.shr::<10>(x));
    let high = s.add(sum, s.shuffle::<0b10_00_10_00>(y));
    s.halves(low, high)
}
