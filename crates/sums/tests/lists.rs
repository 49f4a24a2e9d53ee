//! Tests of lists of checksums: written lines are read unchanged, and arbitrary bytes are accepted
//! as input.
#![allow(missing_docs)]

use hashlane_sums::{
    AnyLines, Blake2bLen, Digest, DigestAlgorithm, Entry, GnuLines, Line, LineStyle, write_line,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn algorithm() -> impl Strategy<Value = DigestAlgorithm> {
    prop_oneof![
        prop::sample::select(&DigestAlgorithm::ALL[..]),
        (1..=64_u64).prop_map(|n| {
            DigestAlgorithm::Blake2b(Blake2bLen::from_bits(8 * n).expect("1 to 64 bytes"))
        }),
    ]
}

/// Generates bytes with a meaning in lists, and some others.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(&b"\\\n\r ()*=#;,%\t0aSHA1BLKE2b-MD5"[..]);
    vec(prop_oneof![special, 1..=255_u8], 1..40)
}

fn check(entry: &Entry) {
    assert!(!entry.digests.is_empty());
    for (algorithm, digest) in &entry.digests {
        assert_eq!(digest.as_bytes().len(), algorithm.digest_len());
    }
}

proptest! {
    #[test]
    fn lines_are_read_as_they_were_written(
        algorithm in algorithm(),
        name in bytes(),
        seed in any::<u8>(),
        is_tagged: bool,
        is_binary: bool,
    ) {
        let digest = Digest::new(vec![seed; algorithm.digest_len()]);
        let style = LineStyle { is_tagged, is_binary, ends_with_zero: false };
        let mut line = Vec::new();
        write_line(&mut line, style, algorithm, &digest, &name);
        let end = line.iter().position(|byte| *byte == b'\n');
        prop_assert_eq!(end, Some(line.len() - 1));
        let expected = Line::Entry(Entry {
            name,
            digests: vec![(algorithm, digest)],
            len_bytes: None,
            alternative: None,
        });
        prop_assert_eq!(GnuLines::new(algorithm).read(&line), expected.clone());
        let mut any = AnyLines::new(&[algorithm]).read(&line);
        if let Line::Entry(entry) = &mut any {
            // The line can be one of an SFV file, too.
            entry.alternative = None;
        }
        prop_assert_eq!(any, expected);
    }

    #[test]
    fn any_bytes_are_a_list(algorithm in algorithm(), lines in vec(bytes(), 0..5)) {
        let (mut gnu, mut any) = (GnuLines::new(algorithm), AnyLines::new(&[algorithm]));
        for line in lines {
            for read in [gnu.read(&line), any.read(&line)] {
                if let Line::Entry(entry) = read {
                    check(&entry);
                }
            }
        }
    }
}
