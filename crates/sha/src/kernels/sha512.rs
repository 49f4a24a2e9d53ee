//! SHA-512 (FIPS 180-4 section 6.4) of several messages in the lanes of vectors, with one body for each width.
//!
//! The idea and the tricks are those of `lanes.rs`. A word has 64 bits and a block 128 bytes, so a vector has half as many lanes, and a
//! block of each takes 80 rounds.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use hashlane_simd::Avx2;
use hashlane_simd::{LONG_BLOCK_LEN, LongBlock, MAX_LANES, Portable, Simd64, Vectorize as _};

use super::rounds::{place, unroll};

/// The initial hash value of SHA-384 (FIPS 180-4 section 5.3.4).
#[rustfmt::skip]
pub(crate) const IV_384: [u64; 8] = [
    0xcbbb_9d5d_c105_9ed8, 0x629a_292a_367c_d507, 0x9159_015a_3070_dd17, 0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31, 0x8eb4_4a87_6858_1511, 0xdb0c_2e0d_64f9_8fa7, 0x47b5_481d_befa_4fa4,
];

/// The initial hash value of SHA-512 (FIPS 180-4 section 5.3.5).
#[rustfmt::skip]
pub(crate) const IV_512: [u64; 8] = [
    0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
];

/// The initial hash value of SHA-512/256 (FIPS 180-4 section 5.3.6.2).
#[rustfmt::skip]
pub(crate) const IV_512_256: [u64; 8] = [
    0x2231_2194_fc2b_f72c, 0x9f55_5fa3_c84c_64c2, 0x2393_b86b_6f53_b151, 0x9638_7719_5940_eabd,
    0x9628_3ee2_a88e_ffe3, 0xbe5e_1e25_5386_3992, 0x2b01_99fc_2c85_b8aa, 0x0eb7_2ddc_81c5_2ca2,
];

/// The round constants of SHA-512 (FIPS 180-4 section 4.2.3).
#[rustfmt::skip]
const K: [u64; 80] = [
    0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
];

/// Number of blocks between a prefetched block and the current one: as many bytes as in `lanes.rs`.
const PREFETCH_AHEAD: usize = 256 / LONG_BLOCK_LEN;

/// Compresses `n_blocks` blocks of each lane's input, in `G` groups of lanes.
///
/// # Panics
/// If the input of one of the first `S::LANES` lanes of a group is shorter than `n_blocks`.
#[inline(always)]
pub(crate) fn compress_lanes<S: Simd64, const G: usize>(
    s: S,
    states: &mut [[[u64; MAX_LANES]; 8]; G],
    inputs: &[[&[LongBlock]; MAX_LANES]; G],
    n_blocks: usize,
) {
    s.vectorize(
        #[inline(always)]
        || {
            let mut state = [[s.splat(0); 8]; G];
            // All slices have one length, so one bounds check serves all lanes.
            let mut blocks: [[&[LongBlock]; MAX_LANES]; G] = [[&[]; MAX_LANES]; G];
            unroll!(I in 0..G => {
                for i in 0..8 {
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
                        s.prefetch(lane, n + PREFETCH_AHEAD);
                    }
                    w[I] = s.load_block(&blocks[I], n);
                });
                compress_block(s, &mut state, &mut w);
            }
            unroll!(I in 0..G => {
                for i in 0..8 {
                    s.store(state[I][i], &mut states[I][i]);
                }
            });
        },
    );
}

