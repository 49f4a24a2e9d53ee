//! Existing files: a download continues its own files and does not touch others.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::peers::{Content, Peer, get};
use crate::VERSIONS;

/// Writes a file of this length with data at these offsets, and holes elsewhere.
fn sparse(path: &Path, len: u64, data: &[(u64, &[u8])]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(path).unwrap();
    file.set_len(len).unwrap();
    for (offset, bytes) in data {
        file.write_all_at(bytes, *offset).unwrap();
    }
}

#[test]
fn unrelated_files_are_not_overwritten() {
    let content = Content::new();
    for version in VERSIONS {
        let file = content.torrent("file.bin", version);
        let tree = content.torrent("tree", version);
        let seed = Peer::seed(&[&file, &tree], content.path());
        let link = content.magnet(&file);
        let len = content.len_of("file.bin") as usize;
        // A file of equal length, a longer one, a shorter one, and a small one among others. In
        // version 1 the small file shares its only piece with an absent file, so only its length
        // can be checked.
        let small = 12_345 + usize::from(version == "v1");
        for (given, name, bytes) in [
            (file.as_path(), "file.bin", vec![7; len]),
            (link.as_ref(), "file.bin", vec![7; len]),
            (&file, "file.bin", vec![7; len + 5]),
            (&file, "file.bin", b"mine".to_vec()),
            (&tree, "tree/sub/b.bin", vec![7; small]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            sparse(&path, 0, &[(0, &bytes)]);
            let ended = get(&[given], folder.path(), &seed, &[]);
            ended.assert_failed(&format!(
                "{}: the file exists and has no piece",
                path.display()
            ));
            assert!(ended.stderr.contains("--overwrite"), "{ended:?}");
            assert!(fs::read(&path).unwrap() == bytes, "{version} {name}");
            // No other file was created.
            assert!(!folder.path().join("tree/a.bin").exists());
            let ended = get(&[given], folder.path(), &seed, &["--overwrite"]);
            assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
            let expected = fs::read(content.path().join(name)).unwrap();
            assert!(fs::read(&path).unwrap()[..expected.len()] == expected);
        }
    }
}

/// A download that was interrupted before a piece was complete, one without data yet, and files
/// that are not selected: all of them are the torrent's own.
#[test]
fn partial_downloads_are_continued() {
    const BLOCK: usize = 16 << 10;
    let content = Content::new();
    for version in VERSIONS {
        let (file, tree) = (
            content.torrent("file.bin", version),
            content.torrent("tree", version),
        );
        let seed = Peer::seed(&[&file, &tree], content.path());
        let len = content.len_of("file.bin");
        let bytes = fs::read(content.path().join("file.bin")).unwrap();
        let piece = content.piece_len() as usize;
        let block = |at: usize| (at as u64, &bytes[at..at + BLOCK]);
        for data in [
            vec![],
            vec![(0, &[0; 100_000][..])],
            vec![block(0)],
            vec![block(BLOCK), block(5 * piece), block(5 * piece + 2 * BLOCK)],
        ] {
            let folder = tempfile::tempdir().unwrap();
            sparse(&folder.path().join("file.bin"), len, &data);
            let ended = get(&[&file], folder.path(), &seed, &[]);
            assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
            content.assert_same("file.bin", folder.path());
        }
        // Part of the last piece of the first file; in version 1, with the beginning of the next
        // file.
        let folder = tempfile::tempdir().unwrap();
        let a = fs::read(content.path().join("tree/a.bin")).unwrap();
        let b = fs::read(content.path().join("tree/sub/b.bin")).unwrap();
        let start = a.len() / piece * piece;
        let border = start + (a.len() - start) / BLOCK * BLOCK;
        let border = &a[border..];
        let at = (a.len() - border.len()) as u64;
        sparse(
            &folder.path().join("tree/a.bin"),
            a.len() as u64,
            &[(at, border)],
        );
        let next = &b[..BLOCK.saturating_sub(border.len()).min(b.len())];
        let next: &[u8] = if version == "v1" { next } else { &[] };
        sparse(
            &folder.path().join("tree/sub/b.bin"),
            b.len() as u64,
            &[(0, next)],
        );
        let ended = get(&[&tree], folder.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", folder.path());
        // A file that is not selected is not checked, unless a selected piece contains bytes of it.
        let folder = tempfile::tempdir().unwrap();
        sparse(&folder.path().join("tree/a.bin"), 0, &[(0, b"mine")]);
        let ended = get(&[&tree], folder.path(), &seed, &["--select", "b.bin"]);
        if version == "v1" {
            ended.assert_failed("tree/a.bin: the file exists and has no piece");
        } else {
            assert_eq!(ended.code, Some(0), "{ended:?}");
        }
        let kept = fs::read(folder.path().join("tree/a.bin")).unwrap();
        assert_eq!(kept, b"mine", "{version}");
    }
}
