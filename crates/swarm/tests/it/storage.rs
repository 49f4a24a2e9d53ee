//! Content in the file system, read and written as parts of pieces.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use hashlane_metainfo::Torrent;
use hashlane_sha::{Sha1, Sha1Digest, Sha256, Sha256Digest, digest};
use hashlane_swarm::{Access, IfDifferent, Storage};
use hashlane_verify::Content;

use crate::not_run::not_run;

const PIECE_LEN: usize = 32 << 10;

/// A torrent of version 1: `tree/a` of 40,000 bytes, padding up to the next piece, `tree/d/b` of 20,000.
fn metainfo() -> Vec<u8> {
    let pieces = [b'x'; 60];
    let files = "ld6:lengthi40000e4:pathl1:aeed4:attr1:p6:lengthi25536e4:pathl4:.pad5:25536eed6:lengthi20000e4:pathl1:d1:beee";
    let head = format!("d4:infod5:files{files}4:name4:tree12:piece lengthi{PIECE_LEN}e6:pieces60:");
    [head.as_bytes(), &pieces, b"ee"].concat()
}

fn storage(torrent: &Torrent, folder: &Path, access: Access) -> Storage {
    let content = Content::in_folder(torrent, folder).unwrap();
    Storage::new(&content, folder, access).unwrap()
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i % 251) as u8).collect()
}

#[test]
fn what_is_written_is_read() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
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
    // The last piece is shorter, and peers can ask for all blocks of a piece.
    storage.write(2, 16384, &piece[..16384]).unwrap();
    let b = fs::read(folder.path().join("tree/d/b")).unwrap();
    assert_eq!((b.len(), &b[16384..]), (20_000, &piece[..20_000 - 16384]));
    storage.read(2, 16384, &mut read[..16384]).unwrap();
    assert!(read[..20_000 - 16384] == piece[..20_000 - 16384]);
    assert!(read[20_000 - 16384..16384].iter().all(|byte| *byte == 0));
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
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/a"), bytes(50_000)).unwrap();
    let storage = storage(&torrent, folder.path(), Access::Download);
    // Nothing is written to a file that exists before the client permits it.
    assert!(storage.write(0, 0, &[7]).is_err());
    assert!(storage.take_failure().unwrap().is_unrelated());
    storage.permit(&storage.stamps(), |piece| piece == 0);
    storage.write(0, 0, &[7]).unwrap();
    let mut expected = bytes(50_000);
    expected[0] = 7;
    assert!(fs::read(folder.path().join("tree/a")).unwrap() == expected);
}

/// Only the files that were checked are permitted. Others may have been put there meanwhile.
#[test]
fn what_appeared_or_changed_is_not_permitted() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    let mine = bytes(40_000);
    let kept = |path: &Path, before: &[u8], change: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(path);
        fs::create_dir(folder.path().join("tree")).unwrap();
        if !before.is_empty() {
            fs::write(&path, before).unwrap();
        }
        let storage = storage(&torrent, folder.path(), Access::Download);
        let stamps = storage.stamps();
        // Longer than the resolution of the times of files.
        std::thread::sleep(std::time::Duration::from_millis(20));
        change(&path);
        storage.permit(&stamps, |_| true);
        let is_permitted = storage.is_permitted(hashlane_verify::FileIndex::new(0));
        assert_eq!(storage.write(0, 0, &[9; 100]).is_ok(), is_permitted);
        if !is_permitted {
            assert!(storage.take_failure().unwrap().is_unrelated());
            assert!(fs::read(&path).unwrap() == mine);
        }
        !is_permitted
    };
    let a = Path::new("tree/a");
    let write = |path: &Path| fs::write(path, &mine).unwrap();
    let rename = |path: &Path| {
        let other = path.with_extension("other");
        fs::write(&other, &mine).unwrap();
        fs::rename(other, path).unwrap();
    };
    assert!(kept(a, &[], &write));
    assert!(kept(a, &[7; 40], &write));
    assert!(kept(a, &mine, &rename));
    assert!(!kept(a, &mine, &|_| ()));
}

