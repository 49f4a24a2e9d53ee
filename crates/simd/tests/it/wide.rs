//! Each operation on words of 64 bits, lane by lane, compared with plain integers.

use hashlane_simd::{LONG_BLOCK_LEN, LongBlock, MAX_LANES, Simd64};

/// Words at the limits of signed words, and others. Their number has no common factor with the number of lanes.
const WORDS: [u64; 9] = [
    0,
    1,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    u64::MAX,
    0x0123_4567_89ab_cdef,
    0x89ab_cdef_0123_4567,
    0x0000_0000_ffff_ffff,
];

/// Returns a word for each lane, different ones for each `seed`.
fn words(seed: usize) -> [u64; MAX_LANES] {
    std::array::from_fn(|lane| WORDS[(lane * (seed % 7 + 1) + seed) % WORDS.len()])
}

/// Runs an operation on lanes with the token's instructions enabled, and compares it with `expected`.
fn compare<S: Simd64, const N: usize>(
    token: S,
    name: &str,
    operation: impl Fn(S, [S::V; N]) -> S::V,
    expected: impl Fn([u64; N]) -> u64,
) {
    for seed in 0..64 {
        let inputs: [_; N] = std::array::from_fn(|i| words(seed + 11 * i));
        let mut found = [0xdead_beef; MAX_LANES];
        token.vectorize(|| {
            let result = operation(token, inputs.map(|words| token.load(&words)));
            token.store(result, &mut found);
        });
        let wanted: [_; MAX_LANES] = std::array::from_fn(|lane| {
            // Words beyond the lanes are left alone.
            if lane < S::LANES {
                expected(inputs.map(|words| words[lane]))
            } else {
                0xdead_beef
            }
        });
        assert_eq!(found, wanted, "{name}, seed {seed}");
    }
}

/// Checks all operations of a token.
pub(crate) fn check_wide<S: Simd64>(token: S) {
    compare(token, "load and store", |_, [a]| a, |[a]| a);
    let word = 0x89ab_cdef_0123_4567;
    compare(token, "splat", |s, []| s.splat(word), |[]| word);
    let add = |[a, b]: [u64; 2]| a.wrapping_add(b);
    compare(token, "add", |s, [a, b]| s.add(a, b), add);
    compare(token, "and", |s, [a, b]| s.and(a, b), |[a, b]| a & b);
    compare(token, "xor", |s, [a, b]| s.xor(a, b), |[a, b]| a ^ b);
    compare(token, "shl 1", |s, [a]| s.shl::<1>(a), |[a]| a << 1);
    compare(token, "shl 63", |s, [a]| s.shl::<63>(a), |[a]| a << 63);
    compare(token, "shr 1", |s, [a]| s.shr::<1>(a), |[a]| a >> 1);
    compare(token, "shr 63", |s, [a]| s.shr::<63>(a), |[a]| a >> 63);
    let rotated = |n: u32| move |[a]: [u64; 1]| a.rotate_right(n);
    compare(token, "rotr 1", |s, [a]| s.rotr::<1, 63>(a), rotated(1));
    compare(token, "rotr 8", |s, [a]| s.rotr::<8, 56>(a), rotated(8));
    compare(token, "rotr 41", |s, [a]| s.rotr::<41, 23>(a), rotated(41));
    compare(token, "rotr 61", |s, [a]| s.rotr::<61, 3>(a), rotated(61));
    let ch = |[x, y, z]: [u64; 3]| (x & y) ^ (!x & z);
    compare(token, "ch", |s, [x, y, z]| s.ch(x, y, z), ch);
    let parity = |[x, y, z]: [u64; 3]| x ^ y ^ z;
    compare(token, "parity", |s, [x, y, z]| s.parity(x, y, z), parity);
    let maj = |x: u64, y: u64, z: u64| (x & y) ^ (x & z) ^ (y & z);
    let chain = |s: S, [w, x, y, z]: [S::V; 4]| {
        let mut y_xor_z = s.xor(y, z);
        s.maj_in_chain(x, y, z, &mut y_xor_z);
        s.maj_in_chain(w, x, y, &mut y_xor_z)
    };
    compare(token, "a chain of maj_in_chain", chain, |[w, x, y, _]| {
        maj(w, x, y)
    });
    check_blocks(token);
}

fn check_blocks<S: Simd64>(token: S) {
    let block = |lane: usize, n: usize| -> LongBlock {
        std::array::from_fn(|i| (lane * 37 + n * 101 + i * 7 + 1) as u8)
    };
    let inputs: [[LongBlock; 3]; MAX_LANES] =
        std::array::from_fn(|lane| [0, 1, 2].map(|n| block(lane, n)));
    let slices = inputs.each_ref().map(|blocks| &blocks[..]);
    for n in 0..3 {
        let mut found = [[0; MAX_LANES]; 16];
        token.vectorize(|| {
            for (vector, words) in token.load_block(&slices, n).into_iter().zip(&mut found) {
                token.store(vector, words);
            }
            // Also a block that does not exist.
            token.prefetch(slices[0], n + 1);
        });
        for (lane, blocks) in slices.iter().enumerate().take(S::LANES) {
            let (big_endian, _) = blocks[n].as_chunks::<8>();
            assert_eq!(big_endian.len() * 8, LONG_BLOCK_LEN);
            for (i, &bytes) in big_endian.iter().enumerate() {
                let wanted = u64::from_be_bytes(bytes);
                assert_eq!(found[i][lane], wanted, "block {n}, word {i}, lane {lane}");
            }
        }
    }
}
