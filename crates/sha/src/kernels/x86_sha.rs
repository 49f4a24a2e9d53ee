//! SHA-1 and SHA-256 with the x86 SHA extensions, for `N` messages at once.
//!
//! # Idea
//!
//! Each step computes four rounds (Intel SHA Extensions, July 2013) of each of `N` messages:
//!
//! ```text
//! for each block:
//!     for each group of four rounds q:
//!         for each message n:
//!             w[n] = the next four words: loaded, and from q = 4 on computed by msg1 and msg2
//!             state[n] = rounds(state[n], w[n] + K)
//!     state += the state before the block
//! ```
//!
//! # Tricks
//!
//! - With one message, the unit idles while it waits for the result of the rounds before. Other
//!   messages, interleaved group by group, use that time.
//! - The loops over `N` have constant bounds and are unrolled.
//! - Opaque copies keep the state of SHA-256 in registers: see [`ShaNi::opaque_copy`].
//!
//! # Known weakness
//!
//! - Two messages of SHA-256 need more than sixteen registers: four vectors are on the stack.
//!   With four messages, most of the schedules are on the stack, too.
//! - The instructions have only legacy SSE encodings. They are slow while the upper halves of
//!   vector registers are dirty. Functions with wider features clear the upper halves before they
//!   return.

use hashlane_simd::{ShaNi, Vectorize as _};

use crate::types::{Block, State};

use super::rounds::unroll;
use super::sha256;

/// Compresses `n_blocks` blocks of `N` messages with SHA-1.
#[inline(always)]
pub(crate) fn sha1<const N: usize>(
    s: ShaNi,
    states: &mut [State; N],
    inputs: [&[Block]; N],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let (mut abcd, mut e) = ([s.zero(); N], [s.zero(); N]);
            for n in 0..N {
                let (halves, _) = states[n].as_chunks::<4>();
                abcd[n] = s.reverse_words(s.load_words(&halves[0]));
                e[n] = s.reverse_words(s.load_words(&[states[n][4], 0, 0, 0]));
            }
            for block in 0..n_blocks {
                let (abcd_in, e_in) = (abcd, e);
                let mut w = [[s.zero(); 4]; N];
                for n in 0..N {
                    let (quarters, _) = inputs[n][block].as_chunks::<16>();
                    for i in 0..4 {
                        w[n][i] = s.reverse_bytes(s.load_bytes(&quarters[i]));
                    }
                }
                let mut before = abcd;
                unroll!(Q in 0..20 => {
                    for n in 0..N {
                        let i = Q % 4;
                        if Q / 4 != 0 {
                            let x = s.sha1msg1(w[n][i], w[n][(i + 1) % 4]);
                            let x = s.xor(x, w[n][(i + 2) % 4]);
                            w[n][i] = s.sha1msg2(x, w[n][(i + 3) % 4]);
                        }
                        let e_w = if Q == 0 {
                            s.add(e[n], w[n][i])
                        } else {
                            s.sha1nexte(before[n], w[n][i])
                        };
                        before[n] = abcd[n];
                        abcd[n] = s.sha1rnds4::<{ Q.cast_signed() as i32 / 5 }>(abcd[n], e_w);
                    }
                });
                for n in 0..N {
                    abcd[n] = s.add(abcd[n], abcd_in[n]);
                    e[n] = s.sha1nexte(before[n], e_in[n]);
                }
            }
            for n in 0..N {
                let (halves, _) = states[n].as_chunks_mut::<4>();
                halves[0] = s.store_words(s.reverse_words(abcd[n]));
                [halves[1][0], ..] = s.store_words(s.reverse_words(e[n]));
            }
        },
    );
}

/// Compresses `n_blocks` blocks of `N` messages with SHA-256.
#[inline(always)]
pub(crate) fn sha256<const N: usize>(
    s: ShaNi,
    states: &mut [State; N],
    inputs: [&[Block]; N],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let (mut abef, mut cdgh) = ([s.zero(); N], [s.zero(); N]);
            for n in 0..N {
                let (halves, _) = states[n].as_chunks::<4>();
                let (abcd, efgh) = (s.load_words(&halves[0]), s.load_words(&halves[1]));
                abef[n] = s.low_pairs(efgh, abcd);
                cdgh[n] = s.high_pairs(efgh, abcd);
            }
            for block in 0..n_blocks {
                // With plain copies, LLVM keeps the state on the stack between blocks, and the
                // first rounds wait for a store and a load.
                let abef_in = abef.map(
                    #[inline(always)]
                    |abef| s.opaque_copy(abef),
                );
                let cdgh_in = cdgh.map(
                    #[inline(always)]
                    |cdgh| s.opaque_copy(cdgh),
                );
                let mut w = [[s.zero(); 4]; N];
                for n in 0..N {
                    let (quarters, _) = inputs[n][block].as_chunks::<16>();
                    for i in 0..4 {
                        w[n][i] = s.swap_bytes(s.load_bytes(&quarters[i]));
                    }
                }
                let (k, _) = sha256::K.as_chunks::<4>();
                unroll!(Q in 0..16 => {
                    for n in 0..N {
                        let i = Q % 4;
                        if Q / 4 != 0 {
                            let x = s.sha256msg1(w[n][i], w[n][(i + 1) % 4]);
                            let w7 = s.words_7_back(w[n][(i + 3) % 4], w[n][(i + 2) % 4]);
                            w[n][i] = s.sha256msg2(s.add(x, w7), w[n][(i + 3) % 4]);
                        }
                        let w_k = s.add(w[n][i], s.load_words(&k[Q]));
                        cdgh[n] = s.sha256rnds2(cdgh[n], abef[n], w_k);
                        abef[n] = s.sha256rnds2(abef[n], cdgh[n], s.high_words(w_k));
                        // One more use of the state, so that LLVM spills words of the
                        // schedule instead. The rounds would wait for the state.
                        cdgh[n] = s.opaque_copy(cdgh[n]);
                    }
                });
                for n in 0..N {
                    abef[n] = s.add(abef[n], abef_in[n]);
                    cdgh[n] = s.add(cdgh[n], cdgh_in[n]);
                }
            }
            for n in 0..N {
                let (halves, _) = states[n].as_chunks_mut::<4>();
                halves[0] = s.store_words(s.high_pairs(abef[n], cdgh[n]));
                halves[1] = s.store_words(s.low_pairs(abef[n], cdgh[n]));
            }
        },
    );
}
