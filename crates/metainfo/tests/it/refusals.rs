//! Every reason for refusing a version 1 torrent, with the byte and the text. `v2` and `hybrid`
//! test the reasons that only version 2 has.

use hashlane_metainfo::{Error, MAX_PATH_DEPTH, Torrent};

use crate::{HASH, list_file, metainfo, with_files};

/// Checks the refusal's text. `byte` is a placeholder for the offset of `at`, which must occur
/// exactly once in the torrent.
#[track_caller]
pub(crate) fn refused(bytes: &[u8], at: impl AsRef<[u8]>, text: &str) -> Error {
    let at = at.as_ref();
    let found: Vec<usize> = (0..bytes.len())
        .filter(|&i| bytes[i..].starts_with(at))
        .collect();
    let [offset] = found[..] else {
        panic!("{} is found at {found:?}", at.escape_ascii())
    };
    let error = Torrent::parse(bytes).expect_err(text);
    assert_eq!(error.to_string(), format!("byte {offset}: {text}"));
    error
}

/// Refuses a single-file torrent with these entries.
#[track_caller]
fn refused_info(entries: &str, at: impl AsRef<[u8]>, text: &str) -> Error {
    refused(&metainfo(entries), at, text)
}

/// Refuses a multi-file torrent with these files.
#[track_caller]
fn refused_files(files: &str, at: impl AsRef<[u8]>, text: &str) -> Error {
    refused(&with_files(files), at, text)
}

/// What people pass in place of a .torrent file.
#[test]
fn other_files() {
    for (bytes, reason) in [
        (&b""[..], "empty"),
        (b"12abc", "a file that starts with \"12abc\""),
        (b"i1e", "a file that starts with \"i1e\""),
        (b"li1ee", "a file that starts with \"li1ee\""),
        (b"\xff\xfe", "a file that starts with \"\u{fffd}\u{fffd}\""),
        (b"\n<!DOCTYPE html>", "a page of HTML or XML"),
        (b"\x1f\x8b\x08", "compressed by gzip"),
        (b"magnet:?xt=urn:btih:", "a magnet link"),
        (
            b"a file with a long first line",
            "a file that starts with \"a file with a lo\"",
        ),
    ] {
        let error = Torrent::parse(bytes).unwrap_err().to_string();
        assert_eq!(error, format!("not a .torrent file: it is {reason}"));
    }
}

#[test]
fn syntax() {
    let error = refused(b"d4:infoi007ee", "007e", "number has a leading zero");
    assert!(matches!(error, Error::Syntax(_)));
    let bytes = b"d4:info\n";
    refused(bytes, "\n", "expected a value, found '\\n'");
    // Unknown keys are ignored, but their values must be valid bencode.
    let bytes = b"d4:infode1:xi-0ee";
    refused(bytes, "-0ee", "integer is -0");
}

#[test]
fn integers_that_do_not_fit() {
    let limits = "is outside -9223372036854775808 to 9223372036854775807";
    let with = |length: &str, piece_length: &str| {
        format!("6:length{length}4:name1:n12:piece length{piece_length}6:pieces20:{HASH}")
    };
    for huge in ["i9223372036854775808e", "i-99999999999999999999e"] {
        let error = refused_info(&with(huge, "i1e"), huge, &format!("info.length {limits}"));
        assert!(matches!(error, Error::IntegerOverflow { .. }));
        let text = format!("info.piece length {limits}");
        refused_info(&with("i1e", huge), huge, &text);
        // Nothing reads these keys, or an unusual value there is ignored.
        let info = with("i1e", "i1e");
        let bytes =
            format!("d13:creation date{huge}4:infod{info}7:private{huge}1:x{huge}e1:x{huge}e");
        let torrent = Torrent::parse(bytes.into_bytes()).unwrap();
        assert_eq!(torrent.metadata().creation_date, None);
        assert!(!torrent.metadata().is_private);
    }
}

#[test]
fn missing_keys() {
    refused(b"d8:announce0:e", "d8:", "info is missing");
    let entries = [
        ("name", "4:name1:n".to_owned()),
        ("piece length", "12:piece lengthi1e".to_owned()),
        ("pieces", format!("6:pieces20:{HASH}")),
    ];
    for (missing, _) in &entries {
        let others = entries.iter().filter(|(key, _)| key != missing);
        let info: String = others.map(|(_, entry)| &entry[..]).collect();
        let text = format!("info.{missing} is missing");
        let error = refused_info(&format!("6:lengthi1e{info}"), "d6:length", &text);
        assert!(matches!(error, Error::MissingKey { .. }));
    }
    refused_files(
        "d6:lengthi1ee",
        "d6:length",
        "info.files[0].path is missing",
    );
    refused_files(
        "d4:pathl1:aee",
        "d4:path",
        "info.files[0].length is missing",
    );
    refused_files(
        "d4:attr1:p4:pathl1:aee",
        "d4:attr",
        "info.files[0].length is missing",
    );
    let text = "info.files[0].symlink path is missing";
    refused_files("d4:attr1:l4:pathl1:aee", "d4:attr", text);
    let text = "info.files[0].path is missing";
    refused_files("d4:attr1:l12:symlink pathl1:aee", "d4:attr", text);
}

