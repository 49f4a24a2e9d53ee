//! Torrents that are added twice under different info-hashes.

use serde_json::{Value, json};

use super::daemon::{Daemon, folder};
use super::metadata::shown;
use super::peers::{Content, Peer};
use super::tracker::Tracker;
use crate::{wait_for, wait_for_state};

/// A hybrid torrent that a peer serves.
struct Hybrid {
    content: Content,
    torrent: std::path::PathBuf,
    tracker: Tracker,
    _seed: Peer,
}

impl Hybrid {
    fn serve() -> Self {
        let content = Content::new();
        let tracker = Tracker::start();
        let torrent = content.torrent_with("tree", "hybrid", &["--announce", &tracker.url()]);
        let seed = Peer::seed(&[&torrent], content.path());
        // It announces both info-hashes.
        wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
        Self {
            content,
            torrent,
            tracker,
            _seed: seed,
        }
    }

    /// Returns a link with the info-hash of one version.
    fn link(&self, version: &str) -> String {
        let found = shown(&self.torrent);
        let hash = found[format!("info_hash_{version}")].as_str().unwrap();
        let topic = match version {
            "v1" => format!("urn:btih:{hash}"),
            _ => format!("urn:btmh:1220{hash}"),
        };
        let tracker = super::http::encoded(&self.tracker.url());
        format!("magnet:?xt={topic}&dn={version}&tr={tracker}")
    }
}

/// A magnet link with one of the info-hashes of a hybrid, and then its .torrent file, are one torrent.
#[test]
fn a_file_is_the_torrent_of_a_link_of_either_version() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let found = shown(&torrent);
    let v1 = format!(
        "magnet:?xt=urn:btih:{}",
        found["info_hash_v1"].as_str().unwrap()
    );
    let v2 = format!(
        "magnet:?xt=urn:btmh:1220{}",
        found["info_hash_v2"].as_str().unwrap()
    );
    let torrent = torrent.to_str().unwrap();
    for (first, second) in [
        (&*v1, torrent),
        (&*v2, torrent),
        (torrent, &*v1),
        (torrent, &*v2),
    ] {
        let (place, state) = folder();
        let downloads = place.path().join("downloads");
        let options = ["--dir", downloads.to_str().unwrap()];
        let daemon = Daemon::start(&state, &options);
        let add = |source: &str| {
            daemon
                .done(["add", "--paused", "--label", "x", source])
                .swap_remove(0)
        };
        let added = add(first);
        assert_eq!(added["present"], false, "{added}");
        let again = add(second);
        assert_eq!(again["present"], true, "{again}");
        assert_eq!(again["info_hash"], added["info_hash"]);
        assert_eq!(daemon.done(["list"]).len(), 1);
        daemon.terminate();
        let daemon = Daemon::start(&state, &options);
        assert_eq!(daemon.torrent()["labels"], json!(["x"]));
        daemon.terminate();
    }
}

/// Two links, each with one of the info-hashes of a hybrid, are found to be one torrent when its metadata arrives. One of them
/// is downloaded. The other one fails with the reason, and stays with its choices until a person removes it.
#[test]
fn two_links_of_a_hybrid_are_one_torrent() {
    for order in [["v1", "v2"], ["v2", "v1"]] {
        let hybrid = Hybrid::serve();
        let (place, state) = folder();
        let downloads = place.path().join("downloads");
        let options = ["--dir", downloads.to_str().unwrap()];
        let daemon = Daemon::start(&state, &options);
        for version in order {
            daemon.done(["add", "--label", version, &hybrid.link(version)]);
        }
        let failed = one_is_served(&daemon);
        hybrid.content.assert_same("tree", &downloads);
        let reason = failed["error"].as_str().unwrap();
        // Metadata of both links can arrive before either is known to be the other.
        let reasons = ["remove one of the two", "has the same file"];
        assert!(reasons.iter().any(|it| reason.contains(it)), "{reason}");
        daemon.terminate();
        let daemon = Daemon::start(&state, &options);
        let failed = one_is_served(&daemon);
        let labels = daemon.done(["list"]).into_iter();
        let mut labels: Vec<_> = labels.map(|torrent| torrent["labels"][0].clone()).collect();
        labels.sort_by_key(ToString::to_string);
        assert_eq!(labels, ["v1", "v2"], "{order:?}");
        daemon.done(["remove", failed["info_hash"].as_str().unwrap()]);
        daemon.wait_for_activity("serving");
        daemon.terminate();
        hybrid.content.assert_same("tree", &downloads);
    }
}

/// Waits until one of two torrents is served and the other one has failed, and returns that.
#[track_caller]
fn one_is_served(daemon: &Daemon) -> Value {
    let with = |all: &[Value], activity| {
        let torrents = all.iter().filter(|it| it["activity"] == activity);
        torrents.cloned().collect::<Vec<_>>()
    };
    let list = || daemon.done(["list"]);
    let all = wait_for_state(list, |all| {
        with(all, "serving").len() == 1 && with(all, "failed").len() == 1
    });
    with(&all, "failed").remove(0)
}
