//! New torrents, and edited ones: what is written is read as what was meant.
#![allow(clippy::unwrap_used)]

use hashlane_metainfo::bencode::{MAX_DEPTH, Value, Writer};
use hashlane_metainfo::{
    Attributes, ComposeError, Edit, FileKind, LengthsError, MAX_NEW_PATH_DEPTH, MAX_PIECE_LENGTH,
    MIN_PIECE_LENGTH, NewContent, NewFile, NewMetadata, PieceHashes, Torrent, UrlEdit, Version,
    piece_length_for,
};
use proptest::prelude::*;

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];
const PIECE: u32 = 16 << 10;

fn names(path: &str) -> Vec<Vec<u8>> {
    path.split('/')
        .map(|name| name.as_bytes().to_vec())
        .collect()
}

fn file(path: &str, length: u64) -> NewFile {
    NewFile {
        path: names(path),
        length,
        attributes: Attributes::default(),
        target: None,
    }
}

fn link(path: &str, target: &str) -> NewFile {
    NewFile {
        target: Some(names(target)),
        ..file(path, 0)
    }
}

fn content(version: Version, files: Vec<NewFile>) -> Result<NewContent, ComposeError> {
    NewContent::new(version, PIECE, b"name".to_vec(), false, files)
}

/// Some hash for each piece.
fn hashes(content: &NewContent) -> PieceHashes {
    let pieces = 1..=content.lengths().piece_count() as u8;
    let (v1, v2) = (content.version().has_v1(), content.version().has_v2());
    PieceHashes {
        v1: pieces
            .clone()
            .filter(|_| v1)
            .map(|piece| [piece; 20])
            .collect(),
        v2: pieces.filter(|_| v2).map(|piece| [piece; 32]).collect(),
    }
}

fn write(content: &NewContent, metadata: &NewMetadata) -> Vec<u8> {
    let bytes = content.write(&hashes(content), metadata);
    assert_eq!(bytes, content.write(&hashes(content), metadata));
    assert_eq!(Value::parse(&bytes).unwrap().unsorted_key(), None);
    bytes
}

#[test]
fn what_is_written_is_read() {
    let files = || {
        vec![
            NewFile {
                attributes: Attributes {
                    executable: true,
                    hidden: true,
                },
                ..file(".a", 2 * u64::from(PIECE) + 1)
            },
            file("b/c/d", 5),
            file("b/e", 0),
            link("b/f", "b/c"),
            file("b.txt", u64::from(PIECE)),
            file("g", 7),
        ]
    };
    for version in VERSIONS {
        let content = content(version, files()).unwrap();
        let piece = u64::from(PIECE);
        let (offsets, padding) = match version {
            Version::V1 => (
                [
                    0,
                    2 * piece + 1,
                    2 * piece + 6,
                    2 * piece + 6,
                    2 * piece + 6,
                    3 * piece + 6,
                ],
                0,
            ),
            Version::V2 => (
                [
                    0,
                    3 * piece,
                    3 * piece + 5,
                    3 * piece + 5,
                    4 * piece,
                    5 * piece,
                ],
                0,
            ),
            Version::Hybrid => (
                [
                    0,
                    3 * piece,
                    3 * piece + 5,
                    3 * piece + 5,
                    4 * piece,
                    5 * piece,
                ],
                3 * piece - 13,
            ),
        };
        assert_eq!(content.offsets(), offsets, "{version}");
        assert_eq!(content.padding_bytes(), padding, "{version}");
        let bytes = write(&content, &NewMetadata::default());
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        assert_eq!(torrent.version(), version);
        assert_eq!(torrent.name().as_bytes(), b"name");
        assert_eq!(torrent.lengths(), content.lengths());
        assert_eq!(
            torrent.piece_hashes().unwrap_or_default(),
            hashes(&content).v1
        );
        assert_eq!(torrent.metadata(), hashlane_metainfo::Metadata::default());
        let read = torrent.files().iter();
        let read: Vec<_> = read
            .filter(|file| file.kind() != FileKind::Padding)
            .collect();
        assert_eq!(read.len(), files().len());
        for (read, file) in read.iter().zip(files()) {
            let path = read.path().components();
            let path: Vec<_> = path.map(|name| name.as_bytes().to_vec()).collect();
            assert_eq!((path, read.length()), (file.path, file.length));
            assert_eq!(read.attributes(), file.attributes);
            assert_eq!(
                read.pieces_root().is_some(),
                version.has_v2() && file.length > 0
            );
            let has_layer = version.has_v2() && file.length > PIECE.into();
            assert_eq!(read.piece_layer().is_some(), has_layer);
            let is_link = matches!(read.kind(), FileKind::Symlink { .. });
            assert_eq!(is_link, file.target.is_some());
        }
    }
}

