//! The queue of `hashlane daemon`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::daemon::{Daemon, folder};
use super::peers::Content;
use crate::wait_for;

/// Returns torrents whose contents have different names.
fn torrents(content: &Content, n: usize) -> Vec<PathBuf> {
    let named = |number| {
        let copy = content.path().join(format!("{number}.bin"));
        std::fs::copy(content.path().join("file.bin"), &copy).unwrap();
        Content::torrent_of(&copy, "v1", &[])
    };
    (0..n).map(named).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn activities(daemon: &Daemon) -> Vec<String> {
    let list = daemon.done(["list"]);
    let activities = list.iter().map(|torrent| torrent["activity"].as_str());
    activities
        .map(|activity| activity.unwrap().to_owned())
        .collect()
}

#[track_caller]
fn wait_for_activities(daemon: &Daemon, expected: &[&str]) {
    let mut seen = Vec::new();
    wait_for(|| {
        seen = activities(daemon);
        seen == expected
    });
}

fn names(daemon: &Daemon) -> Vec<Value> {
    let list = daemon.done(["list"]);
    list.iter().map(|torrent| torrent["name"].clone()).collect()
}

#[test]
fn downloads_wait_for_their_turn() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let options = ["--dir", text(&downloads), "--max-active-downloads", "1"];
    let daemon = Daemon::start(&state, &options);
    let torrents = torrents(&content, 3);
    let added: Vec<_> = torrents
        .iter()
        .map(|torrent| daemon.done(["add", text(torrent)]))
        .collect();
    let hash = |number: usize| added[number][0]["info_hash"].as_str().unwrap();
    wait_for_activities(&daemon, &["downloading", "queued", "queued"]);
    let status = &daemon.done(["status"])[0];
    assert_eq!(
        (&status["downloading"], &status["queued"], &status["paused"]),
        (&json!(1), &json!(2), &json!(0))
    );
    let moved = daemon.done(["queue", "top", hash(2)]);
    assert_eq!(
        (&moved[0]["type"], &moved[0]["action"]),
        (&json!("changed"), &json!("queue"))
    );
    assert_eq!(names(&daemon), ["2.bin", "0.bin", "1.bin"]);
    wait_for_activities(&daemon, &["downloading", "queued", "queued"]);
    daemon.done(["queue", "up", hash(1)]);
    assert_eq!(names(&daemon), ["2.bin", "1.bin", "0.bin"]);
    daemon.done(["queue", "1", hash(2)]);
    assert_eq!(names(&daemon), ["1.bin", "2.bin", "0.bin"]);
    daemon.done(["queue", "0", hash(2)]);
    assert_eq!(names(&daemon), ["2.bin", "1.bin", "0.bin"]);
    // A torrent that a person pauses leaves its place to the next one, and gets no place while others have it.
    daemon.done(["pause", hash(2)]);
    wait_for_activities(&daemon, &["paused", "downloading", "queued"]);
    daemon.done(["resume", "--now", hash(0)]);
    wait_for_activities(&daemon, &["paused", "downloading", "downloading"]);
    daemon.kill();
    // The order and the force last.
    let daemon = Daemon::start(&state, &options);
    wait_for_activities(&daemon, &["paused", "downloading", "downloading"]);
    assert_eq!(names(&daemon), ["2.bin", "1.bin", "0.bin"]);
    let list = daemon.done(["list"]);
    let orders = list.iter().map(|torrent| torrent["queue_position"].clone());
    assert_eq!(orders.collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(list[2]["forced"], json!(true));
    daemon.done(["resume", hash(0)]);
    wait_for_activities(&daemon, &["paused", "downloading", "queued"]);
    daemon.done(["remove", hash(1)]);
    wait_for_activities(&daemon, &["paused", "downloading"]);
    daemon.done(["resume", "--all"]);
    wait_for_activities(&daemon, &["downloading", "queued"]);
    assert_eq!(daemon.stderr(), "");
}

#[test]
fn complete_torrents_wait_for_their_turn() {
    let content = Content::new();
    let (_place, state) = folder();
    let options = ["--dir", text(content.path()), "--max-active-uploads", "1"];
    let daemon = Daemon::start(&state, &options);
    let torrents = torrents(&content, 2);
    for torrent in &torrents {
        daemon.done(["add", text(torrent)]);
    }
    wait_for_activities(&daemon, &["serving", "queued"]);
    assert_eq!(daemon.done(["list"])[1]["complete"], json!(true));
    daemon.terminate();
    // Without limits, no torrent waits.
    let daemon = Daemon::start(&state, &["--dir", text(content.path())]);
    wait_for_activities(&daemon, &["serving", "serving"]);
}

#[test]
fn a_stalled_download_keeps_no_other_waiting() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let limits = ["--max-active-downloads", "1", "--stalled-after", "1s"];
    let daemon = Daemon::start(
        &state,
        &[&["--dir", text(&downloads)], &limits[..]].concat(),
    );
    for torrent in torrents(&content, 2) {
        daemon.done(["add", text(&torrent)]);
    }
    wait_for_activities(&daemon, &["downloading", "downloading"]);
}

#[test]
fn a_magnet_link_gets_its_metadata_without_a_turn() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let limits = ["--max-active-downloads", "1"];
    let daemon = Daemon::start(
        &state,
        &[&["--dir", text(&downloads)], &limits[..]].concat(),
    );
    let torrents = torrents(&content, 2);
    daemon.done(["add", text(&torrents[0])]);
    daemon.done(["add", &content.magnet(&torrents[1])]);
    wait_for_activities(&daemon, &["downloading", "metadata"]);
}
