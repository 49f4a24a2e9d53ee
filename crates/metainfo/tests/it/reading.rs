//! Accepted torrents, and the values read from them.

use hashlane_metainfo::{
    File, FileKind, InfoHashV1, InfoHashes, PathComponent, ReadError, Torrent, Version,
};
use sha1::{Digest, Sha1};

use crate::{HASH, metainfo, with_files};

#[test]
fn single_file() {
    let info = format!(
        "6:lengthi40e4:name5:a.txt12:piece lengthi16e6:pieces60:{}",
        HASH.repeat(3)
    );
    let bytes = metainfo(&info);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();

    assert_eq!(torrent.version(), Version::V1);
    assert!(torrent.is_single_file());
    assert_eq!(torrent.name().as_bytes(), b"a.txt");
    assert_eq!(torrent.lengths().total_length(), 40);
    assert_eq!(torrent.lengths().piece_length().get(), 16);
    assert_eq!(torrent.lengths().piece_count(), 3);
    let hashes = torrent.piece_hashes().unwrap();
    assert_eq!(hashes, [HASH.as_bytes(); 3]);
    assert!(torrent.trailing_bytes().is_empty());

    assert_eq!(torrent.files().len(), 1);
    let file = torrent.file(0);
    assert_eq!(file.path().to_string(), "a.txt");
    assert_eq!(
        (file.offset(), file.length(), file.kind()),
        (0, 40, FileKind::Regular)
    );
    assert_eq!((file.pieces_root(), file.piece_layer()), (None, None));
    assert!(!file.is_renamed());
    assert!(torrent.version().has_v1() && !torrent.version().has_v2());
    assert_eq!(torrent.version().to_string(), "version 1");
}

#[test]
fn info_hash_is_of_the_bytes_as_they_are() {
    // Unsorted and unknown keys, outside and inside the info dictionary.
    let info = format!(
        "d7:unknownd1:bi1e1:ai2ee6:pieces20:{HASH}4:name1:a12:piece lengthi16e6:lengthi1ee"
    );
    let bytes = format!("d4:zzzzle4:info{info}8:announce0:e").into_bytes();
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();

    assert_eq!(torrent.info_bytes(), info.as_bytes());
    let expected: [u8; 20] = Sha1::digest(&info).into();
    let info_hash = InfoHashV1::from(expected);
    assert_eq!(torrent.info_hashes(), InfoHashes::V1(info_hash));
    assert_eq!(torrent.info_hashes().v1(), Some(info_hash));
    assert_eq!(torrent.info_hashes().v2(), None);
    // A program that writes the dictionary anew would change the info-hash at this key.
    let unsorted = torrent.unsorted_key().unwrap();
    assert!(bytes[unsorted..].starts_with(b"1:ai2e"));
}

#[test]
fn trailing_bytes() {
    // Some creators append a line break.
    let torrent_bytes = with_files("d6:lengthi1e4:pathl1:aee");
    let info_hashes = Torrent::parse(torrent_bytes.as_slice())
        .unwrap()
        .info_hashes();
    for trailing in [&b"\n"[..], b"\r\n", b"e", b"d4:infodee", &[0; 100]] {
        let bytes = [&torrent_bytes, trailing].concat();
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        assert_eq!(torrent.trailing_bytes(), trailing);
        assert_eq!(torrent.info_hashes(), info_hashes);
    }
}

#[test]
fn multi_file() {
    let bytes = with_files(
        "d6:lengthi3e4:pathl3:sub1:aeed6:lengthi0e4:pathl3:sub1:beed6:lengthi4e4:pathl1:cee",
    );
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();

    assert!(!torrent.is_single_file());
    assert_eq!(torrent.name().to_string(), "n");
    assert_eq!(torrent.lengths().total_length(), 7);
    let files: Vec<_> = torrent
        .files()
        .iter()
        .map(|file| (file.path().to_string(), file.offset(), file.length()))
        .collect();
    let expected = [("sub/a", 0, 3), ("sub/b", 3, 0), ("c", 3, 4)];
    assert_eq!(
        files,
        expected.map(|(path, offset, length)| (path.to_owned(), offset, length))
    );
    let path = torrent.file(0).path();
    let components: Vec<_> = path.components().map(PathComponent::as_bytes).collect();
    assert_eq!(components, [&b"sub"[..], b"a"]);
}

#[test]
fn a_folder_may_have_one_file() {
    let bytes = with_files("d6:lengthi3e4:pathl1:aee");
    assert!(!Torrent::parse(bytes.as_slice()).unwrap().is_single_file());
}

