//! The search of `crate::sha256d` in lanes, and with the CPU's own SHA instructions.
//!
//! In lanes it is the rounds of `lanes.rs` twice over, in one straight line. The compiler folds the
//! words that are constants (zeros, the length of the second message), takes out of the loop what
//! depends on the base alone (the rounds of the words before the first that varies, and their terms in
//! the schedule), and leaves away what the first word of the second digest does not need. That is
//! worth a tenth of all operations, and costs nothing but a kernel for each shape.

use core::ops::Range;

use crate::search::{Addends, Found, MAX_MESSAGE_WORDS, Query};
use crate::simd::Simd;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use crate::types::Block;
use crate::types::MAX_LANES;

use super::constants::SHA256_IV;
use super::lanes::sha256_rounds;

#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use super::compression::ShaToken;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use super::sha;

/// The length of a digest in bits, which ends the second message.
const DIGEST_BITS: u32 = 256;

/// The first bit of the padding, after the eight words of a digest.
const PADDING: u32 = 0x8000_0000;

/// Looks at the addends of `range` from its start on, until it ends or `found` is full. The result is
/// where the next look starts.
///
/// There is a kernel for each shape here, for vectors that are worth it: each takes the compiler seconds.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn find_in_lanes<S: Simd>(
    s: S,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    use crate::search::Kind;

    macro_rules! shape {
        ($shape:ident) => {{
            const WORDS: (usize, usize) = Kind::$shape.words();
            find::<S, { WORDS.0 }, { WORDS.1 }>(s, query, addends, range, found)
        }};
    }
    match addends.kind() {
        Kind::Words6 => shape!(Words6),
        Kind::Words9 => shape!(Words9),
        Kind::Any => shape!(Any),
    }
}

/// Looks at the addends of `range` as above, with one kernel for all shapes: a tenth slower.
#[inline(always)]
pub(crate) fn find_in_few_lanes<S: Simd>(
    s: S,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    find::<S, MAX_MESSAGE_WORDS, MAX_MESSAGE_WORDS>(s, query, addends, range, found)
}

/// The search for messages of `N` words, of which the last `VARYING` do; or of any shape, where
/// both are the most that there can be.
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
            // Here, and not before: what comes in from outside is no constant to the compiler.
            let (n_words, n_varying) = if VARYING == MAX_MESSAGE_WORDS {
                addends.kind().words()
            } else {
                (N, VARYING)
            };
            let first = n_words - n_varying;
            let zero = s.splat(0);
            let mut base = [zero; 16];
            for i in 0..N {
                base[i] = s.splat(query.block[i]);
            }
            base[15] = s.splat(query.block[15]);
            let mut iv = [zero; 8];
            for i in 0..8 {
                iv[i] = s.splat(SHA256_IV[i]);
            }
            let low = s.splat(query.low);

            let mut next = range.start;
            while next < range.end && found.has_room() {
                let mut w = base;
                let mut carry = zero;
                for i in 0..VARYING {
                    let i = N - 1 - i;
                    if i < first || i >= n_words {
                        continue;
                    }
                    let (a, b) = (base[i], s.load(addends.words_from(i - first, next)));
                    let sum = s.add(s.add(a, b), carry);
                    // The highest bit is carried out where two of three are set: those that were
                    // added, and the one that was carried in, which a sum that is zero tells of.
                    carry = s.shr::<31>(s.maj(a, b, s.xor(sum, s.splat(u32::MAX))));
                    w[i] = sum;
                }
                let mut digest = iv;
                sha256_rounds(s, &mut digest, &mut w);

                let mut w = [zero; 16];
                w[..8].copy_from_slice(&digest);
                w[8] = s.splat(PADDING);
                w[15] = s.splat(DIGEST_BITS);
                let mut digest = iv;
                sha256_rounds(s, &mut digest, &mut w);

                let tail = s.sub(digest[0], s.add(low, s.load(addends.low_from(next))));
                let mut rest = tail;
                for step in query.tail {
                    // A difference below zero is a large number.
                    rest = s.min(rest, s.sub(rest, s.splat(*step)));
                }
                let lanes = s.zero_lanes(rest);
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

/// The search with the CPU's own SHA instructions, in `N` messages at once.
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(crate) fn find_in_streams<const N: usize>(
    s: ShaToken,
    query: &Query<'_>,
    addends: &Addends<'_>,
    range: Range<usize>,
    found: &mut Found,
) -> usize {
    let (n_words, varying) = addends.kind().words();
    let mut first = [words_to_block(&query.block); N];
    let mut second_words = [0; 16];
    second_words[8] = PADDING;
    second_words[15] = DIGEST_BITS;
    let mut second = [words_to_block(&second_words); N];

    let mut next = range.start;
    while next < range.end && found.has_room() {
        for n in 0..N {
            let mut carry = false;
            for i in (0..varying).rev() {
                let word = n_words - varying + i;
                let addend = addends.words_from(i, next)[n];
                let (sum, over) = query.block[word].overflowing_add(addend);
                let (sum, over_by_one) = sum.overflowing_add(u32::from(carry));
                carry = over || over_by_one;
                first[n].as_chunks_mut().0[word] = sum.to_be_bytes();
            }
        }
        let mut states = [SHA256_IV; N];
        sha::sha256(
            s,
            &mut states,
            first.each_ref().map(core::slice::from_ref),
            1,
        );
        for n in 0..N {
            for i in 0..8 {
                second[n].as_chunks_mut().0[i] = states[n][i].to_be_bytes();
            }
        }
        let mut states = [SHA256_IV; N];
        sha::sha256(
            s,
            &mut states,
            second.each_ref().map(core::slice::from_ref),
            1,
        );

        let mut tails = [0; MAX_LANES];
        let mut lanes = 0;
        for n in 0..N {
            let low = query.low.wrapping_add(addends.low_from(next)[n]);
            tails[n] = states[n][0].wrapping_sub(low);
            let rest = query
                .tail
                .iter()
                .fold(tails[n], |rest, step| rest.min(rest.wrapping_sub(*step)));
            lanes |= u32::from(rest == 0) << n;
        }
        found.push(next, lanes, &tails);
        next += N;
    }
    next
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
fn words_to_block(words: &[u32; 16]) -> Block {
    let mut block = [0; 64];
    for (bytes, word) in block.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
    block
}
