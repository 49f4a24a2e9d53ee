//! Version 2 torrents (BEP 52): file trees, roots and piece layers.

use hashlane_metainfo::{Error, File, FileKind, InfoHashV2, InfoHashes, Torrent, Version};
use sha2::{Digest, Sha256};

use crate::refusals::refused;
use crate::{ROOT, metainfo, tree_file, with_tree};

/// Returns a folder of the file tree.
pub(crate) fn folder(name: &str, inside: &str) -> String {
    format!("{}:{name}d{inside}e", name.len())
}

/// Returns a link of the file tree.
pub(crate) fn link(name: &str, target: &str) -> String {
    format!(
        "{}:{name}d0:d4:attr1:l12:symlink pathl{target}eee",
        name.len()
    )
}

pub(crate) fn empty(name: &str) -> String {
    format!("{}:{name}d0:d6:lengthi0eee", name.len())
}

pub(crate) fn paths(torrent: &Torrent) -> Vec<String> {
    let files = torrent.files().iter();
    files.map(|file| file.path().to_string()).collect()
}

/// Refuses a version 2 torrent with this tree.
#[track_caller]
fn refused_tree(tree: &str, at: &str, text: &str) -> Error {
    refused(&with_tree(tree), at, text)
}

#[test]
fn single_file() {
    let bytes = with_tree(&tree_file("a.txt", 16_385));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.version(), Version::V2);
    assert!(torrent.is_single_file());
    // The file's name counts, as in libtorrent; BEP 52 calls `name` advisory.
    assert_eq!(torrent.name().as_bytes(), b"a.txt");
    assert_eq!(torrent.lengths().total_length(), 16_385);
    assert_eq!(torrent.content_length(), 16_385);
    assert_eq!(torrent.lengths().piece_count(), 2);
    assert_eq!(torrent.piece_hashes(), None);
    let file = torrent.file(0);
    assert_eq!(file.path().to_string(), "a.txt");
    assert_eq!(
        (file.offset(), file.length(), file.kind()),
        (0, 16_385, FileKind::Regular)
    );
    assert_eq!(
        file.pieces_root().map(|root| &root[..]),
        Some(ROOT.as_bytes())
    );
    // The torrent has no piece layers, as after a download from a magnet link.
    assert_eq!(file.piece_layer(), None);
}

#[test]
fn info_hash_is_of_the_bytes_as_they_are() {
    let bytes = with_tree(&tree_file("a", 1));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let expected: [u8; 32] = Sha256::digest(&bytes["d4:info".len()..bytes.len() - 1]).into();
    let info_hash = InfoHashV2::from(expected);
    assert_eq!(torrent.info_hashes(), InfoHashes::V2(info_hash));
    assert_eq!(torrent.info_hashes().v1(), None);
    assert_eq!(torrent.info_hashes().v2(), Some(info_hash));
}

#[test]
fn folders_and_alignment() {
    let bytes = with_tree(
        &[
            &empty("!")[..],
            &folder(
                "a",
                &(tree_file("b", 1) + &folder("c", &tree_file("d", 16_384)) + &empty("e")),
            ),
            &tree_file("b", 16_385),
            &folder("none", &folder("at all", "")),
            &link("v", "1:a1:b"),
            &tree_file("z", 2),
        ]
        .concat(),
    );
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert!(!torrent.is_single_file());
    assert_eq!(torrent.name().as_bytes(), b"n");
    let files: Vec<_> = torrent
        .files()
        .iter()
        .map(|file| (file.path().to_string(), file.offset(), file.length()))
        .collect();
    // Files with content start at a piece boundary. Empty files have the offset at which the
    // previous file ended.
    let expected = [
        ("!", 0, 0),
        ("a/b", 0, 1),
        ("a/c/d", 16_384, 16_384),
        ("a/e", 32_768, 0),
        ("b", 32_768, 16_385),
        ("v", 49_153, 0),
        ("z", 65_536, 2),
    ];
    assert_eq!(
        files,
        expected.map(|(path, offset, length)| (path.to_owned(), offset, length))
    );
    assert_eq!(torrent.lengths().total_length(), 65_538);
    assert_eq!(torrent.content_length(), 1 + 16_384 + 16_385 + 2);
    assert_eq!(torrent.files().iter().rev().count(), torrent.files().len());
    assert!(torrent.files().get(7).is_none());
    assert!(!torrent.files().is_empty());

    let has_root = |file: File<'_>| file.pieces_root().is_some();
    assert!(
        torrent
            .files()
            .iter()
            .all(|file| has_root(file) == (file.length() > 0))
    );
    let FileKind::Symlink { target } = torrent.file(5).kind() else {
        panic!("a link expected")
    };
    assert_eq!(target.to_string(), "a/b");
    assert_eq!(
        target.components().collect::<Vec<_>>(),
        torrent.file(1).path().components().collect::<Vec<_>>()
    );
    assert_eq!(target, torrent.file(1).path());
}