#[test]
fn a_file_alone_has_no_padding() {
    for is_single_file in [true, false] {
        let files = vec![file("name", 100)];
        let content = NewContent::new(
            Version::Hybrid,
            PIECE,
            b"name".to_vec(),
            is_single_file,
            files,
        );
        let content = content.unwrap();
        assert_eq!(content.padding_bytes(), 0);
        let bytes = write(&content, &NewMetadata::default());
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        assert_eq!(torrent.is_single_file(), is_single_file);
        assert_eq!(torrent.lengths().total_length(), 100);
    }
}

#[test]
fn files_of_the_same_content_share_a_layer() {
    let long = 3 * u64::from(PIECE);
    let content = content(Version::V2, vec![file("a", long), file("b", long)]).unwrap();
    let mut hashes = hashes(&content);
    hashes.v2.copy_within(..3, 3);
    let bytes = content.write(&hashes, &NewMetadata::default());
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.file(0).pieces_root(), torrent.file(1).pieces_root());
    assert_eq!(torrent.file(1).piece_layer(), Some(&hashes.v2[..3]));
}

#[test]
fn refusals() {
    let v1 = |files| content(Version::V1, files).map(|_| ());
    let order = |path| Err(ComposeError::Order { path: names(path) });
    assert_eq!(v1(vec![file("b", 1), file("a", 1)]), order("a"));
    assert_eq!(v1(vec![file("a", 1), file("a", 1)]), order("a"));
    assert_eq!(v1(vec![file("a", 1), file("a/b", 1)]), order("a/b"));
    assert_eq!(v1(vec![file("a.txt", 1), file("a/b", 1)]), order("a/b"));
    assert_eq!(v1(vec![file("a/b", 1), file("a.txt", 1)]), Ok(()));
    let empty = NewFile {
        path: Vec::new(),
        ..file("", 1)
    };
    assert_eq!(v1(vec![empty]), Err(ComposeError::EmptyPath));
    for bad in ["", ".", "..", "a\0b"] {
        let error = v1(vec![file(&format!("a/{bad}"), 1)]);
        assert!(
            matches!(&error, Err(ComposeError::Name { name, .. }) if name == bad.as_bytes()),
            "{error:?}"
        );
        let error = v1(vec![file("a", 1), link("b", &format!("c/{bad}"))]);
        assert!(matches!(error, Err(ComposeError::Name { .. })), "{error:?}");
    }
    let name = NewContent::new(
        Version::V1,
        PIECE,
        b"..".to_vec(),
        false,
        vec![file("a", 1)],
    );
    assert_eq!(
        name.unwrap_err().to_string(),
        "\"..\": path component is \"..\", which leaves the content folder"
    );
    let padding = || vec![file("a/_____padding_file_0_", 1)];
    let error = v1(padding()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a/_____padding_file_0_: the name is that of padding"
    );
    assert!(content(Version::V2, padding()).is_ok());
    for files in [vec![], vec![file("a", 0)], vec![link("a", "b")]] {
        assert_eq!(
            v1(files),
            Err(ComposeError::Lengths(LengthsError::NoContent))
        );
    }
    let huge = vec![file("a", u64::MAX), file("b", u64::MAX)];
    for version in VERSIONS {
        let error = content(version, huge.clone()).map(|_| ());
        assert_eq!(error, Err(ComposeError::Lengths(LengthsError::TotalLength)));
    }
}