#[test]
fn duplicate_keys() {
    let error = refused(b"d4:infode4:infodee", "4:infodee", "info appears twice");
    assert!(matches!(error, Error::DuplicateKey { .. }));

    let all = format!(
        "6:lengthi1e4:name1:n10:name.utf-81:n12:piece lengthi1e6:pieces20:{HASH}12:meta versioni1e"
    );
    for (key, again) in [
        ("length", "6:lengthi2e"),
        ("name", "4:name1:m"),
        ("name.utf-8", "10:name.utf-81:m"),
        ("piece length", "12:piece lengthi2e"),
        ("pieces", "6:pieces1:m"),
        ("meta version", "12:meta versioni2e"),
    ] {
        refused_info(
            &format!("{all}{again}"),
            again,
            &format!("info.{key} appears twice"),
        );
    }
    // The reader checks keys of other versions to determine the torrent's version.
    let file_tree = "9:file treede9:file treele";
    refused_info(file_tree, "9:file treele", "info.file tree appears twice");
    let files = format!("5:filesle5:filesi0e4:name1:n12:piece lengthi1e6:pieces20:{HASH}");
    refused_info(&files, "5:filesi0e", "info.files appears twice");

    let all = "4:attr1:l6:lengthi1e4:pathl1:ae10:path.utf-8l1:ae12:symlink pathl1:ae";
    for (key, again) in [
        ("attr", "4:attr1:x"),
        ("length", "6:lengthi2e"),
        ("path", "4:pathl1:be"),
        ("path.utf-8", "10:path.utf-8l1:be"),
        ("symlink path", "12:symlink pathl1:be"),
    ] {
        let text = format!("info.files[0].{key} appears twice");
        refused_files(&format!("d{all}{again}e"), again, &text);
    }
    let all = format!("4:attr0:6:lengthi1e4:name1:n12:piece lengthi1e6:pieces20:{HASH}");
    refused_info(
        &format!("{all}4:attr1:x"),
        "4:attr1:x",
        "info.attr appears twice",
    );
}

#[test]
fn wrong_types() {
    refused(
        b"d4:infolee",
        "lee",
        "info is a list, expected a dictionary",
    );
    let entries = |name: &str, piece_length: &str, pieces: &str, content: &str| {
        format!("{content}4:name{name}12:piece length{piece_length}6:pieces{pieces}")
    };
    let hash = &format!("20:{HASH}");
    let text = "info.name is an integer, expected a byte string";
    refused_info(&entries("i7e", "i1e", hash, "6:lengthi1e"), "i7e", text);
    let text = "info.piece length is a byte string, expected an integer";
    refused_info(&entries("1:n", "1:1", hash, "6:lengthi1e"), "1:16:", text);
    let text = "info.pieces is a dictionary, expected a byte string";
    refused_info(&entries("1:n", "i1e", "de", "6:lengthi1e"), "dee", text);
    let text = "info.length is a list, expected an integer";
    refused_info(&entries("1:n", "i1e", hash, "6:lengthle"), "le4:", text);
    let text = "info.files is a dictionary, expected a list";
    refused_info(&entries("1:n", "i1e", hash, "5:filesde"), "de4", text);
    let text = "info.files[1] is an integer, expected a dictionary";
    refused_files("d6:lengthi1e4:pathl1:aeei9e", "i9e", text);
    let text = "info.meta version is a byte string, expected an integer";
    refused_info("12:meta version1:2", "1:2", text);

    let text = "info.files[0].length is a byte string, expected an integer";
    refused_files("d6:length1:14:pathl1:aee", "1:14:", text);
    let text = "info.files[0].path is a byte string, expected a list";
    refused_files("d6:lengthi1e4:path3:a/be", "3:a/b", text);
    let text = "info.files[0].path.utf-8 is a byte string, expected a list";
    refused_files("d6:lengthi1e4:pathl1:ae10:path.utf-83:a/be", "3:a/b", text);
    let text = "info.files[0].path[1] is an integer, expected a byte string";
    refused_files("d6:lengthi1e4:pathl1:ai7eee", "i7e", text);
    let text = "info.files[0].attr is an integer, expected a byte string";
    refused_files("d4:attri7e6:lengthi1e4:pathl1:aee", "i7e", text);
    let text = "info.files[0].symlink path[0] is a list, expected a byte string";
    let error = refused_files("d4:attr1:l4:pathl1:ae12:symlink pathlleee", "leeee4", text);
    assert!(matches!(error, Error::WrongType { .. }));
}