/// A new file that reuses the inode of a file of the download is a file of the user.
#[test]
fn a_reused_inode_is_not_permitted() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    // Other tests create files at the same time, and can take the inode.
    for _ in 0..50 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tree/a");
        let storage = storage(&torrent, folder.path(), Access::Download);
        storage.write(0, 0, &[9; 100]).unwrap();
        storage.close();
        let before = fs::metadata(&path).unwrap();
        // Longer than the resolution of the times of files.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes(40_000)).unwrap();
        let now = fs::metadata(&path).unwrap();
        if now.created().is_ok() && now.ino() == before.ino() {
            assert!(storage.write(0, 0, &[9; 100]).is_err());
            assert!(storage.take_failure().unwrap().is_unrelated());
            assert!(fs::read(&path).unwrap() == bytes(40_000));
            return;
        }
    }
    not_run(
        "a reused inode",
        "the file system uses no inode again, or records no time of creation",
        "set TMPDIR to a folder on ext4",
    );
}

/// A file with data only after the torrent's content has content.
#[test]
fn data_after_the_content_counts() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree/a");
    let index = hashlane_verify::FileIndex::new(0);
    fs::create_dir(folder.path().join("tree")).unwrap();
    for (hole, data, is_written) in [
        (0, &[][..], false),
        (0, &[0; 5_000], false),
        (1 << 40, &[], false),
        (0, &[1], true),
        (40_000, &[1], true),
        (40_000, &[0, 0, 0, 1, 0], true),
        (1 << 40, &[0, 1], true),
    ] {
        let file = fs::File::create(&path).unwrap();
        file.set_len(hole).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, data, hole).unwrap();
        let storage = storage(&torrent, folder.path(), Access::Download);
        assert_eq!(storage.is_written(index), is_written, "{hole} {data:?}");
    }
    fs::remove_file(&path).unwrap();
    assert!(!storage(&torrent, folder.path(), Access::Download).is_written(index));
}

#[test]
fn what_is_served_is_not_written() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
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

/// Nothing is read from a file that changed, and the other files are read, until a new state is watched.
#[test]
fn a_changed_file_is_not_read() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree/a");
    fs::create_dir_all(folder.path().join("tree/d")).unwrap();
    fs::write(&path, bytes(40_000)).unwrap();
    fs::write(folder.path().join("tree/d/b"), bytes(20_000)).unwrap();
    let storage = storage(&torrent, folder.path(), Access::Serve);
    let read = |piece: u32| storage.read(piece, 0, &mut [0; 100]);
    let write = || fs::write(&path, vec![7; 40_000]).unwrap();
    let replace = || {
        let other = folder.path().join("other");
        fs::write(&other, bytes(40_000)).unwrap();
        fs::rename(other, &path).unwrap();
    };
    let delete = || fs::remove_file(&path).unwrap();
    let changes: [&dyn Fn(); 3] = [&write, &replace, &delete];
    for change in changes {
        // The file is not watched yet, or watched with its current state.
        read(0).unwrap();
        let stamps = storage.stamps();
        storage.watch(stamps.clone());
        assert!(!storage.has_changed(&stamps));
        read(0).unwrap();
        change();
        assert!(!storage.has_suspects());
        assert!(storage.has_changed(&storage.stamps()));
        let error = read(0).unwrap_err();
        assert!(
            error.to_string().contains("has not been verified"),
            "{error}"
        );
        assert!(storage.has_suspects());
        assert!(storage.take_failure().is_none());
        read(2).unwrap();
        storage.watch(storage.stamps());
        assert!(!storage.has_suspects());
    }
    assert!(read(0).is_err(), "the file is absent");
    // The file exists again, but it is not read before a verification.
    replace();
    assert!(read(0).is_err());
    storage.watch(storage.stamps());
    read(0).unwrap();
}

/// Links may lead to places within the folder, but not out of it.
#[test]
fn links_stay_inside() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
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
        // The file itself is replaced by a link.
        fs::write(target.join("a"), bytes(10)).unwrap();
        symlink(target.join("a"), folder.path().join("tree/a")).unwrap();
        assert!(storage.write(0, 0, &[7]).is_err());
        assert!(fs::read(target.join("a")).unwrap() == bytes(10));
    }
}

