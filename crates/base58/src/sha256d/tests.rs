//! Tests of the search for checksums: every kernel by name, against an independent implementation.

use std::collections::BTreeSet;
use std::sync::Mutex;

use proptest::prelude::*;
use sha2::Digest as _;

use crate::not_run::not_run;

use super::{Addends, Match, Query, Sha256dKernel, Shape};

/// The names of unavailable kernels that have been printed.
static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A misspelt name, or one of another architecture, must not pass unnoticed.
#[test]
fn required_kernels_exist() {
    let required = std::env::var("HASHLANE_TEST_REQUIRE").unwrap_or_default();
    for name in required
        .split(',')
        .filter(|name| name.starts_with("sha256d_"))
    {
        assert!(
            Sha256dKernel::available().any(|kernel| kernel.to_string() == name),
            "{name} is required, and not here"
        );
    }
}

/// Returns the kernel of that name. If this CPU lacks it, prints a line and returns `None`.
/// `HASHLANE_TEST_REQUIRE`, a comma-separated list of kernel names, turns that into a failure.
fn named(name: &str) -> Option<Sha256dKernel> {
    let kernel = Sha256dKernel::available().find(|kernel| kernel.to_string() == name);
    if kernel.is_none() {
        let required = std::env::var("HASHLANE_TEST_REQUIRE").unwrap_or_default();
        assert!(
            !required.split(',').any(|required| required == name),
            "{name} is required, and this CPU cannot run it"
        );
        // Once for each kernel.
        if REPORTED.lock().unwrap().insert(name.to_owned()) {
            let what = format!("tests of {name}");
            not_run(&what, "this CPU lacks it", "use a CPU that has it");
        }
    }
    kernel
}

/// Steps that reduce any number to zero, so that every message matches and returns its checksum.
const ANY: [u32; 32] = {
    let mut steps = [0; 32];
    let mut i = 0;
    while i < 32 {
        steps[i] = 1 << (31 - i);
        i += 1;
    }
    steps
};

/// Returns the first word of the double hash of the message in the first `len` bytes of `words`.
fn checksum(words: &[u32; 16], len: usize) -> u32 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let digest = sha2::Sha256::digest(sha2::Sha256::digest(&bytes[..len]));
    u32::from_be_bytes(*digest.first_chunk().unwrap())
}

/// Returns the block of a message of zeros.
fn padded(len: usize) -> [u32; 16] {
    let mut words = [0; 16];
    words[len / 4] = 0x8000_0000 >> (len % 4 * 8);
    words[15] = u32::try_from(len * 8).unwrap();
    words
}

/// Returns a + b over the words of a message of `len` bytes.
fn add(a: &[u32; 16], b: &[u32], first: usize) -> [u32; 16] {
    let mut sum = *a;
    let mut carry = false;
    for (i, b) in b.iter().enumerate().rev() {
        let (s, x) = a[first + i].overflowing_add(*b);
        let (s, y) = s.overflowing_add(u32::from(carry));
        (sum[first + i], carry) = (s, x || y);
    }
    sum
}

/// Generates words, many of them at the edge of a carry.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(u32::MAX),
        Just(0),
        Just(0x7fff_ffff),
        Just(0x8000_0000),
        any::<u32>()
    ]
}

#[derive(Clone, Debug)]
struct Case {
    len: usize,
    shape: Shape,
    base: [u32; 16],
    low: u32,
    lows: Vec<u32>,
    columns: Vec<Vec<u32>>,
}

fn case() -> impl Strategy<Value = Case> {
    (1_usize..=47, 0_usize..60)
        .prop_flat_map(|(len, n)| {
            let words = proptest::collection::vec(word(), 16);
            let column = || proptest::collection::vec(word(), n + Addends::MARGIN);
            let columns = proptest::collection::vec(column(), 12);
            (Just(len), 0..=len / 4, words, word(), column(), columns)
        })
        .prop_map(|(len, first, words, low, lows, columns)| {
            let n_words = len / 4 + 1;
            let shape = Shape::new(n_words, first);
            assert!(shape.words().start <= first && shape.words().end >= n_words);
            let mut base = padded(len);
            // The bits of a word that belong to the message.
            let part = |word: usize| match len.saturating_sub(word * 4) {
                0 => 0,
                n @ 1..4 => !(u32::MAX >> (n * 8)),
                _ => u32::MAX,
            };
            for i in 0..n_words {
                base[i] |= words[i] & part(i);
            }
            let columns = shape.words().map(|word| {
                let part = if word < first { 0 } else { part(word) };
                columns[word].iter().map(|addend| addend & part).collect()
            });
            let columns = columns.collect();
            Case {
                len,
                shape,
                base,
                low,
                lows,
                columns,
            }
        })
}