#[test]
#[should_panic(expected = "the file is of this torrent")]
fn there_is_no_file_behind_the_last() {
    let bytes = with_tree(&tree_file("a", 1));
    let _ = Torrent::parse(bytes.as_slice()).unwrap().file(1);
}

#[test]
fn order_of_the_tree_is_that_of_raw_bytes() {
    // A folder's content follows the folder's position, although `a!` sorts before `a/`.
    let bytes = with_tree(
        &[
            tree_file("B", 1),
            folder("a", &tree_file("z", 1)),
            tree_file("a!", 1),
            tree_file("\u{e4}", 1),
        ]
        .concat(),
    );
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(paths(&torrent), ["B", "a/z", "a!", "\u{e4}"]);
    let mut sorted: Vec<_> = torrent.files().iter().map(File::path).collect();
    sorted.sort();
    let sorted: Vec<_> = sorted.iter().map(ToString::to_string).collect();
    assert_eq!(sorted, paths(&torrent));
}

#[test]
fn one_file_in_a_folder_or_beside_one_is_no_single_file() {
    for tree in [
        folder("d", &tree_file("a", 1)),
        tree_file("a", 1) + &empty("b"),
        tree_file("a", 1) + &link("b", "1:a"),
        // libtorrent counts an empty folder too.
        tree_file("a", 1) + &folder("b", ""),
        folder("0", "") + &tree_file("a", 1),
    ] {
        let bytes = with_tree(&tree);
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        assert!(!torrent.is_single_file(), "{tree}");
        assert_eq!(torrent.name().as_bytes(), b"n");
    }
}

#[test]
fn attributes() {
    let file = |name: &str, attr: &str| {
        let attr = format!("d4:attr{}:{attr}6:length", attr.len());
        tree_file(name, 1).replacen("d6:length", &attr, 1)
    };
    let tree = file("a", "x") + &file("b", "?h") + &file("c", "") + &file("d", "hx");
    let bytes = with_tree(&tree);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let attributes: Vec<_> = torrent
        .files()
        .iter()
        .map(|file| (file.attributes().executable, file.attributes().hidden))
        .collect();
    assert_eq!(
        attributes,
        [(true, false), (false, true), (false, false), (true, true)]
    );
    // In version 2, a name does not make a file padding.
    let bytes = with_tree(&tree_file("_____padding_file_0", 1));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.file(0).kind(), FileKind::Regular);
}

#[test]
fn what_has_no_content_needs_no_root() {
    // Their values are ignored.
    let tree = "1:ad0:d6:lengthi0e11:pieces rooti1eee\
                1:bd0:d4:attr1:l6:lengthi9e11:pieces root0:12:symlink pathl1:aeee"
        .to_owned()
        + &tree_file("c", 1);
    let bytes = with_tree(&tree);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let roots: Vec<bool> = torrent
        .files()
        .iter()
        .map(|file| file.pieces_root().is_some())
        .collect();
    assert_eq!(roots, [false, false, true]);
    assert_eq!(torrent.lengths().total_length(), 1);
}

#[test]
fn trees_are_as_deep_as_bencode() {
    // Levels around a folder: the metainfo, the info dictionary and the file tree. The last folder
    // adds two levels for the file.
    let deep = |depth: usize| {
        let mut tree = tree_file("a", 1);
        for _ in 0..depth {
            tree = folder("a", &tree);
        }
        with_tree(&tree)
    };
    let bytes = deep(95);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.file(0).path().components().count(), 96);
    assert_eq!(
        torrent.file(0).path().to_string(),
        ["a"; 96].join("/"),
        "from the outermost to the innermost"
    );
    let error = Torrent::parse(deep(96)).unwrap_err();
    assert!(matches!(error, Error::Syntax(_)), "{error}");
}

