//! Content that lies elsewhere: content maps, files with several names, and files to reuse.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::peers::{Content, Peer, get, get_from, output_of, seed_command, seed_text_command};
use crate::VERSIONS;

/// Copies the files of the tree to other names in `folder`. Returns the paths of the large and of the small file.
pub(super) fn scatter(content: &Content, folder: &Path) -> (PathBuf, PathBuf) {
    let (large, small) = (folder.join("disk/one"), folder.join("disk/deep/two"));
    fs::create_dir_all(folder.join("disk/deep")).unwrap();
    fs::copy(content.path().join("tree/a.bin"), &large).unwrap();
    fs::copy(content.path().join("tree/sub/b.bin"), &small).unwrap();
    (large, small)
}

/// Writes the map of what is found in `folder`.
pub(super) fn save_map(torrent: &Path, folder: &Path, name: &str) -> PathBuf {
    let map = folder.join(name);
    let status = Command::new(env!("CARGO_BIN_EXE_hashlane-net"))
        .args(["find", "--quiet", "--force", "--in"])
        .arg(folder.join("disk"))
        .arg("--save")
        .args([&map, torrent])
        .status();
    assert!(matches!(status.unwrap().code(), Some(0 | 1)));
    map
}

/// Changes a byte in the middle of a file.
fn damage(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, &bytes).unwrap();
    bytes
}

#[test]
fn mapped_content_is_served_where_it_lies() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let place = tempfile::tempdir().unwrap();
        scatter(&content, place.path());
        let map = save_map(&torrent, place.path(), "map");
        let empty = tempfile::tempdir().unwrap();
        let map = map.to_str().unwrap();
        let seed = Peer::seed_with(&[&torrent], empty.path(), &["--content-map", map]);
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", folder.path());
        assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
        // A torrent that the map does not have is refused.
        let other = content.torrent("file.bin", version);
        let seed = Peer::seed_with(&[&other], empty.path(), &["--content-map", map]);
        seed.end()
            .assert_failed("content map: has no files of the torrent ");
    }
}

#[test]
fn a_download_leaves_mapped_files_where_they_are() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let place = tempfile::tempdir().unwrap();
        let (large, small) = scatter(&content, place.path());
        fs::remove_file(&small).unwrap();
        let before = fs::read(&large).unwrap();
        let map = save_map(&torrent, place.path(), "map");
        let options = ["--content-map", map.to_str().unwrap()];
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, &options);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        let path = |name: &str| folder.path().join(name);
        assert!(!path("tree/a.bin").exists());
        assert_eq!(
            fs::read(path("tree/sub/b.bin")).unwrap(),
            fs::read(content.path().join("tree/sub/b.bin")).unwrap()
        );
        assert!(fs::read(&large).unwrap() == before);
        // A damaged one is named, and stays as it is.
        let damaged = damage(&large);
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, &options);
        ended.assert_failed(&format!("{}: is incomplete or damaged", large.display()));
        assert!(fs::read(&large).unwrap() == damaged);
        let ended = get(
            &[&torrent],
            folder.path(),
            &seed,
            &["--content-map", options[1], "--force"],
        );
        ended.assert_failed(&format!("{}: is incomplete or damaged", large.display()));
        assert!(fs::read(&large).unwrap() == damaged);
    }
}

#[test]
fn a_file_with_several_names_changes_under_none_of_them() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let place = tempfile::tempdir().unwrap();
        let (large, _) = scatter(&content, place.path());
        let tree = place.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let linked = tree.join("a.bin");
        fs::hard_link(&large, &linked).unwrap();
        // Right bytes stay, even if the last piece is shared with a file that is downloaded.
        let ended = get(&[&torrent], place.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", place.path());
        let inode = |path: &Path| fs::metadata(path).unwrap().ino();
        assert_eq!(inode(&large), inode(&linked));
        let damaged = damage(&large);
        for options in [&[][..], &["--force"]] {
            let ended = get(&[&torrent], place.path(), &seed, options);
            ended.assert_failed(&format!("{}: has several names", linked.display()));
            assert!(ended.stderr.contains("--copy-linked"), "{ended:?}");
            assert!(fs::read(&linked).unwrap() == damaged);
        }
        let ended = get(&[&torrent], place.path(), &seed, &["--copy-linked"]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", place.path());
        assert!(fs::read(&large).unwrap() == damaged);
        let names = fs::read_dir(&tree)
            .unwrap()
            .map(|it| it.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["a.bin", "empty", "sub"]);
    }
}

