//! The limits of all torrents of `hashlane daemon`: those of the configuration, those that requests set, and the alternative
//! ones.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::daemon::{Daemon, ctl, folder};
use crate::wait_for;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits until the limits are in force: of downloads, and of uploads.
#[track_caller]
fn wait_for_rates(daemon: &Daemon, down: Value, up: Value) {
    let expected = [down, up];
    let mut found = Vec::new();
    wait_for(|| {
        let status = daemon.done(["status"]).remove(0);
        found = ["max_down", "max_up"]
            .map(|name| status[name].clone())
            .into();
        found == expected
    });
}

/// Returns a limit from a list of all.
#[track_caller]
fn limit<'l>(limits: &'l [Value], name: &str) -> &'l Value {
    let found = limits.iter().find(|limit| limit["limit"] == name);
    found.unwrap_or_else(|| panic!("{name}: {limits:#?}"))
}

#[test]
fn alternative_limits_replace_all_others() {
    let (place, state) = folder();
    let config = place.path().join("config.toml");
    let schedule = "[schedule.always]\nmax-up = 300\n";
    let rates = "[network]\nmax-down = 100\nmax-up = 200\n[daemon]\nalt-max-down = 10\n";
    fs::write(&config, format!("{rates}{schedule}")).unwrap();
    let options = ["--config", text(&config)];
    let daemon = Daemon::start(&state, &options);
    wait_for_rates(&daemon, json!(100), json!(300));
    daemon.done(["limits", "--alternative", "on"]);
    // A direction without an alternative limit keeps that of the schedule.
    wait_for_rates(&daemon, json!(10), json!(300));
    assert_eq!(daemon.done(["status"])[0]["alternative"], json!(true));
    daemon.done(["limits", "--alt-max-up", "20", "--max-down", "7"]);
    wait_for_rates(&daemon, json!(10), json!(20));
    daemon.kill();
    // The switch and the limits last.
    let daemon = Daemon::start(&state, &options);
    wait_for_rates(&daemon, json!(10), json!(20));
    daemon.done(["limits", "--alternative", "off"]);
    wait_for_rates(&daemon, json!(7), json!(300));
    // 0 removes a limit, and a reload changes only what no request has set.
    daemon.done(["limits", "--alternative", "on", "--alt-max-up", "0"]);
    fs::write(
        &config,
        "[network]\nmax-up = 50\n[daemon]\nalt-max-down = 9\nalt-max-up = 8\n",
    )
    .unwrap();
    daemon.done(["reload"]);
    wait_for_rates(&daemon, json!(9), json!(50));
    daemon.done(["limits", "--configured"]);
    wait_for_rates(&daemon, json!(9), json!(8));
    assert_eq!(daemon.stderr(), "");
    daemon.terminate();
}

/// A limit that a request set wins over the configuration until it is given back.
#[test]
fn limits_show_their_origins() {
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--max-down", "2MiB", "--seed-ratio", "1.5"]);
    let limits = daemon.done(["limits", "--max-up", "1KiB", "--max-down", "0"]);
    let expected = json!({
        "type": "limit", "limit": "max-down", "value": null, "configured": 2 << 20, "requested": true,
    });
    assert_eq!(*limit(&limits, "max-down"), expected);
    assert_eq!(limit(&limits, "max-up")["value"], 1024);
    assert_eq!(limit(&limits, "seed-ratio")["value"], 1.5);
    assert_eq!(limit(&limits, "seed-ratio")["requested"], false);
    wait_for_rates(&daemon, json!(null), json!(1024));
    let status = daemon.done(["status"]).remove(0);
    assert_eq!(status["requested_limits"], json!(["max-down", "max-up"]));
    let shown = |args: &[&str]| {
        let output = ctl(&state).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        shown(&["status"]).contains("set by requests, not by the configuration: max-down, max-up;")
    );
    assert!(shown(&["limits"]).contains("max-down: none, set by a request; configured: 2 MiB/s\n"));
    let file = state.join("session.toml");
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "max_down = \"never\"\nmax_up = 1024\n");
    let limits = daemon.done(["limits", "--configured"]);
    assert!(
        limits.iter().all(|limit| limit["requested"] == false),
        "{limits:#?}"
    );
    wait_for_rates(&daemon, json!(2 << 20), json!(null));
    daemon.kill();
    let daemon = Daemon::start(&state, &["--max-down", "3MiB"]);
    wait_for_rates(&daemon, json!(3 << 20), json!(null));
    daemon.terminate();
}

/// A damaged file is kept, and the configuration decides.
#[test]
fn damaged_limits_are_reported() {
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--max-down", "5"]);
    daemon.done(["limits", "--max-down", "6"]);
    daemon.terminate();
    fs::write(state.join("session.toml"), "max_down = -1\n").unwrap();
    let daemon = Daemon::start(&state, &["--max-down", "5"]);
    wait_for_rates(&daemon, json!(5), json!(null));
    assert!(
        daemon.stderr().contains("session.toml:1: "),
        "{}",
        daemon.stderr()
    );
    let kept = fs::read_to_string(state.join("session.toml.damaged-1"));
    assert_eq!(kept.unwrap(), "max_down = -1\n");
    daemon.terminate();
}
