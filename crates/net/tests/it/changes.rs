//! Requests that add, change, move and remove torrents.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::http::{Response, ask_bytes};
use super::metadata::shown;
use super::page::Page;
use super::peers::{Content, Peer};
use super::tracker::Tracker;

/// Starts a process that downloads what is added, and serves it.
fn downloading(seed: &Peer, folder: &Path) -> Page {
    let watched = folder.join("watched");
    fs::create_dir(&watched).unwrap();
    let options = [
        "--http",
        "0",
        "--seed",
        "--watch-dir",
        watched.to_str().unwrap(),
    ];
    Page::of(Peer::get(&[], &folder.join("downloads"), seed, &options))
}

fn add(page: &Page, torrent: &Path) -> Response {
    let headers = [
        ("Content-Type", "application/x-bittorrent"),
        ("Authorization", page.bearer()),
    ];
    let bytes = fs::read(torrent).unwrap();
    ask_bytes(page.address, "POST /api/v1/torrents", &headers, &bytes)
}

/// Waits until a torrent fulfils a condition.
fn wait_for(page: &Page, number: u64, is_so: impl Fn(&Value) -> bool) {
    page.wait_for(|all| {
        let mut torrents = all["torrents"].as_array().unwrap().iter();
        torrents.any(|one| one["number"] == number && is_so(one))
    });
}

fn is_serving(torrent: &Value) -> bool {
    torrent["activity"] == "serving" && torrent["complete"] == true
}

/// A torrent is named by its info-hashes as soon as it is added, and is added once.
#[test]
fn an_addition_is_answered_by_the_torrent() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = downloading(&seed, folder.path());
    let shown = shown(&torrent);
    let (v1, v2) = (&shown["info_hash_v1"], &shown["info_hash_v2"]);
    let expected = |present: bool| {
        json!({
            "number": 0, "info_hash": v1, "info_hash_v1": v1, "info_hash_v2": v2, "title": "tree",
            "present": present,
        })
    };
    let first = add(&page, &torrent);
    assert_eq!((first.status, first.json()), (201, expected(false)));
    assert_eq!(first.header("location"), Some("/api/v1/torrents/0"));
    let again = add(&page, &torrent);
    assert_eq!((again.status, again.json()), (200, expected(true)));
    for link in [v1, v2] {
        let body = json!({"link": link}).to_string();
        assert_eq!(page.change("POST /api/v1/torrents", &body), 200);
    }
    wait_for(&page, 0, is_serving);
    assert_eq!(page.apply(0, &json!({"action": "end"})), 202);
    wait_for(&page, 0, |torrent| torrent["activity"] == "ended");
    let second = add(&page, &torrent);
    assert_eq!((second.status, &second.json()["number"]), (201, &json!(1)));
    // An unknown info-hash is a torrent, too.
    let link = json!({"link": "1".repeat(40)}).to_string();
    assert_eq!(page.change("POST /api/v1/torrents", &link), 201);
    assert_eq!(page.change("POST /api/v1/torrents", &link), 200);
    assert_eq!(
        page.get(&format!("/api/v1/torrents/{}", "1".repeat(40)))
            .status,
        200
    );
}

#[test]
fn torrents_are_removed_by_requests() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v2"),
    );
    let seed = Peer::seed(&[&tree, &file], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = downloading(&seed, folder.path());
    let downloads = folder.path().join("downloads");
    assert_eq!(add(&page, &tree).status, 201);
    assert_eq!(add(&page, &file).status, 201);
    wait_for(&page, 0, is_serving);
    wait_for(&page, 1, is_serving);
    for invalid in [
        json!({"content": ""}),
        json!({"content": "all"}),
        json!({"x": 1}),
    ] {
        let mut command = invalid.clone();
        command["action"] = "remove".into();
        assert_eq!(page.apply(0, &command), 422, "{command}");
    }
    let remove = |number: u64, content: &str| {
        page.apply(number, &json!({"action": "remove", "content": content}))
    };
    assert_eq!(remove(0, "keep"), 202);
    let line = page.peer.wait_for_line("removed");
    assert_eq!(
        (&line["number"], &line["torrent"]),
        (&json!(0), &json!("tree"))
    );
    assert!(
        line["deleted"].is_null() && line["uploaded_bytes"].is_u64(),
        "{line}"
    );
    assert_eq!(page.get("/api/v1/torrents/0").status, 404);
    assert_eq!(page.apply(0, &json!({"action": "remove"})), 404);
    assert_eq!(page.apply(0, &json!({"action": "pause"})), 404);
    let torrents = page.get("/api/v1/torrents").json();
    assert_eq!(
        torrents["torrents"].as_array().unwrap().len(),
        1,
        "{torrents}"
    );
    content.assert_same("tree", &downloads);
    // The path of the first torrent is free. Both are deleted then.
    assert_eq!(add(&page, &tree).json()["number"], 2);
    wait_for(&page, 2, is_serving);
    for number in [1, 2] {
        assert_eq!(remove(number, "delete"), 202);
    }
    page.wait_for(|all| all["torrents"].as_array().unwrap().is_empty());
    let is_empty = || fs::read_dir(&downloads).unwrap().next().is_none();
    while !is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let ended = page.peer.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let deleted = ended.lines.iter().filter(|line| line["type"] == "removed");
    let deleted: Vec<_> = deleted.map(|line| &line["deleted"]["kept"]).collect();
    assert_eq!(deleted, [&Value::Null, &json!([]), &json!([])], "{ended:?}");
}