#[test]
fn piece_lengths() {
    let with = |version, piece_length| {
        NewContent::new(
            version,
            piece_length,
            b"n".to_vec(),
            false,
            vec![file("a", 1)],
        )
        .map(|_| ())
    };
    for version in VERSIONS {
        let min = if version.has_v2() {
            16 << 10
        } else {
            MIN_PIECE_LENGTH
        };
        for good in [min, 16 << 10, 1 << 20, MAX_PIECE_LENGTH] {
            assert_eq!(with(version, good), Ok(()), "{version} {good}");
        }
        for piece_length in [0, 1, min / 2, min + 1, 100_000, 2 * MAX_PIECE_LENGTH] {
            let expected = ComposeError::PieceLength {
                piece_length,
                min,
                max: MAX_PIECE_LENGTH,
            };
            assert_eq!(with(version, piece_length), Err(expected));
        }
    }
    for (content_length, piece_length) in [
        (0, 16 << 10),
        (32 << 20, 16 << 10),
        ((32 << 20) + 1, 32 << 10),
        (485 << 20, 256 << 10),
        (1 << 30, 512 << 10),
        (32 << 30, 16 << 20),
        (1 << 40, 16 << 20),
        (u64::MAX, 16 << 20),
    ] {
        assert_eq!(
            piece_length_for(content_length),
            piece_length,
            "{content_length}"
        );
    }
}

#[test]
fn the_deepest_path() {
    let deep = |depth| {
        let path = vec![b"d".to_vec(); depth];
        vec![NewFile {
            target: Some(path.clone()),
            length: 0,
            path,
            ..file("", 0)
        }]
    };
    for version in VERSIONS {
        let mut files = deep(MAX_NEW_PATH_DEPTH);
        files.push(file("e", 1));
        let content = content(version, files).unwrap();
        let bytes = write(&content, &NewMetadata::default());
        Torrent::parse(bytes.as_slice()).unwrap();
    }
    let error = content(Version::V1, deep(MAX_NEW_PATH_DEPTH + 1)).unwrap_err();
    assert!(matches!(error, ComposeError::TooDeep { .. }), "{error}");
    assert!(
        error.to_string().contains("more than 92 folders deep"),
        "{error}"
    );
    const { assert!(MAX_NEW_PATH_DEPTH + 8 == MAX_DEPTH) };
}

fn everything() -> NewMetadata {
    NewMetadata {
        trackers: vec![
            vec!["http://a".into(), "http://b".into()],
            vec!["udp://c".into()],
        ],
        web_seeds: vec!["http://w".into()],
        nodes: vec![("127.0.0.1".into(), 6881)],
        comment: Some("a comment".into()),
        created_by: Some("somebody".into()),
        creation_date: Some(1_234_567),
        is_private: true,
        source: Some("somewhere".into()),
    }
}

#[test]
fn metadata() {
    for version in VERSIONS {
        let content = content(version, vec![file("a", 50_000), file("b", 1)]).unwrap();
        let bytes = write(&content, &everything());
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        let read = torrent.metadata();
        assert_eq!(
            read.trackers,
            [vec!["http://a", "http://b"], vec!["udp://c"]]
        );
        assert_eq!(read.web_seeds, ["http://w"]);
        assert_eq!(read.nodes, [("127.0.0.1".into(), 6881)]);
        assert_eq!(read.comment.as_deref(), Some("a comment"));
        assert_eq!(read.created_by.as_deref(), Some("somebody"));
        assert_eq!(read.creation_date, Some(1_234_567));
        assert!(read.is_private);
        assert_eq!(read.source.as_deref(), Some("somewhere"));
    }
}

#[test]
fn one_tracker_needs_no_list() {
    let content = content(Version::V1, vec![file("a", 1)]).unwrap();
    let metadata = NewMetadata {
        trackers: vec![vec!["http://a".into()]],
        ..NewMetadata::default()
    };
    let bytes = write(&content, &metadata);
    assert!(bytes.starts_with(b"d8:announce8:http://a4:info"));
}

#[test]
fn a_writer_of_nested_values() {
    let mut writer = Writer::new();
    writer.begin_list();
    writer.begin_dictionary();
    writer.key("").integer(0);
    writer.key("a").begin_dictionary();
    writer.key("z").bytes(b"\xff");
    writer.end();
    writer.key("b").bytes("");
    writer.end();
    writer.integer(i64::MIN);
    writer.end();
    let written = writer.finish();
    assert_eq!(
        written,
        b"ld0:i0e1:ad1:z1:\xffe1:b0:ei-9223372036854775808ee"
    );
    assert_eq!(Value::parse(&written).unwrap().unsorted_key(), None);
}