/// Checks that every message matches and returns its checksum.
fn checksums(kernel: Sha256dKernel, case: &Case) -> Result<(), TestCaseError> {
    let Case {
        len,
        shape,
        base,
        low,
        lows,
        columns,
    } = case;
    let addends = Addends::new(*shape, lows, columns.iter().map(Vec::as_slice));
    let expected: Vec<Match> = (0..addends.len())
        .map(|index| {
            let addend: Vec<u32> = columns.iter().map(|column| column[index]).collect();
            let words = add(base, &addend, shape.words().start);
            let low = low.wrapping_add(lows[index]);
            Match {
                index,
                tail: checksum(&words, *len).wrapping_sub(low),
            }
        })
        .collect();
    let query = Query {
        block: *base,
        low: *low,
        tail: &ANY,
    };
    let mut found = Vec::new();
    kernel.find(&query, &addends, 0..addends.len(), &mut |m| found.push(m));
    prop_assert_eq!(&found, &expected);
    Ok(())
}

/// Checks numbers that the steps reduce to zero, and their neighbours.
fn tails(kernel: Sha256dKernel) {
    let len = 21;
    let base = padded(len);
    let shape = Shape::new(6, 5);
    let steps = [58 * 58 * 24, 58 * 24, 24];
    let sum = checksum(&base, len);
    // Addend number i requires a tail of i.
    let n = 58 * 58 * 30;
    let lows: Vec<u32> = (0..n)
        .map(|tail| sum.wrapping_sub(tail))
        .chain([0; Addends::MARGIN])
        .collect();
    let zeros = vec![0; lows.len()];
    let columns = shape.words().map(|_| zeros.as_slice());
    let addends = Addends::new(shape, &lows, columns);
    let mut expected: Vec<u32> = (0..8_u32)
        .map(|set| (0..3).filter(|i| set >> i & 1 == 1).map(|i| steps[i]).sum())
        .collect();
    expected.sort_unstable();
    let mut found = Vec::new();
    let query = Query {
        block: base,
        low: 0,
        tail: &steps,
    };
    kernel.find(&query, &addends, 0..addends.len(), &mut |m| {
        assert_eq!(m.index, m.tail as usize);
        found.push(m.tail);
    });
    assert_eq!(found, expected);
}

/// A kernel for a shape assumes that the words after the message are zero.
#[test]
#[should_panic(expected = "words after the 6 words of the message")]
fn a_block_with_words_beyond_its_shape() {
    let shape = Shape::new(6, 5);
    let lows = [0; 1 + Addends::MARGIN];
    let columns = shape.words().map(|_| lows.as_slice());
    let query = Query {
        block: [1; 16],
        low: 0,
        tail: &[],
    };
    let kernel = Sha256dKernel::available().next().unwrap();
    let addends = Addends::new(shape, &lows, columns);
    kernel.find(&query, &addends, 0..1, &mut |_| ());
}

/// Checks that a range is searched to its end even within a vector, and that addends far after it
/// are not searched.
fn ranges(kernel: Sha256dKernel) {
    let shape = Shape::new(6, 5);
    let lows = [0; 100 + Addends::MARGIN];
    let columns = shape.words().map(|_| lows.as_slice());
    let addends = Addends::new(shape, &lows, columns);
    assert_eq!(addends.len(), 100);
    for range in [0..100, 0..0, 5..5, 16..17, 17..63, 99..100] {
        let mut found = Vec::new();
        let query = Query {
            block: padded(21),
            low: 0,
            tail: &ANY,
        };
        kernel.find(&query, &addends, range.clone(), &mut |m| {
            found.push(m.index);
        });
        assert!(found.is_sorted_by(|a, b| a < b), "{range:?}: {found:?}");
        assert!(
            range.clone().all(|i| found.contains(&i)),
            "{range:?}: {found:?}"
        );
        let near = range.start..addends.len().min(range.end + kernel.lanes() - 1);
        assert!(
            found.iter().all(|i| near.contains(i)),
            "{range:?}: {found:?}"
        );
    }
}

macro_rules! suite {
    ($($name:ident;)*) => { $(
        mod $name {
            use super::*;

            fn kernel() -> Option<Sha256dKernel> {
                named(stringify!($name))
            }

            proptest! {
                #[test]
                fn checksums(case in case()) {
                    if let Some(kernel) = kernel() {
                        super::checksums(kernel, &case)?;
                    }
                }
            }

            #[test]
            fn tails() {
                if let Some(kernel) = kernel() {
                    super::tails(kernel);
                }
            }

            #[test]
            fn ranges() {
                if let Some(kernel) = kernel() {
                    super::ranges(kernel);
                }
            }
        }
    )* };
}

suite! {
    sha256d_x1_portable;
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
suite! {
    sha256d_x4_sse2;
    sha256d_x4_avx;
    sha256d_x8_avx2;
    sha256d_x8_avx512vl;
    sha256d_x16_avx512;
    sha256d_x4_sha_ni;
}

#[cfg(target_arch = "aarch64")]
suite! {
    sha256d_x4_neon;
    sha256d_x4_neon_sha3;
    sha256d_x2_arm_sha;
}

#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
suite! {
    sha256d_x4_simd128;
}
