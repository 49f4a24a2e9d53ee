//! Categories and goals of `hashlane daemon`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::daemon::{Daemon, daemon_command, folder};
use super::peers::{Content, ended};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_category_gives_a_folder_and_a_goal() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let (downloads, tv) = (place.path().join("downloads"), place.path().join("tv"));
    let daemon = Daemon::start(&state, &["--dir", text(&downloads)]);
    let refused = daemon.ctl(["add", text(&torrent), "--category", "tv"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("tv: no such category"),
        "{refused:?}"
    );
    daemon.done([
        "category",
        "set",
        "tv",
        "--dir",
        text(&tv),
        "--seed-ratio",
        "2",
    ]);
    daemon.done(["add", text(&torrent), "--category", "tv"]);
    daemon.kill();
    let daemon = Daemon::start(&state, &["--dir", text(&downloads), "--seed-time", "1h"]);
    let listed = daemon.torrent();
    assert_eq!(listed["category"], json!("tv"));
    assert_eq!(listed["folder"], json!(text(&tv)));
    // The time comes from the daemon, because neither the torrent nor the category has one.
    assert_eq!(
        (&listed["seed_ratio"], &listed["seed_seconds"]),
        (&json!(2.0), &json!(3600))
    );
    let goal = |daemon: &Daemon| {
        let torrent = daemon.torrent();
        [
            torrent["seed_ratio"].clone(),
            torrent["seed_seconds"].clone(),
        ]
    };
    daemon.done(["set", "--all", "--seed-ratio", "0", "--seed-time", "2h"]);
    assert_eq!(goal(&daemon), [Value::Null, json!(7200)]);
    daemon.done(["set", "--all", "--default-goal"]);
    assert_eq!(goal(&daemon), [json!(2.0), json!(3600)]);
    daemon.done(["category", "set", "tv", "--seed-ratio", "3"]);
    assert_eq!(goal(&daemon), [json!(3.0), json!(3600)]);
    let groups = daemon.done(["category", "list"]);
    assert_eq!(
        groups,
        [json!({
            "type": "groups", "labels": [],
            "categories": [{
                "name": "tv", "folder": text(&tv), "goal": {"ratio": 3.0}, "torrents": 1, "configured": false,
            }],
        })]
    );
    daemon.done(["category", "remove", "tv"]);
    assert_eq!(daemon.torrent()["category"], Value::Null);
    assert_eq!(goal(&daemon), [Value::Null, json!(3600)]);
    assert_eq!(
        daemon.done(["category", "list"])[0]["categories"],
        json!([])
    );
    let refused = daemon.ctl(["category", "remove", "tv"]);
    refused.assert_failed("tv: no such category");
}

#[test]
fn the_configuration_has_categories_and_labels() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    fs::write(
        &config,
        "[categories.tv]\ndir = \"tv\"\nseed-time = \"3h\"\n\
         [labels.private]\nseed-ratio = 5\nseed-time = \"9h\"\n[labels.free]\nseed-ratio = 1\n",
    )
    .unwrap();
    let options = ["--dir", text(place.path()), "--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    daemon.done([
        "add",
        text(&torrent),
        "--category",
        "tv",
        "--label",
        "free",
        "--label",
        "private",
    ]);
    let listed = daemon.torrent();
    // Relative folders start at the folder of the file.
    assert_eq!(listed["folder"], json!(text(&place.path().join("tv"))));
    assert_eq!(
        (&listed["seed_ratio"], &listed["seed_seconds"]),
        (&json!(5.0), &json!(10_800))
    );
    for change in [
        &["category", "remove", "tv"][..],
        &["category", "set", "tv", "--seed-ratio", "1"],
    ] {
        let refused = daemon.ctl(change);
        assert_eq!(refused.code, Some(2));
        assert!(
            refused.stderr.contains("set in the configuration"),
            "{refused:?}"
        );
    }
    daemon.terminate();
    fs::write(
        &config,
        "[categories.tv]\nseed-ratio = 2\n\n[labels.a]\nseed-ratios = 3\n",
    )
    .unwrap();
    let refused = ended(&mut daemon_command(&state, &options));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("config.toml: line 5: unknown key `seed-ratios`; did you mean `seed-ratio`?"),
        "{refused:?}"
    );
}

#[test]
fn the_goal_of_a_category_pauses_its_torrents() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(content.path())]);
    daemon.done(["category", "set", "short", "--seed-time", "1s"]);
    daemon.done(["add", text(&torrent), "--category", "short"]);
    daemon.wait_until("paused by its goal", |torrent| torrent["paused"] == true);
    // A person who resumes it wants it to be served on.
    daemon.done(["resume", "--all"]);
    let resumed = daemon.wait_for_activity("serving");
    assert_eq!(resumed["seed_seconds"], Value::Null);
}
