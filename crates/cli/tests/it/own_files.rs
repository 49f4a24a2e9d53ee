//! The files that Hashlane makes beside content are never content.
#![cfg(unix)]

use std::fs;

use crate::fixture::{good_in as good, run_in as run};

const CATALOGUE: &str = ".hashlane-archive.sqlite";

/// A folder `photos` with two files and its catalogue.
fn archive() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("photos/sub")).unwrap();
    for (name, text) in [("a", "a"), ("sub/b", "b")] {
        fs::write(folder.path().join("photos").join(name), text).unwrap();
    }
    good(folder.path(), "archive update photos");
    assert!(folder.path().join("photos").join(CATALOGUE).exists());
    folder
}

/// A new run changes the catalogue, so that whatever had its digest would be wrong.
#[test]
fn a_catalogue_is_part_of_no_list_and_no_torrent() {
    let folder = archive();
    let folder = folder.path();
    let listed = good(folder, "sum -r photos -o list");
    let note = "left out: is a file of Hashlane itself\n";
    assert!(listed.stderr.contains(note), "{}", listed.stderr);
    let created = good(folder, "create photos");
    let left_out = format!("{}{}", created.stdout, created.stderr);
    assert!(left_out.contains("left out"), "{left_out}");
    let shown = good(folder, "show photos.torrent");
    assert!(!shown.stdout.contains(CATALOGUE), "{}", shown.stdout);
    let json = good(folder, "create photos --json --dry-run").stdout;
    assert!(!json.contains(r#""own":0"#), "{json}");
    for tree in ["git", "cid"] {
        let whole = good(folder, &format!("sum -a {tree} photos")).stdout;
        fs::rename(folder.join("photos").join(CATALOGUE), folder.join("kept")).unwrap();
        assert_eq!(good(folder, &format!("sum -a {tree} photos")).stdout, whole);
        fs::rename(folder.join("kept"), folder.join("photos").join(CATALOGUE)).unwrap();
    }

    fs::write(folder.join("photos/c"), "c").unwrap();
    good(folder, "archive update photos");
    fs::remove_file(folder.join("photos/c")).unwrap();
    assert_eq!(good(folder, "sum --check list").stdout, "2 files right\n");
    let against = good(folder, "sum --check --against photos list");
    assert!(
        against.stdout.ends_with("2 files right\n"),
        "{}",
        against.stdout
    );
    good(folder, "verify photos.torrent --extra");
}

#[test]
fn a_catalogue_is_no_duplicate() {
    let folder = archive();
    let folder = folder.path();
    fs::create_dir(folder.join("photos/other")).unwrap();
    fs::copy(
        folder.join("photos").join(CATALOGUE),
        folder.join("photos/other").join(CATALOGUE),
    )
    .unwrap();
    let found = run(folder, "find --duplicates photos");
    assert!(!found.stdout.contains(CATALOGUE), "{}", found.stdout);
}

#[test]
fn a_catalogue_stays_beside_the_payload_of_a_bag() {
    let folder = archive();
    let folder = folder.path();
    let created = good(folder, "bag create photos --to copy");
    let note = format!("left out: {CATALOGUE} is a file of Hashlane itself\n");
    assert!(created.stderr.contains(&note), "{}", created.stderr);
    good(folder, "bag create photos");
    assert!(folder.join("photos").join(CATALOGUE).exists());
    good(folder, "archive update photos");
    good(folder, "bag validate photos copy");
    good(folder, "bag update photos");
    good(folder, "bag validate photos");

    // What lies deeper would have to move with its folder.
    let folder = archive();
    let folder = folder.path();
    good(folder, "archive update photos/sub");
    let refused = run(folder, "bag create photos");
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    let reason = "is a file of Hashlane itself: move it out of the folder\n";
    assert!(refused.stderr.ends_with(reason), "{}", refused.stderr);
    assert!(folder.join("photos/a").exists());
}

/// One pipe made the list a partial one.
#[test]
fn pipes_and_sockets_in_a_folder_are_left_out_of_lists() {
    let folder = archive();
    let folder = folder.path();
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("photos/socket")).unwrap();
    for (args, n_files) in [
        ("sum -r photos -o list", 2),
        ("sum -a git -r photos -o trees", 2),
    ] {
        let ended = good(folder, args);
        let note = "hashlane: photos/socket: left out: is a pipe, socket or device\n";
        assert!(ended.stderr.contains(note), "{}", ended.stderr);
        let list = args.rsplit(' ').next().unwrap();
        let text = fs::read_to_string(folder.join(list)).unwrap();
        assert_eq!(text.lines().count(), n_files);
    }
    let json = good(folder, "sum -r photos --json").stdout;
    assert_eq!(json.lines().count(), 2, "{json}");
    let against = good(folder, "sum --check --against photos list");
    assert!(
        against.stderr.contains("photos/socket: left out"),
        "{}",
        against.stderr
    );
    // A pipe that is named is read, and a socket cannot be.
    assert_eq!(run(folder, "sum photos/socket").code, Some(2));
}
