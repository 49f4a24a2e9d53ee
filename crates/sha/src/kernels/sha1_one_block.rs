//! The test of the unavoidable conditions of one block, in eight words of its schedule at a time.
//!
//! # Idea
//!
//! Conditions that compare the same bits of words of the same distance follow each other in the
//! schedule. A window is eight of them:
//!
//! ```text
//! for each window:
//!     differ = bit `first` of the words from t on ^ bit `second` of the words from t + apart on
//!     violated |= masks of vectors in the lanes that differ, or in the others
//! met = the vectors that no lane has in `violated`
//! ```
//!
//! 32 vectors have a bit of a word each. `sha1_conditions.rs` has the conditions, and a test that is
//! faster for several blocks.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "bits are below 32"
)]
#![allow(
    clippy::items_after_statements,
    reason = "`unroll!` needs constants where they are used"
)]

use hashlane_simd::{Avx2, Simd, Vectorize as _};

use crate::types::MAX_LANES;

use super::rounds::unroll;
use super::sha1_conditions::{CONDITIONS, FIRST_WORD, N_WORDS, or};
use super::sha1_vectors::SLOTS;

/// The first word of the schedule in [`Words`]: that of a group of four.
pub(crate) const FIRST_STORED: usize = FIRST_WORD / 4 * 4;

/// Number of groups of four words in [`Words`].
pub(crate) const N_GROUPS: usize = 9;

/// The words 32 to 67 of a schedule, and words that are loaded with them and not used.
pub(crate) type Words = [u32; 56];

/// Number of conditions of a window.
const LEN: usize = 8;

/// Conditions on bit `first` of word t + i and bit `second` of word t + i + `apart`, for eight i.
#[derive(Clone, Copy)]
struct Window {
    first: usize,
    second: usize,
    apart: usize,
    equal: bool,
    t: usize,
    /// The vectors with the condition, each as the bit of its number.
    masks: [u32; LEN],
}

const NO_WINDOW: Window = Window {
    first: 0,
    second: 0,
    apart: 0,
    equal: true,
    t: 0,
    masks: [0; LEN],
};

/// Number of windows.
const N_WINDOWS: usize = 37;

/// The windows that are tested first: each leaves the fewest vectors, if half of all conditions are
/// violated. After these, 88 % of random blocks meet the conditions of no vector.
const FIRST: [usize; 14] = [0, 6, 3, 12, 1, 16, 13, 4, 17, 34, 18, 20, 9, 23];

/// The windows, those of [`FIRST`] at the start.
const WINDOWS: [Window; N_WINDOWS] = {
    let all = in_table_order();
    let mut windows = [NO_WINDOW; N_WINDOWS];
    let mut is_first = [false; N_WINDOWS];
    let mut n = 0;
    while n < FIRST.len() {
        windows[n] = all[FIRST[n]];
        is_first[FIRST[n]] = true;
        n += 1;
    }
    let mut place = 0;
    while place < N_WINDOWS {
        if !is_first[place] {
            windows[n] = all[place];
            n += 1;
        }
        place += 1;
    }
    windows
};

/// Returns the windows in the order of the conditions.
const fn in_table_order() -> [Window; N_WINDOWS] {
    let mut windows = [NO_WINDOW; N_WINDOWS];
    let mut n_windows = 0;
    let mut row = 0;
    while row < CONDITIONS.len() {
        let conditions = &CONDITIONS[row];
        let mut masks = [0; N_WORDS + LEN];
        let mut i = 0;
        while i < conditions.of.len() {
            let (family, offset, rounds) = conditions.of[i];
            let mut round = 0;
            while round < rounds.len() {
                let t = (rounds[round] as isize + offset).cast_unsigned();
                masks[t - FIRST_WORD] |= 1 << number(family.slot_of(rounds[round]));
                round += 1;
            }
            i += 1;
        }
        let mut t = 0;
        while t < N_WORDS {
            if masks[t] == 0 {
                t += 1;
                continue;
            }
            let window = &mut windows[n_windows];
            window.first = conditions.first;
            window.second = conditions.second;
            window.apart = conditions.apart;
            window.equal = conditions.equal;
            window.t = FIRST_WORD + t;
            let mut lane = 0;
            while lane < LEN {
                window.masks[lane] = masks[t + lane];
                lane += 1;
            }
            n_windows += 1;
            t += LEN;
        }
        row += 1;
    }
    assert!(n_windows == N_WINDOWS);
    windows
}

