//! A daemon that existing programs control: Debian's `transmission-remote`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use data_encoding::BASE64;

use super::daemon::{Daemon, daemon_command, folder};
use super::daemon_api::add_outside;
use super::http::ask;
use super::peers::{Content, Peer, ended};
use super::tracker::Tracker;
use crate::not_run::is_installed;
use crate::wait_for;

/// A daemon that serves Transmission RPC.
struct Remote {
    daemon: Daemon,
    port: u16,
}

impl Remote {
    /// Starts a daemon; `None` if the program is missing.
    fn start(state: &Path, downloads: &Path, options: &[&str]) -> Option<Self> {
        if !is_installed(
            "TRANSMISSION_REMOTE",
            "transmission-remote",
            "transmission-cli",
        ) {
            return None;
        }
        let password = state.with_extension("password");
        fs::write(&password, "password\n").unwrap();
        // Another test can take a free port before the daemon does.
        for _ in 0..10 {
            let port = free_port();
            let address = format!("127.0.0.1:{port}");
            let own = [
                "--dir",
                downloads.to_str().unwrap(),
                "--transmission",
                &address,
                "--remote-user",
                "user",
                "--remote-password-file",
                password.to_str().unwrap(),
            ];
            let all: Vec<&str> = own.iter().chain(options).copied().collect();
            if let Some(daemon) = Daemon::try_start(state, &all) {
                return Some(Self { daemon, port });
            }
        }
        panic!("no port is free");
    }

    /// Runs `transmission-remote`, and returns its status and what it prints.
    fn tried(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new("transmission-remote");
        command
            .arg(format!("127.0.0.1:{}", self.port))
            .args(["-n", "user:password"])
            .args(args);
        let output = command.env("LC_ALL", "C.UTF-8").output().unwrap();
        let text =
            String::from_utf8(output.stdout).unwrap() + str::from_utf8(&output.stderr).unwrap();
        (output.status.code(), text)
    }

    /// Runs `transmission-remote`, which succeeds, and returns what it prints.
    #[track_caller]
    fn run(&self, args: &[&str]) -> String {
        let (code, text) = self.tried(args);
        assert_eq!(
            code,
            Some(0),
            "{args:?}: {text}
{}",
            self.daemon.stderr()
        );
        text
    }

    /// Sends a request, and returns the answer.
    fn rpc(&self, body: &str) -> String {
        let at = SocketAddr::from(([127, 0, 0, 1], self.port));
        let basic = BASE64.encode(b"user:password");
        let login = ("Authorization", &*format!("Basic {basic}"));
        let request = "POST /transmission/rpc";
        let first = ask(at, request, &[login], body);
        let session = first.header("x-transmission-session-id").unwrap();
        ask(
            at,
            request,
            &[login, ("X-Transmission-Session-Id", session)],
            body,
        )
        .body
    }

    #[track_caller]
    fn done(&self, args: &[&str]) {
        let printed = self.run(args);
        assert!(
            printed.contains("responded: \"success\""),
            "{args:?}: {printed}\n{}",
            self.daemon.stderr()
        );
    }

    /// Returns the part of the list after the number, or nothing if there is no torrent with it.
    fn listed(&self, number: u32) -> String {
        let list = self.run(&["-l"]);
        let number = format!("{number} ");
        let mut lines = list.lines().map(str::trim_start);
        lines
            .find(|line| line.starts_with(&number))
            .unwrap_or("")
            .to_owned()
    }
}

/// Returns a port of loopback that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn transmission_remote_controls_the_daemon() {
    let content = Content::new();
    let tracker = Tracker::start();
    let announce = ["--announce", &tracker.url()];
    let torrent = content.torrent_with("tree", "v1", &announce);
    let file = content.torrent_with("file.bin", "hybrid", &announce);
    let _seed = Peer::seed(&[&torrent, &file], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let Some(remote) = Remote::start(&state, &downloads, &[]) else {
        return;
    };
    remote.done(&["--start-paused", "-a", torrent.to_str().unwrap()]);
    remote.done(&["--no-start-paused", "-a", file.to_str().unwrap()]);
    wait_for(|| remote.listed(1).contains("Stopped"));
    wait_for(|| remote.listed(2).contains("100%"));
    content.assert_same("file.bin", &downloads);
    assert!(remote.run(&["-t2", "-it"]).contains("Tracker 0: "));
    assert!(remote.run(&["-t2", "-ic"]).contains("111"));
    assert!(remote.run(&["-st"]).contains("Started 1 times"));
    remote.done(&["-t1", "-s"]);
    wait_for(|| remote.listed(1).contains("100%"));
    content.assert_same("tree", &downloads);
    remote.done(&["-t1", "-v"]);
    wait_for(|| remote.listed(1).contains("100%"));
    remote.done(&["-t1", "-L", "tv,anime"]);
    remote.done(&["-t1", "-d", "5000", "-sr", "1.5"]);
    assert!(remote.run(&["-t1", "-i"]).contains("Labels: anime, tv"));
    let stored = remote.daemon.done(["list"]);
    assert_eq!(stored[0]["labels"], serde_json::json!(["anime", "tv"]));
    remote.done(&["-t1", "-G", "0"]);
    wait_for(|| remote.run(&["-t1", "-f"]).contains("No"));
    remote.done(&["-t2", "-r"]);
    assert_eq!(remote.listed(2), "");
    assert_eq!(remote.daemon.done(["list"]).len(), 1);
    remote.daemon.kill();

    let again = Remote::start(&state, &downloads, &[]).unwrap();
    wait_for(|| again.run(&["-st"]).contains("Started 2 times"));
    let info = again.run(&["-t1", "-i"]);
    assert!(
        info.contains("Labels: anime, tv") && info.contains("Download Limit: 5.00 MB/s"),
        "{info}"
    );
    wait_for(|| again.run(&["-t1", "-f"]).contains("No"));
    again.daemon.terminate();
}