/// Absent files become holes, existing files are not changed, and unwanted files are not created.
#[test]
fn absent_files_become_holes() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join("tree").join(name);
    let storage = storage(&torrent, folder.path(), Access::Download);
    storage.prepare(&[true, false]).unwrap();
    assert!(!of("d").exists());
    let hole = fs::metadata(of("a")).unwrap();
    assert_eq!((hole.len(), hole.blocks()), (40_000, 0));
    // A file that is long enough is not opened, because it may be read-only.
    fs::write(of("a"), bytes(50_000)).unwrap();
    fs::set_permissions(of("a"), fs::Permissions::from_mode(0o400)).unwrap();
    fs::create_dir(of("d")).unwrap();
    fs::write(of("d/b"), bytes(5)).unwrap();
    // Whether a shorter file may be extended is for the client to decide.
    assert!(storage.prepare(&[]).unwrap_err().is_unrelated());
    assert!(fs::read(of("d/b")).unwrap() == bytes(5));
    storage.permit(&storage.stamps(), |piece| piece == 2);
    let before = fs::metadata(of("a")).unwrap().modified().unwrap();
    storage.prepare(&[]).unwrap();
    assert_eq!(fs::metadata(of("a")).unwrap().modified().unwrap(), before);
    assert!(fs::read(of("a")).unwrap() == bytes(50_000));
    let b = fs::read(of("d/b")).unwrap();
    assert_eq!((b.len(), &b[..5]), (20_000, &bytes(5)[..]));
    assert!(b[5..].iter().all(|byte| *byte == 0));
    fs::remove_file(of("d/b")).unwrap();
    fs::create_dir(of("d/b")).unwrap();
    let error = storage.prepare(&[]).unwrap_err();
    assert_eq!(error.path, of("d/b"));
}

