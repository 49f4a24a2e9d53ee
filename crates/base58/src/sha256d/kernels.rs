//! Double SHA-256 of many short messages, in lanes and with the CPU's SHA instructions.
//!
//! # Idea
//!
//! The messages are sums of one base and one addend per lane. Both hashes are
//! straight-line code:
//!
//! ```text
//! for each vector of addends:
//!     w = base + addends                  (with carries, on the words that vary)
//!     digest = rounds(IV, w)
//!     digest = rounds(IV, digest and padding)
//!     compare digest[0] with the checksum that each addend leads to
//! ```
//!
//! # Tricks
//!
//! - Each shape has its own kernel, so the compiler knows which words are zero and which are
//!   constant. It folds constants such as zeros and the length of the second message. It moves
//!   computations that depend only on the base out of the loop: the first rounds and their terms of
//!   the schedule. It also removes everything that the first word of the second digest does not
//!   need. This saves a tenth of all operations.
//! - The table of addends has columns of words, so lanes load their words without a transpose.
//! - One hash serves all the tails of a candidate: see [`Query::tail`].
//!
//! # Known weakness
//!
//! - The compiler takes seconds for each kernel. Narrow vectors therefore share one kernel for all
//!   shapes, which is a tenth slower.
//! - With the SHA instructions, words are added one by one. On ARM, messages also pass through
//!   memory as bytes.

use std::ops::Range;

use hashlane_sha::{Sha256, hazmat};
use hashlane_simd::{MAX_LANES, Simd};

use super::addends::{Addends, Found, MAX_MESSAGE_WORDS, Query};

cfg_if::cfg_if! {
    if #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] {
        use hashlane_simd::ShaNi as ShaToken;
    } else if #[cfg(target_arch = "aarch64")] {
        use hashlane_simd::ArmSha as ShaToken;
    }
}
#[cfg(target_arch = "aarch64")]
use hashlane_simd::Block;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use hashlane_simd::Portable;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use hashlane_simd::Vectorize as _;

#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use super::addends::Words;

/// The length of a digest in bits, which ends the second message.
const DIGEST_BITS: u32 = 256;

/// The first bit of the padding, after the eight words of a digest.
const PADDING: u32 = 0x8000_0000;

/// Evaluates an expression with the number of words and the number of varying words as constants.
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! with_shape {
    ($words_of:expr, |$words:ident, $varying:ident| $search:expr) => {
        with_shape!(@ $words_of, $words, $varying, $search, Six Nine Any)
    };
    (@ $words_of:expr, $words:ident, $varying:ident, $search:expr, $($shape:ident)*) => {
        match $words_of {
            $(Words::$shape => {
                const $words: usize = Words::$shape.number().0;
                const $varying: usize = Words::$shape.number().1;
                $search
            })*
        }
    };
}

/// Searches the addends in `range` until its end or until `found` is full. Returns the index to
/// continue at.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn find_in_lanes<S: Simd>(
    s: S,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    with_shape!(addends.words(), |WORDS, VARYING| {
        find::<S, WORDS, VARYING>(s, query, addends, range, found)
    })
}

/// Like [`find_in_lanes`], with one kernel for all shapes.
#[inline(always)]
pub(super) fn find_in_few_lanes<S: Simd>(
    s: S,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    find::<S, MAX_MESSAGE_WORDS, MAX_MESSAGE_WORDS>(s, query, addends, range, found)
}

/// Searches messages of `N` words whose last `VARYING` words vary. If both numbers are
/// [`MAX_MESSAGE_WORDS`], messages may have any shape.
#[inline(always)]
fn find<S: Simd, const N: usize, const VARYING: usize>(
    s: S,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    s.vectorize(
        #[inline(always)]
        || {
            // Inside the closure, because captured values are not constants to the compiler.
            let (n_words, n_varying) = if VARYING == MAX_MESSAGE_WORDS {
                addends.words().number()
            } else {
                (N, VARYING)
            };
            let zero = s.splat(0);
            let mut base = [zero; 16];
            for i in 0..N {
                base[i] = s.splat(query.block[i]);
            }
            base[15] = s.splat(query.block[15]);
            let words = hazmat::initial_state::<Sha256>();
            let mut iv = [zero; 8];
            for i in 0..8 {
                iv[i] = s.splat(words[i]);
            }

            let mut next = range.start;
            while next < range.end && found.has_room() {
                let mut w = base;
                add_words::<S, N, VARYING>(s, &mut w, addends, next, (n_words, n_varying));
                let mut digest = iv;
                hazmat::sha256_lanes(s, &mut digest, &mut w);

                let mut w = [zero; 16];
                w[..8].copy_from_slice(&digest);
                w[8] = s.splat(PADDING);
                w[15] = s.splat(DIGEST_BITS);
                let mut digest = iv;
                hazmat::sha256_lanes(s, &mut digest, &mut w);

                let (tail, lanes) = compare(s, digest[0], query, addends, next);
                if lanes != 0 {
                    let mut tails = [0; MAX_LANES];
                    s.store(tail, &mut tails);
                    found.push(next, lanes, &tails);
                }
                next += S::LANES;
            }
            next
        },
    )
}