#[test]
#[should_panic(expected = "keys are sorted")]
#[cfg(debug_assertions)]
fn a_writer_wants_its_keys_sorted() {
    let mut writer = Writer::new();
    writer.begin_dictionary();
    writer.key("b").integer(1);
    writer.key("a").integer(1);
}

/// A version 1 info dictionary whose keys are not sorted, and which has one that we do not know.
const UNSORTED: &str = "d4:name1:n6:lengthi1e12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxx\
    7:unknownli1eee";

#[test]
fn an_edit_leaves_alone_what_it_does_not_mean() {
    let before = format!(
        "d1:zi1e8:announce1:x4:info{UNSORTED}3:abcl1:ye13:announce-listle5:other0:egarbage"
    );
    let torrent = Torrent::parse(before.as_bytes()).unwrap();
    let edit = Edit {
        trackers: Some(UrlEdit::Set(vec![
            vec!["t".into()],
            vec![],
            vec!["u".into()],
        ])),
        comment: Some(Some("c".into())),
        ..Edit::default()
    };
    assert!(!edit.changes_info_hash(&torrent));
    let after = edit.apply(&torrent).unwrap();
    let expected = format!(
        "d8:announce1:t13:announce-listll1:tel1:uee7:comment1:c1:zi1e4:info{UNSORTED}3:abcl1:ye5:other0:egarbage"
    );
    assert_eq!(after.bytes().escape_ascii().to_string(), expected);
    let nothing = Edit::default().apply(&torrent).unwrap();
    assert_eq!(nothing.bytes().escape_ascii().to_string(), before);
}

#[test]
fn an_edit_of_the_info_dictionary() {
    let before = format!("d4:info{UNSORTED}e");
    let torrent = Torrent::parse(before.as_bytes()).unwrap();
    let edit = Edit {
        source: Some(Some("s".into())),
        is_private: Some(true),
        ..Edit::default()
    };
    assert!(edit.changes_info_hash(&torrent));
    let edited = edit.apply(&torrent).unwrap();
    assert_ne!(edited.info_hashes(), torrent.info_hashes());
    assert_eq!(edited.metadata().source.as_deref(), Some("s"));
    assert!(edited.metadata().is_private);
    // The same again is no change.
    assert!(!edit.changes_info_hash(&edited));
    assert_eq!(edit.apply(&edited).unwrap().bytes(), edited.bytes());
    let back = Edit {
        source: Some(None),
        is_private: Some(false),
        ..Edit::default()
    };
    assert_eq!(back.apply(&edited).unwrap().bytes(), before.as_bytes());
    // Nor is what comes to the same.
    let zero = before.replacen("7:unknown", "7:privatei0e7:unknown", 1);
    let torrent = Torrent::parse(zero.as_bytes()).unwrap();
    assert!(!back.changes_info_hash(&torrent));
    assert_eq!(back.apply(&torrent).unwrap().bytes(), zero.as_bytes());
}

#[test]
fn an_edit_removes() {
    let content = content(Version::Hybrid, vec![file("a", 50_000), file("b", 1)]).unwrap();
    let bytes = write(&content, &everything());
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let edit = Edit {
        trackers: Some(UrlEdit::Set(vec![])),
        web_seeds: Some(UrlEdit::Set(vec![])),
        comment: Some(None),
        source: Some(None),
        is_private: Some(false),
    };
    let expected = NewMetadata {
        nodes: everything().nodes,
        created_by: everything().created_by,
        creation_date: everything().creation_date,
        ..NewMetadata::default()
    };
    assert_eq!(
        edit.apply(&torrent).unwrap().bytes(),
        write(&content, &expected)
    );
}

#[test]
fn a_new_comment_is_not_hidden_by_an_old_one() {
    let before = format!("d7:comment1:a13:comment.utf-81:b4:info{UNSORTED}e");
    let torrent = Torrent::parse(before.as_bytes()).unwrap();
    assert_eq!(torrent.metadata().comment.as_deref(), Some("b"));
    let edit = Edit {
        comment: Some(Some("c".into())),
        ..Edit::default()
    };
    let edited = edit.apply(&torrent).unwrap();
    assert_eq!(edited.metadata().comment.as_deref(), Some("c"));
}

