//! Downloads that are paused: they create nothing before they start.

use serde_json::json;

use super::daemon::{Daemon, folder, text};
use super::peers::{Content, Peer};
use super::tracker::Tracker;
use crate::wait_for;

#[test]
fn a_paused_download_creates_nothing_before_it_starts() {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
    let _seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (place, state) = folder();
    let (downloads, moved) = (place.path().join("absent/a"), place.path().join("absent/b"));
    let daemon = Daemon::start(&state, &[]);
    let added = daemon.done(["add", text(&torrent), "--dir", text(&downloads), "--paused"]);
    let hash = added[0]["info_hash"].as_str().unwrap();
    daemon.wait_for_activity("paused");
    daemon.done(["verify", hash]);
    daemon.wait_for_activity("paused");
    // Nothing is there that could be moved.
    daemon.done(["move", hash, "--dir", text(&moved)]);
    daemon.wait_until("moved", |torrent| {
        torrent["folder"] == json!(text(&moved)) && torrent["activity"] == "paused"
    });
    assert!(!place.path().join("absent").exists());
    // A restart is no start of the download.
    daemon.terminate();
    let daemon = Daemon::start(&state, &[]);
    daemon.wait_for_activity("paused");
    assert!(!place.path().join("absent").exists());
    daemon.done(["resume", hash]);
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    content.assert_same("tree", &moved);
    assert!(!downloads.exists());
    assert_eq!(daemon.stderr(), "");
    daemon.terminate();
}

/// A link that is added paused says nothing to its tracker until it is resumed, also after a restart.
#[test]
fn a_paused_link_announces_nothing() {
    let content = Content::new();
    let [paused, running] = [(); 2].map(|()| Tracker::start());
    let link = |name: &str, tracker: &Tracker| {
        let link = content.magnet(&content.torrent(name, "v1"));
        format!("{link}&tr={}", tracker.url())
    };
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(content.path())]);
    daemon.done(["add", "--paused", &link("tree", &paused)]);
    daemon.done(["add", &link("file.bin", &running)]);
    wait_for(|| running.heard(|heard| heard.ports.len() == 1));
    assert!(paused.heard(|heard| heard.ports.is_empty()));
    daemon.terminate();
    let daemon = Daemon::start(&state, &["--dir", text(content.path())]);
    wait_for(|| running.heard(|heard| heard.ports.len() == 2));
    assert!(paused.heard(|heard| heard.ports.is_empty()));
    let list = daemon.done(["list"]);
    let hash = |position: usize| list[position]["info_hash"].as_str().unwrap();
    let activity = |hash: &str| daemon.done(["list", hash])[0]["activity"].clone();
    wait_for(|| activity(hash(0)) == "paused");
    daemon.done(["pause", hash(1)]);
    wait_for(|| activity(hash(1)) == "paused");
    wait_for(|| running.heard(|heard| heard.stopped.len() == 2));
    daemon.done(["resume", hash(0)]);
    wait_for(|| paused.heard(|heard| heard.ports.len() == 1));
    wait_for(|| activity(hash(0)) == "metadata");
    daemon.terminate();
}
