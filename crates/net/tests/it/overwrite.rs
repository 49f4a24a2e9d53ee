//! Existing files: a download continues its own files and does not touch others.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use hashlane_files::SourceFile;
use hashlane_metainfo::Torrent;

use super::peers::{Content, Ended, Peer, get, ran, text_command};
use crate::VERSIONS;
use crate::not_run::not_run;

const DIFFERENT: &str = "exists and does not belong to this torrent";

/// Marks a file as an interrupted download does. Returns `false` if the file system has no extended attributes.
fn mark(path: &Path, torrent: &Path, index: usize) -> bool {
    let torrent = Torrent::parse(fs::read(torrent).unwrap()).unwrap();
    let hashes = torrent.info_hashes();
    let v1 = hashes.v1().map(|hash| hash.to_string());
    let hash = v1.unwrap_or_else(|| hashes.v2().unwrap().to_string());
    let file = SourceFile::open(path).unwrap();
    file.set_mark(format!("{hash} {index}").as_bytes()).is_ok()
}

/// Asserts that a file was renamed, and that the terminal and the JSON lines name both files.
#[track_caller]
fn assert_kept(ended: &Ended, path: &Path, bytes: &[u8]) {
    let kept = format!("{}.replaced-1", path.display());
    assert_eq!(fs::read(&kept).unwrap(), bytes);
    let message = format!(
        "{}: differs from the torrent; kept as {kept}",
        path.display()
    );
    assert!(ended.stderr.contains(&message), "{ended:?}");
    let mut warnings = ended.lines.iter().filter(|line| line["type"] == "warning");
    assert!(
        warnings.any(|line| line["message"] == *message),
        "{ended:?}"
    );
}

/// Asserts that the text for people names the file that was kept, too. Without JSON lines, pieces are not reported.
#[track_caller]
fn assert_says_kept(torrent: &Path, seed: &Peer, bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree/sub/b.bin");
    sparse(&path, 0, &[(0, bytes)]);
    let peer = seed.address().to_string();
    let mut command = text_command("get", &["--peer", &peer]);
    let output = command
        .arg("--dir")
        .arg(folder.path())
        .arg(torrent)
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("b.bin.replaced-1"), "{text}");
}

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
        // A file of equal length, a longer one, a shorter one, and a small one among others.
        let small = vec![7; 12_345];
        for (given, name, bytes) in [
            (file.as_path(), "file.bin", vec![7; len]),
            (link.as_ref(), "file.bin", vec![7; len]),
            (&file, "file.bin", vec![7; len + 5]),
            (&file, "file.bin", b"mine".to_vec()),
            (&tree, "tree/sub/b.bin", small),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            sparse(&path, 0, &[(0, &bytes)]);
            let ended = get(&[given], folder.path(), &seed, &[]);
            if version == "v1" && name == "tree/sub/b.bin" {
                // The small file shares its only piece with another one.
                assert_eq!(ended.code, Some(0), "{ended:?}");
                assert_kept(&ended, &path, &bytes);
                assert_says_kept(&tree, &seed, &bytes);
                continue;
            }
            ended.assert_failed(&format!("{}: {DIFFERENT}", path.display()));
            assert!(ended.stderr.contains("--force"), "{ended:?}");
            assert!(fs::read(&path).unwrap() == bytes, "{version} {name}");
            // The other files are downloaded.
            let is_whole = |name: &str| {
                let read = |folder: &Path| fs::read(folder.join(name)).ok();
                read(folder.path()) == read(content.path())
            };
            assert_eq!(is_whole("tree/a.bin"), name != "file.bin");
            let ended = get(&[given], folder.path(), &seed, &["--force"]);
            assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
            let expected = fs::read(content.path().join(name)).unwrap();
            assert!(fs::read(&path).unwrap()[..expected.len()] == expected);
        }
    }
}

/// A download that was interrupted before a piece was complete is continued if the file has the mark, and one without data
/// always.
#[test]
fn partial_downloads_are_continued() {
    const BLOCK: usize = 16 << 10;
    let content = Content::new();
    for version in VERSIONS {
        let file = content.torrent("file.bin", version);
        let seed = Peer::seed(&[&file], content.path());
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
            let path = folder.path().join("file.bin");
            sparse(&path, len, &data);
            if data
                .iter()
                .any(|(_, bytes)| bytes.iter().any(|byte| *byte != 0))
            {
                let ended = get(&[&file], folder.path(), &seed, &[]);
                ended.assert_failed(&format!("{}: {DIFFERENT}", path.display()));
                if !mark(&path, &file, 0) {
                    continue;
                }
            }
            let ended = get(&[&file], folder.path(), &seed, &[]);
            assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
            content.assert_same("file.bin", folder.path());
            // A complete file has no mark: the user may change it.
            assert_eq!(SourceFile::open(&path).unwrap().mark(), None);
        }
    }
}