#[test]
fn meta_versions() {
    // The version is checked first: these torrents lack a name, a piece length and files.
    for number in ["i3e", "i0e", "i-1e"] {
        let text = format!(
            "info.meta version is {}, which is not supported",
            &number[1..number.len() - 1]
        );
        let error = refused_info(&format!("12:meta version{number}"), number, &text);
        assert!(matches!(error, Error::UnknownMetaVersion { .. }));
    }
}

#[test]
fn deep_paths() {
    let path = |depth: usize| vec!["a"; depth];
    let max = list_file(&path(MAX_PATH_DEPTH), 1);
    assert!(Torrent::parse(with_files(&max)).is_ok());
    let text = "info.files[0].path has 101 components, the limit is 100";
    let error = refused_files(&list_file(&path(101), 1), "l1:a", text);
    assert!(matches!(error, Error::PathTooDeep { depth: 101, .. }));
    let text = "info.files[0].path.utf-8 has 101 components, the limit is 100";
    let file = format!("d6:lengthi1e10:path.utf-8l{}ee", "1:a".repeat(101));
    refused_files(&file, "l1:a", text);
    // Dots lead nowhere, so they do not count.
    let link = |target: &str| {
        let file = "d6:lengthi1e4:pathl1:zee";
        format!("d4:attr1:l4:pathl1:be12:symlink pathl{target}ee{file}")
    };
    let (hundred, dots) = ("1:a".repeat(100), "2:..".repeat(9));
    for target in [hundred.clone(), format!("{dots}{hundred}{dots}")] {
        assert!(Torrent::parse(with_files(&link(&target))).is_ok());
    }
    let text = "info.files[0].symlink path has 101 components, the limit is 100";
    refused_files(&link(&format!("{hundred}1:a")), "l1:a1:a", text);
    refused_files(&link(&format!("{dots}{hundred}1:a")), "l2:..", text);
}

#[test]
fn empty_paths() {
    let text = "info.files[0].path is an empty list";
    let error = refused_files("d6:lengthi1e4:pathlee", "leee4", text);
    assert!(matches!(error, Error::EmptyPath { .. }));
    let text = "info.files[0].symlink path is an empty list";
    refused_files("d4:attr1:l4:pathl1:ae12:symlink pathlee", "leee4", text);
    refused_files(
        "d4:attr1:l4:pathl1:ae12:symlink pathl2:..1:.ee",
        "l2:..",
        text,
    );
    let text = "info.files[0].path.utf-8 is an empty list";
    refused_files("d6:lengthi1e4:pathl1:ae10:path.utf-8lee", "leee4", text);
}

#[test]
fn no_name_for_a_file() {
    for name in [
        "0:", "1:.", "2:..", "1:/", "1:\0", "3:./.", "3:\0.\0", "4://\0\0",
    ] {
        let rest = format!("12:piece lengthi1e6:pieces20:{HASH}");
        let text = "info.name is not usable as a file name";
        let info = format!("6:lengthi1e4:name{name}{rest}");
        let error = refused_info(&info, format!("{name}12:piece"), text);
        assert!(matches!(error, Error::NoName { .. }));
        let text = "info.name.utf-8 is not usable as a file name";
        let info = format!("6:lengthi1e4:name1:n10:name.utf-8{name}{rest}");
        refused_info(&info, format!("{name}12:piece"), text);
    }
}

#[test]
fn too_many_files_of_one_path() {
    // The n-th file tries n - 2 names in vain: 496 attempts for 33 files.
    let files = |n: usize| list_file(&["d", "a"], 1).repeat(n);
    assert!(Torrent::parse(with_files(&files(33))).is_ok());
    let text = "too many files have the same path";
    let error = refused_files(&files(34), "ld6:length", text);
    assert!(matches!(error, Error::TooManyDuplicatePaths { .. }));
    // The limit applies to all paths together: one attempt for every third file.
    let triples = |n: usize| -> String {
        let names = (0..n).map(|i| list_file(&[&i.to_string()], 1).repeat(3));
        names.collect()
    };
    assert!(Torrent::parse(with_files(&triples(500))).is_ok());
    refused_files(&triples(501), "ld6:length", text);
}

#[test]
fn contradictory_attributes() {
    let text = "info.files[0].attr makes the file both padding (p) and a symbolic link (l)";
    let file = "d4:attr2:pl6:lengthi1e4:pathl1:ae12:symlink pathl1:xee";
    let error = refused_files(file, "2:pl", text);
    assert!(matches!(error, Error::ConflictingAttributes { .. }));
}

