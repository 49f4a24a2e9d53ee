//! What a daemon withstands and keeps secret, as `get` and `seed` do: hostile web seeds, peers and trackers, and limits of the
//! system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hashlane_metainfo::needs_escape;
use serde_json::{Value, json};

use super::daemon::{Daemon, ctl, daemon_command, folder};
use super::daemon_api::{Api, places};
use super::hostile::{BAD, has_unsafe_web_seeds, info_hash, serve_wrong_blocks};
use super::peers::{Content, IMPATIENT, Peer, RECONNECT, ended, get_command, preloaded};
use super::secrets::{assert_hidden, telling_server, with_keys, without_query};
use super::servers::{Answer, hostile_web_seed};
use super::tracker::Tracker;
use crate::wait_for;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the command of a daemon with a limit of the shell.
fn limited(limit: &str, state: &Path, options: &[&str]) -> Command {
    let command = daemon_command(state, options);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args())
        .env(RECONNECT.0, RECONNECT.1)
        .stdout(Stdio::piped());
    shell
}

/// A web seed that makes libtorrent compute forever costs its torrent this web seed, and the other torrents nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_web_seed_that_blocks_libtorrent_ends_no_daemon() {
    if !has_unsafe_web_seeds() {
        return;
    }
    let content = Content::new();
    let tracker = Tracker::start();
    let announce = ["--announce", &tracker.url()];
    let url = hostile_web_seed(Answer::Chunk("ffffffffffffffff"));
    let other = content.torrent_with("tree", "v1", &announce);
    let honest = content.torrent_with("file.bin", "v1", &announce);
    let seed = Peer::seed(&[&other, &honest], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let blocking = content.torrent_with(
        "file.bin",
        "v1",
        &["--announce", &tracker.url(), "--web-seed", &url],
    );
    let (place, state) = folder();
    let options = ["--dir", text(place.path()), "--web-seeds"];
    let mut command = daemon_command(&state, &options);
    command.env(IMPATIENT.0, IMPATIENT.1);
    let daemon = Daemon::of(&state, command);
    // Only the web seed has the content at first.
    drop(seed);
    daemon.done(["add", text(&blocking)]);
    wait_for(|| daemon.stderr().contains("Hashlane has started again"));
    let warning = daemon.stderr();
    let server = url.split('/').nth(2).unwrap();
    assert!(
        warning.contains(&format!("the web seed {server} of file.bin")),
        "{warning}"
    );
    wait_for(|| daemon.ctl(["status"]).code == Some(0));
    daemon.done(["add", text(&other)]);
    let _seed = Peer::seed(&[&other, &honest], content.path());
    wait_for(|| {
        let all = daemon.done(["list"]);
        all.len() == 2 && all.iter().all(|torrent| torrent["complete"] == true)
    });
    content.assert_same("tree", place.path());
    content.assert_same("file.bin", place.path());
    daemon.terminate();
}

/// Trackers and web seeds repeat the keys of their URLs. The daemon shows them to no program.
#[test]
fn keys_that_servers_repeat_are_hidden() {
    let content = Content::new();
    let keys = super::secrets::KEYS.join(", ");
    let tracker = Tracker::refusing(format!("unknown user: {keys}"));
    let tracker = tracker
        .url()
        .replace("http://", "")
        .replace("/announce", "");
    let tracker = with_keys(tracker, "announce");
    let server = without_query(&with_keys(telling_server(), "f"));
    let options = ["--announce", &tracker, "--web-seed", &server, "--private"];
    let torrent = content.torrent_with("file.bin", "v1", &options);
    let (_place, state, downloads) = places();
    let log = state.with_extension("log");
    let options = [
        "--web-seeds",
        "--transmission",
        "127.0.0.1:0",
        "--log",
        text(&log),
        "--log-level",
        "trace",
    ];
    let api = Api::start(&state, &downloads, &options);
    assert_eq!(api.add(&torrent, &json!({})).status, 201);
    wait_for(|| api.get("torrents/1/trackers").body.contains("unknown user"));
    wait_for(|| api.daemon.stderr().contains("unknown user: ***"));
    for path in [
        "torrents",
        "torrents/1",
        "torrents/1/trackers",
        "torrents/1/files",
        "config",
        "statistics",
    ] {
        assert_hidden(&[(path, &api.get(path).body)]);
    }
    let listed = format!(
        "{:?}{:?}",
        api.daemon.done(["list"]),
        api.daemon.done(["status"])
    );
    let plain = ctl(&state).arg("list").output().unwrap();
    api.daemon.signal("TERM");
    wait_for(|| !state.join("socket").exists());
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("/announce/***?***=***"), "{log}");
    assert_hidden(&[
        ("stderr", &api.daemon.stderr()),
        ("ctl --json", &listed),
        ("ctl", &format!("{plain:?}")),
        ("the log", &log),
    ]);
}