#[test]
fn missing_keys() {
    let info = "9:file treede12:meta versioni2e4:name1:n12:piece lengthi16384e";
    for (missing, field) in [
        ("9:file treede", "file tree"),
        ("4:name1:n", "name"),
        ("12:piece lengthi16384e", "piece length"),
    ] {
        let info = info.replacen(missing, "", 1);
        let text = format!("info.{field} is missing");
        let error = refused(&metainfo(&info), format!("d{}", &info[..10]), &text);
        assert!(matches!(error, Error::MissingKey { .. }));
    }
}

#[test]
fn meta_versions() {
    let with_version = |version: &str| {
        let info = String::from_utf8(with_tree(&tree_file("a", 1))).unwrap();
        info.replacen("12:meta versioni2e", version, 1).into_bytes()
    };
    assert!(Torrent::parse(with_version("12:meta versioni2e")).is_ok());
    for (version, number) in [
        ("12:meta versioni3e", "3"),
        ("12:meta versioni0e", "0"),
        ("12:meta versioni-1e", "-1"),
    ] {
        let text = format!("info.meta version is {number}, which is not supported");
        let error = refused(&with_version(version), format!("i{number}e4:name"), &text);
        assert!(matches!(error, Error::UnknownMetaVersion { .. }));
        // The version is checked first: this torrent lacks a name, a piece length and files.
        let info = metainfo(version);
        refused(&info, format!("i{number}e"), &text);
    }
    // Only version 2 has a tree, and BEP 52 defines no `meta version` of 1.
    for version in ["", "12:meta versioni1e"] {
        let text = "info.meta version is missing";
        let error = refused(&with_version(version), "d9:file tree", text);
        assert!(matches!(error, Error::MissingKey { .. }));
    }
    let text = "info.meta version is a byte string, expected an integer";
    refused(&with_version("12:meta version1:2"), "1:24:name", text);
}

#[test]
fn piece_lengths() {
    let with_length = |length: &str| {
        let info = String::from_utf8(with_tree(&tree_file("a", 1))).unwrap();
        let length = format!("12:piece length{length}");
        info.replacen("12:piece lengthi16384e", &length, 1)
            .into_bytes()
    };
    for length in [1_u64 << 14, 1 << 15, 1 << 24, 1 << 30] {
        let bytes = with_length(&format!("i{length}e"));
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        assert_eq!(u64::from(torrent.lengths().piece_length().get()), length);
    }
    for length in [
        0_u64,
        1,
        8192,
        16_383,
        16_385,
        24_576,
        49_152,
        2_147_483_647,
    ] {
        let text = format!(
            "the piece length is {length} bytes, expected a power of two of at least 16384 bytes"
        );
        let number = format!("i{length}e");
        let error = refused(&with_length(&number), format!("{number}ee"), &text);
        assert!(matches!(error, Error::PieceLengthV2 { .. }));
    }
    let text = "the piece length is 2147483648 bytes, expected 1 to 2147483647 bytes";
    let error = refused(&with_length("i2147483648e"), "i2147483648e", text);
    assert!(matches!(error, Error::Lengths { .. }));
    let text = "the piece length is 4611686018427387904 bytes, expected 1 to 2147483647 bytes";
    refused(&with_length("i4611686018427387904e"), "i46116", text);
    let text = "info.piece length is negative (-16384)";
    refused(&with_length("i-16384e"), "i-16384e", text);
    let text = "info.piece length is a list, expected an integer";
    refused(&with_length("le"), "leee", text);
}

