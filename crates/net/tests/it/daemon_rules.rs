//! Rules of the configuration for torrents of `hashlane daemon`.

use std::fs;

use serde_json::{Value, json};

use super::daemon::{Daemon, ctl, folder, text};
use super::daemon_api::Api;
use super::peers::Content;
use crate::wait_for;

/// Returns what rules set for the only torrent, by the rule and the setting.
fn effects(lines: &[Value]) -> Vec<String> {
    let effects = lines
        .iter()
        .flat_map(|line| line["effects"].as_array().unwrap());
    let text = |effect: &Value| {
        let part = |name: &str| effect[name].as_str().unwrap().to_owned();
        format!("{}: {} {}", part("rule"), part("setting"), part("value"))
    };
    effects.map(text).collect()
}

/// Rules look at trackers and the private flag. A dry run shows the rules of the file, a reload uses them, and `ctl rules` names
/// those in force.
#[test]
#[expect(clippy::too_many_lines, reason = "the test follows one daemon")]
fn rules_follow_the_configuration() {
    let content = Content::new();
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    let options = [
        "--announce",
        "http://user:secret@T.Site.example:1/0123456789abcdef/announce",
        "--private",
    ];
    let torrent = content.torrent_with("file.bin", "v1", &options);
    fs::write(&config, "").unwrap();
    let daemon = Daemon::start(&state, &["--config", text(&config)]);
    let file = content.path().join("file.bin");
    daemon.done(["add", text(&torrent), "--content", text(&file)]);
    daemon.wait_for_activity("serving");
    assert_eq!(daemon.done(["rules"]), [] as [Value; 0]);
    let rules = "[[rules]]\nname = \"site\"\nif.tracker = \"site.example\"\nif.private = true\nseed-time = \"10d\"\nmax-up = \"1MiB\"\n\
                 [[rules]]\nif.private = false\nseed-time = \"1h\"\n\
                 [[rules]]\nseed-time = \"2h\"\nidle-time = 0\ncategory = \"late\"\nlabel = [\"a\", \"b\"]\n";
    fs::write(&config, rules).unwrap();
    let expected = [
        "site: seed-time 864000",
        "site: max-up 1048576",
        "rule 3: idle-time never",
        "rule 3: category late",
        "rule 3: label a",
        "rule 3: label b",
    ];
    let tried = daemon.done(["rules", "--dry-run"]);
    assert_eq!(effects(&tried), expected);
    assert_eq!(tried[0]["reached_goal"], false);
    // A dry run changes nothing.
    assert_eq!(daemon.torrent()["seed_seconds"], Value::Null);
    assert_eq!(daemon.done(["rules"]), [] as [Value; 0]);
    assert_eq!(daemon.done(["reload"])[0]["restart"], json!([]));
    assert_eq!(effects(&daemon.done(["rules"])), expected);
    let ruled = daemon.torrent();
    assert_eq!(
        (
            &ruled["seed_seconds"],
            &ruled["max_up"],
            &ruled["category"],
            &ruled["labels"]
        ),
        (
            &json!(864_000),
            &json!(1 << 20),
            &json!("late"),
            &json!(["a", "b"])
        )
    );
    daemon.done(["set", "--all", "--max-up", "5KiB"]);
    let shown = ctl(&state).args(["rules", "file.bin"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let hash = ruled["info_hash"].as_str().unwrap();
    let lines: Vec<&str> = shown.lines().take(2).collect();
    assert_eq!(
        lines,
        [
            format!("{hash}: seed-time 864000 s by rule `site`: file.bin"),
            format!(
                "{hash}: max-up 1 MiB/s by rule `site`, but the torrent has a value of its own: file.bin"
            ),
        ]
    );
    daemon
        .ctl(["rules", "unknown"])
        .assert_failed("no such torrent");
    // An invalid configuration leaves the rules as they are.
    fs::write(&config, "[[rules]]\nif.privat = true\n").unwrap();
    let reason = format!(
        "{}: line 2: unknown key `privat`; did you mean `private`?",
        config.display()
    );
    daemon.ctl(["rules", "--dry-run"]).assert_failed(&reason);
    daemon.ctl(["reload"]).assert_failed(&reason);
    assert_eq!(effects(&daemon.done(["rules"])), expected);
    daemon.kill();
    // Rules that end leave nothing, also after a kill.
    fs::write(&config, "").unwrap();
    let daemon = Daemon::start(&state, &["--config", text(&config)]);
    let left = daemon.torrent();
    assert_eq!(
        (
            &left["seed_seconds"],
            &left["max_up"],
            &left["category"],
            &left["labels"]
        ),
        (&Value::Null, &json!(5 << 10), &Value::Null, &json!([]))
    );
    daemon.terminate();
}

/// The goal of a rule pauses a torrent that has reached it, and the dry run says so before.
#[test]
fn a_rule_pauses_a_torrent() {
    let content = Content::new();
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    fs::write(&config, "").unwrap();
    let api = Api::start(
        &state,
        &place.path().join("downloads"),
        &["--config", text(&config)],
    );
    let daemon = &api.daemon;
    for (name, version) in [("file.bin", "v1"), ("tree", "v1")] {
        let torrent = content.torrent(name, version);
        daemon.done([
            "add",
            text(&torrent),
            "--content",
            text(&content.path().join(name)),
        ]);
    }
    let activities = || {
        let list = daemon.done(["list"]);
        list.iter()
            .map(|torrent| torrent["activity"].clone())
            .collect::<Vec<_>>()
    };
    wait_for(|| activities() == ["serving", "serving"]);
    fs::write(
        &config,
        "[[rules]]\nif.name = \"FILE*\"\nseed-time = 1\n[[rules]]\nseed-time = \"1h\"\n",
    )
    .unwrap();
    let pauses = || {
        let lines = daemon.done(["rules", "--dry-run"]);
        lines
            .iter()
            .map(|line| line["reached_goal"].clone())
            .collect::<Vec<_>>()
    };
    wait_for(|| pauses() == [json!(true), json!(false)]);
    assert_eq!(activities(), ["serving", "serving"]);
    daemon.done(["reload"]);
    wait_for(|| activities() == ["paused", "serving"]);
    assert_eq!(
        api.get("rules").json()["rules"],
        json!(["rule 1", "rule 2"])
    );
    assert_eq!(
        api.get("rules?dry_run=true").json(),
        api.get("rules").json()
    );
    assert_eq!(api.get("rules?dry_run=maybe").status, 400);
    assert_eq!(api.get("rules?other=1").status, 400);
    api.daemon.terminate();
}
