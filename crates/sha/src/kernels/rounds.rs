//! The rounds of SHA-1 and SHA-256, once for every kernel that computes them with ordinary
//! operations: in lanes a variable is a vector, and for a single message it is a word.
//!
//! The working variables stay where they are, and their names move: in round `T` variable number
//! `i` (`a` is 0) sits in place (i − T) mod 5 or 8, so that a round writes two words and copies
//! none. `T` is a constant, so that places are registers.

use crate::simd::Simd;

/// Where variable number `i` is in round `t`, of `n` variables.
const fn place(i: usize, t: usize, n: usize) -> usize {
    (i + n * 16 - t) % n
}

/// A round of SHA-1, FIPS 180-4 section 6.1.2 step 3: one whose number modulo 5 is `T`, of the
/// twenty rounds `TWENTY`. `w_k` is W(t) + K(t).
///
/// The sum is in the order in which its terms can be had: what comes last is ROTL5(a), which is
/// one addition away from the round before.
#[inline(always)]
pub(crate) fn sha1_round<const T: usize, const TWENTY: usize, S: Simd>(
    s: S,
    v: &mut [S::V; 5],
    w_k: S::V,
) {
    s.part(
        #[inline(always)]
        move || {
            let a = v[const { place(0, T, 5) }];
            let b = v[const { place(1, T, 5) }];
            let c = v[const { place(2, T, 5) }];
            let d = v[const { place(3, T, 5) }];
            let f = match TWENTY {
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

/// A round of SHA-256, FIPS 180-4 section 6.2.2 step 3: one whose number modulo 8 is `T`. `w_k` is
/// W(t) + K(t).
///
/// `b_xor_c` is what its name says before the round, and so again after it.
#[inline(always)]
pub(crate) fn sha256_round<const T: usize, S: Simd>(
    s: S,
    v: &mut [S::V; 8],
    b_xor_c: &mut S::V,
    w_k: S::V,
) {
    s.part(
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
            let big_sigma1 = s.parity(s.rotl::<26, 6>(e), s.rotl::<21, 11>(e), s.rotl::<7, 25>(e));
            let t1 = s.add_aside(s.add_aside(s.add(h, w_k), s.ch(e, f, g)), big_sigma1);
            let big_sigma0 = s.parity(s.rotl::<30, 2>(a), s.rotl::<19, 13>(a), s.rotl::<10, 22>(a));
            let maj = s.maj_in_chain(a, b, c, b_xor_c);
            v[const { place(3, T, 8) }] = s.add_aside(d, t1);
            v[const { place(7, T, 8) }] = s.add_late(maj, big_sigma0, t1);
        },
    );
}