#[test]
fn programs_move_and_delete_only_what_is_allowed() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    fs::create_dir(&downloads).unwrap();
    let copied = Command::new("cp")
        .arg("-r")
        .arg(content.path().join("tree"))
        .arg(&downloads)
        .status();
    assert!(copied.unwrap().success());
    let Some(remote) = Remote::start(&state, &downloads, &[]) else {
        return;
    };
    remote.done(&["-a", torrent.to_str().unwrap()]);
    wait_for(|| remote.listed(1).contains("100%"));
    let outside = place.path().join("outside");
    for refused in [
        &["-t1", "--move", outside.to_str().unwrap()][..],
        &["-t1", "--move", "/etc"],
        &[
            "-t1",
            "--find",
            &format!("{}/../outside", downloads.display()),
        ],
        &["-t1", "-rad"],
        &["-w", "/etc"],
    ] {
        let (_, printed) = remote.tried(refused);
        assert!(!printed.contains("\"success\""), "{refused:?}: {printed}");
    }
    let below = downloads.join("below");
    remote.done(&["-t1", "--move", below.to_str().unwrap()]);
    wait_for(|| remote.daemon.torrent()["folder"] == *below.to_str().unwrap());
    content.assert_same("tree", &below);
    remote.done(&["-t1", "-r"]);
    content.assert_same("tree", &below);
    assert_eq!(remote.listed(1), "");
    remote.daemon.terminate();

    let deleting = Remote::start(&state, &downloads, &["--remote-delete"]).unwrap();
    deleting.done(&[
        "-a",
        torrent.to_str().unwrap(),
        "-w",
        below.to_str().unwrap(),
    ]);
    wait_for(|| deleting.listed(1).contains("100%"));
    deleting.done(&["-t1", "-rad"]);
    wait_for(|| !below.join("tree").exists());
    deleting.daemon.terminate();
}

/// Categories and what a person chose last across a kill.
#[test]
fn qbittorrents_api_controls_the_daemon() {
    let content = Content::new();
    let magnet = content.magnet(&content.torrent("tree", "v1"));
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let tv = downloads.join("tv");
    let address = || SocketAddr::from(([127, 0, 0, 1], free_port()));
    let mut at = address();
    let start = |at: &mut SocketAddr| {
        for _ in 0..10 {
            let options = [
                "--dir",
                downloads.to_str().unwrap(),
                "--qbittorrent",
                &at.to_string(),
            ];
            if let Some(daemon) = Daemon::try_start(&state, &options) {
                return daemon;
            }
            *at = address();
        }
        panic!("no port is free");
    };
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let post = |at: SocketAddr, method: &str, body: &str| {
        ask(at, &format!("POST /api/v2/{method}"), &form, body)
    };
    let daemon = start(&mut at);
    let folder = tv.to_str().unwrap();
    let category = format!("category=tv&savePath={folder}");
    assert_eq!(post(at, "torrents/createCategory", &category).status, 200);
    let encode = |text: String, byte| text + &format!("%{byte:02x}");
    let link = magnet.bytes().fold(String::new(), encode);
    let added = post(
        at,
        "torrents/add",
        &format!("urls={link}&category=tv&tags=a,b&stopped=true"),
    );
    assert_eq!(added.status, 200, "{added:?}");
    let outside = post(at, "torrents/createCategory", "category=x&savePath=/etc");
    assert_ne!(outside.status, 200, "{outside:?}");
    daemon.kill();
    let daemon = start(&mut at);
    let torrent = daemon.torrent();
    assert_eq!(torrent["category"], "tv");
    assert_eq!(torrent["folder"], folder);
    assert_eq!(torrent["labels"], serde_json::json!(["a", "b"]));
    assert_eq!(torrent["paused"], true);
    let categories = post(at, "torrents/categories", "").body;
    assert!(categories.contains(folder), "{categories}");
    let info = post(at, "torrents/info", "category=tv").body;
    assert!(
        info.contains(torrent["info_hash"].as_str().unwrap()),
        "{info}"
    );
    assert_eq!(
        post(at, "torrents/removeCategories", "categories=tv").status,
        200
    );
    assert_eq!(daemon.torrent()["category"], serde_json::Value::Null);
    daemon.terminate();
}

