//! Arbitrary bytes as a .torrent file: never a panic, and what is accepted keeps the promises of
//! the documentation.

#![no_main]

use std::collections::HashSet;

use hashlane_metainfo::{FileKind, PathComponent, Torrent, TorrentPath};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|metainfo: &[u8]| {
    match Torrent::parse(metainfo) {
        Ok(torrent) => check(&torrent, metainfo),
        // The text of a refusal must not panic either, nor send control characters.
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
});

fn check(torrent: &Torrent<'_>, metainfo: &[u8]) {
    let info = torrent.info_bytes().as_ptr_range();
    let all = metainfo.as_ptr_range();
    assert!(all.start <= info.start && info.end <= all.end);
    assert!(torrent.info_bytes().starts_with(b"d") && torrent.info_bytes().ends_with(b"e"));
    assert!(torrent.info_hashes().v1().is_some());
    check_component(torrent.name());
    check_pieces(torrent);
    check_files(torrent);
}

fn check_pieces(torrent: &Torrent<'_>) {
    let lengths = torrent.lengths();
    let piece_count = lengths.piece_count();
    assert_eq!(torrent.piece_hashes().len(), piece_count as usize);
    // Few: each of them needs 20 bytes of the input.
    let sum: u64 = lengths
        .pieces()
        .map(|piece| u64::from(lengths.piece_len(piece)))
        .sum();
    assert_eq!(sum, lengths.total_length());
    let last = lengths
        .piece(piece_count - 1)
        .expect("there is at least one piece");
    assert_eq!(lengths.piece_at(lengths.total_length() - 1), Some(last));
    assert_eq!(lengths.piece(piece_count), None);
}

fn check_files(torrent: &Torrent<'_>) {
    let mut end = 0;
    let mut has_content = false;
    // By another algorithm than the reader's.
    let mut paths = HashSet::new();
    for file in torrent.files() {
        assert_eq!(file.offset(), end);
        end += file.length();
        check_path(file.path());
        match file.kind() {
            FileKind::Regular => has_content |= file.length() > 0,
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
    assert!(has_content);
    // Quadratic in the depth of a path, so only for paths of ordinary depth.
    for path in paths.iter().filter(|path| path.len() < 100) {
        assert!(
            (1..path.len()).all(|depth| !paths.contains(&path[..depth])),
            "inside of a file"
        );
    }
    if torrent.is_single_file() {
        assert_eq!(torrent.files().len(), 1);
        assert_eq!(
            components(torrent.files()[0].path()),
            [torrent.name().as_bytes()]
        );
    }
}

fn components<'a>(path: TorrentPath<'a>) -> Vec<&'a [u8]> {
    path.components().map(PathComponent::as_bytes).collect()
}

fn check_path(path: TorrentPath<'_>) {
    assert!(path.components().count() > 0);
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
