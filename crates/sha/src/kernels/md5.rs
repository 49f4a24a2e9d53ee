//! MD5 (RFC 1321) of several messages in the lanes of vectors, with one body for each width.
//!
//! A round depends on the one before in all of its steps, so one message leaves most of the CPU idle, and lanes gain more than
//! with SHA-1. The words of a block are little-endian.

use hashlane_simd::{Block, MAX_LANES, Portable, Simd, Vectorize as _};

use super::rounds::{place, unroll};

/// The integer part of 2^32 times the absolute value of the sine of t + 1, for each round t (RFC 1321 section 3.4).
const K: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

/// The rotations of each four rounds, which repeat four times in each quarter.
const ROTATIONS: [[i32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// Returns the rotation of round `t`.
const fn rotation(t: usize) -> i32 {
    ROTATIONS[t / 16][t % 4]
}

/// Returns the word of the block that round `t` adds.
const fn word(t: usize) -> usize {
    match t / 16 {
        0 => t,
        1 => (5 * t + 1) % 16,
        2 => (3 * t + 5) % 16,
        _ => 7 * t % 16,
    }
}

/// Compresses `n_blocks` blocks of each lane's input, in `G` groups of lanes. A state has four words.
///
/// # Panics
/// If the input of one of the first `S::LANES` lanes of a group is shorter than `n_blocks`.
#[inline(always)]
pub(crate) fn compress_lanes<S: Simd, const G: usize>(
    s: S,
    states: &mut [[[u32; MAX_LANES]; 8]; G],
    inputs: &[[&[Block]; MAX_LANES]; G],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut state = [[s.splat(0); 4]; G];
            // All slices have one length, so one bounds check serves all lanes.
            let mut blocks: [[&[Block]; MAX_LANES]; G] = [[&[]; MAX_LANES]; G];
            unroll!(I in 0..G => {
                for i in 0..4 {
                    state[I][i] = s.load(&states[I][i]);
                }
                for i in 0..S::LANES {
                    blocks[I][i] = &inputs[I][i][..n_blocks];
                }
            });
            for n in 0..n_blocks {
                let mut w = [[s.splat(0); 16]; G];
                unroll!(I in 0..G => {
                    for lane in &blocks[I][..S::LANES] {
                        s.prefetch(lane, n + 4);
                    }
                    w[I] = s.load_block(&blocks[I], n);
                    for i in 0..16 {
                        w[I][i] = swap_bytes(s, w[I][i]);
                    }
                });
                compress_block(s, &mut state, &w);
            }
            unroll!(I in 0..G => {
                for i in 0..4 {
                    s.store(state[I][i], &mut states[I][i]);
                }
            });
        },
    );
}

/// Compresses blocks of one message: the vector of one lane is a word.
pub(crate) fn compress(state: &mut [u32; 8], blocks: &[Block]) {
    if blocks.is_empty() {
        return;
    }
    let [a, b, c, d, ..] = state;
    let mut words = [[*a, *b, *c, *d]];
    Portable.vectorize(
        #[inline(always)]
        || {
            for block in blocks {
                let (little_endian, _) = block.as_chunks();
                let mut w = [0; 16];
                for i in 0..16 {
                    w[i] = u32::from_le_bytes(little_endian[i]);
                }
                compress_block(Portable, &mut words, &[w]);
            }
        },
    );
    [[*a, *b, *c, *d]] = words;
}

/// Returns words with their bytes in the opposite order: blocks are loaded as big-endian words.
#[inline(always)]
fn swap_bytes<S: Simd>(s: S, word: S::V) -> S::V {
    s.fragment(
        #[inline(always)]
        move || {
            let inner = s.and(s.rotl::<8, 24>(word), s.splat(0x00ff_00ff));
            s.xor(inner, s.and(s.rotl::<24, 8>(word), s.splat(0xff00_ff00)))
        },
    )
}

/// Compresses a block in every lane. The groups take turns in each round, so that the CPU runs them side by side.
#[inline(always)]
fn compress_block<S: Simd, const G: usize>(s: S, states: &mut [[S::V; 4]; G], w: &[[S::V; 16]; G]) {
    let mut v = *states;
    unroll!(T in 0..80 => {
        if const { T < 64 } {
            const R: usize = T % 64;
            unroll!(I in 0..G => {
                let v = &mut v[I];
                let (a, b) = (v[place(0, R, 4)], v[place(1, R, 4)]);
                let (c, d) = (v[place(2, R, 4)], v[place(3, R, 4)]);
                let w = w[I][word(R)];
                v[place(0, R, 4)] = s.fragment(
                    #[inline(always)]
                    move || {
                        let sum = match R / 16 {
                            0 => s.add(s.add(a, s.add(w, s.splat(K[R]))), s.ch(b, c, d)),
                            1 => s.add(s.add(a, s.add(w, s.splat(K[R]))), s.ch(d, b, c)),
                            2 => s.add(s.add(a, s.add(w, s.splat(K[R]))), s.parity(b, c, d)),
                            // c ^ (b | !d) is !(c ^ d ^ (b & d)), and !x is -1 - x.
                            _ => {
                                let not = s.xor(s.xor(c, d), s.and(b, d));
                                let rest = s.add(a, s.add(w, s.splat(K[R].wrapping_sub(1))));
                                s.sub(rest, not)
                            }
                        };
                        s.add(b, s.rotl::<{ rotation(R) }, { 32 - rotation(R) }>(sum))
                    },
                );
            });
        }
    });
    unroll!(I in 0..G => {
        for i in 0..4 {
            states[I][i] = s.add(states[I][i], v[I][i]);
        }
    });
}