/// Adds the addends from `next` on to the words of a message, with carries. A message has `words.0`
/// words, and its last `words.1` words vary. `N` and `VARYING` are at least these numbers.
#[inline(always)]
fn add_words<S: Simd, const N: usize, const VARYING: usize>(
    s: S,
    w: &mut [S::V; 16],
    addends: &Addends<'_>,
    next: usize,
    words: (usize, usize),
) {
    let (n_words, n_varying) = words;
    let first = n_words - n_varying;
    let mut carry = s.splat(0);
    for i in 0..VARYING {
        let i = N - 1 - i;
        if i < first || i >= n_words {
            continue;
        }
        let (a, b) = (w[i], s.load(addends.words_from(i - first, next)));
        let sum = s.add(s.add(a, b), carry);
        // The carry is the majority of the highest bits of both summands and the carried-in bit.
        // Where the summands differ, that bit is the complement of the sum's; where they agree, it
        // does not matter.
        carry = s.shr::<31>(s.maj(a, b, s.xor(sum, s.splat(u32::MAX))));
        w[i] = sum;
    }
}

/// Compares the first word of the double hashes with the checksums of the addends from `next` on.
/// Returns the tails, and a bit for each lane whose tail matches.
#[inline(always)]
fn compare<S: Simd>(
    s: S,
    checksum: S::V,
    query: &Query<'_>,
    addends: &Addends<'_>,
    next: usize,
) -> (S::V, u32) {
    let low = s.add(s.splat(query.low), s.load(addends.low_from(next)));
    let tail = s.sub(checksum, low);
    let mut rest = tail;
    for step in query.tail {
        // The difference wraps if it is negative, so the minimum keeps `rest`.
        rest = s.min(rest, s.sub(rest, s.splat(*step)));
    }
    (tail, s.zero_lanes(rest))
}

/// Searches with the CPU's SHA instructions, `N` messages at once.
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) fn find_in_streams<const N: usize>(
    s: ShaToken,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    with_shape!(addends.words(), |WORDS, VARYING| {
        find_in_streams_of::<N, WORDS, VARYING>(s, query, addends, range, found)
    })
}

/// Searches messages of `WORDS` words whose last `VARYING` words vary.
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn find_in_streams_of<const N: usize, const WORDS: usize, const VARYING: usize>(
    s: ShaToken,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    enter(
        s,
        #[inline(always)]
        || {
            let mut next = range.start;
            while next < range.end && found.has_room() {
                let mut messages = [query.block; N];
                for n in 0..N {
                    let words = (WORDS, VARYING);
                    let w = &mut messages[n];
                    add_words::<_, WORDS, VARYING>(Portable, w, addends, next + n, words);
                }
                let checksums = first_words::<N, WORDS>(s, &messages);

                let mut tails = [0; MAX_LANES];
                let mut lanes = 0;
                for n in 0..N {
                    let (tail, is_match) =
                        compare(Portable, checksums[n], query, addends, next + n);
                    tails[n] = tail;
                    lanes |= is_match << n;
                }
                if lanes != 0 {
                    found.push(next, lanes, &tails);
                }
                next += N;
            }
            next
        },
    )
}

/// Runs `f` as a kernel. On ARM, `f` calls kernels of the engine, which are separate functions.
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn enter<R>(s: ShaToken, f: impl FnOnce() -> R) -> R {
    cfg_if::cfg_if! {
        if #[cfg(target_arch = "aarch64")] {
            let _ = s;
            f()
        } else {
            s.vectorize(f)
        }
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use hazmat::sha256d_first_words as first_words;

/// Returns the first word of the double hash of each message. A message is the words of its block.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn first_words<const N: usize, const WORDS: usize>(
    s: ShaToken,
    messages: &[[u32; 16]; N],
) -> [u32; N] {
    let digests = sha256_of_block(s, messages);
    let mut second = [[0; 16]; N];
    for n in 0..N {
        second[n][..8].copy_from_slice(&digests[n]);
        second[n][8] = PADDING;
        second[n][15] = DIGEST_BITS;
    }
    let digests = sha256_of_block(s, &second);
    let mut first = [0; N];
    for n in 0..N {
        first[n] = digests[n][0];
    }
    first
}

/// Returns the digests of messages of one padded block each, as words.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn sha256_of_block<const N: usize>(s: ShaToken, messages: &[[u32; 16]; N]) -> [[u32; 8]; N] {
    let mut blocks: [Block; N] = [[0; 64]; N];
    for n in 0..N {
        for i in 0..16 {
            blocks[n].as_chunks_mut().0[i] = messages[n][i].to_be_bytes();
        }
    }
    let mut states = [hazmat::initial_state::<Sha256>(); N];
    let blocks = blocks.each_ref().map(std::slice::from_ref);
    hazmat::sha256_streams(s, &mut states, blocks, 1);
    states
}