/// Texts from outside control no terminal.
#[test]
fn texts_of_trackers_and_names_are_escaped() {
    let content = Content::new();
    let tracker = Tracker::refusing(BAD.as_bytes());
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let (place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(place.path())]);
    daemon.done(["add", text(&torrent)]);
    let link = format!("magnet:?xt=urn:btih:{}&dn={BAD}", "7".repeat(40));
    daemon.done(["add", &link]);
    wait_for(|| daemon.stderr().contains("x\\u{1b}[2J"));
    let listed = ctl(&state).arg("list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("x\\u{1b}[2J"), "{listed}");
    for printed in [&listed, &daemon.stderr()] {
        let is_safe =
            |line: &str| !line.starts_with("hashlane: other") && !line.chars().any(needs_escape);
        assert!(printed.lines().all(is_safe), "{printed}");
    }
    daemon.terminate();
}

/// A peer that sends wrong blocks is banned, and nothing of them is announced.
#[test]
fn a_peer_with_wrong_blocks_is_banned_by_a_daemon() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let n_pieces = content.len_of("file.bin").div_ceil(content.piece_len());
    let address = serve_wrong_blocks(info_hash(&torrent), n_pieces as usize);
    let (_place, state, downloads) = places();
    let log = state.with_extension("log");
    let options = ["--encryption", "off", "--log", text(&log)];
    let api = Api::start(&state, &downloads, &options);
    assert_eq!(api.add(&torrent, &json!({})).status, 201);
    let peer = json!({ "action": "add_peer", "address": address });
    // At once: the torrent is not in the session yet.
    assert_eq!(api.apply(1, &peer).status, 202);
    let banned = format!("peer=\"{address}\"");
    wait_for(|| {
        let log = fs::read_to_string(&log).unwrap_or_default();
        let mut bans = log.lines().filter(|line| line.contains("peer is banned"));
        bans.any(|line| line.contains(&banned))
    });
    let one = api.get("torrents/1").json();
    assert_eq!(one["done_bytes"], 0, "{one}");
    api.daemon.terminate();
}

/// Web seeds cannot use up the memory of a daemon.
#[cfg(target_os = "linux")]
#[test]
fn endless_headers_use_little_memory_of_a_daemon() {
    const REASON: &str = "too much data without the end of a header";
    let content = Content::new();
    let url = hostile_web_seed(Answer::EndlessHead);
    let torrent = content.torrent_with("file.bin", "v1", &["--web-seed", &url]);
    let (place, state) = folder();
    let options = ["--dir", text(place.path()), "--web-seeds"];
    let daemon = Daemon::start(&state, &options);
    daemon.done(["add", text(&torrent)]);
    wait_for(|| {
        let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let used: u64 = line
            .unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        assert!(used < 200 << 10, "{used} KiB");
        daemon.stderr().contains(REASON)
    });
    daemon.terminate();
}

/// A limit that is too low for libtorrent is named at once, also by the daemon.
#[test]
fn a_limit_that_is_too_low_for_a_daemon_is_named() {
    let (_place, state) = folder();
    for (limit, name) in [("-v 200000", "`ulimit -v`"), ("-s 64", "`ulimit -s`")] {
        let ended = ended(&mut limited(limit, &state, &[]));
        ended.assert_failed(name);
        assert!(!state.exists());
    }
}

/// Too few threads end the daemon with the reason, or one that works.
#[test]
fn too_few_threads_for_a_daemon_are_an_error() {
    let (place, state) = folder();
    let library = preloaded("threads", place.path());
    let mut n_started = 0_usize;
    for n_threads in [0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 64] {
        let mut command = daemon_command(&state, &["--http", "0"]);
        command
            .env("LD_PRELOAD", &library)
            .env("HASHLANE_TEST_THREADS", n_threads.to_string());
        let stderr = state.with_extension("stderr");
        let _ = fs::remove_file(&stderr);
        if let Some(mut daemon) = Daemon::try_of(&state, command) {
            // A request needs one thread more.
            n_started += usize::from(daemon.ctl(["status"]).code == Some(0));
            daemon.signal("TERM");
            // The socket accepts connections before the daemon has its last thread.
            if daemon.end() == Some(0) {
                continue;
            }
        }
        let reason = fs::read_to_string(&stderr).unwrap();
        // The first thread is that of the signals.
        let reasons = ["cannot start", "signals cannot be handled"];
        assert!(
            reasons.iter().any(|it| reason.contains(it)),
            "{n_threads}: {reason}"
        );
        assert!(!reason.contains("panicked"), "{n_threads}: {reason}");
    }
    assert!(n_started > 0);
}

/// Many torrents share few descriptors, as those of `seed` do: all of their files are read for a peer.
#[test]
fn many_torrents_of_a_daemon_share_few_descriptors() {
    const N_TORRENTS: usize = 60;
    let content = tempfile::tempdir().unwrap();
    let tracker = Tracker::start();
    let torrents: Vec<_> = (0..N_TORRENTS)
        .map(|n| {
            let path = content.path().join(format!("{n}"));
            fs::create_dir(&path).unwrap();
            for file in 0..4 {
                let bytes: Vec<u8> = (0..20_000).map(|i| (n + file + i * i / 7) as u8).collect();
                fs::write(path.join(file.to_string()), bytes).unwrap();
            }
            Content::torrent_of(&path, "v1", &["--announce", &tracker.url()])
        })
        .collect();
    let (place, state) = folder();
    let options = ["--dir", text(content.path()), "--http", "0"];
    let daemon = Daemon::of(&state, limited("-n 256", &state, &options));
    let added = torrents.iter().map(|torrent| text(torrent));
    daemon.done(["add"].into_iter().chain(added));
    let all_are_served = || {
        let is_served =
            |torrent: &Value| torrent["activity"] == "serving" && torrent["complete"] == true;
        let all = daemon.done(["list"]);
        all.iter().filter(|it| is_served(it)).count() == N_TORRENTS
    };
    wait_for(all_are_served);
    let torrents: Vec<&Path> = torrents.iter().map(PathBuf::as_path).collect();
    let downloads = place.path().join("downloads");
    let ended = ended(&mut get_command(&torrents, &downloads, None, &[]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(daemon.stderr(), "");
    daemon.done(["verify", "--all"]);
    wait_for(all_are_served);
    daemon.terminate();
}