/// Compresses blocks of one message.
pub(crate) fn compress_one(state: &mut [u64; 8], blocks: &[LongBlock]) {
    if blocks.is_empty() {
        return;
    }
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if let Some(avx2) = Avx2::detect() {
        return compress_scheduled(avx2, state, blocks);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(instructions) = hashlane_simd::NeonSha3::detect() {
        return super::aarch64_sha512::compress(instructions, state, blocks, &K);
    }
    Portable.vectorize(
        #[inline(always)]
        || compress_words(Portable, state, blocks),
    );
}

#[inline(always)]
fn compress_words<S: Simd64<V = u64>>(s: S, state: &mut [u64; 8], blocks: &[LongBlock]) {
    for block in blocks {
        let w = s.load_block(&[core::slice::from_ref(block); MAX_LANES], 0);
        compress_block(s, core::array::from_mut(state), &mut [w]);
    }
}

/// Compresses blocks of one message. The schedules of four blocks are computed at once, one in each lane, while the rounds run on words,
/// with rotations that do not overwrite their operand.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn compress_scheduled(s: Avx2, state: &mut [u64; 8], blocks: &[LongBlock]) {
    const LANES: usize = <Avx2 as Simd64>::LANES;
    let word = <Avx2 as hashlane_simd::Schedule>::WORD;
    s.vectorize(
        #[inline(always)]
        || {
            let (sets, rest) = blocks.as_chunks::<LANES>();
            // W(t) + K(t) of each block. A store needs room for the words of the widest vector.
            let mut w_k = [0; 80 * LANES + MAX_LANES];
            for set in sets {
                let mut inputs: [&[LongBlock]; MAX_LANES] = [set; MAX_LANES];
                for lane in 0..LANES {
                    inputs[lane] = &set[lane..];
                }
                let mut w = s.load_block(&inputs, 0);
                unroll!(T in 0..80 => {
                    if T / 16 != 0 {
                        next_word::<{ T % 16 }, Avx2>(s, &mut w);
                    }
                    if let Some(row) = w_k[T * LANES..].first_chunk_mut() {
                        s.store(s.add(w[T % 16], s.splat(K[T])), row);
                    }
                });
                for lane in 0..LANES {
                    let mut v = *state;
                    let mut b_xor_c = v[1] ^ v[2];
                    unroll!(T in 0..80 => {
                        let w_k = w_k[T * LANES + lane];
                        round::<T, _>(word, &mut v, &mut b_xor_c, w_k);
                    });
                    for i in 0..8 {
                        state[i] = state[i].wrapping_add(v[i]);
                    }
                }
            }
            compress_words(word, state, rest);
        },
    );
}

/// Compresses a block in every lane. The groups take turns in each round, so that the CPU runs them side by side.
#[inline(always)]
fn compress_block<S: Simd64, const G: usize>(
    s: S,
    states: &mut [[S::V; 8]; G],
    w: &mut [[S::V; 16]; G],
) {
    let mut v = *states;
    let mut b_xor_c = [s.splat(0); G];
    unroll!(I in 0..G => {
        b_xor_c[I] = s.xor(v[I][1], v[I][2]);
    });
    unroll!(T in 0..80 => {
        unroll!(I in 0..G => {
            if T / 16 != 0 {
                next_word::<{ T % 16 }, S>(s, &mut w[I]);
            }
            let w_k = s.add(w[I][T % 16], s.splat(K[T]));
            round::<T, S>(s, &mut v[I], &mut b_xor_c[I], w_k);
        });
    });
    unroll!(I in 0..G => {
        for i in 0..8 {
            states[I][i] = s.add(states[I][i], v[I][i]);
        }
    });
}

/// Computes W(t) as in FIPS 180-4 section 6.4.2, step 1, at index `T` = t mod 16 of the last sixteen words.
#[inline(always)]
fn next_word<const T: usize, S: Simd64>(s: S, w: &mut [S::V; 16]) {
    s.fragment(
        #[inline(always)]
        move || {
            let (w15, w2) = (w[(T + 1) % 16], w[(T + 14) % 16]);
            let small_sigma0 =
                s.parity(s.rotr::<1, 63>(w15), s.rotr::<8, 56>(w15), s.shr::<7>(w15));
            let small_sigma1 = s.parity(s.rotr::<19, 45>(w2), s.rotr::<61, 3>(w2), s.shr::<6>(w2));
            w[T] = s.add(
                s.add(w[T], small_sigma0),
                s.add(w[(T + 9) % 16], small_sigma1),
            );
        },
    );
}

/// Computes round `T` as in FIPS 180-4 section 6.4.2, step 3. `w_k` is W(t) + K(t), and `b_xor_c` holds b ^ c of this round, and then
/// of the next.
#[inline(always)]
fn round<const T: usize, S: Simd64>(s: S, v: &mut [S::V; 8], b_xor_c: &mut S::V, w_k: S::V) {
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
            let big_sigma1 = s.parity(
                s.rotr::<14, 50>(e),
                s.rotr::<18, 46>(e),
                s.rotr::<41, 23>(e),
            );
            let t1 = s.add(s.add(s.add(h, w_k), s.ch(e, f, g)), big_sigma1);
            let big_sigma0 = s.parity(
                s.rotr::<28, 36>(a),
                s.rotr::<34, 30>(a),
                s.rotr::<39, 25>(a),
            );
            let maj = s.maj_in_chain(a, b, c, b_xor_c);
            v[const { place(3, T, 8) }] = s.add(d, t1);
            v[const { place(7, T, 8) }] = s.add(s.add(maj, big_sigma0), t1);
        },
    );
}