/// Returns the number of the vector in a slot.
const fn number(slot: usize) -> u32 {
    (SLOTS & ((1 << slot) - 1)).count_ones()
}

/// Returns the slots of the vectors whose conditions are all met.
#[inline(always)]
pub(crate) fn slots_met(s: Avx2, words: &Words) -> u64 {
    const { assert!(Avx2::LANES == LEN) };
    s.vectorize(
        #[inline(always)]
        || {
            let mut violated = s.splat(0);
            test_windows::<false>(s, words, &mut violated);
            if all_lanes(s, violated) == !0 {
                return 0;
            }
            test_windows::<true>(s, words, &mut violated);
            match all_lanes(s, violated) {
                u32::MAX => 0,
                violated => slots_of(!violated),
            }
        },
    )
}

/// Tests the windows of [`FIRST`], or the others.
#[inline(always)]
fn test_windows<const REST: bool>(s: Avx2, words: &Words, violated: &mut <Avx2 as Simd>::V) {
    unroll!(N in 0..80 => {
        if const { N < N_WINDOWS && (N / FIRST.len() != 0) == REST } {
            const WINDOW: Window = WINDOWS[N % N_WINDOWS];
            s.fragment(
                #[inline(always)]
                || {
                    const PLACE: usize = WINDOW.t - FIRST_STORED;
                    let near = load(s, words, PLACE);
                    let far = load(s, words, PLACE + WINDOW.apart);
                    const FIRST: i32 = 31 - WINDOW.first as i32;
                    const SECOND: i32 = 31 - WINDOW.second as i32;
                    let differ = if const { FIRST == SECOND } {
                        s.shl::<FIRST>(s.xor(near, far))
                    } else {
                        s.xor(s.shl::<FIRST>(near), s.shl::<SECOND>(far))
                    };
                    const MASKS: [u32; MAX_LANES] = in_lanes(WINDOW.masks);
                    let masks = s.load(&MASKS);
                    let wrong = if WINDOW.equal {
                        s.where_high(differ, masks)
                    } else {
                        s.where_low(differ, masks)
                    };
                    *violated = or(s, *violated, wrong);
                },
            );
        }
    });
}

/// Returns the bits that at least one lane has.
#[inline(always)]
fn all_lanes(s: Avx2, a: <Avx2 as Simd>::V) -> u32 {
    let mut lanes = [0; MAX_LANES];
    s.store(a, &mut lanes);
    let mut all = 0;
    for lane in 0..LEN {
        all |= lanes[lane];
    }
    all
}

/// Returns the slots of vectors.
#[cold]
fn slots_of(mut vectors: u32) -> u64 {
    let mut slots = 0;
    let mut left = SLOTS;
    while left != 0 {
        if vectors & 1 == 1 {
            slots |= left & left.wrapping_neg();
        }
        vectors >>= 1;
        left &= left - 1;
    }
    slots
}

const fn in_lanes(masks: [u32; LEN]) -> [u32; MAX_LANES] {
    let mut lanes = [0; MAX_LANES];
    let mut lane = 0;
    while lane < LEN {
        lanes[lane] = masks[lane];
        lane += 1;
    }
    lanes
}

#[inline(always)]
fn load(s: Avx2, words: &Words, place: usize) -> <Avx2 as Simd>::V {
    let words = words[place..].first_chunk();
    s.load(words.expect("words after those of the schedule"))
}

#[cfg(test)]
mod tests {
    use super::{FIRST, N_WINDOWS, Window, in_table_order};

    /// The sum of 2^-n over all vectors with n tested conditions, in units of 2^-32.
    fn left(windows: &[Window]) -> u64 {
        let mut left = [1_u64 << 32; 32];
        for mask in windows.iter().flat_map(|window| window.masks) {
            for (vector, left) in left.iter_mut().enumerate() {
                *left >>= mask >> vector & 1;
            }
        }
        left.iter().sum()
    }

    #[test]
    fn each_of_the_first_windows_leaves_the_fewest_vectors() {
        let all = in_table_order();
        let with = |chosen: &[usize], place: usize| {
            let windows = chosen.iter().chain([&place]).map(|place| all[*place]);
            left(&windows.collect::<Vec<_>>())
        };
        for (n, first) in FIRST.into_iter().enumerate() {
            let chosen = &FIRST[..n];
            let others = (0..N_WINDOWS).filter(|place| !chosen.contains(place));
            let fewest = others.map(|place| with(chosen, place)).min();
            assert_eq!(Some(with(chosen, first)), fewest, "window {first}");
        }
    }
}