/// Incomplete files beside each other, and a file that is not selected.
#[test]
fn partial_files_of_a_folder_are_continued() {
    const BLOCK: usize = 16 << 10;
    let content = Content::new();
    let piece = content.piece_len() as usize;
    for version in VERSIONS {
        let tree = content.torrent("tree", version);
        let seed = Peer::seed(&[&tree], content.path());
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
        let torrent = Torrent::parse(fs::read(&tree).unwrap()).unwrap();
        let mut is_marked = true;
        for name in ["a.bin", "sub/b.bin"] {
            let mut files = torrent.files().iter();
            let index = files.position(|file| file.path().to_string() == name);
            let path = folder.path().join("tree").join(name);
            is_marked &= mark(&path, &tree, index.unwrap());
        }
        if is_marked {
            let ended = get(&[&tree], folder.path(), &seed, &[]);
            assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
            content.assert_same("tree", folder.path());
        }
        // A file that is not selected is not checked, unless a selected piece contains bytes of it.
        let folder = tempfile::tempdir().unwrap();
        sparse(&folder.path().join("tree/a.bin"), 0, &[(0, b"mine")]);
        let ended = get(&[&tree], folder.path(), &seed, &["--include", "b.bin"]);
        if version == "v1" {
            ended.assert_failed(&format!("tree/a.bin: {DIFFERENT}"));
        } else {
            assert_eq!(ended.code, Some(0), "{ended:?}");
        }
        let kept = fs::read(folder.path().join("tree/a.bin")).unwrap();
        assert_eq!(kept, b"mine", "{version}");
    }
}

/// A torrent is made by somebody else. It cannot contain what proves that a file of the user belongs to it.
#[test]
fn a_torrent_does_not_choose_what_proves_a_file() {
    const BLOCK: usize = 16 << 10;
    let content = Content::new();
    let piece = content.piece_len() as usize;
    let theirs = fs::read(content.path().join("file.bin")).unwrap();
    let mine: Vec<u8> = theirs.iter().map(|byte| byte ^ 0x55).collect();
    // Each piece of the user's file has one block of zeros, as an interrupted download.
    let mut gaps = mine.clone();
    for block in gaps.chunks_mut(BLOCK).step_by(piece / BLOCK) {
        block.fill(0);
    }
    // Both files have the same pieces of zeros.
    let (mut zeros, mut same_zeros) = (mine.clone(), theirs.clone());
    for bytes in [&mut zeros, &mut same_zeros] {
        bytes[10 * piece..20 * piece].fill(0);
    }
    // The torrent repeats the first piece of the user's file.
    let first: Vec<u8> = mine[..piece]
        .iter()
        .copied()
        .cycle()
        .take(mine.len())
        .collect();
    // Both files have the same start.
    let start = [&mine[..8 * piece], &theirs[8 * piece..]].concat();
    let source = tempfile::tempdir().unwrap();
    let shared = source.path().join("x.bin");
    for (theirs, mine) in [
        (theirs, gaps),
        (same_zeros, zeros),
        (first, mine.clone()),
        (start, mine),
    ] {
        fs::write(&shared, &theirs).unwrap();
        for version in VERSIONS {
            let torrent = Content::torrent_of(&shared, version, &[]);
            let seed = Peer::seed(&[&torrent], source.path());
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.bin");
            fs::write(&path, &mine).unwrap();
            let ended = get(&[&torrent], folder.path(), &seed, &[]);
            ended.assert_failed(&format!("{}: {DIFFERENT}", path.display()));
            assert!(fs::read(&path).unwrap() == mine, "{version}");
        }
    }
}