#[test]
fn a_download_is_completed_from_files_that_are_here() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let place = tempfile::tempdir().unwrap();
        let (large, small) = scatter(&content, place.path());
        let disk = place.path().join("disk");
        let options = ["--reuse", disk.to_str().unwrap()];
        // Nothing needs a peer.
        let folder = tempfile::tempdir().unwrap();
        let ended = get_from(&[&torrent], folder.path(), None, &options);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", folder.path());
        // What is damaged is downloaded, and the file that was found stays.
        let damaged = damage(&large);
        fs::remove_file(&small).unwrap();
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, &options);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", folder.path());
        assert!(fs::read(&large).unwrap() == damaged);
        let received = ended.lines.iter().rev();
        let received = received.filter_map(|line| line["downloaded_bytes"].as_u64());
        if let Some(received) = received.max() {
            assert!(received < content.len_of("tree") / 2, "{received}");
        }
        // An existing file is not replaced by one that is found.
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        fs::write(folder.path().join("tree/a.bin"), "mine").unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, &options);
        assert_eq!(ended.code, Some(2), "{version}: {ended:?}");
        assert_eq!(fs::read(folder.path().join("tree/a.bin")).unwrap(), b"mine");
    }
}

/// `verify` finds content by the same code.
#[test]
fn missing_content_under_another_name_is_named() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let place = tempfile::tempdir().unwrap();
        let (tree, other) = (place.path().join("tree"), place.path().join("other"));
        let copied = Command::new("cp")
            .arg("-r")
            .arg(content.path().join("tree"))
            .arg(&other)
            .status();
        assert!(copied.unwrap().success());
        let candidate_of = |peer: Peer, is_complete: bool| {
            let line = peer.wait_for_line("candidate");
            let ended = peer.interrupt();
            assert_eq!(ended.stderr.contains("no piece"), !is_complete, "{ended:?}");
            (line["path"].clone(), line["candidate"].clone())
        };
        let found = (json!(null), json!(other));
        let seed = Peer::start(seed_command(&[&torrent], place.path(), &[]));
        seed.wait_for_line("absent");
        assert_eq!(candidate_of(seed, false), found, "{version}");
        let get = Peer::get_alone(&[&torrent], place.path(), &[]);
        assert_eq!(candidate_of(get, true), found, "{version}");
        fs::remove_dir_all(&tree).unwrap();
        let mut text = seed_text_command(&[&torrent], place.path(), &["--seed-time", "0.1"]);
        let output = output_of(&mut text).stdout;
        let line = format!(
            "tree: found as {} (2 of 2 files), by one piece: --content serves it\n",
            other.display()
        );
        let output = String::from_utf8(output).unwrap();
        assert!(output.contains(&line), "{version}: {output}");
        // Files, one by one.
        fs::rename(&other, &tree).unwrap();
        fs::rename(tree.join("a.bin"), tree.join("old.bin")).unwrap();
        let found = (json!("a.bin"), json!(tree.join("old.bin")));
        if version != "v1" {
            // The other file has a piece of its own.
            let seed = Peer::seed(&[&torrent], place.path());
            assert_eq!(candidate_of(seed, true), found, "{version}");
        }
        let get = Peer::get_alone(&[&torrent], place.path(), &[]);
        assert_eq!(candidate_of(get, true), found, "{version}");
        assert_eq!(
            fs::read(tree.join("old.bin")).unwrap(),
            fs::read(content.path().join("tree/a.bin")).unwrap()
        );
    }
}