#[test]
fn lengths() {
    let text = "the content is empty: 0 bytes without padding";
    let error = refused_tree(&empty("a"), "d1:ad0:", text);
    assert!(matches!(error, Error::Lengths { .. }));
    refused_tree(&link("a", "1:b"), "d1:ad0:", text);

    let text = "the total length is more than 9223372036854775807 bytes";
    let max = i64::MAX as u64;
    refused_tree(&(tree_file("a", max) + &tree_file("b", 1)), "d1:ad0:", text);
    // The sum overflows u64 and then wraps to a small value.
    let tree = tree_file("a", max) + &tree_file("b", max) + &tree_file("c", 3) + &empty("d");
    refused_tree(&tree, "d1:ad0:", text);
    // The gap before a file counts.
    let text = "the content has 562949953421312 pieces, the limit is 4194304";
    refused_tree(&tree_file("a", max), "d1:ad0:", text);
    let limit = 16_384 << 22;
    assert!(Torrent::parse(with_tree(&tree_file("a", limit))).is_ok());
    let text = "the content has 4194305 pieces, the limit is 4194304";
    refused_tree(&tree_file("a", limit + 1), "d1:ad0:", text);
    let tree = tree_file("a", limit - 1) + &tree_file("b", 1);
    refused_tree(&tree, "d1:ad0:", text);

    let text = "length of the file at byte 20 of info.file tree is negative (-1)";
    let error = refused_tree("1:ad0:d6:lengthi-1eee", "i-1e", text);
    assert!(matches!(error, Error::Negative { .. }));
}

