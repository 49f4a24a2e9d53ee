//! Created and edited torrents: reading them returns the values that were written.

mod edit;

use std::num::NonZeroU32;

use hashlane_metainfo::bencode::{MAX_DEPTH, Value};
use hashlane_metainfo::{
    Attributes, CreateError, FileKind, LengthsError, MAX_NEW_PATH_DEPTH, MAX_PIECE_LENGTH,
    MIN_PIECE_LENGTH, NewContent, NewFile, NewMetadata, PieceHashes, PieceLengthGoal, Torrent,
    Version,
};

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];
const PIECE: u32 = 16 << 10;

fn names(path: &str) -> Vec<Vec<u8>> {
    path.split('/')
        .map(|name| name.as_bytes().to_vec())
        .collect()
}

fn file(path: &str, length: u64) -> NewFile {
    NewFile::new(names(path), length)
}

fn link(path: &str, target: &str) -> NewFile {
    NewFile::link(names(path), names(target))
}

fn content(version: Version, files: Vec<NewFile>) -> Result<NewContent, CreateError> {
    NewContent::new(version, PIECE, b"name".to_vec(), false, files)
}

/// Returns an arbitrary hash for each piece.
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
#[expect(clippy::too_many_lines, reason = "one table of cases, or one session")]
fn what_is_written_is_read() {
    let files = || {
        vec![
            file(".a", 2 * u64::from(PIECE) + 1)
                .attributes(Attributes::default().executable(true).hidden(true)),
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
    let order = |path| Err(CreateError::Order { path: names(path) });
    // A file tree has one order; the list of version 1 has any.
    for version in [Version::V2, Version::Hybrid] {
        let unsorted = content(version, vec![file("b", 1), file("a", 1)]);
        assert_eq!(unsorted.map(|_| ()), order("a"));
    }
    assert_eq!(v1(vec![file("b", 1), file("a", 1)]), Ok(()));
    let twins = vec![file("a", 1), file("b", 1), file("a", 1)];
    assert_eq!(v1(twins), order("a"));
    assert_eq!(v1(vec![file("a", 1), file("a", 1)]), order("a"));
    assert_eq!(v1(vec![file("a", 1), file("a/b", 1)]), order("a/b"));
    let inside = vec![file("a/b", 1), file("c", 1), file("a", 1)];
    assert_eq!(v1(inside), order("a/b"));
    assert_eq!(v1(vec![file("a/b", 1), file("a.txt", 1)]), Ok(()));
    let empty = NewFile::new(Vec::new(), 1);
    assert_eq!(v1(vec![empty]), Err(CreateError::EmptyPath));
    for bad in ["", ".", "..", "a\0b"] {
        let error = v1(vec![file(&format!("a/{bad}"), 1)]);
        assert!(
            matches!(&error, Err(CreateError::Name { name, .. }) if name == bad.as_bytes()),
            "{error:?}"
        );
        let error = v1(vec![file("a", 1), link("b", &format!("c/{bad}"))]);
        assert!(matches!(error, Err(CreateError::Name { .. })), "{error:?}");
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
        "a/_____padding_file_0_: version 1 programs treat a file of this name as padding"
    );
    assert!(content(Version::V2, padding()).is_ok());
    for files in [vec![], vec![file("a", 0)], vec![link("a", "b")]] {
        assert_eq!(
            v1(files),
            Err(CreateError::Lengths(LengthsError::NoContent))
        );
    }
    let huge = vec![file("a", u64::MAX), file("b", u64::MAX)];
    for version in VERSIONS {
        let error = content(version, huge.clone()).map(|_| ());
        assert_eq!(error, Err(CreateError::Lengths(LengthsError::TotalLength)));
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
            let expected = CreateError::PieceLength {
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
            PieceLengthGoal::default().piece_length(content_length),
            piece_length,
            "{content_length}"
        );
    }
    for (pieces, max, content_length, piece_length) in [
        (100, 16 << 20, 1 << 20, 16 << 10),
        (100, 16 << 20, 100 << 20, 1 << 20),
        (100, 16 << 20, 1 << 40, 16 << 20),
        (100, 256 << 20, 25_600 << 20, 256 << 20),
        (2048, 1 << 20, 1 << 40, 1 << 20),
        (2048, 8 << 10, 1 << 40, 8 << 10),
        (1, 256 << 20, u64::MAX, 256 << 20),
    ] {
        let pieces = NonZeroU32::new(pieces).unwrap();
        let goal = PieceLengthGoal::default().pieces(pieces).max(max);
        assert_eq!(goal.piece_length(content_length), piece_length, "{goal:?}");
    }
}

#[test]
fn the_deepest_path() {
    let deep = |depth| {
        let path = vec![b"d".to_vec(); depth];
        vec![NewFile::link(path.clone(), path)]
    };
    for version in VERSIONS {
        let mut files = deep(MAX_NEW_PATH_DEPTH);
        files.push(file("e", 1));
        let content = content(version, files).unwrap();
        let bytes = write(&content, &NewMetadata::default());
        Torrent::parse(bytes.as_slice()).unwrap();
    }
    let error = content(Version::V1, deep(MAX_NEW_PATH_DEPTH + 1)).unwrap_err();
    assert!(matches!(error, CreateError::TooDeep { .. }), "{error}");
    assert!(
        error.to_string().contains("more than 92 components"),
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
        entropy: None,
    }
}

#[test]
fn metadata() {
    for version in VERSIONS {
        let content = content(version, vec![file("a", 50_000), file("b", 1)]).unwrap();
        let entropy = Some("0123".into());
        let bytes = write(
            &content,
            &NewMetadata {
                entropy,
                ..everything()
            },
        );
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
        let info = torrent.info_bytes();
        assert!(info.windows(15).any(|key| key == b"7:entropy4:0123"));
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

/// libtorrent 2.1.1 loads at most this many pieces, and no longer pieces.
#[test]
fn limits_of_libtorrent() {
    let content = |length| {
        let file = NewFile::new(vec![b"f".to_vec()], length);
        NewContent::new(Version::V2, 16 << 10, b"f".to_vec(), true, vec![file])
    };
    assert!(content(16_384 << 21).is_ok());
    let error = content((16_384 << 21) + 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the content has 2097153 pieces, and libtorrent refuses more than 2097152 pieces: use a larger piece length"
    );
    assert_eq!(MAX_PIECE_LENGTH, 256 << 20);
}
