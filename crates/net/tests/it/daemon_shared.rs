//! Torrents with the same files, or with files of one folder.

use std::fs;
use std::os::unix::fs::symlink;

use super::daemon::{Daemon, folder, text};
use super::peers::{Content, Peer};
use super::tracker::Tracker;
use crate::wait_for;

/// Complete torrents serve the same files, as in cross-seeding. The files stay while one of them has them.
#[test]
fn complete_torrents_share_files() {
    let content = Content::new();
    let torrents = ["v1", "v2", "hybrid"].map(|version| content.torrent("tree", version));
    let (place, state) = folder();
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(content.path().join("tree"))
        .arg(place.path())
        .status();
    assert!(copied.unwrap().success());
    let options = ["--dir", text(place.path())];
    let daemon = Daemon::start(&state, &options);
    for torrent in &torrents {
        daemon.done(["add", text(torrent)]);
    }
    let are_served = |daemon: &Daemon, n: usize| {
        wait_for(|| {
            let list = daemon.done(["list"]);
            list.len() == n && list.iter().all(|it| it["activity"] == "serving")
        });
    };
    are_served(&daemon, 3);
    daemon.terminate();
    let daemon = Daemon::start(&state, &options);
    are_served(&daemon, 3);
    // What another torrent has is neither moved nor deleted.
    let list = daemon.done(["list"]);
    let hash = list[0]["info_hash"].as_str().unwrap();
    let other = place.path().join("other");
    daemon.done(["move", hash, "--dir", text(&other)]);
    daemon.wait_for_error(hash, "has the same file");
    assert!(!other.join("tree").exists());
    daemon.done(["remove", "--delete-content", hash]);
    are_served(&daemon, 2);
    content.assert_same("tree", place.path());
    daemon.terminate();
}

/// Two torrents have one top name and other files.
#[test]
fn torrents_share_a_folder() {
    let places = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let tracker = Tracker::start();
    let seeds = [1, 2].map(|n| {
        let show = places[n - 1].path().join("show");
        fs::create_dir(&show).unwrap();
        fs::write(show.join(format!("{n}.bin")), vec![n as u8; 300_000]).unwrap();
        let torrent = Content::torrent_of(&show, "v1", &["--announce", &tracker.url()]);
        let seed = Peer::seed(&[&torrent], places[n - 1].path());
        wait_for(|| tracker.heard(|heard| heard.ports.len() == n));
        (torrent, seed)
    });
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let daemon = Daemon::start(&state, &["--dir", text(&downloads)]);
    for (torrent, _) in &seeds {
        daemon.done(["add", text(torrent)]);
    }
    wait_for(|| {
        daemon
            .done(["list"])
            .iter()
            .all(|it| it["complete"] == true)
    });
    for n in [1, 2] {
        let file = fs::read(downloads.join(format!("show/{n}.bin"))).unwrap();
        assert!(file == vec![n; 300_000]);
    }
    daemon.terminate();
}

/// A download never writes to a file of another one, also if a link leads to its folder.
#[test]
fn one_file_is_downloaded_by_one_torrent() {
    let content = Content::new();
    let [v1, v2] = ["v1", "v2"].map(|version| content.torrent("tree", version));
    let (place, state) = folder();
    let (real, link) = (place.path().join("real"), place.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let daemon = Daemon::start(&state, &[]);
    daemon.done(["add", "--paused", text(&v1), "--dir", text(&real)]);
    daemon.wait_for_activity("paused");
    let added = daemon.done(["add", "--paused", text(&v2), "--dir", text(&link)]);
    let hash = added[0]["info_hash"].as_str().unwrap();
    daemon.wait_for_error(hash, "has the same file");
    // Elsewhere, it is a download of its own.
    daemon.done(["remove", hash]);
    daemon.done(["add", "--paused", text(&v2), "--dir", text(place.path())]);
    wait_for(|| {
        let list = daemon.done(["list"]);
        list.iter()
            .all(|it| it["activity"] == "paused" && it["error"].is_null())
    });
    daemon.terminate();
}