/// Common damage is repaired: one wrong byte in a piece that a small file shares with a large one.
#[test]
fn a_small_file_beside_a_damaged_one_is_kept() {
    let content = Content::new();
    let source = content.path().join("film");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("a.nfo"), b"some info").unwrap();
    fs::copy(content.path().join("tree/a.bin"), source.join("z.flac")).unwrap();
    let torrent = content.torrent("film", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    for (name, at) in [("z.flac", 17), ("a.nfo", 3)] {
        let folder = tempfile::tempdir().unwrap();
        let film = folder.path().join("film");
        let status = std::process::Command::new("cp")
            .arg("-r")
            .args([&source, &film])
            .status();
        assert!(status.unwrap().success());
        let path = film.join(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let nfo = film.join("a.nfo");
        let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&nfo).unwrap());
        let before = inode();
        let ended = get(&[&torrent], folder.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        if name == "a.nfo" {
            assert_kept(&ended, &nfo, &bytes);
            fs::remove_file(film.join("a.nfo.replaced-1")).unwrap();
        } else {
            assert_eq!(inode(), before);
        }
        content.assert_same("film", folder.path());
        // Nothing else is left in the folder.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// A complete file has no mark, even if other files of the torrent are incomplete.
#[test]
fn a_complete_file_of_an_incomplete_download_has_no_mark() {
    let content = Content::new();
    let tree = content.torrent("tree", "v2");
    let source = tempfile::tempdir().unwrap();
    fs::create_dir(source.path().join("tree")).unwrap();
    let a = fs::read(content.path().join("tree/a.bin")).unwrap();
    fs::write(source.path().join("tree/a.bin"), &a).unwrap();
    let seed = Peer::seed(&[&tree], source.path());
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join("tree").join(name);
    let mark_of = |name: &str| SourceFile::open(&path(name)).unwrap().mark();
    // The second download finds the complete file.
    for _ in 0..2 {
        let ended = get(&[&tree], folder.path(), &seed, &["--timeout", "3"]);
        assert_ne!(ended.code, Some(0), "{ended:?}");
        assert!(fs::read(path("a.bin")).unwrap() == a);
        assert_eq!(mark_of("a.bin"), None);
        if !mark(&path("a.bin"), &tree, 0) {
            return not_run(
                "marks of downloaded files",
                "the file system has no extended attributes",
                "set TMPDIR to a folder on ext4, XFS or Btrfs",
            );
        }
        assert!(mark_of("sub/b.bin").is_some());
    }
}

/// A file that is longer than the torrent's, and has its data only after that length, is not blank.
#[test]
fn a_longer_file_that_starts_with_zeros_is_kept() {
    let content = Content::new();
    let mut mine = vec![0; content.len_of("file.bin") as usize];
    mine.extend([7; 10_000]);
    let refusals = [(&[][..], DIFFERENT), (&["--confirm"], "no terminal to ask")];
    assert_refused(&content, &mine, &refusals);
}

/// `--confirm` also asks about an unrelated file that is too short, whose pieces are missing.
#[test]
fn a_short_file_is_not_replaced_without_an_answer() {
    let refusals = [(&["--confirm"][..], "no terminal to ask")];
    assert_refused(&Content::new(), b"mine", &refusals);
}

/// The torrent of a question is known by its number: a link can have another hash than the torrent.
#[test]
fn a_question_about_the_torrent_of_a_link_is_answered() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "hybrid");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file.bin"), b"mine").unwrap();
    let hash = ran(["show", "--json"], [&torrent])[0]["info_hash_v2"].clone();
    let link = format!("magnet:?xt=urn:btmh:1220{}", hash.as_str().unwrap());
    let ended = get(&[link.as_ref()], folder.path(), &seed, &["--confirm"]);
    ended.assert_failed("no terminal to ask");
}

/// Asserts that downloads with these options fail for these reasons, and keep the bytes in the place of the file.
fn assert_refused(content: &Content, mine: &[u8], refusals: &[(&[&str], &str)]) {
    for version in VERSIONS {
        let torrent = content.torrent("file.bin", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.bin");
        fs::write(&path, mine).unwrap();
        for (options, reason) in refusals {
            let ended = get(&[&torrent], folder.path(), &seed, options);
            ended.assert_failed(reason);
            assert!(fs::read(&path).unwrap() == mine, "{version}");
        }
    }
}

/// A file of the user stays as it is, and is named. The other files are downloaded, with the pieces that they share with it.
#[test]
fn one_file_of_the_user_does_not_block_the_others() {
    let source = tempfile::tempdir().unwrap();
    let top = source.path().join("t");
    fs::create_dir(&top).unwrap();
    let bytes = |seed: usize| -> Vec<u8> {
        (0..300_000_usize)
            .map(|i| (i * i / 7 + i * seed) as u8)
            .collect()
    };
    for (seed, name) in ["x", "y", "z"].into_iter().enumerate() {
        fs::write(top.join(name), bytes(seed + 1)).unwrap();
    }
    for version in VERSIONS {
        let torrent = Content::torrent_of(&top, version, &[]);
        let seed = Peer::seed(&[&torrent], source.path());
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join("t").join(name);
        let mine = vec![7; 300_000];
        sparse(&of("y"), 0, &[(0, &mine)]);
        let ended = get(&[&torrent], folder.path(), &seed, &[]);
        ended.assert_failed(&format!(
            "{}: {DIFFERENT}; not overwritten; --force",
            of("y").display()
        ));
        ended.assert_failed(&format!(
            "{}: {DIFFERENT}; not overwritten; the other files are downloaded",
            of("y").display()
        ));
        assert!(fs::read(of("y")).unwrap() == mine, "{version}");
        for name in ["x", "z"] {
            let expected = fs::read(top.join(name)).unwrap();
            assert!(fs::read(of(name)).unwrap() == expected, "{version} {name}");
        }
        // Nothing else is left, and nothing remains to be done the next time.
        let names = fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 1, "{version}");
        let ended = get(&[&torrent], folder.path(), &seed, &[]);
        ended.assert_failed(&format!(
            "{}: {DIFFERENT}; not overwritten; --force",
            of("y").display()
        ));
        assert!(
            !ended.stderr.contains("the other files"),
            "{version}: {ended:?}"
        );
        assert!(fs::read(of("y")).unwrap() == mine, "{version}");
    }
}