#[test]
fn utf8_names_come_first() {
    let bytes = metainfo(&format!(
        "5:filesld6:lengthi1e4:pathl2:..e10:path.utf-8l2:\u{fc}eee4:name1:/10:name.utf-82:\u{e4}\
         12:piece lengthi1e6:pieces20:{HASH}"
    ));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.name().to_string(), "\u{e4}");
    assert_eq!(torrent.file(0).path().to_string(), "\u{fc}");
    // The reader ignores the key that `path.utf-8` replaces, even if it is invalid or absent.
    assert!(!torrent.file(0).is_renamed());
}

#[test]
fn names_need_not_be_utf8() {
    let mut bytes = with_files("d6:lengthi1e4:pathl3:?\x1b\\ee");
    let question_mark = bytes.iter().position(|&byte| byte == b'?').unwrap();
    bytes[question_mark] = 0xFF;
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let path = torrent.file(0).path();
    let name = path.components().last().unwrap();
    assert_eq!(name.as_bytes(), b"\xff\x1b\\");
    assert_eq!(path.file_name(), name);
    assert_eq!(path.to_string(), "\\xff\\u{1b}\\\\");
    assert_eq!(format!("{path:?}"), format!("TorrentPath({path})"));
    assert_eq!(format!("{name:?}"), format!("PathComponent({path})"));
}

#[test]
fn long_names_are_left_to_the_file_system() {
    let bytes = with_files(&format!("d6:lengthi1e4:pathl300:{}ee", "x".repeat(300)));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.file(0).path().to_string().len(), 300);
}

#[test]
fn attributes() {
    // Unknown letters are ignored, as BEP 47 requires.
    let bytes = with_files(
        "d4:attr2:xh6:lengthi1e4:pathl1:aeed4:attr2:h?6:lengthi1e4:pathl1:bee\
         d4:attr0:6:lengthi1e4:pathl1:cee",
    );
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let attributes: Vec<_> = torrent
        .files()
        .iter()
        .map(|file| (file.attributes().executable, file.attributes().hidden))
        .collect();
    assert_eq!(attributes, [(true, true), (false, true), (false, false)]);
    assert!(
        torrent
            .files()
            .iter()
            .all(|file| file.kind() == FileKind::Regular)
    );

    let bytes = metainfo(&format!(
        "4:attr1:x6:lengthi1e4:name1:n12:piece lengthi16384e6:pieces20:{HASH}"
    ));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert!(torrent.file(0).attributes().executable);
}

#[test]
fn padding() {
    let bytes = with_files(
        "d6:lengthi1e4:pathl1:aee\
         d4:attr1:p6:lengthi2e4:pathl4:.pad1:2eed4:attr1:p6:lengthi2e4:pathl4:.pad1:2ee\
         d4:attr1:p6:lengthi3ee\
         d6:lengthi4e4:pathl1:d25:_____padding_file_0_BitCoee\
         d6:lengthi5e4:pathl18:_____padding_file_1:xee",
    );
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let files: Vec<_> = torrent
        .files()
        .iter()
        .map(|file| {
            (
                file.path().to_string(),
                file.offset(),
                file.kind() == FileKind::Padding,
            )
        })
        .collect();
    let expected = [
        ("a", 0, false),
        (".pad/2", 1, true),
        (".pad/2", 3, true),
        (".pad", 5, true),
        ("d/_____padding_file_0_BitCo", 8, true),
        ("_____padding_file_/x", 12, false),
    ];
    assert_eq!(
        files,
        expected.map(|(path, offset, padding)| (path.to_owned(), offset, padding))
    );
    assert_eq!(torrent.lengths().total_length(), 17);
    assert_eq!(torrent.content_length(), 6);
}

#[test]
fn symlinks_have_no_content() {
    let bytes = with_files(
        "d6:lengthi1e4:pathl1:d1:aee\
         d4:attr1:l6:lengthi99e4:pathl1:be12:symlink pathl1:d1:aee\
         d4:attr2:lx4:pathl1:ce12:symlink pathl7:missingee\
         d4:attr1:l4:pathl1:fe12:symlink pathl1:.1:d2:..1:aee\
         d6:lengthi2e4:pathl1:zee",
    );
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let files: Vec<_> = torrent
        .files()
        .iter()
        .map(|file| {
            let target = match file.kind() {
                FileKind::Symlink { target } => target.to_string(),
                FileKind::Regular | FileKind::Padding => String::new(),
            };
            (target, file.offset(), file.length())
        })
        .collect();
    // A target of dots leads nowhere, as BEP 47 specifies.
    let expected = [
        ("", 0, 1),
        ("d/a", 1, 0),
        ("missing", 1, 0),
        ("d/a", 1, 0),
        ("", 1, 2),
    ];
    assert_eq!(
        files,
        expected.map(|(target, offset, len)| (target.to_owned(), offset, len))
    );
    assert_eq!(torrent.lengths().total_length(), 3);
}