#[test]
fn protocols_are_served_where_a_page_can_be() {
    let (place, state) = folder();
    let (downloads, socket) = (place.path().join("downloads"), place.path().join("web"));
    let unix = format!("unix:{}", socket.display());
    // Another test can take a free port before the daemon does.
    let started = (0..10).find_map(|_| {
        let port = free_port();
        let address = port.to_string();
        let options = [
            "--dir",
            downloads.to_str().unwrap(),
            "--transmission",
            &address,
            "--qbittorrent",
            &unix,
            "--http",
            "0",
        ];
        Some((Daemon::try_start(&state, &options)?, port))
    });
    let (mut daemon, port) = started.expect("a port is free");
    let mut lines = BufReader::new(daemon.take_stdout()).lines();
    let page = lines.next().unwrap().unwrap();
    let page = page.strip_prefix("page: ").unwrap();
    let note = lines.next().unwrap().unwrap();
    assert!(
        note.starts_with("note: the page asks for the token"),
        "{note}"
    );
    for line in [
        format!("Transmission RPC: http://127.0.0.1:{port}/"),
        format!("qBittorrent Web API: {unix}"),
        format!("content: {}, which does not exist yet", downloads.display()),
        format!("state folder: {}, for `hashlane ctl`", state.display()),
    ] {
        assert_eq!(lines.next().unwrap().unwrap(), line);
    }
    let transmission = SocketAddr::from(([127, 0, 0, 1], port));
    let asked = ask(transmission, "POST /transmission/rpc", &[], "{}");
    assert_eq!(asked.status, 409);
    let front = ask(transmission, "GET /", &[], "");
    assert_eq!(front.status, 200);
    assert!(
        front
            .body
            .starts_with("Hashlane serves the Transmission RPC here")
    );
    assert!(front.body.contains(&format!("is at {page}\n")), "{front:?}");
    assert_eq!(front.body.lines().count(), 3);
    let mut web = UnixStream::connect(&socket).unwrap();
    web.write_all(b"GET /api/v2/app/version HTTP/1.0\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    web.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("v5.0.5"), "{answer}");
    daemon.terminate();
    assert!(!socket.exists());
}

#[test]
fn a_listener_for_other_machines_needs_a_password() {
    let (place, state) = folder();
    let options = [
        "--transmission",
        "0.0.0.0:0",
        "--dir",
        place.path().to_str().unwrap(),
    ];
    let ended = ended(&mut daemon_command(&state, &options));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("a user name and a password are required"),
        "{ended:?}"
    );
    let half = ["--transmission", "127.0.0.1:0", "--remote-user", "user"];
    let ended = super::peers::ended(&mut daemon_command(&state, &half));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("must be given together"), "{ended:?}");
}

#[test]
fn transmission_remote_orders_the_queue() {
    let content = Content::new();
    let torrents = [
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v1"),
    ];
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let Some(remote) = Remote::start(&state, &downloads, &["--max-active-downloads", "1"]) else {
        return;
    };
    for torrent in &torrents {
        remote.done(&["-a", torrent.to_str().unwrap()]);
    }
    let activities = || {
        let list = remote.daemon.done(["list"]);
        list.iter()
            .map(|torrent| {
                let text = |key: &str| torrent[key].as_str().unwrap().to_owned();
                [text("name"), text("activity")]
            })
            .collect::<Vec<_>>()
    };
    let is = |expected: [[&str; 2]; 2]| wait_for(|| activities() == expected);
    is([["tree", "downloading"], ["file.bin", "queued"]]);
    wait_for(|| remote.listed(2).contains("Queued"));
    let ask = |method: &str, arguments: &str| {
        let body = format!("{{\"method\":\"{method}\",\"arguments\":{arguments}}}");
        remote.rpc(&body)
    };
    let settings = ask("session-get", "{}");
    assert!(
        settings.contains("\"download-queue-enabled\":true"),
        "{settings}"
    );
    assert!(settings.contains("\"download-queue-size\":1"), "{settings}");
    assert!(
        settings.contains("\"queue-stalled-minutes\":30"),
        "{settings}"
    );
    ask("queue-move-top", "{\"ids\":[2]}");
    is([["file.bin", "downloading"], ["tree", "queued"]]);
    let torrents = ask(
        "torrent-get",
        "{\"fields\":[\"id\",\"queuePosition\",\"status\"]}",
    );
    assert!(
        torrents.contains("{\"id\":1,\"queuePosition\":1,\"status\":3}"),
        "{torrents}"
    );
    ask("torrent-start-now", "{\"ids\":[1]}");
    is([["file.bin", "downloading"], ["tree", "downloading"]]);
    ask("torrent-start", "{\"ids\":[1]}");
    is([["file.bin", "downloading"], ["tree", "queued"]]);
    let refused = ask("session-set", "{\"download-queue-size\":0}");
    assert!(
        refused.contains("a limit of 0 would stop all torrents"),
        "{refused}"
    );
    ask("session-set", "{\"download-queue-enabled\":false}");
    is([["file.bin", "downloading"], ["tree", "downloading"]]);
}