#[test]
fn programs_are_executable_and_links_are_links() {
    let files = "ld4:attr1:x6:lengthi3e4:pathl3:runeed6:lengthi0e4:pathl5:emptyeed4:attr1:l6:lengthi0e4:pathl4:linke12:symlink pathl3:runeee";
    let metainfo = format!(
        "d4:infod5:files{files}4:name4:tree12:piece lengthi{PIECE_LEN}e6:pieces20:{:20}ee",
        ""
    );
    let torrent = Torrent::parse(metainfo.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join("tree").join(name);
    let storage = storage(&torrent, folder.path(), Access::Download);
    // The second call changes nothing.
    for _ in 0..2 {
        storage.prepare(&[]).unwrap();
        let mode = |name: &str| fs::metadata(of(name)).unwrap().mode() & 0o111;
        assert_eq!((mode("run") & 0o100, mode("empty")), (0o100, 0));
        assert_eq!(fs::read_link(of("link")).unwrap(), Path::new("run"));
        storage.write(0, 0, b"abc").unwrap();
        assert_eq!(fs::read(of("link")).unwrap(), b"abc");
    }
}

/// On a file system that does not distinguish two names, two files of the torrent are one file and would
/// overwrite each other. A hard link has the same effect.
#[test]
fn two_names_of_one_file_are_refused() {
    let files = "ld6:lengthi40000e4:pathl6:READMEeed6:lengthi20000e4:pathl6:readmeeee";
    let metainfo = format!(
        "d4:infod5:files{files}4:name4:tree12:piece lengthi{PIECE_LEN}e6:pieces40:{:40}ee",
        ""
    );
    let torrent = Torrent::parse(metainfo.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join("tree").join(name);
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(of("README"), bytes(40_000)).unwrap();
    fs::hard_link(of("README"), of("readme")).unwrap();
    let one = storage(&torrent, folder.path(), Access::Download);
    let error = one.prepare(&[]).unwrap_err();
    assert_eq!(error.path, of("readme"));
    assert!(error.to_string().contains("is the same file as"), "{error}");
    // Either file alone works. The other one cannot be written to meanwhile.
    let one = storage(&torrent, folder.path(), Access::Download);
    one.permit(&one.stamps(), |_| true);
    one.prepare(&[true, false]).unwrap();
    assert!(one.write(1, 16384, &[7; 16384]).is_err());
    assert_eq!(one.take_failure().unwrap().path, of("readme"));
    assert!(fs::read(of("README")).unwrap() == bytes(40_000));
    // A removed file frees its inode number.
    fs::remove_file(of("readme")).unwrap();
    one.write(0, 0, &[7]).unwrap();
    let now = fs::read(of("README")).unwrap();
    assert!(now[0] == 7 && now[1..PIECE_LEN] == bytes(40_000)[1..PIECE_LEN]);
    one.prepare(&[]).unwrap();
    assert_eq!(fs::metadata(of("readme")).unwrap().len(), 20_000);
}

/// A write through one name of a file would change it under all names.
#[test]
fn a_linked_file_is_refused_or_copied() {
    let torrent = Torrent::parse(metainfo()).unwrap();
    for (own, len) in [(0, 40_000), (1, 30_000)] {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name);
        fs::create_dir(of("tree")).unwrap();
        fs::write(of("other"), bytes(len)).unwrap();
        fs::set_permissions(of("other"), fs::Permissions::from_mode(0o640)).unwrap();
        fs::hard_link(of("other"), of("tree/a")).unwrap();
        let storage = storage(&torrent, folder.path(), Access::Download);
        storage.permit(&storage.stamps(), |_| true);
        storage.write(0, own, &[7]).unwrap_err();
        let failure = storage.take_failure().unwrap();
        assert!(
            failure.is_linked() && failure.path == of("tree/a"),
            "{failure}"
        );
        assert!(fs::read(of("other")).unwrap() == bytes(len));
        assert_eq!(storage.prepare(&[]).is_ok(), len == 40_000);
        storage.set_copies_linked(true);
        storage.write(0, own, &[7]).unwrap();
        storage.prepare(&[]).unwrap();
        assert!(fs::read(of("other")).unwrap() == bytes(len));
        let mut expected = bytes(len);
        expected[own as usize] = 7;
        expected.resize(40_000, 0);
        assert!(fs::read(of("tree/a")).unwrap() == expected);
        let mode = fs::metadata(of("tree/a")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o640);
        // Neither name is left of the copy.
        let names = fs::read_dir(of("tree")).unwrap().count();
        assert_eq!(names, 2);
    }
}

/// Files of a content map are read where they lie, and never changed.
#[test]
fn a_mapped_file_is_only_read() {
    use hashlane_metainfo::{ContentMap, MappedPlace};
    let torrent = Torrent::parse(metainfo()).unwrap();
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = other.path().join("anything");
    fs::write(&path, bytes(40_000)).unwrap();
    let mut map = ContentMap::default();
    map.insert(&torrent, [(0, MappedPlace::At(path.clone()))]);
    let content = Content::in_folder(&torrent, folder.path()).unwrap();
    let content = content.mapped(&map).unwrap();
    let storage = Storage::new(&content, folder.path(), Access::Download).unwrap();
    storage.permit(&storage.stamps(), |_| true);
    storage.prepare(&[]).unwrap();
    let mut read = vec![0; PIECE_LEN];
    storage.read(0, 0, &mut read).unwrap();
    assert!(read == bytes(40_000)[..PIECE_LEN]);
    storage.write(0, 0, &[7]).unwrap_err();
    let failure = storage.take_failure().unwrap();
    assert_eq!(failure.path, path);
    assert!(
        failure.to_string().contains("a content map has the file"),
        "{failure}"
    );
    assert!(fs::read(&path).unwrap() == bytes(40_000));
    // The other file lies below the folder.
    storage.write(2, 0, &[7]).unwrap();
    assert_eq!(fs::read(folder.path().join("tree/d/b")).unwrap()[0], 7);
    // A link in place of a mapped file is not followed out of its folder.
    fs::rename(&path, folder.path().join("moved")).unwrap();
    symlink(folder.path().join("moved"), &path).unwrap();
    storage.close();
    assert!(storage.refuse_links_out().is_err());
    storage.read(0, 0, &mut read).unwrap_err();
}

/// A file behind a link out of the folder is not served, and `probe` detects it.
#[test]
fn links_out_of_the_folder_are_refused_early() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = storage(&torrent, folder.path(), Access::Serve);
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/a"), bytes(40_000)).unwrap();
    // Absent files are no error.
    storage.probe().unwrap();
    fs::write(other.path().join("b"), bytes(20_000)).unwrap();
    symlink(other.path(), folder.path().join("tree/d")).unwrap();
    let error = storage.probe().unwrap_err();
    assert_eq!(error.path, folder.path().join("tree/d/b"));
    // Opening a pipe does not block.
    fs::remove_file(folder.path().join("tree/a")).unwrap();
    let status = std::process::Command::new("mkfifo")
        .arg(folder.path().join("tree/a"))
        .status();
    assert!(status.unwrap().success());
    assert_eq!(
        storage.probe().unwrap_err().path,
        folder.path().join("tree/a")
    );
}

