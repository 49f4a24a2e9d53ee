//! What a daemon says: on its standard error stream, in its log, and in the list of `ctl`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use super::daemon::{Daemon, daemon_command, folder, text};
use super::daemon_api::page_address;
use super::http::ask;
use super::peers::{Content, Peer, ended};
use super::tracker::Tracker;
use crate::wait_for;

#[test]
fn a_taken_port_is_reported_without_torrents() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (_place, state) = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.args(["daemon", "--bind", "127.0.0.1", "--port", &port]);
    command.args(["--no-dht", "--no-discovery", "--state-dir"]);
    command
        .arg(&state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let daemon = Daemon::of(&state, command);
    let start = format!("warning: port {port}: ");
    wait_for(|| daemon.stderr().contains(&start));
    let stderr = daemon.stderr();
    assert!(
        stderr.contains("choose another one with --port"),
        "{stderr}"
    );
    assert_eq!(stderr.matches(&start).count(), 1, "{stderr}");
    daemon.terminate();
}

/// The first lines say what listens where, and that a folder is missing.
#[test]
fn the_first_lines_say_what_listens() {
    let (place, state) = folder();
    let absent = place.path().join("absent");
    let local = "127.0.0.1:0";
    let options = ["--dir", text(&absent), "--http", "0"];
    let protocols = ["--transmission", local, "--qbittorrent", local];
    let options = [&options[..], &protocols, &["--insecure-no-auth"]].concat();
    let mut daemon = Daemon::start(&state, &options);
    let lines = BufReader::new(daemon.take_stdout()).lines();
    let lines: Vec<String> = lines.take(5).map(Result::unwrap).collect();
    for (line, start) in lines.iter().zip([
        "page: http://127.0.0.1:",
        "Transmission RPC: http://127.0.0.1:",
        "qBittorrent Web API: http://127.0.0.1:",
    ]) {
        assert!(line.starts_with(start), "{lines:#?}");
        assert!(!line.contains(":0/"), "{lines:#?}");
    }
    let content = format!("content: {}, which does not exist yet", text(&absent));
    assert_eq!(lines[3], content);
    let kept = format!("state folder: {}, for `hashlane ctl`", text(&state));
    assert_eq!(lines[4], kept);
    daemon.terminate();
}

#[test]
fn a_failed_move_is_shown_as_the_error() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let (downloads, other) = (place.path().join("a"), place.path().join("b"));
    for folder in [&downloads, &other] {
        fs::create_dir(folder).unwrap();
        fs::copy(content.path().join("file.bin"), folder.join("file.bin")).unwrap();
    }
    let daemon = Daemon::start(&state, &["--dir", text(&downloads)]);
    daemon.done(["add", text(&torrent)]);
    daemon.wait_for_activity("serving");
    daemon.done(["move", "file.bin", "--dir", text(&other)]);
    let failed = daemon.wait_until("not moved", |torrent| {
        torrent["error"].is_string() && torrent["activity"] == "serving"
    });
    let reason = failed["error"].as_str().unwrap();
    assert!(
        reason.starts_with("not moved to ") && reason.contains(text(&other)),
        "{reason}"
    );
    assert_eq!(failed["folder"], text(&downloads));
    // The next move replaces the error.
    fs::remove_file(other.join("file.bin")).unwrap();
    daemon.done(["move", "file.bin", "--dir", text(&other)]);
    daemon.wait_until("moved", |torrent| {
        torrent["error"].is_null() && torrent["folder"] == text(&other)
    });
    daemon.terminate();
}

#[test]
fn torrents_are_named_by_their_exact_names() {
    let content = Content::new();
    let (v1, v2) = (content.torrent("tree", "v1"), content.torrent("tree", "v2"));
    let file = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(place.path())]);
    let add = ["add", "--paused", text(&v1), text(&v2), text(&file)];
    let added = daemon.done(add);
    let listed = daemon.done(["list", "file.bin"]);
    assert_eq!(listed[0]["info_hash"], added[2]["info_hash"]);
    let several = daemon.ctl(["remove", "tree"]);
    several.assert_failed("tree: 2 torrents, name one of them by its info-hash: ");
    for torrent in &added[..2] {
        let candidate = format!("{} (tree)", torrent["info_hash"].as_str().unwrap());
        several.assert_failed(&candidate);
    }
    for unknown in ["tre", "FILE.BIN", "file.bin "] {
        daemon
            .ctl(["remove", unknown])
            .assert_failed("no such torrent");
    }
    daemon.done(["remove", "file.bin"]);
    assert_eq!(daemon.done(["list"]).len(), 2);
    daemon.terminate();
}

/// The daemon has no option `--force`.
#[test]
fn files_of_the_user_have_a_remedy_that_exists() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    fs::write(place.path().join("file.bin"), vec![7; 2_000_123]).unwrap();
    let daemon = Daemon::start(&state, &["--dir", text(place.path())]);
    daemon.done(["add", text(&torrent)]);
    let failed = daemon.wait_for_activity("failed");
    let reason = failed["error"].as_str().unwrap();
    let remedy = "; rename or remove it, and resume the torrent";
    assert!(reason.ends_with(remedy), "{reason}");
    wait_for(|| daemon.stderr().contains("does not belong to this torrent"));
    let stderr = daemon.stderr();
    assert!(stderr.contains(remedy), "{stderr}");
    assert!(!stderr.contains("--force"), "{stderr}");
    fs::remove_file(place.path().join("file.bin")).unwrap();
    daemon.done(["verify", "file.bin"]);
    daemon.wait_for_activity("downloading");
    daemon.terminate();
}

fn count(log: &Path, text: &str) -> usize {
    let log = fs::read_to_string(log).unwrap();
    log.matches(text).count()
}

