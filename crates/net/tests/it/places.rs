//! Places of served content: other names, and symbolic links of the user.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::peers::{Content, Peer, ended, get, here_command, seed_content_command};

/// Downloads the content of a torrent from a process that serves it.
#[track_caller]
fn assert_served(content: &Content, torrent: &Path, name: &str, seed: &Peer) {
    let folder = tempfile::tempdir().unwrap();
    let got = get(&[torrent], folder.path(), seed, &[]);
    assert_eq!(got.code, Some(0), "{name}: {got:?}");
    content.assert_same(name, folder.path());
}

#[test]
fn content_under_another_name_is_served() {
    let content = Content::new();
    let elsewhere = tempfile::tempdir().unwrap();
    for name in ["file.bin", "tree"] {
        let torrent = content.torrent(name, "v1");
        let (place, link) = (
            elsewhere.path().join("x").join(name),
            elsewhere.path().join(name),
        );
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        // `assert_served` compares with the original.
        assert!(
            std::process::Command::new("cp")
                .arg("-r")
                .arg(content.path().join(name))
                .arg(&place)
                .status()
                .unwrap()
                .success()
        );
        symlink(&place, &link).unwrap();
        for path in [&place, &link] {
            let seed = Peer::start(seed_content_command(&torrent, path));
            assert_served(&content, &torrent, name, &seed);
        }
        // A link under the torrent's name, in the folder of the content.
        let seed = Peer::seed(&[&torrent], elsewhere.path());
        assert_served(&content, &torrent, name, &seed);
    }
}

#[test]
fn content_that_is_absent_is_named() {
    let content = Content::new();
    for name in ["file.bin", "tree"] {
        let torrent = content.torrent(name, "v1");
        let absent = content.path().join("absent");
        let seed = Peer::start(seed_content_command(&torrent, &absent));
        seed.wait_for_line("absent");
        let seeded = seed.interrupt();
        seeded.assert_failed(&absent.display().to_string());
        let limited = ended(seed_content_command(&torrent, &absent).args(["--seed-time", "0.1"]));
        limited.assert_failed(&absent.display().to_string());
    }
}

/// `get` and `seed` use the current folder, wherever the .torrent is.
#[test]
fn content_beside_the_torrent_is_named() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let other = tempfile::tempdir().unwrap();
    let hint = format!("use -d {}", content.path().display());
    let seed = Peer::start(here_command("seed", &torrent, other.path()));
    let absent = seed.wait_for_line("absent");
    assert!(
        absent["message"].as_str().unwrap().ends_with(&hint),
        "{absent}"
    );
    seed.interrupt().assert_failed(&hint);
    let get = Peer::start(here_command("get", &torrent, other.path()));
    let warning = get.wait_for_line("warning");
    assert!(
        warning["message"].as_str().unwrap().ends_with(&hint),
        "{warning}"
    );
    get.interrupt();
    // Content in the current folder needs no option.
    let copy = other.path().join("file.torrent");
    fs::copy(&torrent, &copy).unwrap();
    let seed = Peer::start(here_command("seed", &copy, content.path()));
    assert_served(&content, &torrent, "file.bin", &seed);
}

#[test]
fn one_place_is_for_one_torrent() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let mut command = seed_content_command(&torrent, content.path());
    let seeded = ended(command.arg(content.torrent("tree", "v1")));
    assert_eq!(seeded.code, Some(2), "{seeded:?}");
    assert!(
        seeded
            .stderr
            .contains("--content needs a single torrent, but 2 were given")
    );
}