/// A torrent of version 1 with the files `a`, `b` and `c` of these contents.
fn shared(contents: [&[u8]; 3]) -> Torrent {
    let hashes = contents.concat();
    let hashes = hashes.chunks(PIECE_LEN).map(digest::<Sha1>);
    let hashes: Vec<u8> = hashes.flat_map(|hash| hash.as_ref().to_vec()).collect();
    let file =
        |(name, bytes): (&str, &[u8])| format!("d6:lengthi{}e4:pathl1:{name}ee", bytes.len());
    let files: String = ["a", "b", "c"]
        .into_iter()
        .zip(contents)
        .map(file)
        .collect();
    let head = format!(
        "d4:infod5:filesl{files}e4:name4:tree12:piece lengthi{PIECE_LEN}e6:pieces{}:",
        hashes.len()
    );
    Torrent::parse([head.as_bytes(), &hashes, b"ee"].concat()).unwrap()
}

/// Writes and hashes all pieces. A peer that then requests a piece receives it.
fn arrive(storage: &Storage, content: &[u8]) -> std::io::Result<()> {
    for (piece, bytes) in (0..).zip(content.chunks(PIECE_LEN)) {
        storage.write(piece, 0, bytes)?;
        storage.hash(piece, Some(&mut Sha1Digest::default()), &mut [])?;
        let mut read = vec![0; bytes.len()];
        storage.read(piece, 0, &mut read)?;
        assert!(read == bytes, "piece {piece}");
    }
    Ok(())
}

/// A guarded file stays untouched until its piece is right. Then an equal file stays, and another one is renamed.
#[test]
fn guarded_files_are_compared_after_their_pieces_arrived() {
    // The second file has bytes of two pieces, both of them shared.
    let (a, b, c) = (bytes(30_000), vec![9; 20_000], bytes(40_000));
    let torrent = shared([&a, &b, &c]);
    let content = [&a[..], &b, &c].concat();
    let index = hashlane_verify::FileIndex::new(1);
    let mut half = b.clone();
    half[19_000] = 1;
    for mine in [
        b.clone(),
        vec![7; 20_000],
        half,
        b"mine".to_vec(),
        vec![9; 30_000],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join("tree").join(name);
        fs::create_dir(folder.path().join("tree")).unwrap();
        fs::write(of("b"), &mine).unwrap();
        fs::write(of("b.replaced-1"), b"older").unwrap();
        let before = fs::metadata(of("b")).unwrap();
        let storage = storage(&torrent, folder.path(), Access::Download);
        storage.guard(index, &[0, 1], IfDifferent::Rename);
        storage.permit(&storage.stamps(), |_| true);
        storage.prepare(&[]).unwrap();
        // Wrong bytes arrive first.
        storage.write(0, 0, &vec![5; PIECE_LEN]).unwrap();
        storage
            .hash(0, Some(&mut Sha1Digest::default()), &mut [])
            .unwrap();
        assert!(fs::read(of("b")).unwrap() == mine);
        arrive(&storage, &content).unwrap();
        let is_equal = mine.starts_with(&b);
        let replaced = storage.take_replaced();
        assert_eq!(replaced.is_empty(), is_equal);
        let now = fs::metadata(of("b")).unwrap();
        if is_equal {
            assert_eq!(now.ino(), before.ino());
            assert_eq!(
                (now.mtime_nsec(), now.len()),
                (before.mtime_nsec(), before.len())
            );
            assert!(!of("b.replaced-2").exists());
        } else {
            assert_eq!(replaced[0].path, of("b"));
            assert_eq!(replaced[0].kept_as, of("b.replaced-2"));
            assert!(fs::read(of("b.replaced-2")).unwrap() == mine);
            assert_eq!(
                fs::metadata(of("b.replaced-2")).unwrap().ino(),
                before.ino()
            );
        }
        assert!(fs::read(of("b")).unwrap()[..b.len()] == b);
        assert_eq!(fs::read(of("b.replaced-1")).unwrap(), b"older");
        assert!(fs::read(of("a")).unwrap() == a);
        assert!(fs::read(of("c")).unwrap() == c);
        let mut read = vec![0; PIECE_LEN];
        storage.read(0, 0, &mut read).unwrap();
        assert!(read == content[..PIECE_LEN]);
        // The staged bytes are gone.
        drop(storage);
        let names = fs::read_dir(folder.path()).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["tree"]);
    }
}

