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
//! - A block that is mostly zeros needs fewer instructions for its schedule, and the compiler adds
//!   the round constants to constant words in advance. The double hash of short messages has two
//!   such blocks.
//! - Opaque copies keep the state of SHA-256 in registers: see [`ShaNi::opaque_copy`].
//!
//! # Known weakness
//!
//! - Two messages of SHA-256 need more than sixteen registers: four vectors are on the stack.
//!   With four messages, most of the schedules are on the stack, too.
//! - The instructions have only legacy SSE encodings. They are slow while the upper halves of
//!   vector registers are dirty. Functions with wider features clear the upper halves before they
//!   return.

#[cfg(target_arch = "x86")]
use core::arch::x86::__m128i;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__m128i;

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
                (abcd[n], e[n]) = load_sha1_state(s, &states[n]);
            }
            for block in 0..n_blocks {
                sha1_block(
                    s,
                    &mut abcd,
                    &mut e,
                    &inputs,
                    block,
                    #[inline(always)]
                    |_, _| {},
                );
            }
            for n in 0..N {
                store_sha1_state(s, abcd[n], e[n], &mut states[n]);
            }
        },
    );
}

/// Returns a state of SHA-1 in the order of the instructions: words A to D, and word E.
#[inline(always)]
pub(super) fn load_sha1_state(s: ShaNi, state: &State) -> (__m128i, __m128i) {
    let (halves, _) = state.as_chunks::<4>();
    let abcd = s.reverse_words(s.load_words(&halves[0]));
    (abcd, s.reverse_words(s.load_words(&[state[4], 0, 0, 0])))
}

/// Stores what [`load_sha1_state`] returns.
#[inline(always)]
pub(super) fn store_sha1_state(s: ShaNi, abcd: __m128i, e: __m128i, state: &mut State) {
    let (halves, _) = state.as_chunks_mut::<4>();
    halves[0] = s.store_words(s.reverse_words(abcd));
    [halves[1][0], ..] = s.store_words(s.reverse_words(e));
}

/// Compresses a block of each of `N` messages with SHA-1, inside a kernel. Passes each group of four
/// words of the schedules to `keep`, with its number.
#[inline(always)]
pub(super) fn sha1_block<const N: usize>(
    s: ShaNi,
    abcd: &mut [__m128i; N],
    e: &mut [__m128i; N],
    inputs: &[&[Block]; N],
    block: usize,
    mut keep: impl FnMut(usize, __m128i),
) {
    let (abcd_in, e_in) = (*abcd, *e);
    let mut w = [[s.zero(); 4]; N];
    for n in 0..N {
        let (quarters, _) = inputs[n][block].as_chunks::<16>();
        for i in 0..4 {
            w[n][i] = s.reverse_bytes(s.load_bytes(&quarters[i]));
        }
    }
    let mut before = *abcd;
    unroll!(Q in 0..20 => {
        for n in 0..N {
            let i = Q % 4;
            if Q / 4 != 0 {
                let x = s.sha1msg1(w[n][i], w[n][(i + 1) % 4]);
                let x = s.xor(x, w[n][(i + 2) % 4]);
                w[n][i] = s.sha1msg2(x, w[n][(i + 3) % 4]);
            }
            keep(Q, w[n][i]);
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
                (abef[n], cdgh[n]) = load_state(s, &states[n]);
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
                sha256_rounds::<N, 16>(s, &mut abef, &mut cdgh, &mut w);
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

/// Returns the first word of the double SHA-256 of `N` messages of one block each, inside a kernel.
/// A message is the words of its padded block. Its words from `WORDS` to 14 are zero, and `WORDS`
/// is at most 12.
///
/// The words stay in registers from the first hash to the second.
#[inline(always)]
pub(crate) fn sha256d_first_words<const N: usize, const WORDS: usize>(
    s: ShaNi,
    messages: &[[u32; 16]; N],
) -> [u32; N] {
    /// The words of a digest and the first word of the padding.
    const DIGEST_WORDS: usize = 9;
    let start = load_state(s, &sha256::IV);
    let mut w = [[s.zero(); 4]; N];
    for n in 0..N {
        let (quarters, _) = messages[n].as_chunks::<4>();
        for i in 0..3 {
            if 4 * i < WORDS {
                w[n][i] = s.load_words(&quarters[i]);
            }
        }
        w[n][3] = s.load_words(&[0, 0, 0, messages[n][15]]);
    }
    let (mut abef, mut cdgh) = ([start.0; N], [start.1; N]);
    sha256_rounds::<N, WORDS>(s, &mut abef, &mut cdgh, &mut w);
    for n in 0..N {
        let (abef, cdgh) = (s.add(abef[n], start.0), s.add(cdgh[n], start.1));
        w[n] = [
            s.high_pairs(abef, cdgh),
            s.low_pairs(abef, cdgh),
            s.load_words(&[0x8000_0000, 0, 0, 0]),
            s.load_words(&[0, 0, 0, 256]),
        ];
    }
    let (mut abef, mut cdgh) = ([start.0; N], [start.1; N]);
    sha256_rounds::<N, DIGEST_WORDS>(s, &mut abef, &mut cdgh, &mut w);
    let mut first = [0; N];
    for n in 0..N {
        [.., first[n]] = s.store_words(s.add(abef[n], start.0));
    }
    first
}

/// Runs the rounds of SHA-256 on one block of each message. `w` holds the words of the block. Its
/// words from `WORDS` to 14 are zero.
#[inline(always)]
fn sha256_rounds<const N: usize, const WORDS: usize>(
    s: ShaNi,
    abef: &mut [__m128i; N],
    cdgh: &mut [__m128i; N],
    w: &mut [[__m128i; 4]; N],
) {
    let is_short = WORDS <= 9;
    let (k, _) = sha256::K.as_chunks::<4>();
    unroll!(Q in 0..16 => {
        for n in 0..N {
            let i = Q % 4;
            if Q / 4 != 0 {
                // Words 9 to 12 of a short message are zero, and so are their terms.
                let x = if Q == 6 && is_short {
                    w[n][2]
                } else {
                    s.sha256msg1(w[n][i], w[n][(i + 1) % 4])
                };
                let x = if Q == 4 && is_short {
                    x
                } else {
                    s.add(x, s.words_7_back(w[n][(i + 3) % 4], w[n][(i + 2) % 4]))
                };
                w[n][i] = s.sha256msg2(x, w[n][(i + 3) % 4]);
            }
            let w_k = s.add(w[n][i], s.load_words(&k[Q]));
            cdgh[n] = s.sha256rnds2(cdgh[n], abef[n], w_k);
            abef[n] = s.sha256rnds2(abef[n], cdgh[n], s.high_words(w_k));
            // One more use of the state, so that LLVM spills words of the schedule instead. The
            // rounds would wait for the state.
            cdgh[n] = s.opaque_copy(cdgh[n]);
        }
    });
}

/// Returns a state in the order of the instructions: words A, B, E and F, and words C, D, G and H.
#[inline(always)]
fn load_state(s: ShaNi, state: &State) -> (__m128i, __m128i) {
    let (halves, _) = state.as_chunks::<4>();
    let (abcd, efgh) = (s.load_words(&halves[0]), s.load_words(&halves[1]));
    (s.low_pairs(efgh, abcd), s.high_pairs(efgh, abcd))
}
