//! Tests of lists of checksums: written lines are read unchanged, and arbitrary bytes are accepted
//! as input.

use hashlane_sums::{
    Algorithm, AnyLines, Blake2bLen, Digest, Entry, GnuLines, Line, LineStyle, ListFormat,
    ListWriter, Unwritable, write_line,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn algorithm() -> impl Strategy<Value = Algorithm> {
    prop_oneof![
        prop::sample::select(Algorithm::ALL),
        (1..=64_u64).prop_map(|n| {
            Algorithm::Blake2b(Blake2bLen::from_bits(8 * n).expect("1 to 64 bytes"))
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

/// Writes a list of one file, and returns what it lists.
fn read_again(
    format: ListFormat,
    algorithm: Algorithm,
    name: &[u8],
    digest: &Digest,
) -> Result<Vec<Entry>, Unwritable> {
    let mut writer = ListWriter::new(format, [algorithm].into())?;
    let mut text = Vec::new();
    writer.write_header(&mut text);
    writer.write(&mut text, name, 7, std::slice::from_ref(digest))?;
    let mut lines = AnyLines::new(&[]);
    let entries = text
        .split_inclusive(|byte| *byte == b'\n')
        .filter_map(|line| match lines.read(line) {
            Line::Entry(entry) => Some(entry),
            Line::Ignored => None,
            Line::Unchecked(text) => panic!("{line:?}: {text}"),
            Line::Improper => panic!("{line:?} is improper"),
        });
    Ok(entries.collect())
}

proptest! {
    #[test]
    fn lists_of_other_programs_are_read_as_they_were_written(name in bytes(), seed in any::<u8>()) {
        for (format, algorithm) in [
            (ListFormat::Hashdeep, "sha1"),
            (ListFormat::Mtree, "sha512"),
            (ListFormat::Sfv, "crc32"),
        ] {
            let algorithm: Algorithm = algorithm.parse().expect("a known name");
            let digest = Digest::new(vec![seed; algorithm.digest_len()]);
            let Ok(entries) = read_again(format, algorithm, &name, &digest) else {
                continue;
            };
            let expected = match format {
                ListFormat::Mtree => name.strip_prefix(b"./").unwrap_or(&name),
                _ => &name,
            };
            prop_assert_eq!(entries.len(), 1, "{:?}", format);
            prop_assert_eq!(&entries[0].name, expected, "{:?}", format);
            prop_assert_eq!(&entries[0].digests, &[(algorithm, digest)]);
            let len_bytes = (format != ListFormat::Sfv).then_some(7);
            prop_assert_eq!(entries[0].len_bytes, len_bytes);
        }
    }

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
        write_line(&mut line, style, algorithm, digest, &name);
        let end = line.iter().position(|byte| *byte == b'\n');
        prop_assert_eq!(end, Some(line.len() - 1));
        let expected = Line::Entry(Entry {
            name,
            digests: vec![(algorithm, digest)],
            len_bytes: None,
            alternatives: Vec::new(),
        });
        prop_assert_eq!(GnuLines::new(algorithm).read(&line), expected.clone());
        let mut any = AnyLines::new(&[algorithm]).read(&line);
        if let Line::Entry(entry) = &mut any {
            // The line can be one of an SFV file, too.
            entry.alternatives.clear();
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
