//! SHA-1 and SHA-256 with the ARM SHA instructions, for `N` messages at once.
//!
//! # Idea
//!
//! Each step computes four rounds (Arm Architecture Reference Manual, DDI 0487, section C7.2) of
//! each of `N` messages:
//!
//! ```text
//! for each block:
//!     for each group of four rounds q:
//!         for each message n:
//!             w[n] = the next four words: loaded, and from q = 4 on computed by su0 and su1
//!             state[n] = rounds(state[n], w[n] + K)
//!     state += the state before the block
//! ```
//!
//! # Tricks
//!
//! - With one message, the unit idles while it waits for the result of the rounds before. A second
//!   message, interleaved group by group, uses some of that time.
//! - The loops over `N` have constant bounds and are unrolled.
//! - The first word is the lowest one in a register, so the state needs no rearrangement.
//!
//! # Known weakness
//!
//! The kernels were tested in an emulator. Their speed was never measured on a CPU.

use hashlane_simd::{ArmSha, Vectorize as _};

use crate::types::{Block, State};

use super::rounds::unroll;
use super::sha1;
use super::sha256;

/// Compresses `n_blocks` blocks of `N` messages with SHA-1.
#[inline(always)]
pub(crate) fn sha1<const N: usize>(
    s: ArmSha,
    states: &mut [State; N],
    inputs: [&[Block]; N],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let (mut abcd, mut e) = ([s.splat(0); N], [0; N]);
            for n in 0..N {
                let [a, b, c, d, e_word, ..] = states[n];
                abcd[n] = s.load_words(&[a, b, c, d]);
                e[n] = e_word;
            }
            for block in 0..n_blocks {
                let (abcd_in, e_in) = (abcd, e);
                let mut w = [[s.splat(0); 4]; N];
                for n in 0..N {
                    let (quarters, _) = inputs[n][block].as_chunks::<16>();
                    for i in 0..4 {
                        w[n][i] = s.load_bytes(&quarters[i]);
                    }
                }
                unroll!(Q in 0..20 => {
                    for n in 0..N {
                        let i = Q % 4;
                        if Q / 4 != 0 {
                            let x =
                                s.sha1su0(w[n][i], w[n][(i + 1) % 4], w[n][(i + 2) % 4]);
                            w[n][i] = s.sha1su1(x, w[n][(i + 3) % 4]);
                        }
                        let w_k = s.add(w[n][i], s.splat(sha1::K[Q / 5]));
                        let e_next = s.sha1h(abcd[n]);
                        abcd[n] = match Q / 5 {
                            0 => s.sha1c(abcd[n], e[n], w_k),
                            2 => s.sha1m(abcd[n], e[n], w_k),
                            _ => s.sha1p(abcd[n], e[n], w_k),
                        };
                        e[n] = e_next;
                    }
                });
                for n in 0..N {
                    abcd[n] = s.add(abcd[n], abcd_in[n]);
                    e[n] = e[n].wrapping_add(e_in[n]);
                }
            }
            for n in 0..N {
                let [a, b, c, d] = s.store_words(abcd[n]);
                states[n][..5].copy_from_slice(&[a, b, c, d, e[n]]);
            }
        },
    );
}

/// Compresses `n_blocks` blocks of `N` messages with SHA-256.
#[inline(always)]
pub(crate) fn sha256<const N: usize>(
    s: ArmSha,
    states: &mut [State; N],
    inputs: [&[Block]; N],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let (mut abcd, mut efgh) = ([s.splat(0); N], [s.splat(0); N]);
            for n in 0..N {
                let [a, b, c, d, e, f, g, h] = states[n];
                abcd[n] = s.load_words(&[a, b, c, d]);
                efgh[n] = s.load_words(&[e, f, g, h]);
            }
            for block in 0..n_blocks {
                let (abcd_in, efgh_in) = (abcd, efgh);
                let mut w = [[s.splat(0); 4]; N];
                for n in 0..N {
                    let (quarters, _) = inputs[n][block].as_chunks::<16>();
                    for i in 0..4 {
                        w[n][i] = s.load_bytes(&quarters[i]);
                    }
                }
                let (k, _) = sha256::K.as_chunks::<4>();
                unroll!(Q in 0..16 => {
                    for n in 0..N {
                        let i = Q % 4;
                        if Q / 4 != 0 {
                            let x = s.sha256su0(w[n][i], w[n][(i + 1) % 4]);
                            w[n][i] = s.sha256su1(x, w[n][(i + 2) % 4], w[n][(i + 3) % 4]);
                        }
                        let w_k = s.add(w[n][i], s.load_words(&k[Q]));
                        let abcd_before = abcd[n];
                        abcd[n] = s.sha256h(abcd[n], efgh[n], w_k);
                        efgh[n] = s.sha256h2(efgh[n], abcd_before, w_k);
                    }
                });
                for n in 0..N {
                    abcd[n] = s.add(abcd[n], abcd_in[n]);
                    efgh[n] = s.add(efgh[n], efgh_in[n]);
                }
            }
            for n in 0..N {
                let [a, b, c, d] = s.store_words(abcd[n]);
                let [e, f, g, h] = s.store_words(efgh[n]);
                states[n] = [a, b, c, d, e, f, g, h];
            }
        },
    );
}
