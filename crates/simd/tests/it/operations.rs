//! Each operation of each token, lane by lane, compared with plain integers.
#![cfg_attr(
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_family = "wasm", target_feature = "simd128")
    )),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "the CPU has only the portable token"
    )
)]

use crate::wide::check_wide;
use hashlane_simd::{BLOCK_LEN, Block, MAX_LANES, MAX_QUADS, Portable, Quads, Simd};

/// Words at the limits of signed and unsigned comparisons, and others. Their number has no common
/// factor with the number of lanes.
const WORDS: [u32; 9] = [
    0,
    1,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    u32::MAX,
    0x0123_4567,
    0x89ab_cdef,
    0xfedc_ba98,
];

/// Returns a word for each lane, different ones for each `seed`.
fn words(seed: usize) -> [u32; MAX_LANES] {
    std::array::from_fn(|lane| WORDS[(lane * (seed % 7 + 1) + seed) % WORDS.len()])
}

/// Runs an operation on lanes with the token's instructions enabled, and compares it with
/// `expected`.
fn compare<S: Simd, const N: usize>(
    token: S,
    name: &str,
    operation: impl Fn(S, [S::V; N]) -> S::V,
    expected: impl Fn([u32; N]) -> u32,
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

/// Block `n` of the input of a lane.
fn block(lane: usize, n: usize) -> Block {
    std::array::from_fn(|i| (lane * 37 + n * 101 + i * 7 + 1) as u8)
}

fn check_lanes<S: Simd>(token: S) {
    check_arithmetic(token);
    check_functions(token);
    check_blocks(token);
}

fn check_arithmetic<S: Simd>(token: S) {
    compare(token, "load and store", |_, [a]| a, |[a]| a);
    compare(
        token,
        "splat",
        |s, []| s.splat(0x89ab_cdef),
        |[]| 0x89ab_cdef,
    );
    compare(
        token,
        "add",
        |s, [a, b]| s.add(a, b),
        |[a, b]| a.wrapping_add(b),
    );
    compare(
        token,
        "add_aside",
        |s, [a, b]| s.add_aside(a, b),
        |[a, b]| a.wrapping_add(b),
    );
    compare(
        token,
        "sub",
        |s, [a, b]| s.sub(a, b),
        |[a, b]| a.wrapping_sub(b),
    );
    compare(token, "and", |s, [a, b]| s.and(a, b), |[a, b]| a & b);
    compare(token, "xor", |s, [a, b]| s.xor(a, b), |[a, b]| a ^ b);
    compare(token, "min", |s, [a, b]| s.min(a, b), |[a, b]| a.min(b));
    compare(token, "shl 1", |s, [a]| s.shl::<1>(a), |[a]| a << 1);
    compare(token, "shl 31", |s, [a]| s.shl::<31>(a), |[a]| a << 31);
    compare(token, "shr 1", |s, [a]| s.shr::<1>(a), |[a]| a >> 1);
    compare(token, "shr 31", |s, [a]| s.shr::<31>(a), |[a]| a >> 31);
    compare(
        token,
        "rotl 5",
        |s, [a]| s.rotl::<5, 27>(a),
        |[a]| a.rotate_left(5),
    );
    compare(
        token,
        "rotl 30",
        |s, [a]| s.rotl::<30, 2>(a),
        |[a]| a.rotate_left(30),
    );
    compare(
        token,
        "add_late",
        |s, [a, b, c]| s.add_late(a, b, c),
        |[a, b, c]| a.wrapping_add(b).wrapping_add(c),
    );

    for seed in 0..64 {
        let words = words(seed);
        let found = token.vectorize(|| token.zero_lanes(token.load(&words)));
        let zeros = (0..S::LANES).filter(|&lane| words[lane] == 0);
        assert_eq!(
            found,
            zeros.map(|lane| 1 << lane).sum(),
            "zero_lanes, seed {seed}"
        );
    }
}

/// FIPS 180-4, section 4.1.
fn check_functions<S: Simd>(token: S) {
    let maj = |[x, y, z]: [u32; 3]| (x & y) ^ (x & z) ^ (y & z);
    compare(
        token,
        "ch",
        |s, [x, y, z]| s.ch(x, y, z),
        |[x, y, z]| (x & y) ^ (!x & z),
    );
    compare(token, "maj", |s, [x, y, z]| s.maj(x, y, z), maj);
    compare(
        token,
        "parity",
        |s, [x, y, z]| s.parity(x, y, z),
        |[x, y, z]| x ^ y ^ z,
    );
    let in_chain = |s: S, [x, y, z]: [S::V; 3]| s.maj_in_chain(x, y, z, &mut s.xor(y, z));
    compare(token, "maj_in_chain", in_chain, maj);
    // The value that one call leaves is for the next call, and instruction sets with a ternary
    // operation leave none.
    let chain = |s: S, [w, x, y, z]: [S::V; 4]| {
        let mut y_xor_z = s.xor(y, z);
        s.maj_in_chain(x, y, z, &mut y_xor_z);
        s.maj_in_chain(w, x, y, &mut y_xor_z)
    };
    compare(token, "a chain of maj_in_chain", chain, |[w, x, y, _]| {
        maj([w, x, y])
    });
}

fn check_blocks<S: Simd>(token: S) {
    let inputs: [[Block; 3]; MAX_LANES] =
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
            let (big_endian, _) = blocks[n].as_chunks::<4>();
            for (i, &bytes) in big_endian.iter().enumerate() {
                assert_eq!(
                    found[i][lane],
                    u32::from_be_bytes(bytes),
                    "load_block {n}, word {i}, lane {lane}"
                );
            }
        }
    }
}

