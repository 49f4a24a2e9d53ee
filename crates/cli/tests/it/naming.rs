//! Content that other programs saved under changed names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::fixture::{end, hashlane};

/// Names of each class that libtorrent changes, and the names that libtorrent 2.1.1 writes. The test
/// of `foreign_paths` in hashlane-metainfo compares these classes with libtorrent.
fn names() -> Vec<(Vec<u8>, Vec<u8>)> {
    let long = |n: usize| format!("14{}", "a".repeat(n - 2)).into_bytes();
    let name = |name: &[u8], written: &str| (name.to_vec(), written.as_bytes().to_vec());
    vec![
        name(b"01\xd6\xd0\xce\xc4.txt", "01__.txt"),
        name(b"02\x83\\\x83t\x83g.txt", "02__t_g.txt"),
        name(b"03\\b", "03b"),
        name(b"04\tb", "04_b"),
        name(b"05\nb", "05_b"),
        name(b"06\x7fb", "06_b"),
        name("07\u{202e}b".as_bytes(), "07b"),
        name("08\u{200b}b".as_bytes(), "08b"),
        name(
            "09\u{1f468}\u{200d}\u{1f469}".as_bytes(),
            "09\u{1f468}\u{1f469}",
        ),
        name("10\u{feff}b".as_bytes(), "10b"),
        name(b"11A.txt", "11A.txt"),
        name(b"11a.txt", "11a.1.txt"),
        (long(241), long(240)),
        (
            format!("15{}.txt", "b".repeat(249)).into_bytes(),
            format!("15{}.txt", "b".repeat(238)).into_bytes(),
        ),
    ]
}

fn place(folder: &Path, name: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(name))
}

/// Creates a torrent of files with these names in the folder `n`.
fn create(folder: &Path, names: &[Vec<u8>]) {
    fs::create_dir(folder.join("n")).unwrap();
    for name in names {
        fs::write(place(&folder.join("n"), name), name.repeat(100)).unwrap();
    }
    let ended = end(hashlane()
        .current_dir(folder)
        .args(["create", "n", "--format", "v1", "-l", "16KiB"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended.stdout.contains("  names      libtorrent changes "),
        "{}",
        ended.stdout
    );
}

fn rename(folder: &Path, from: &[u8], to: &[u8]) {
    fs::rename(place(folder, from), place(folder, to)).unwrap();
}

#[test]
fn content_that_libtorrent_saved_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let names = names();
    let own: Vec<Vec<u8>> = names.iter().map(|(name, _)| name.clone()).collect();
    create(folder.path(), &own);
    for (name, written) in &names {
        rename(&folder.path().join("n"), name, written);
    }
    let verify = |options: &[&str]| {
        end(hashlane()
            .current_dir(folder.path())
            .args(["verify", "n.torrent"])
            .args(options))
    };
    let ended = verify(&[]);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("  (13 names of libtorrent)\n"),
        "{}",
        ended.stdout
    );
    let ended = verify(&["--verbose"]);
    assert!(
        ended.stdout.contains("(04_b, as libtorrent names it)"),
        "{}",
        ended.stdout
    );
    let ended = verify(&["--json"]);
    let lines = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let files: Vec<Value> = lines
        .filter(|line: &Value| line["type"] == "file")
        .collect();
    assert_eq!(files.len(), names.len());
    for file in &files {
        let is_own = file["path"] == "11A.txt";
        assert_eq!(file["state"], "whole", "{file}");
        assert_eq!(file["named_by"] == "libtorrent", !is_own, "{file}");
        assert_eq!(file["found_as"].is_null(), is_own, "{file}");
    }
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["show", "n.torrent"]));
    let note = "libtorrent changes the names of 13 files on disk\n";
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
    // A file's own name comes first, whatever its bytes are.
    fs::write(place(&folder.path().join("n"), b"04\tb"), "other").unwrap();
    let ended = verify(&[]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stdout.contains("12 names of libtorrent\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn changed_names_of_folders_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let top = place(folder.path(), b"\xd6\xd0");
    fs::create_dir_all(place(&top, b"a\\b")).unwrap();
    fs::write(place(&top, b"a\\b/\xff"), "content").unwrap();
    let ended = end(hashlane()
        .current_dir(folder.path())
        .arg("create")
        .arg(&top)
        .args(["-q", "--format", "v1", "-o", "t.torrent"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for (outer, inner, program) in [
        ("_", "ab/_", "libtorrent"),
        ("\u{fffd}\u{fffd}", "a\\b/\u{fffd}", "Transmission"),
    ] {
        let file = folder.path().join(outer).join(inner);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let _ = fs::remove_dir_all(&top);
        fs::write(file, "content").unwrap();
        let ended = end(hashlane()
            .current_dir(folder.path())
            .args(["verify", "t.torrent"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stdout);
        let names = format!("  (2 names of {program})\n");
        assert!(ended.stdout.contains(&names), "{}", ended.stdout);
        fs::remove_dir_all(folder.path().join(outer)).unwrap();
    }
}

/// Two files that a program writes to one path: neither may be taken for the other.
#[test]
fn colliding_names_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), &[b"a\xff".to_vec(), b"a_".to_vec()]);
    fs::remove_file(place(&folder.path().join("n"), b"a\xff")).unwrap();
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["verify", "n.torrent", "--json"]));
    assert_eq!(ended.code, Some(1));
    let lines = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let states: Vec<Value> = lines
        .filter(|line: &Value| line["type"] == "file")
        .map(|line| line["state"].clone())
        .collect();
    assert_eq!(states, ["incomplete", "missing"]);
}