/// A guarded file that may not be renamed is never written to.
#[test]
fn a_guarded_file_that_differs_can_be_refused() {
    let (a, b, c) = (bytes(30_000), vec![9; 20_000], bytes(40_000));
    let torrent = shared([&a, &b, &c]);
    let content = [&a[..], &b, &c].concat();
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join("tree").join(name);
    fs::create_dir(folder.path().join("tree")).unwrap();
    // What a killed process left is not mixed with new bytes.
    let hash = torrent.info_hashes().v1().unwrap().to_string();
    let staged = folder.path().join(format!(".hashlane-{hash}.part"));
    fs::write(&staged, bytes(100_000)).unwrap();
    fs::write(of("b"), b"mine").unwrap();
    let storage = storage(&torrent, folder.path(), Access::Download);
    storage.guard(
        hashlane_verify::FileIndex::new(1),
        &[0, 1],
        IfDifferent::Fail,
    );
    storage.permit(&storage.stamps(), |_| true);
    storage.prepare(&[]).unwrap();
    assert!(!staged.exists());
    assert!(arrive(&storage, &content).is_err());
    let failure = storage.take_failure().unwrap();
    assert!(failure.is_unrelated(), "{failure}");
    assert_eq!(failure.path, of("b"));
    assert_eq!(fs::read(of("b")).unwrap(), b"mine");
    assert!(!of("b.replaced-1").exists());
}

/// Created files have a mark, on file systems with extended attributes.
#[test]
fn created_files_are_marked() {
    let metainfo = metainfo();
    let torrent = Torrent::parse(metainfo.as_slice()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree/a");
    let index = hashlane_verify::FileIndex::new(0);
    storage(&torrent, folder.path(), Access::Download)
        .prepare(&[])
        .unwrap();
    let marked = || storage(&torrent, folder.path(), Access::Download).is_marked(index);
    let file = hashlane_files::SourceFile::open(&path).unwrap();
    if file.mark().is_none() {
        return not_run(
            "marks of created files",
            "the file system has no extended attributes",
            "set TMPDIR to a folder on ext4, XFS or Btrfs",
        );
    }
    assert!(marked());
    // Another length means that something else wrote the file.
    fs::write(&path, b"mine").unwrap();
    assert!(!marked());
    fs::write(&path, bytes(40_000)).unwrap();
    assert!(marked());
    // The mark of another file or torrent proves nothing.
    let mark = file.mark().unwrap();
    for other in [
        [&mark[..mark.len() - 1], b"2"].concat(),
        [b"0", &mark[1..]].concat(),
    ] {
        if other != mark {
            file.set_mark(&other).unwrap();
            assert!(!marked());
        }
    }
    file.set_mark(&mark).unwrap();
    // The file has two pieces.
    let storage = storage(&torrent, folder.path(), Access::Download);
    storage.unmark_complete(1, &[false, true, true]);
    assert!(storage.is_marked(index));
    storage.unmark_complete(2, &[true, true, true]);
    assert!(storage.is_marked(index));
    storage.unmark_complete(1, &[true, true, false]);
    assert!(!storage.is_marked(index));
    file.set_mark(&mark).unwrap();
    assert!(storage.unmark(index));
    assert!(!storage.is_marked(index));
}