/// Compares an operation that moves words between the lanes of a part. `source` returns the operand
/// and the word of each word of the result.
fn moves<S: Quads>(
    token: S,
    name: &str,
    operation: impl Fn(S, S::V, S::V) -> S::V,
    source: [(usize, usize); 4],
) {
    let inputs: [[u32; MAX_LANES]; 2] =
        [0, 1].map(|i| std::array::from_fn(|lane| (100 * i + lane) as u32));
    let mut found = [0; MAX_LANES];
    token.vectorize(|| {
        let [a, b] = inputs.map(|words| token.load(&words));
        token.store(operation(token, a, b), &mut found);
    });
    for lane in 0..S::LANES {
        let (operand, word) = source[lane % 4];
        assert_eq!(
            found[lane],
            inputs[operand][lane / 4 * 4 + word],
            "{name}, lane {lane}"
        );
    }
}

fn check_parts<S: Quads>(token: S) {
    assert_eq!(S::QUADS * 4, S::LANES);
    moves(
        token,
        "zip_lo32",
        S::zip_lo32,
        [(0, 0), (1, 0), (0, 1), (1, 1)],
    );
    moves(
        token,
        "zip_hi32",
        S::zip_hi32,
        [(0, 2), (1, 2), (0, 3), (1, 3)],
    );
    moves(
        token,
        "zip_lo64",
        S::zip_lo64,
        [(0, 0), (0, 1), (1, 0), (1, 1)],
    );
    moves(
        token,
        "zip_hi64",
        S::zip_hi64,
        [(0, 2), (0, 3), (1, 2), (1, 3)],
    );
    compare(
        token,
        "swap_bytes",
        |s, [a]| s.swap_bytes(a),
        |[a]| a.swap_bytes(),
    );

    let blocks: [Block; MAX_QUADS] = std::array::from_fn(|part| block(part, 0));
    let mut found = [[0; MAX_LANES]; 4];
    let mut row = [0; MAX_LANES];
    token.vectorize(|| {
        for (vector, words) in token
            .load_quarters(blocks.each_ref())
            .into_iter()
            .zip(&mut found)
        {
            token.store(vector, words);
        }
        let rows = blocks.each_ref().map(|block| block.first_chunk().unwrap());
        token.store(token.load_quads(rows), &mut row);
    });
    for part in 0..S::QUADS {
        for i in 0..BLOCK_LEN / 4 {
            let bytes = blocks[part][4 * i..].first_chunk().copied().unwrap();
            let word = found[i / 4][4 * part + i % 4];
            assert_eq!(
                word,
                u32::from_be_bytes(bytes),
                "load_quarters, part {part}, word {i}"
            );
            if i < 4 {
                assert_eq!(
                    row[4 * part + i],
                    u32::from_ne_bytes(bytes),
                    "load_quads, part {part}, word {i}"
                );
            }
        }
    }
}