/// What a request changes is part of the torrent, and the session follows it.
#[test]
#[expect(clippy::too_many_lines, reason = "one change after the other")]
fn torrents_are_changed_by_requests() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    // With a watched folder, the process runs on without a running torrent.
    let watched = tempfile::tempdir().unwrap();
    let options = [
        "--http",
        "0",
        "--watch-dir",
        watched.path().to_str().unwrap(),
    ];
    let seed = Page::of(Peer::seed_with(&[&torrent], content.path(), &options));
    seed.peer.wait_for_line("verified");
    let change = |action: &str, mut command: Value| {
        command["action"] = action.into();
        seed.apply(0, &command)
    };
    let limits = json!({"max_down": 1_048_576, "max_up": 2_097_152});
    assert_eq!(change("set", limits), 202);
    let together = json!({"max_down": null, "labels": ["b", "a"]});
    assert_eq!(change("set", together), 202);
    let goal = json!({"seed_ratio": 50, "seed_seconds": 86_400});
    assert_eq!(change("set", goal), 202);
    let labels: Vec<String> = (0..65).map(|number| number.to_string()).collect();
    for invalid in [
        json!({ "labels": labels }),
        json!({"max_down": 0}),
        json!({"seed_ratio": -1}),
        json!({"seed_ratio": "always"}),
        json!({"seed_seconds": -1}),
        json!({"seed_seconds": 1e300}),
        json!({"serve": true}),
    ] {
        assert_eq!(change("set", invalid.clone()), 422, "{invalid}");
    }
    let body = r#"{"action": "set_category", "name": "tv"}"#;
    assert_eq!(seed.change("POST /api/v1/groups", body), 202);
    let others = json!({"category": "tv", "idle_seconds": 86_400});
    assert_eq!(change("set", others), 202);
    wait_for(&seed, 0, |one| {
        one["labels"] == json!(["a", "b"])
            && one["max_down"].is_null()
            && one["max_up"] == 2_097_152
            && one["seed_ratio"] == 50.0
            && one["seed_seconds"] == 86_400
            && one["idle_seconds"] == 86_400
            && one["category"] == "tv"
            && one["serve"] == true
    });
    // The tracker learns of the torrent, and is known after a verification.
    let tracker = Tracker::start();
    assert_eq!(change("add_tracker", json!({"url": "no URL"})), 422);
    assert_eq!(change("add_tracker", json!({"url": tracker.url()})), 202);
    seed.wait_for(|_| tracker.heard(|heard| !heard.ports.is_empty()));
    assert_eq!(change("verify", json!({})), 202);
    assert_eq!(change("add_peer", json!({"address": "nobody"})), 422);
    seed.wait_for(|_| seed.peer.lines_of("verified").len() == 2);
    let trackers = || seed.get("/api/v1/torrents/0/trackers").json();
    seed.wait_for(|_| trackers()["total"] == 1);
    assert_eq!(change("reannounce", json!({})), 202);
    // A download finds its peer by a request.
    let folder = tempfile::tempdir().unwrap();
    let address = seed.peer.wait_for_line("listening")["address"].clone();
    let options = ["--http", "0", "--seed"];
    let page = Page::of(Peer::get_alone(&[&torrent], folder.path(), &options));
    wait_for(&page, 0, |one| one["activity"] == "downloading");
    let peer = json!({"action": "add_peer", "address": address});
    assert_eq!(page.apply(0, &peer), 202);
    wait_for(&page, 0, is_serving);
    content.assert_same("tree", folder.path());
    // A ratio of 0 is reached.
    assert_eq!(change("set", json!({"seed_ratio": 0})), 202);
    wait_for(&seed, 0, |one| one["activity"] == "ended");
    assert_eq!(change("set", json!({"labels": []})), 202);
    wait_for(&seed, 0, |one| one["labels"] == json!([]));
    // A torrent that is over runs again.
    assert_eq!(change("set", json!({"seed_ratio": "never"})), 202);
    assert_eq!(change("resume", json!({})), 202);
    wait_for(&seed, 0, is_serving);
}

/// Requests move content below the folders of the command, and nowhere else.
#[test]
fn content_moves_only_below_the_folders_of_the_command() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = downloading(&seed, folder.path());
    assert_eq!(add(&page, &torrent).status, 201);
    wait_for(&page, 0, is_serving);
    let downloads = folder.path().join("downloads");
    let relocate = |to: &Path| page.apply(0, &json!({"action": "relocate", "folder": to}));
    let outside = [
        folder.path().to_owned(),
        downloads.join("../watched"),
        "downloads".into(),
        "".into(),
    ];
    for outside in outside {
        assert_eq!(relocate(&outside), 403, "{}", outside.display());
    }
    let new = downloads.join("new/folder");
    assert_eq!(relocate(&new), 202);
    let line = page.peer.wait_for_line("relocated");
    assert_eq!(line["content"], json!(new.join("tree")), "{line}");
    assert!(line["error"].is_null(), "{line}");
    wait_for(&page, 0, |one| {
        is_serving(one) && one["content"] == json!(new.join("tree"))
    });
    content.assert_same("tree", &new);
    assert!(!downloads.join("tree").exists());
}
