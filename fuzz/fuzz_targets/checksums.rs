//! Arbitrary bytes as a list of checksums: the readers never panic, and entries are unchanged after
//! writing and reading.

#![no_main]

use hashlane_sums::{
    AnyLines, Algorithm, Entry, GnuLines, Line, LineStyle, Lines, ValueLine, ValueLines,
    write_line,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, list)) = input.split_first() else {
        return;
    };
    let algorithm = Algorithm::ALL[usize::from(*choice) % Algorithm::ALL.len()];
    let (mut gnu, mut any) = (GnuLines::new(algorithm), AnyLines::new(&[algorithm]));
    let mut values = ValueLines::new("TAG");
    let mut lines = Lines::of_list(list);
    while let Some(line) = lines.next_line().expect("memory can be read") {
        if let Line::Entry(entry) = gnu.read(line) {
            assert!(!entry.name.contains(&0));
            check(&entry);
        }
        if let Line::Entry(entry) = any.read(line) {
            check(&entry);
        }
        if let ValueLine::Entry(value, name) = values.read(line) {
            assert!(!name.is_empty() && !name.contains(&0));
            check_value(value, name);
        }
    }
});

fn check_value(value: String, name: Vec<u8>) {
    // Other readings of such a line come first.
    if value.is_empty() || value.contains(['(', ')', '#', '\\', '\t', '\r', '\0']) {
        return;
    }
    for is_tagged in [false, true] {
        let style = LineStyle {
            is_tagged,
            ..LineStyle::default()
        };
        let mut line = Vec::new();
        write_line(&mut line, style, "TAG", &value, &name);
        let expected = ValueLine::Entry(value.clone(), name.clone());
        assert_eq!(ValueLines::new("TAG").read(&line), expected);
    }
}

fn check(entry: &Entry) {
    assert!(!entry.digests.is_empty());
    for (algorithm, digest) in &entry.digests {
        assert_eq!(digest.as_bytes().len(), algorithm.digest_len());
        // GNU's lines can contain an empty name and zero bytes only in some forms.
        if entry.name.is_empty() || entry.name.contains(&0) {
            continue;
        }
        for is_tagged in [false, true] {
            let style = LineStyle {
                is_tagged,
                ..LineStyle::default()
            };
            let mut line = Vec::new();
            write_line(&mut line, style, *algorithm, digest, &entry.name);
            let expected = Line::Entry(Entry {
                name: entry.name.clone(),
                digests: vec![(*algorithm, digest.clone())],
                len_bytes: None,
                alternatives: Vec::new(),
            });
            assert_eq!(GnuLines::new(*algorithm).read(&line), expected);
        }
    }
}