#[test]
fn file_trees() {
    let error = refused_tree("", "de12:meta", "the torrent has no files");
    assert!(matches!(error, Error::NoFiles { .. }));
    refused_tree(
        &folder("a", &folder("b", "")),
        "d1:a",
        "the torrent has no files",
    );

    let text = "a name in info.file tree is empty";
    let error = refused_tree("0:d1:adee", "0:d1:a", text);
    assert!(matches!(error, Error::EmptyTreeName { .. }));
    // The root would be a file.
    refused_tree("0:d6:lengthi1ee", "0:d6", text);

    let text = "a name in info.file tree is both a file and a folder";
    let error = refused_tree("1:ad0:d6:lengthi0ee1:bdee", "1:bd", text);
    assert!(matches!(error, Error::FileAndFolder { .. }));
    refused_tree(&folder("x", "1:ad0:de1:bi1ee"), "1:bi1e", text);

    let text = "info.file tree contains padding, which version 2 does not allow";
    let padding = "1:ad0:d4:attr2:xp6:lengthi1eee";
    let error = refused_tree(padding, "2:xp", text);
    assert!(matches!(error, Error::PaddingInTree { .. }));
    let text = "attr of the file at byte 20 of info.file tree makes the file both padding (p) and a \
                symbolic link (l)";
    let padding = "1:ad0:d4:attr2:lp6:lengthi1eee";
    let error = refused_tree(padding, "2:lp", text);
    assert!(matches!(error, Error::ConflictingAttributes { .. }));
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases, or one session")]
fn files_of_the_tree() {
    let file = "the file at byte 20 of info.file tree";
    for (tree, at, text) in [
        ("1:ai7e", "i7e", "FILE is an integer, expected a dictionary"),
        ("1:ale", "lee12", "FILE is a list, expected a dictionary"),
        (
            "1:ad0:lee",
            "leee12",
            "FILE is a list, expected a dictionary",
        ),
        ("1:ad0:dee", "deee12", "length of FILE is missing"),
        (
            "1:ad0:d6:length1:1ee",
            "1:1ee",
            "length of FILE is a byte string, expected an integer",
        ),
        (
            "1:ad0:d4:attri1e6:lengthi1eee",
            "i1e6:",
            "attr of FILE is an integer, expected a byte string",
        ),
        (
            "1:ad0:d4:attr1:lee",
            "d4:attr",
            "symlink path of FILE is missing",
        ),
        (
            "1:ad0:d4:attr1:l12:symlink pathleee",
            "leeee12",
            "symlink path of FILE is an empty list",
        ),
        (
            "1:ad0:d4:attr1:l12:symlink path1:bee",
            "1:bee",
            "symlink path of FILE is a byte string, expected a list",
        ),
        (
            "1:ad0:d4:attr1:l12:symlink pathl1:bi1eeee",
            "i1ee",
            "symlink path[1] of FILE is an integer, expected a byte string",
        ),
        (
            "1:ad0:d6:lengthi1eee",
            "d6:length",
            "pieces root of FILE is missing",
        ),
        (
            "1:ad0:d6:lengthi1e11:pieces rooti0eee",
            "i0e",
            "pieces root of FILE is an integer, expected a byte string",
        ),
        (
            "1:ad0:d6:lengthi1e11:pieces root3:abcee",
            "3:abc",
            "pieces root is 3 bytes long, expected 32 bytes",
        ),
        (
            "1:ad0:d6:lengthi1e11:pieces root0:ee",
            "0:ee",
            "pieces root is 0 bytes long, expected 32 bytes",
        ),
    ] {
        let text = text.replace("FILE", file);
        refused_tree(tree, at, &text);
        // Deeper in the tree only the offset differs.
        let bytes = with_tree(&folder("x", tree));
        let error = Torrent::parse(bytes.as_slice()).unwrap_err().to_string();
        let text = text.replace("byte 20", "byte 24");
        assert!(error.ends_with(&text), "{error}");
    }
    let error = Torrent::parse(with_tree("1:ad0:d6:lengthi1e11:pieces root0:ee")).unwrap_err();
    assert!(matches!(error, Error::PiecesRootLength { .. }));

    let zeros = tree_file("a", 1).replacen(ROOT, &"\0".repeat(32), 1);
    let error = refused_tree(&zeros, "32:\0", "pieces root is all zeros");
    assert!(matches!(error, Error::ZeroPiecesRoot { .. }));
}

/// Programs that sort keys would read the files in another order, and therefore another torrent.
#[test]
fn keys_are_sorted_and_different() {
    let text = "key is not greater than the previous key, but version 2 requires sorted keys";
    let valid = String::from_utf8(with_tree(&tree_file("a", 1))).unwrap();
    let (a, b) = (tree_file("a", 1), tree_file("b", 1));
    for (from, to, at) in [
        // In the info dictionary, including keys that are not read.
        ("d9:file", "d2:zzi1e9:file", "9:file"),
        ("i16384e", "i16384e1:xi1e1:xi2e", "1:xi2e"),
        ("i16384e", "i16384e1:xd1:bi1e1:ai2eee", "1:ai2e"),
        ("i16384e", "i16384e1:xlld1:ai1e1:ai2eeee", "1:ai2e"),
        (
            "12:meta versioni2e4:name1:n",
            "4:name1:n12:meta versioni2e",
            "12:meta",
        ),
    ] {
        let bytes = valid.replacen(from, to, 1);
        let error = refused(bytes.as_bytes(), at, text);
        assert!(matches!(error, Error::UnsortedKey { .. }));
    }
    // The error names keys that the reader knows.
    let bytes = valid.replacen("i2e", "i2e12:meta versioni2e", 1);
    let offset = bytes.rfind("12:meta").unwrap();
    let error = Torrent::parse(bytes.as_bytes()).unwrap_err();
    assert!(matches!(error, Error::DuplicateKey { .. }));
    assert_eq!(
        error.to_string(),
        format!("byte {offset}: info.meta version appears twice")
    );
    for (tree, at) in [
        (b.clone() + &a, "1:ad0:"),
        (b.clone() + &folder("a", &b), "1:ad1:b"),
        (folder("x", &(b.clone() + &a)), "1:ad0:"),
        (folder("x", &folder("y", &(a.clone() + "1:ade"))), "1:adee"),
        (a.clone() + &tree_file("B", 1), "1:Bd0:"),
        // In the description of a file.
        (
            "1:ad0:d11:pieces root0:6:lengthi0eee".to_owned(),
            "6:length",
        ),
        ("1:ad0:d6:lengthi0e6:lengthi1eee".to_owned(), "6:lengthi1e"),
    ] {
        let error = refused_tree(&tree, at, text);
        assert!(matches!(error, Error::UnsortedKey { .. }));
    }
    // Outside the info dictionary, the order is free.
    let bytes = format!("d5:zzzzz0:8:announce0:{}", &valid[1..]);
    let torrent = Torrent::parse(bytes.as_bytes()).unwrap();
    assert_eq!(torrent.unsorted_key(), None);
}

/// Names that need repair in large folders take one pass per folder.
#[test]
fn many_files() {
    let name = |i: u32| format!("{i:05}");
    let tree: String = (0..30_000)
        .map(|i| empty(&format!("/{}", name(i))))
        .chain((0..30_000).map(|i| folder(&name(i), "")))
        .collect();
    let bytes = with_tree(&(tree_file("!", 1) + &tree));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.files().len(), 30_001);
    assert!(torrent.file(1).is_renamed());
    assert_eq!(torrent.file(1).path().to_string(), "00000.1");
}