#[test]
fn neither_or_both_of_length_and_files() {
    let rest = format!("4:name1:n12:piece lengthi1e6:pieces20:{HASH}");
    let error = refused_info(&rest, "d4:name", "info has neither length nor files");
    assert!(matches!(error, Error::NoLengthNorFiles { .. }));
    let both = format!("5:filesle6:lengthi1e{rest}");
    let error = refused_info(&both, "d5:files", "info has both length and files");
    assert!(matches!(error, Error::LengthAndFiles { .. }));
}

#[test]
fn no_files() {
    let error = refused_files("", "le4:name", "the torrent has no files");
    assert!(matches!(error, Error::NoFiles { .. }));
}

#[test]
fn negative_numbers() {
    let text = "info.files[0].length is negative (-45)";
    let error = refused_files("d6:lengthi-45e4:pathl1:aee", "i-45e", text);
    assert!(matches!(error, Error::Negative { .. }));
    let rest = format!("4:name1:n6:pieces20:{HASH}");
    let info = format!("6:lengthi-1e12:piece lengthi1e{rest}");
    refused_info(&info, "i-1e", "info.length is negative (-1)");
    let info = format!("6:lengthi1e12:piece lengthi-1e{rest}");
    refused_info(&info, "i-1e", "info.piece length is negative (-1)");
}

#[test]
fn lengths() {
    let single = |length: &str, piece_length: &str| {
        format!("6:lengthi{length}e4:name1:n12:piece lengthi{piece_length}e6:pieces0:")
    };
    let empty = "the content is empty: 0 bytes without padding";
    let error = refused_info(&single("0", "1"), "i0e", empty);
    assert!(matches!(error, Error::Lengths { .. }));
    refused_files("d6:lengthi0e4:pathl1:aee", "ld6", empty);
    refused_files(
        "d4:attr1:p6:lengthi9eed6:lengthi0e4:pathl1:aee",
        "ld4",
        empty,
    );
    refused_files(
        "d4:attr1:l6:lengthi9e4:pathl1:ae12:symlink pathl1:bee",
        "ld4",
        empty,
    );

    let text = "the piece length is 0 bytes, expected 1 to 2147483647 bytes";
    refused_info(&single("1", "0"), "i0e", text);
    let text = "the piece length is 2147483648 bytes, expected 1 to 2147483647 bytes";
    refused_info(&single("1", "2147483648"), "i2147483648e", text);

    let half = "d6:lengthi4611686018427387904e4:pathl1:";
    let text = "the total length is more than 9223372036854775807 bytes";
    refused_files(&format!("{half}aee{half}bee"), "ld6", text);
    // The sum overflows u64: it is 2^64 + 1, which wraps to 1 without a check.
    let [three, zero] = ["d6:lengthi3e4:pathl1:", "d6:lengthi0e4:pathl1:"];
    let max = "d6:lengthi9223372036854775807e4:pathl1:";
    let files = format!("{max}aee{max}bee{three}cee{zero}dee");
    refused_files(&files, "ld6", text);
    // Padding counts.
    let files = format!("{half}aee{}", half.replacen("d6", "d4:attr1:p6", 1) + "bee");
    refused_files(&files, "ld6", text);

    let text = "the content has 4194305 pieces, the limit is 4194304";
    refused_info(&single("4194305", "1"), "i4194305e", text);
    let text = "info.pieces holds 0 piece hashes, expected 4194304";
    refused_info(&single("4194304", "1"), "0:ee", text);
}

#[test]
fn piece_hashes() {
    let info = |length: u32, hashes: &str| {
        format!(
            "6:lengthi{length}e4:name1:n12:piece lengthi16e6:pieces{}:{hashes}",
            hashes.len()
        )
    };
    let text = "info.pieces is 21 bytes long, not a multiple of 20 bytes";
    let error = refused_info(&info(17, &format!("{HASH}!")), "21:", text);
    assert!(matches!(error, Error::PieceHashesLength { .. }));

    let text = "info.pieces holds 1 piece hashes, expected 2";
    let error = refused_info(&info(17, HASH), "20:", text);
    assert!(matches!(error, Error::PieceCountMismatch { .. }));
    let text = "info.pieces holds 2 piece hashes, expected 1";
    refused_info(&info(16, &HASH.repeat(2)), "40:", text);
    let text = "info.pieces holds 0 piece hashes, expected 1";
    refused_info(&info(1, ""), "0:ee", text);
}

#[test]
fn errors_are_small() {
    assert!(size_of::<Error>() <= 88, "{} bytes", size_of::<Error>());
}
