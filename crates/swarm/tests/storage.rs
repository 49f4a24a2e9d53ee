//! Payloads in the file system, by parts of pieces.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hashlane_metainfo::Torrent;
use hashlane_sha::{Sha1, Sha1Digest, Sha256, Sha256Digest, digest};
use hashlane_swarm::{Access, Storage};
use hashlane_verify::Content;

const PIECE_LEN: usize = 32 << 10;

/// A torrent of version 1: `tree/a` of 40,000 bytes, padding up to the next piece, `tree/d/b` of 20,000.
fn metainfo() -> Vec<u8> {
    let pieces = [b'x'; 60];
    let files = "ld6:lengthi40000e4:pathl1:aeed4:attr1:p6:lengthi25536e4:pathl4:.pad5:25536eed6:lengthi20000e4:pathl1:d1:beee";
    let head = format!("d4:infod5:files{files}4:name4:tree12:piece lengthi{PIECE_LEN}e6:pieces60:");
    [head.as_bytes(), &pieces, b"ee"].concat()
}

fn storage(torrent: &Torrent<'_>, folder: &Path, access: Access) -> Storage {
    let content = Content::in_folder(torrent, folder).unwrap();
    Storage::new(&content, folder, access).unwrap()
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i % 251) as u8).collect()
}

#[test]
fn what_is_written_is_read() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(&metainfo).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let storage = storage(&torrent, folder.path(), Access::Download);
    let piece = bytes(PIECE_LEN);
    // The second piece: the end of a file, and padding.
    storage.write(1, 0, &piece[..16384]).unwrap();
    storage.write(1, 16384, &piece[16384..]).unwrap();
    let a = fs::read(folder.path().join("tree/a")).unwrap();
    assert_eq!(a.len(), 40_000);
    assert!(a[..PIECE_LEN].iter().all(|byte| *byte == 0));
    assert_eq!(a[PIECE_LEN..], piece[..40_000 - PIECE_LEN]);
    let mut read = vec![1; PIECE_LEN];
    storage.read(1, 0, &mut read).unwrap();
    let mut expected = vec![0; PIECE_LEN];
    expected[..40_000 - PIECE_LEN].copy_from_slice(&piece[..40_000 - PIECE_LEN]);
    assert!(read == expected);
    let mut v1 = Sha1Digest::default();
    let mut leaves = [Sha256Digest::default(); 1];
    storage.hash(1, Some(&mut v1), &mut leaves).unwrap();
    assert_eq!(v1, digest::<Sha1>(&expected));
    assert_eq!(leaves[0], digest::<Sha256>(&expected[..40_000 - PIECE_LEN]));
    // The last piece is shorter, and peers ask for whole leaves.
    storage.write(2, 16384, &piece[..16384]).unwrap();
    let b = fs::read(folder.path().join("tree/d/b")).unwrap();
    assert_eq!((b.len(), &b[16384..]), (20_000, &piece[..20_000 - 16384]));
    for (piece, begin, len) in [
        (3, 0, 1),
        (2, 32768, 1),
        (0, 1, PIECE_LEN),
        (u32::MAX, u32::MAX, 1),
    ] {
        assert!(storage.read(piece, begin, &mut vec![0; len]).is_err());
        assert!(storage.write(piece, begin, &vec![0; len]).is_err());
    }
}

#[test]
fn what_is_longer_stays_so() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(&metainfo).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/a"), bytes(50_000)).unwrap();
    let storage = storage(&torrent, folder.path(), Access::Download);
    storage.write(0, 0, &[7]).unwrap();
    let mut expected = bytes(50_000);
    expected[0] = 7;
    assert!(fs::read(folder.path().join("tree/a")).unwrap() == expected);
}

#[test]
fn what_is_served_is_not_written() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(&metainfo).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/a"), bytes(40_000)).unwrap();
    let storage = storage(&torrent, folder.path(), Access::Serve);
    assert!(storage.write(0, 0, &[7]).is_err());
    assert!(storage.read(2, 0, &mut [0]).is_err());
    let failure = storage.take_failure().unwrap();
    assert_eq!(failure.path, folder.path().join("tree/d/b"));
    assert!(storage.take_failure().is_none());
    assert!(fs::read(folder.path().join("tree/a")).unwrap() == bytes(40_000));
    assert!(!folder.path().join("tree/d").exists());
}

/// Links may lead about within the folder, and not out of it.
#[test]
fn links_stay_inside() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(&metainfo).unwrap();
    for inside in [true, false] {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = if inside { folder.path() } else { other.path() };
        fs::create_dir_all(folder.path().join("tree")).unwrap();
        fs::create_dir_all(target.join("elsewhere")).unwrap();
        let link = if inside {
            Path::new("../elsewhere").to_owned()
        } else {
            target.join("elsewhere")
        };
        symlink(link, folder.path().join("tree/d")).unwrap();
        let storage = storage(&torrent, folder.path(), Access::Download);
        assert_eq!(storage.write(2, 0, &[7]).is_ok(), inside);
        assert_eq!(target.join("elsewhere/b").exists(), inside);
        // A link in the place of the file itself.
        fs::write(target.join("a"), bytes(10)).unwrap();
        symlink(target.join("a"), folder.path().join("tree/a")).unwrap();
        assert!(storage.write(0, 0, &[7]).is_err());
        assert!(fs::read(target.join("a")).unwrap() == bytes(10));
    }
}