/// Limits that a program sets last across restarts, and win over the configuration until they are given back.
#[test]
fn limits_of_programs_last() {
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let options = ["--max-down", "100000", "--max-active-downloads", "4"];
    let Some(remote) = Remote::start(&state, &downloads, &options) else {
        return;
    };
    let ask = |remote: &Remote, method: &str, arguments: &str| {
        let body = format!("{{\"method\":\"{method}\",\"arguments\":{arguments}}}");
        remote.rpc(&body)
    };
    // Programs send all settings back: those that stay are not set.
    let set = "{\"speed-limit-down\":100,\"speed-limit-down-enabled\":true,\"speed-limit-up\":50,\
               \"speed-limit-up-enabled\":true,\"download-queue-size\":2,\"download-queue-enabled\":true,\
               \"seedRatioLimit\":2.5,\"seedRatioLimited\":true,\"alt-speed-enabled\":true,\"alt-speed-down\":10,\
               \"start-added-torrents\":false}";
    let answer = ask(&remote, "session-set", set);
    assert!(answer.contains("\"success\""), "{answer}");
    let requested = |remote: &Remote| remote.daemon.done(["status"])[0]["requested_limits"].clone();
    let expected = serde_json::json!([
        "max-up",
        "alt-max-down",
        "max-active-downloads",
        "seed-ratio"
    ]);
    assert_eq!(requested(&remote), expected);
    remote.daemon.kill();
    let remote = Remote::start(&state, &downloads, &options).unwrap();
    assert_eq!(requested(&remote), expected);
    let fields = "{\"fields\":[\"speed-limit-up\",\"download-queue-size\",\"seedRatioLimit\",\"alt-speed-enabled\",\
                  \"alt-speed-down\",\"speed-limit-down\",\"start-added-torrents\"]}";
    let settings = ask(&remote, "session-get", fields);
    for expected in [
        "\"speed-limit-up\":50",
        "\"download-queue-size\":2",
        "\"seedRatioLimit\":2.5",
        "\"alt-speed-enabled\":true",
        "\"alt-speed-down\":10",
        "\"speed-limit-down\":100",
        "\"start-added-torrents\":false",
    ] {
        assert!(settings.contains(expected), "{expected}: {settings}");
    }
    assert_eq!(remote.daemon.done(["status"])[0]["adds_paused"], true);
    let magnet = format!("magnet:?xt=urn:btih:{}", "a5".repeat(20));
    let added = ask(
        &remote,
        "torrent-add",
        &format!("{{\"filename\":\"{magnet}\"}}"),
    );
    assert!(added.contains("\"success\""), "{added}");
    let is_paused = |torrent: &serde_json::Value| torrent["paused"] == true;
    assert!(remote.daemon.done(["list"]).iter().any(is_paused));
    remote
        .daemon
        .done(["limits", "--configured", "--alternative", "off"]);
    assert_eq!(requested(&remote), serde_json::json!([]));
    let settings = ask(&remote, "session-get", fields);
    assert!(settings.contains("\"download-queue-size\":4"), "{settings}");
    assert!(
        settings.contains("\"start-added-torrents\":true"),
        "{settings}"
    );
    remote.daemon.terminate();
}

#[test]
fn content_of_others_is_not_deleted_by_transmission_remote() {
    let content = Content::new();
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let Some(remote) = Remote::start(&state, &downloads, &["--remote-delete"]) else {
        return;
    };
    let paths = add_outside(&remote.daemon, &content, &downloads);
    for number in ["-t1", "-t2"] {
        let (_, printed) = remote.tried(&[number, "-rad"]);
        assert!(!printed.contains("\"success\""), "{printed}");
    }
    assert!(paths.iter().all(|path| path.exists()));
    assert_eq!(remote.daemon.done(["list"]).len(), 2);
    remote.daemon.terminate();
}
