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