/// Runs checks on a token, or reports that the CPU lacks it.
macro_rules! tokens {
    ($($name:ident: $token:ident, $($check:ident),+;)*) => { $(
        #[test]
        fn $name() {
            match hashlane_simd::$token::detect() {
                Some(token) => { $($check(token);)+ }
                None => crate::not_run::not_run(
                    concat!("operations of ", stringify!($token)),
                    "this CPU lacks them",
                    "use a CPU that has them",
                ),
            }
        }
    )* };
}

#[test]
fn portable() {
    check_lanes(Portable::detect().unwrap());
    check_wide(Portable::detect().unwrap());
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
tokens! {
    sse2: Sse2, check_lanes, check_wide, check_parts, check_schedule;
    ssse3: Ssse3, check_lanes, check_parts, check_schedule;
    avx: Avx, check_lanes, check_parts, check_schedule;
    avx2: Avx2, check_lanes, check_wide, check_parts, check_schedule;
    avx512vl: Avx512Vl, check_lanes, check_wide, check_parts, check_schedule;
    avx512: Avx512, check_lanes, check_wide, check_parts;
}

#[cfg(target_arch = "aarch64")]
tokens! {
    neon: Neon, check_lanes, check_wide, check_parts;
    neon_sha3: NeonSha3, check_lanes, check_wide, check_parts;
}

#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
tokens! {
    simd128: Simd128, check_lanes, check_wide, check_parts;
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn check_schedule<S: hashlane_simd::Schedule>(token: S) {
    use hashlane_simd::Group;

    check_words(S::WORD);
    moves(token, "halves", S::halves, [(0, 0), (0, 1), (1, 2), (1, 3)]);
    moves(
        token,
        "words_from 4",
        S::words_from::<4>,
        [(0, 1), (0, 2), (0, 3), (1, 0)],
    );
    moves(
        token,
        "words_from 8",
        S::words_from::<8>,
        [(0, 2), (0, 3), (1, 0), (1, 1)],
    );
    // Two bits per word, from the lowest word on.
    moves(
        token,
        "shuffle",
        |s, a, _| s.shuffle::<0b00_11_01_10>(a),
        [(0, 2), (0, 1), (0, 3), (0, 0)],
    );

    for seed in 0..64 {
        let words = words(seed);
        let mut found = [0; MAX_LANES];
        let mut row: Group = [0xdead_beef; 8];
        let mut splat = [0; MAX_LANES];
        let four = *words.first_chunk().unwrap();
        token.vectorize(|| {
            let vector = token.load(&words);
            token.store(token.shr64::<17>(vector), &mut found);
            token.store_group(vector, &mut row);
            token.store(token.splat_quad(&four), &mut splat);
        });
        for lane in (0..S::LANES).step_by(2) {
            let pair = u64::from(words[lane]) | u64::from(words[lane + 1]) << 32;
            let wanted = pair >> 17;
            assert_eq!(
                [found[lane], found[lane + 1]],
                [wanted as u32, (wanted >> 32) as u32],
                "shr64, lane {lane}"
            );
        }
        for lane in 0..S::LANES {
            assert_eq!(splat[lane], four[lane % 4], "splat_quad, lane {lane}");
        }
        for (i, &word) in row.iter().enumerate() {
            let wanted = if i < S::LANES { words[i] } else { 0xdead_beef };
            assert_eq!(word, wanted, "store_group, word {i}");
        }
    }
}

/// The token of a schedule for the rounds, which has one lane.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn check_words<S: Simd<V = u32>>(token: S) {
    assert_eq!(S::LANES, 1);
    check_lanes(token);
}