/// Returns the number of warnings about a tracker that does not exist.
fn warnings(log: &Path) -> usize {
    let log = fs::read_to_string(log).unwrap();
    let warnings = log.lines().filter(|line| line.contains(" WARN "));
    warnings
        .filter(|line| line.contains("127.0.0.1:1/"))
        .count()
}

/// A machine has several addresses, and a tracker is asked from each. One that answers any of them works.
#[test]
fn a_tracker_that_answers_one_address_works() {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let (place, state) = folder();
    let log = place.path().join("log");
    // At all addresses, unlike other daemons of tests.
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.args([
        "daemon",
        "--port",
        "0",
        "--no-dht",
        "--no-discovery",
        "--http",
        "0",
    ]);
    command.args([
        "--log",
        text(&log),
        "--log-level",
        "debug",
        "--insecure-no-auth",
    ]);
    command.args(["--dir", text(content.path()), "--state-dir"]);
    let stdout = place.path().join("stdout");
    command.arg(&state).stdin(Stdio::null());
    command.stdout(fs::File::create(&stdout).unwrap());
    let daemon = Daemon::of(&state, command);
    daemon.done(["add", text(&torrent)]);
    wait_for(|| count(&log, "tracker replied") > 0);
    let address = page_address(&stdout);
    let get = |path: &str| ask(address, &format!("GET /api/v1/torrents/1{path}"), &[], "").json();
    wait_for(|| get("/trackers")["trackers"][0]["state"] == "working");
    wait_for(|| get("")["announces"] != serde_json::json!([]));
    assert!(get("")["announces"][0]["error"].is_null(), "{}", get(""));
    let logged = fs::read_to_string(&log).unwrap();
    let mut warnings = logged.lines().filter(|line| line.contains(" WARN "));
    let url = tracker.url();
    assert!(!warnings.any(|line| line.contains(&url)), "{logged}");
    assert!(!daemon.stderr().contains(&url), "{}", daemon.stderr());
    daemon.terminate();
}

/// An address from which a tracker cannot be reached does not hide what another one found.
#[test]
fn the_reason_of_a_tracker_is_that_of_an_address_that_reached_it() {
    let content = Content::new();
    let dead = ["--announce", "http://127.0.0.1:1/announce"];
    let torrent = content.torrent_with("file.bin", "v1", &dead);
    let (_place, state) = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    // This interface has an address of each version of IP.
    command.args(["daemon", "--bind", "lo", "--port", "0", "--no-dht"]);
    command.args(["--no-discovery", "--dir", text(content.path())]);
    command.arg("--state-dir").arg(&state).stdin(Stdio::null());
    let daemon = Daemon::of(&state, command);
    daemon.done(["add", text(&torrent)]);
    let tracker = || daemon.done(["trackers", "file.bin"]).first().cloned();
    wait_for(|| tracker().is_some_and(|one| one["state"] == "failed"));
    let tracker = tracker().unwrap();
    assert_eq!(tracker["message"], "Connection refused", "{tracker}");
    daemon.terminate();
}

#[test]
fn the_log_has_every_warning_once() {
    let content = Content::new();
    let tracker = Tracker::start();
    let file = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let dead = ["--announce", "http://127.0.0.1:1/announce"];
    let tree = content.torrent_with("tree", "v1", &dead);
    let _seed = Peer::seed(&[&file], content.path());
    wait_for(|| tracker.heard(|heard| !heard.ports.is_empty()));
    let (place, state) = folder();
    let log = place.path().join("log");
    let start = || {
        let options = ["--log", text(&log), "--log-level", "debug", "--dir"];
        let options: Vec<_> = options.into_iter().chain([text(place.path())]).collect();
        Daemon::start(&state, &options)
    };
    let daemon = start();
    daemon.done(["add", text(&file)]);
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    daemon.terminate();
    assert_eq!(count(&log, "all selected pieces received"), 1);
    fs::write(state.join("torrents/bad.toml"), "?").unwrap();
    let daemon = start();
    daemon.wait_for_activity("serving");
    daemon.done(["add", text(&tree)]);
    // The tracker is asked again after each pause.
    for n in 1..=3 {
        wait_for(|| count(&log, "tracker failed") >= n);
        for (action, activity) in [("pause", "paused"), ("resume", "downloading")] {
            daemon.done([action, "tree"]);
            wait_for(|| daemon.done(["list", "tree"])[0]["activity"] == activity);
        }
    }
    assert_eq!(warnings(&log), 1);
    // A start is no addition.
    let logged = fs::read_to_string(&log).unwrap();
    let added = logged.lines().filter(|line| line.contains(" INFO added "));
    assert_eq!(added.count(), 2, "{logged}");
    assert!(!logged.contains(" INFO removed "), "{logged}");
    // Nothing was downloaded after the second start.
    assert_eq!(count(&log, "all selected pieces received"), 1);
    let stderr = daemon.stderr();
    let warning = stderr.lines().find(|line| line.contains("bad.toml"));
    let warning = warning.unwrap().rsplit_once("bad.toml").unwrap().1;
    let in_log = fs::read_to_string(&log).unwrap();
    let mut logged = in_log.lines().filter(|line| line.contains("bad.toml"));
    let is_logged = logged.any(|line| line.contains(warning));
    assert!(is_logged, "{stderr}\n{in_log}");
    daemon.terminate();
    // The reason for the end is in the log, too.
    let holder = Daemon::start(&state, &[]);
    let mut second = daemon_command(&state, &["--log", text(&log)]);
    ended(&mut second).assert_failed("in use by process");
    assert_eq!(count(&log, "in use by process"), 1);
    holder.terminate();
}
