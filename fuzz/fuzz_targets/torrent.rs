//! Arbitrary bytes as a .torrent file: the parser never panics, and accepted torrents satisfy the
//! documented guarantees.

#![no_main]

use std::collections::HashSet;

use hashlane_metainfo::{
    Edit, FileKind, ListEdit, Magnet, PathComponent, ReadError, Torrent, TorrentPath,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|metainfo: &[u8]| {
    let len_bytes = metainfo.len() as u64;
    match (
        Torrent::parse(metainfo),
        Torrent::from_reader(metainfo, len_bytes),
    ) {
        (Ok(torrent), Ok(read)) => {
            assert_eq!(torrent.bytes(), metainfo);
            assert_eq!(read.bytes(), metainfo);
            check(&torrent);
            check_serialization(&torrent);
        }
        (Err(error), Err(ReadError::Invalid(read))) => {
            // The error text must neither panic nor contain control characters.
            assert!(!error.to_string().contains(char::is_control));
            assert_eq!(error, read);
        }
        (parsed, read) => panic!("{parsed:?}, but {read:?}"),
    }
    if let Some(max_len) = len_bytes.checked_sub(1) {
        let read = Torrent::from_reader(metainfo, max_len);
        assert!(matches!(read, Err(ReadError::TooLong { .. })));
    }
});

fn check_serialization(torrent: &Torrent) {
    let text = serde_json::to_vec(torrent).expect("a torrent is text");
    let again: Torrent = serde_json::from_slice(&text).expect("the torrent was accepted");
    assert_eq!(again.bytes(), torrent.bytes());
    serde_json::to_vec(torrent.files()).expect("files are text");
    serde_json::to_vec(&torrent.metadata()).expect("metadata is text");
}

fn check(torrent: &Torrent) {
    let info = torrent.info_bytes().as_ptr_range();
    let all = torrent.bytes().as_ptr_range();
    assert!(all.start <= info.start && info.end <= all.end);
    assert!(torrent.info_bytes().starts_with(b"d") && torrent.info_bytes().ends_with(b"e"));
    let (version, hashes) = (torrent.version(), torrent.info_hashes());
    assert_eq!(hashes.v1().is_some(), version.has_v1());
    assert_eq!(hashes.v2().is_some(), version.has_v2());
    assert!(torrent.unsorted_key().is_none() || !version.has_v2());
    check_component(torrent.name());
    check_pieces(torrent);
    check_files(torrent);
    let link = Magnet::of(torrent);
    assert_eq!(link.to_string().parse(), Ok(link));
    check_edits(torrent);
}

fn check_pieces(torrent: &Torrent) {
    let lengths = torrent.lengths();
    let piece_count = lengths.piece_count();
    let n_hashes = torrent.piece_hashes().map(<[_]>::len);
    let has_v1 = torrent.version().has_v1();
    assert_eq!(n_hashes, has_v1.then_some(piece_count as usize));
    let last = lengths
        .piece(piece_count - 1)
        .expect("there is at least one piece");
    assert_eq!(lengths.piece_at(lengths.total_length() - 1), Some(last));
    assert_eq!(
        lengths.piece_offset(last) + u64::from(lengths.piece_len(last)),
        lengths.total_length()
    );
    assert_eq!(lengths.piece(piece_count), None);
}

fn check_files(torrent: &Torrent) {
    let has_v2 = torrent.version().has_v2();
    let piece_length = u64::from(torrent.lengths().piece_length().get());
    let mut end = 0;
    let mut content_length = 0;
    // Computed by another algorithm than the parser's.
    let mut paths = HashSet::new();
    for file in torrent.files().iter() {
        let has_content = file.kind() == FileKind::Regular && file.length() > 0;
        if has_v2 && has_content {
            assert!(file.offset().is_multiple_of(piece_length));
            assert!(file.offset() >= end && file.offset() - end < piece_length);
        } else {
            assert_eq!(file.offset(), end);
        }
        assert_eq!(file.pieces_root().is_some(), has_v2 && has_content);
        if let Some(layer) = file.piece_layer() {
            assert!(layer.len() > 1);
            assert_eq!(layer.len() as u64, file.length().div_ceil(piece_length));
        }
        end = file.offset() + file.length();
        check_path(file.path());
        match file.kind() {
            FileKind::Regular => content_length += file.length(),
            FileKind::Padding => continue,
            FileKind::Symlink { target } => {
                assert_eq!(file.length(), 0);
                check_path(target);
            }
        }
        assert!(
            paths.insert(components(file.path())),
            "two files of one path"
        );
    }
    assert_eq!(end, torrent.lengths().total_length());
    assert_eq!(content_length, torrent.content_length());
    assert!(content_length > 0);
    for path in &paths {
        assert!(
            (1..path.len()).all(|depth| !paths.contains(&path[..depth])),
            "inside of a file"
        );
    }
    if torrent.is_single_file() {
        assert_eq!(torrent.files().len(), 1);
        assert_eq!(
            components(torrent.file(0).path()),
            [torrent.name().as_bytes()]
        );
    }
}

/// Checks that an edit outside the info dictionary leaves the dictionary unchanged, and that an
/// empty edit leaves everything unchanged.
fn check_edits(torrent: &Torrent) {
    let nothing = Edit::default().apply(torrent).expect("it was valid");
    assert!(nothing.bytes().len() >= torrent.info_bytes().len());
    let edit = Edit {
        comment: Some(Some("comment".into())),
        trackers: Some(ListEdit::Add(vec![vec!["http://a".into()]])),
        web_seeds: Some(ListEdit::Add(vec!["http://b".into()])),
        ..Edit::default()
    };
    let edited = edit.apply(torrent).expect("it was valid");
    assert_eq!(edited.info_bytes(), torrent.info_bytes());
    let (before, after) = (torrent.metadata(), edited.metadata());
    assert_eq!(after.comment.as_deref(), Some("comment"));
    assert!(after.trackers.iter().flatten().any(|url| url == "http://a"));
    assert!(after.web_seeds.iter().any(|url| url == "http://b"));
    // Existing values are still present.
    for url in before.trackers.iter().flatten().chain(&before.announce) {
        let all = after.trackers.iter().flatten().chain(&after.announce);
        assert!(all.into_iter().any(|other| other == url), "{url}");
    }
    assert!(
        before
            .web_seeds
            .iter()
            .all(|url| after.web_seeds.contains(url))
    );
}

fn components<'a>(path: TorrentPath<'a>) -> Vec<&'a [u8]> {
    path.components().map(PathComponent::as_bytes).collect()
}

fn check_path(path: TorrentPath<'_>) {
    assert!((1..=hashlane_metainfo::MAX_PATH_DEPTH).contains(&path.components().count()));
    path.components().for_each(check_component);
}

fn check_component(component: PathComponent<'_>) {
    let name = component.as_bytes();
    assert!(!matches!(name, b"" | b"." | b".."));
    assert!(!name.iter().any(|byte| matches!(byte, 0 | b'/')));
    assert!(!component.to_string().contains(char::is_control));
    let name = component
        .to_os_str()
        .expect("names are bytes where this runs");
    assert_eq!(std::path::Path::new(name).components().count(), 1);
}