#[test]
fn what_is_added_comes_behind_what_is_there() {
    let add = Edit {
        trackers: Some(UrlEdit::Add(vec![
            vec!["a".into(), "n".into()],
            vec!["n".into()],
            vec!["m".into()],
        ])),
        web_seeds: Some(UrlEdit::Add(vec!["w".into(), "x".into()])),
        ..Edit::default()
    };
    for (before, after) in [
        // Nothing yet.
        (
            "",
            "8:announce1:a13:announce-listll1:a1:nel1:mee8:url-listl1:w1:xe",
        ),
        // One tracker, and web seeds that are no list.
        (
            "8:announce1:a8:url-list1:x",
            "8:announce1:a13:announce-listll1:ael1:nel1:mee8:url-listl1:x1:we",
        ),
        // One that tiers leave out, in bytes that are no text, beside a tier that is none.
        (
            "8:announce1:\u{1}13:announce-listli1el1:bee8:url-listl1:qi7ee",
            "8:announce1:\u{1}13:announce-listll1:\u{1}ei1el1:bel1:a1:nel1:mee8:url-listl1:qi7e1:w1:xe",
        ),
        // One that is in a tier.
        (
            "8:announce1:b13:announce-listll1:bee8:url-list0:",
            "8:announce1:b13:announce-listll1:bel1:a1:nel1:mee8:url-listl1:w1:xe",
        ),
    ] {
        let of = |keys: &str| {
            let (announce, rest) = keys.split_once("8:url-list").unwrap_or((keys, ""));
            let rest = if rest.is_empty() {
                String::new()
            } else {
                format!("8:url-list{rest}")
            };
            let text = format!("d{announce}4:info{UNSORTED}{rest}e");
            // A byte that no text has.
            text.bytes()
                .map(|byte| if byte == 1 { 0xff } else { byte })
                .collect::<Vec<u8>>()
        };
        let bytes = of(before);
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        let edited = add.apply(&torrent).unwrap();
        assert_eq!(
            edited.bytes().escape_ascii().to_string(),
            of(after).escape_ascii().to_string()
        );
        // The same again is nothing new.
        assert_eq!(add.apply(&edited).unwrap().bytes(), edited.bytes());
    }
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let urls = || proptest::collection::vec("[a-z]{1,5}://[a-z]{1,5}", 0..3);
    let tiers = (any::<bool>(), proptest::collection::vec(urls(), 0..3));
    let seeds = (any::<bool>(), urls());
    (
        proptest::option::of(tiers.prop_map(|(add, of)| {
            if add {
                UrlEdit::Add(of)
            } else {
                UrlEdit::Set(of)
            }
        })),
        proptest::option::of(seeds.prop_map(|(add, of)| {
            if add {
                UrlEdit::Add(of)
            } else {
                UrlEdit::Set(of)
            }
        })),
        proptest::option::of(proptest::option::of(".{0,5}")),
        proptest::option::of(proptest::option::of(".{0,5}")),
        any::<Option<bool>>(),
    )
        .prop_map(|(trackers, web_seeds, comment, source, is_private)| Edit {
            trackers,
            web_seeds,
            comment,
            source,
            is_private,
        })
}

proptest! {
    #[test]
    fn edits_keep_the_content(
        version in proptest::sample::select(&VERSIONS[..]),
        lengths in proptest::collection::vec(0..100_000_u64, 1..5),
        edits in proptest::collection::vec(any_edit(), 1..4),
    ) {
        let files = lengths.iter().enumerate();
        let files: Vec<_> = files.map(|(i, length)| file(&i.to_string(), *length)).collect();
        prop_assume!(lengths.iter().any(|length| *length > 0));
        let content = content(version, files).unwrap();
        let mut torrent = Torrent::parse(write(&content, &everything())).unwrap();
        for edit in edits {
            let after = edit.apply(&torrent).unwrap();
            let is_same = after.info_bytes() == torrent.info_bytes();
            prop_assert_eq!(is_same, !edit.changes_info_hash(&torrent));
            prop_assert_eq!(after.piece_hashes(), torrent.piece_hashes());
            for (a, b) in after.files().iter().zip(torrent.files().iter()) {
                prop_assert_eq!((a.path(), a.length()), (b.path(), b.length()));
                prop_assert_eq!(a.piece_layer(), b.piece_layer());
            }
            torrent = after;
        }
    }
}