#[test]
fn keys_that_are_not_read_may_be_anything() {
    // Duplicate keys of any type.
    let bytes = metainfo(&format!(
        "7:privatele7:private1:x6:lengthi1e4:name1:n12:piece lengthi1e6:pieces20:{HASH}4:pathi1e"
    ));
    assert!(Torrent::parse(bytes.as_slice()).is_ok());
}

#[test]
fn meta_version_1_is_version_1() {
    let bytes = metainfo(&format!(
        "6:lengthi1e12:meta versioni1e4:name1:n12:piece lengthi1e6:pieces20:{HASH}"
    ));
    assert_eq!(
        Torrent::parse(bytes.as_slice()).unwrap().version(),
        Version::V1
    );
}

#[test]
fn siblings_are_no_prefixes() {
    // One name may be a prefix of another, also across the sorted order.
    let paths = [
        "l1:ae",
        "l2:abe",
        "l2:a 1:be",
        "l1:b1:ae",
        "l1:b2:aae",
        "l2:b!e",
        "l1:Ae",
    ];
    let files = paths
        .map(|path| format!("d6:lengthi1e4:path{path}e"))
        .concat();
    let bytes = with_files(&files);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.files().len(), paths.len());
}

/// Checking a hundred thousand files for duplicates takes less than quadratic time.
#[test]
fn many_files() {
    use std::fmt::Write;

    let mut files = String::new();
    for file in 0..100_000 {
        write!(files, "d6:lengthi0e4:pathl1:d6:{:06}ee", file * 7 % 100_000).unwrap();
    }
    let bytes = with_files(&format!("d6:lengthi1e4:pathl1:aee{files}"));
    assert_eq!(
        Torrent::parse(bytes.as_slice()).unwrap().files().len(),
        100_001
    );
}

#[test]
fn debug_leaves_out_what_is_long() {
    let bytes = with_files("d6:lengthi1e4:pathl1:aee");
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let text = format!("{torrent:?}");
    assert!(
        text.starts_with("Torrent { name: PathComponent(n), info_hashes: V1(InfoHashV1("),
        "{text}"
    );
    assert!(!text.contains("files"), "{text}");
    assert_eq!(
        format!("{:?}", torrent.files()),
        "[File { path: TorrentPath(a), length: 1, offset: 0, kind: Regular, .. }]"
    );
}

/// A torrent owns its bytes and its clones share them. A clone outlives the original, also in
/// another thread.
#[test]
fn clones_share_one_parse() {
    let bytes = with_files("d6:lengthi1e4:pathl1:aee");
    let expected = bytes.clone();
    let torrent = Torrent::parse(bytes).unwrap();
    let copy = torrent.clone();
    assert_eq!(copy.bytes().as_ptr(), torrent.bytes().as_ptr());
    assert_eq!(
        copy.files().get(0).map(|file| file.path().to_string()),
        Some("a".to_owned())
    );
    drop(torrent);
    let thread = std::thread::spawn(move || {
        assert_eq!(copy.bytes(), expected);
        assert!(copy.info_bytes().starts_with(b"d5:files"));
        assert_eq!(copy.piece_hashes().unwrap(), [HASH.as_bytes()]);
        copy.files().iter().map(File::length).sum::<u64>()
    });
    assert_eq!(thread.join().unwrap(), 1);
}

/// Parsing keeps the given vector instead of copying it.
#[test]
fn a_vector_is_not_copied() {
    let bytes = with_files("d6:lengthi1e4:pathl1:aee");
    let place = bytes.as_ptr();
    assert_eq!(Torrent::parse(bytes).unwrap().bytes().as_ptr(), place);
}

#[test]
fn a_reader_is_read_up_to_a_limit() {
    let bytes = metainfo(&format!(
        "6:lengthi40e4:name5:a.txt12:piece lengthi16e6:pieces60:{}",
        HASH.repeat(3)
    ));
    let (reader, length) = (&bytes[..], bytes.len() as u64);
    let torrent = Torrent::from_reader(reader, length).unwrap();
    assert_eq!(torrent.bytes(), bytes);
    let too_long = Torrent::from_reader(reader, length - 1).unwrap_err();
    assert!(matches!(too_long, ReadError::TooLong { max_len } if max_len == length - 1));
    // A reader without an end is not read to its end.
    let endless = Torrent::from_reader(std::io::repeat(b'd'), 1000).unwrap_err();
    assert!(matches!(endless, ReadError::TooLong { max_len: 1000 }));
    let invalid = Torrent::from_reader(&b"le"[..], length).unwrap_err();
    assert_eq!(
        invalid.to_string(),
        Torrent::parse(b"le").unwrap_err().to_string()
    );
}
