//! Names that steer a terminal, in error messages.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use hashlane_metainfo::needs_escape;

use crate::fixture::{end, hashlane};

/// ESC, a C1 control, the override of the direction of text, and a new line.
const BAD: &str = "x\x1b[2J\u{9b}\u{202e}\nhashlane: other";

/// [`BAD`] in an error message.
const SHOWN: &str = "x\\u{1b}[2J\\u{9b}\\u{202e}\\u{a}hashlane: other";

/// Runs a command that fails, and asserts that its error message is escaped.
#[track_caller]
fn assert_escaped(folder: &Path, args: &[&str]) {
    let ended = end(hashlane().current_dir(folder).args(args));
    assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
    assert_eq!(ended.stdout, "", "{args:?}");
    let is_safe = |line: &str| !line.chars().any(needs_escape);
    assert!(ended.stderr.lines().all(is_safe), "{args:?}: {ended:?}");
    assert!(ended.stderr.contains(SHOWN), "{args:?}: {ended:?}");
    let is_forged = |line: &str| line.starts_with("hashlane: other");
    assert!(!ended.stderr.lines().any(is_forged), "{args:?}: {ended:?}");
}

#[test]
fn paths_of_torrents() {
    let folder = tempfile::tempdir().unwrap();
    for is_missing in [true, false] {
        for command in ["verify", "show", "magnet", "edit"] {
            let options = ["--comment", "other"].iter();
            let options = options.take(if command == "edit" { 2 } else { 0 });
            let args: Vec<&str> = [command, BAD].iter().chain(options).copied().collect();
            assert_escaped(folder.path(), &args);
        }
        if is_missing {
            fs::write(folder.path().join(BAD), "not a torrent").unwrap();
        }
    }
}

#[test]
fn paths_of_content_and_output() {
    let folder = tempfile::tempdir().unwrap();
    assert_escaped(folder.path(), &["create", BAD]);
    fs::write(folder.path().join("file"), "content").unwrap();
    fs::write(folder.path().join(BAD), "content").unwrap();
    assert_escaped(folder.path(), &["create", "file", "-o", BAD]);
    let inside = format!("{BAD}/file");
    assert_escaped(folder.path(), &["create", "file", "-o", &inside]);
    assert_escaped(folder.path(), &["recover", "--resume", BAD, "1A"]);
}

#[test]
fn arguments() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("--{BAD}");
    let url = format!("http://{BAD}");
    let link = format!("magnet:{BAD}");
    for args in [
        &[BAD][..],
        &["verify", &long],
        &["verify", "--io", BAD, "a"],
        &["create", "a", "--piece-length", BAD],
        &["create", "a", "--announce", BAD],
        &["create", "a", "--web-seed", &url],
        &["get", "a", "--peer", BAD],
        &["completions", BAD],
        &["kernels", BAD],
        &["recover", "--kind", BAD, "1A"],
    ] {
        assert_escaped(folder.path(), args);
    }
    for args in [&["show", &link][..], &["magnet", &link]] {
        let ended = end(hashlane().current_dir(folder.path()).args(args));
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        let mut lines = ended.stderr.lines();
        assert!(
            lines.all(|line| !line.chars().any(needs_escape)),
            "{ended:?}"
        );
    }
}
