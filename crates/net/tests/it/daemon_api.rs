//! A daemon that is controlled by its HTTP API.

#![expect(clippy::too_many_lines, reason = "a test follows one daemon")]

use std::fmt::Display;
use std::fs;
use std::io::{BufRead as _, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::daemon::{Daemon, daemon_command, folder, text};
use super::hostile::{Connection, info_hash};
use super::http::{Response, ask, ask_bytes, encoded, open};
use super::metadata::shown;
use super::page::Torrents;
use super::peers::{Content, Peer, ended};
use super::servers::{WebServer, serve};
use super::tracker::Tracker;
use crate::wait_for;

/// People read where the token is, unless they named credentials.
#[test]
fn a_daemon_names_the_file_of_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let (state, token) = (folder.path().join("state"), folder.path().join("token"));
    fs::write(&token, "a-token-of-its-own\n").unwrap();
    let own = ["--http-token-file", token.to_str().unwrap()];
    let note = format!(
        "note: the page asks for the token in {}/http-token\n",
        state.display()
    );
    for (options, is_noted) in [(&[][..], true), (&own, false)] {
        let all = [&["--http", "0"], options].concat();
        let mut command = daemon_command(&state, &all);
        let stdout = folder.path().join("stdout");
        command.stdout(fs::File::create(&stdout).unwrap());
        let daemon = Daemon::of(&state, command);
        let text = || fs::read_to_string(&stdout).unwrap();
        wait_for(|| text().lines().count() == 2 + usize::from(is_noted));
        daemon.terminate();
        assert_eq!(text().contains(&note), is_noted, "{}", text());
    }
}

/// Returns the address of the page that the standard output of a daemon names first.
pub(crate) fn page_address(stdout: &Path) -> SocketAddr {
    let mut address = None;
    wait_for(|| {
        let text = fs::read_to_string(stdout).unwrap();
        let line = text.split_once('\n');
        let url = line.and_then(|(line, _)| line.strip_prefix("page: http://"));
        address = url.map(|url| url.trim_end_matches('/').parse().unwrap());
        address.is_some()
    });
    address.unwrap()
}

/// A daemon with an API on a free port.
pub(crate) struct Api {
    pub(crate) daemon: Daemon,
    pub(crate) address: SocketAddr,
    pub(crate) bearer: String,
}

impl Api {
    pub(crate) fn start(state: &Path, downloads: &Path, options: &[&str]) -> Self {
        let own = ["--dir", downloads.to_str().unwrap(), "--http", "0"];
        let all: Vec<&str> = own.iter().chain(options).copied().collect();
        let mut command = daemon_command(state, &all);
        let stdout = state.with_extension("stdout");
        command.stdout(fs::File::create(&stdout).unwrap());
        let daemon = Daemon::of(state, command);
        let address = page_address(&stdout);
        let token = fs::read_to_string(state.join("http-token")).unwrap_or_default();
        Self {
            daemon,
            address,
            bearer: format!("Bearer {}", token.trim()),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        let headers = [("Authorization", self.bearer.as_str())];
        ask(self.address, &format!("GET /api/v1/{path}"), &headers, "")
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        let request = format!("{method} /api/v1/{path}");
        ask(self.address, &request, &headers, &body.to_string())
    }

    /// Sends a command to one torrent.
    pub(crate) fn apply(&self, torrent: impl Display, command: &Value) -> Response {
        self.send("POST", &format!("torrents/{torrent}"), command)
    }

    /// Adds a .torrent file with options.
    pub(crate) fn add(&self, torrent: &Path, options: &Value) -> Response {
        self.add_with(
            torrent,
            &format!("options={}", encoded(&options.to_string())),
        )
    }

    fn add_with(&self, torrent: &Path, query: &str) -> Response {
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Content-Type", "application/x-bittorrent"),
        ];
        let request = format!("POST /api/v1/torrents?{query}");
        ask_bytes(
            self.address,
            &request,
            &headers,
            &fs::read(torrent).unwrap(),
        )
    }

    /// Adds `tree` and `file.bin`, and returns their .torrent files.
    fn add_two_paused(&self, content: &Content) -> [PathBuf; 2] {
        let torrents = ["tree", "file.bin"].map(|name| content.torrent(name, "v1"));
        for torrent in &torrents {
            assert_eq!(self.add(torrent, &json!({"paused": true})).status, 201);
        }
        torrents
    }

    #[track_caller]
    fn wait_until(&self, key: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut one = Value::Null;
        wait_for(|| {
            one = self.get(&format!("torrents/{key}")).json();
            is_so(&one)
        });
        one
    }
}

/// Returns a place with a state folder and a folder for downloads.
pub(crate) fn places() -> (super::daemon::Place, PathBuf, PathBuf) {
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    fs::create_dir(&downloads).unwrap();
    (place, state, downloads)
}

/// What requests add and change is in the state folder: it lasts across a kill.
#[test]
fn requests_change_what_lasts() {
    let content = Content::new();
    let tracker = Tracker::start();
    let announce = ["--announce", &tracker.url()];
    let tree = content.torrent_with("tree", "hybrid", &announce);
    let file = content.torrent_with("file.bin", "v1", &announce);
    let _seed = Peer::seed(&[&tree, &file], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (place, state, downloads) = places();
    let api = Api::start(&state, &downloads, &[]);
    assert_eq!(
        api.add(&tree, &json!({"set": {"category": "tv"}})).status,
        422
    );
    api.daemon.done(["category", "set", "tv"]);
    let hashes = shown(&tree);
    let v1 = hashes["info_hash_v1"].as_str().unwrap();
    let below = downloads.join("below");
    let options = json!({
        "folder": below, "paused": true, "select": [0], "set": {"labels": ["a", "b"], "category": "tv"},
    });
    let added = api.add(&tree, &options);
    assert_eq!(added.status, 201, "{added:?}");
    let identity = |present: bool| {
        json!({
            "number": 1, "info_hash": v1, "info_hash_v1": v1, "info_hash_v2": hashes["info_hash_v2"],
            "title": "tree", "present": present,
        })
    };
    assert_eq!(added.json(), identity(false));
    assert_eq!(added.header("location"), Some("/api/v1/torrents/1"));
    let again = api.add(&tree, &json!({}));
    assert_eq!((again.status, again.json()), (200, identity(true)));
    let one = api.wait_until(v1, |one| one["activity"] == "paused");
    assert_eq!(one["labels"], json!(["a", "b"]));
    assert_eq!(
        (&one["category"], &one["paused"]),
        (&json!("tv"), &json!(true))
    );
    // The files are selected when they are known.
    api.wait_until(v1, |one| {
        one["wanted_bytes"].as_u64() < one["total_bytes"].as_u64()
    });
    for command in [
        json!({"action": "set", "max_down": 5_000_000, "max_up": 7}),
        json!({"action": "set", "max_up": null, "labels": ["c"]}),
        json!({"action": "set", "category": null, "seed_ratio": 2.5}),
    ] {
        let answer = api.apply(v1, &command);
        assert_eq!(answer.status, 202, "{command}: {answer:?}");
    }
    let unknown = api.apply(
        v1,
        &json!({"action": "set", "category": "absent", "seed_ratio": 3}),
    );
    assert_eq!(unknown.status, 422, "{unknown:?}");
    let refused = api.apply(1, &json!({"action": "end"}));
    assert_eq!(refused.status, 409, "{refused:?}");
    api.daemon.kill();

    let api = Api::start(&state, &downloads, &[]);
    let one = api.wait_until(v1, |one| one["activity"] == "paused");
    assert_eq!(one["labels"], json!(["c"]));
    assert_eq!(
        (&one["category"], &one["seed_ratio"]),
        (&Value::Null, &json!(2.5))
    );
    assert_eq!(
        (&one["max_down"], &one["max_up"]),
        (&json!(5_000_000), &Value::Null)
    );
    let is_selected = |one: &Value| one["wanted_bytes"].as_u64() < one["total_bytes"].as_u64();
    let one = api.wait_until(v1, is_selected);
    let wanted = one["wanted_bytes"].clone();
    assert_eq!(api.apply(1, &json!({"action": "resume"})).status, 202);
    let one = api.wait_until(v1, |one| one["complete"] == true);
    assert_eq!(one["done_bytes"], wanted);
    assert!(below.join("tree").exists());
    // The control socket sees the same torrent.
    assert_eq!(api.daemon.torrent()["labels"], json!(["c"]));
    let totals = || api.get("statistics").json();
    wait_for(|| totals()["all_downloaded_bytes"].as_u64() >= wanted.as_u64());
    // A number stays when a torrent is started again, and is not used again after a removal.
    assert_eq!(api.add(&file, &json!({})).json()["number"], 2);
    let delete = json!({"action": "remove", "content": "delete"});
    let removed = api.apply(1, &delete);
    assert_eq!(removed.status, 403, "{removed:?}");
    assert_eq!(api.apply(1, &json!({"action": "remove"})).status, 202);
    assert_eq!(api.get("torrents/1").status, 404);
    assert_eq!(api.add(&tree, &json!({"paused": true})).json()["number"], 3);
    api.daemon.terminate();

    let api = Api::start(&state, &downloads, &["--remote-delete"]);
    let statistics = api.get("statistics").json();
    assert!(
        statistics["all_downloaded_bytes"].as_u64() >= wanted.as_u64(),
        "{statistics}"
    );
    assert_eq!(
        api.get("torrents").json()["torrents"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let file = downloads.join("file.bin");
    let hash = shown(&content.torrent("file.bin", "v1"))["info_hash_v1"].clone();
    let hash = hash.as_str().unwrap();
    api.wait_until(hash, |one| one["complete"] == true);
    assert!(file.exists());
    assert_eq!(api.apply(hash, &delete).status, 202);
    wait_for(|| !file.exists());
    api.daemon.terminate();
    drop(place);
}

/// Content is placed only below the folders of the configuration, and nothing else in a request is a command.
#[test]
fn folders_and_commands_of_requests() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let (place, state, downloads) = places();
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    let outside = place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, downloads.join("link")).unwrap();
    let api = Api::start(
        &state,
        &downloads,
        &["--remote-folder", other.to_str().unwrap()],
    );
    let downloads_text = downloads.display();
    for refused in [
        "/etc".to_owned(),
        "relative".to_owned(),
        outside.display().to_string(),
        format!("{downloads_text}/../outside"),
        format!("{downloads_text}/link/new"),
        format!("{downloads_text}%2F..%2Foutside"),
    ] {
        let answer = api.add(&torrent, &json!({"folder": refused.replace("%2F", "/")}));
        assert_eq!(answer.status, 403, "{refused}: {answer:?}");
        let space = api.get(&format!("free-space?folder={refused}"));
        assert_eq!(space.status, 403, "{refused}");
    }
    for invalid in [
        "exec=touch",
        "options=",
        "options=touch",
        "options={\"exec\":\"touch\"}",
        "options={\"select\":[\"x\"]}",
        "options={\"select\":[99]}",
        "options={\"paused\":\"maybe\"}",
        "options={}&options={}",
    ] {
        let answer = api.add_with(&torrent, &invalid.replace('"', "%22"));
        assert_eq!(answer.status, 422, "{invalid}: {answer:?}");
    }
    let link = json!({"link": "0".repeat(40), "options": {"exec": "touch"}});
    assert_eq!(api.send("POST", "torrents", &link).status, 422);
    assert!(
        api.get("torrents").json()["torrents"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let space = api
        .get(&format!("free-space?folder={downloads_text}/not/yet"))
        .json();
    assert!(
        space["free_bytes"].as_u64() <= space["total_bytes"].as_u64(),
        "{space}"
    );
    assert_eq!(
        api.add(&torrent, &json!({"folder": other, "paused": true}))
            .status,
        201
    );
    for to in [&outside, &downloads.join("link")] {
        for action in ["relocate", "place"] {
            let moved = api.apply(1, &json!({"action": action, "folder": to}));
            assert_eq!(moved.status, 403, "{action}: {moved:?}");
        }
    }
    let config = api.get("config").json();
    assert_eq!(config["folders"], json!([downloads, other]));
    let changed = api.send("PATCH", "config", &json!({"max_up": 100_000}));
    assert_eq!(changed.status, 202);
    wait_for(|| api.get("config").json()["max_up"] == 100_000);
    api.daemon.terminate();
}

/// `ctl` controls a daemon at the address of its page, with its token. Each refusal is an error, and the rest is done.
#[test]
fn ctl_controls_a_daemon_at_an_address() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let (_place, state, downloads) = places();
    let api = Api::start(&state, &downloads, &[]);
    let url = format!("http://{}/", api.address);
    let token = state.join("http-token");
    let ctl = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
        command.args(["ctl", "--json", "--url", &url]).args(args);
        ended(&mut command)
    };
    ctl(&["list"]).assert_failed("token");
    let with_token = ["--token-file", token.to_str().unwrap()];
    let ctl = |args: &[&str]| ctl(&[&with_token, args].concat());
    let torrent = torrent.to_str().unwrap();
    ctl(&["add", torrent, "--dir", "downloads"]).assert_failed("name an absolute path");
    ctl(&["add", torrent, "--dir", "/etc"]).assert_failed("not in a folder that the configuration");
    let added = ctl(&["add", torrent, "--paused", "--label", "a"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert_eq!(added.lines[0]["title"], "tree");
    let listed = ctl(&["list", "tree"]);
    assert_eq!(listed.lines[0]["labels"], json!(["a"]), "{listed:?}");
    let changed = ctl(&["set", "--title", "shown", "1", "other", "another"]);
    assert_eq!(changed.lines.len(), 1, "{changed:?}");
    assert_eq!(changed.lines[0]["action"], "set");
    changed.assert_failed("other: no such torrent; name its info-hash");
    changed.assert_failed("and 1 more");
    assert_eq!(api.daemon.torrent()["name"], "shown");
    ctl(&["list", "other"]).assert_failed("other: no such torrent");
    // The token is sent to another machine only on request. Nothing listens there.
    let elsewhere = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
        command.args(["ctl", "list", "--url", "http://127.0.0.1.invalid:1"]);
        ended(command.args(with_token).args(options))
    };
    elsewhere(&[]).assert_failed("everybody on the network could read the token");
    let permitted = elsewhere(&["--insecure-http"]);
    permitted.assert_failed("http://127.0.0.1.invalid:1");
    assert!(!permitted.stderr.contains("token"), "{permitted:?}");
    api.daemon.terminate();
    ctl(&["list"]).assert_failed(&url[..url.len() - 1]);
}

/// A peer of a torrent that is super-seeded is offered single pieces, and of another one all of them, at once after the change.
#[test]
fn torrents_are_super_seeded() {
    // The types of the messages that say which pieces a peer has (BEP 3).
    const HAVE: u8 = 4;
    const BITFIELD: u8 = 5;
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (_place, state, downloads) = places();
    fs::copy(content.path().join("file.bin"), downloads.join("file.bin")).unwrap();
    let api = Api::start(&state, &downloads, &[]);
    let served = content.path().join("file.bin");
    for place in [&["--dir", text(&downloads)], &["--content", text(&served)]] {
        let set = ["set", "--all", "--super-seeding"];
        api.daemon
            .done([&["add", text(&torrent)], &place[..]].concat());
        api.daemon.wait_for_activity("serving");
        let statistics = api.get("statistics").json();
        let address = statistics["listening"][0].as_str().unwrap().to_owned();
        let has_all = || {
            let address = address.parse().unwrap();
            let mut peer = Connection::open(address, info_hash(&torrent)).unwrap();
            loop {
                match peer.receive().unwrap() {
                    (BITFIELD, bits) => return bits[0] == 0xFF,
                    (HAVE, _) => return false,
                    _ => {}
                }
            }
        };
        assert!(has_all());
        for (switch, shown) in [("on", true), ("off", false)] {
            api.daemon.done([&set[..], &[switch]].concat());
            assert_eq!(api.daemon.torrent()["super_seeding"], shown);

            wait_for(|| has_all() != shown);
        }
        api.daemon.done(["remove", "--all"]);
    }
    // A download that is not complete hides nothing.
    let part = downloads.join("file.bin");
    let mut bytes = fs::read(&part).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&part, bytes).unwrap();
    api.daemon.done(["add", text(&torrent)]);
    api.daemon.wait_for_activity("downloading");
    api.daemon.done(["set", "--all", "--super-seeding", "on"]);
    assert_eq!(api.daemon.torrent()["super_seeding"], true);
    let address = api.get("statistics").json()["listening"][0].clone();
    let address = address.as_str().unwrap().parse().unwrap();
    let mut peer = Connection::open(address, info_hash(&torrent)).unwrap();
    loop {
        match peer.receive().unwrap() {
            (BITFIELD, bits) => break assert_eq!(bits[0], 0xFF),
            (HAVE, _) => panic!("pieces are hidden"),
            _ => {}
        }
    }
    api.daemon.terminate();
}

/// A URL is fetched as a job. Local servers are asked only if the options permit it.
#[test]
fn torrents_from_urls() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    fs::copy(&torrent, content.path().join("x.torrent")).unwrap();
    let server = WebServer::of(content.path());
    let (_place, state, downloads) = places();
    let job = |api: &Api, link: &str| {
        let body = json!({"link": link, "options": {"paused": true, "set": {"labels": ["url"]}}});
        let started = api.send("POST", "torrents", &body);
        assert_eq!(started.status, 202, "{started:?}");
        let place = started.header("location").unwrap().to_owned();
        let place = place.trim_start_matches("/api/v1/");
        let mut job = started.json();
        wait_for(|| {
            job = api.get(place).json();
            job["state"] != "fetching"
        });
        job
    };
    let api = Api::start(&state, &downloads, &[]);
    let refused = job(&api, &server.url("x.torrent"));
    assert_eq!(refused["state"], "failed", "{refused}");
    assert!(
        refused["error"].as_str().unwrap().contains("local network"),
        "{refused}"
    );
    assert_eq!(server.sent("/x.torrent"), 0);
    for invalid in ["file:///etc/passwd", "ftp://h/x.torrent", "/etc/passwd"] {
        let answer = api.send("POST", "torrents", &json!({"link": invalid}));
        assert_eq!(answer.status, 422, "{invalid}: {answer:?}");
    }
    assert_eq!(api.get("jobs/99").status, 404);
    api.daemon.terminate();

    let api = Api::start(&state, &downloads, &["--http-fetch-local"]);
    let added = job(&api, &server.url("x.torrent"));
    let hash = &shown(&torrent)["info_hash_v1"];
    assert_eq!(
        (&added["state"], &added["torrent"]["info_hash"]),
        (&json!("added"), hash)
    );
    assert_eq!(api.get("torrents/1").json()["labels"], json!(["url"]));
    assert_eq!(job(&api, &server.url("x.torrent"))["state"], "present");
    let other_scheme = serve(|mut stream| {
        let _ = stream.read(&mut [0; 1024])?;
        write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"
        )
    });
    let key = "passkey-0123456789";
    for url in [
        format!("http://{other_scheme}/{key}"),
        server.url("file.bin"),
        format!("http://127.0.0.1:1/{key}"),
    ] {
        let failed = job(&api, &url);
        assert_eq!(failed["state"], "failed", "{failed}");
        assert!(!failed.to_string().contains(key), "{failed}");
    }
    api.daemon.terminate();
}

/// Reading needs the token too. A browser logs in, and pages of other sites cannot use its cookie.
#[test]
fn the_daemon_asks_for_credentials() {
    let (place, state, downloads) = places();
    let password = place.path().join("password");
    fs::write(&password, "right password\n").unwrap();
    let api = Api::start(&state, &downloads, &[]);
    let mode = fs::metadata(state.join("http-token"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let get =
        |headers: &[(&str, &str)]| ask(api.address, "GET /api/v1/torrents", headers, "").status;
    assert_eq!(get(&[]), 401);
    assert_eq!(
        get(&[("Authorization", "Bearer 0123456789abcdef0123456789abcdef")]),
        401
    );
    assert_eq!(ask(api.address, "GET /", &[], "").status, 200);
    assert_eq!(ask(api.address, "GET /metrics", &[], "").status, 401);
    let session = ask(api.address, "GET /api/v1/session", &[], "").json();
    assert_eq!(
        (&session["read"], &session["token_login"]),
        (&json!(false), &json!(true))
    );
    assert!(session["csrf_token"].is_null());
    let json = ("Content-Type", "application/json");
    let login = |address: SocketAddr, body: Value, origin: &str| {
        let headers = [json, ("Origin", origin)];
        ask(address, "POST /api/v1/session", &headers, &body.to_string())
    };
    let own = format!("http://{}", api.address);
    let token = api.bearer.trim_start_matches("Bearer ").to_owned();
    assert_eq!(login(api.address, json!({"token": "x"}), &own).status, 401);
    assert_eq!(
        login(
            api.address,
            json!({"token": &token}),
            "http://other.example"
        )
        .status,
        403
    );
    let answer = login(api.address, json!({"token": &token}), &own);
    assert_eq!(answer.status, 201, "{answer:?}");
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = ("Cookie", cookie.split(';').next().unwrap());
    let csrf = answer.json()["csrf_token"].as_str().unwrap().to_owned();
    let csrf = ("X-CSRF-Token", csrf.as_str());
    assert_eq!(get(&[cookie]), 200);
    let patch = |headers: &[(&str, &str)]| {
        let all: Vec<_> = headers.iter().copied().chain([json]).collect();
        ask(
            api.address,
            "PATCH /api/v1/config",
            &all,
            r#"{"max_up": 5}"#,
        )
        .status
    };
    assert_eq!(patch(&[cookie]), 403);
    let other = "0".repeat(csrf.1.len());
    assert_eq!(patch(&[cookie, ("X-CSRF-Token", &other)]), 403);
    assert_eq!(patch(&[csrf]), 401);
    assert_eq!(
        patch(&[cookie, csrf, ("Origin", "http://other.example")]),
        403
    );
    assert_eq!(patch(&[cookie, csrf, ("Host", "rebound.example")]), 421);
    assert_eq!(patch(&[cookie, csrf]), 202);
    assert_eq!(
        ask(api.address, "DELETE /api/v1/session", &[cookie], "").status,
        204
    );
    assert_eq!(get(&[cookie]), 401);
    api.daemon.terminate();

    // A user name and a password, with a limit of guesses. The token is none then.
    let options = [
        "--http-user",
        "user",
        "--http-password-file",
        password.to_str().unwrap(),
    ];
    let api = Api::start(&state, &downloads, &options);
    let own = format!("http://{}", api.address);
    assert_eq!(api.get("torrents").status, 401);
    let wrong = json!({"user": "user", "password": "wrong"});
    let right = json!({"user": "user", "password": "right password"});
    assert_eq!(login(api.address, right.clone(), &own).status, 201);
    for _ in 0..10 {
        assert_eq!(login(api.address, wrong.clone(), &own).status, 401);
    }
    assert_eq!(login(api.address, right, &own).status, 429);
    assert!(!api.daemon.stderr().contains("right password"));
    api.daemon.terminate();

    let open = Api::start(&state, &downloads, &["--insecure-no-auth"]);
    assert_eq!(
        ask(open.address, "GET /api/v1/torrents", &[], "").status,
        200
    );
    assert!(
        open.daemon
            .stderr()
            .contains("everybody who reaches this address")
    );
    let foreign = [("Origin", "http://other.example")];
    assert_eq!(
        ask(open.address, "POST /api/v1/torrents", &foreign, "").status,
        403
    );
    open.daemon.terminate();

    let half = ["--http", "0", "--http-user", "user"];
    let ended_one = ended(&mut daemon_command(&state, &half));
    assert_eq!(ended_one.code, Some(2), "{ended_one:?}");
    fs::write(state.join("http-token"), "short\n").unwrap();
    let ended_one = ended(&mut daemon_command(&state, &["--http", "0"]));
    assert!(
        ended_one
            .stderr
            .contains("a token has at least 16 characters"),
        "{ended_one:?}"
    );
}

/// Events have only what changed, and continue where a program was disconnected.
#[test]
fn events_continue_after_a_disconnection() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let api = Api::start(&state, &downloads, &[]);
    api.add_two_paused(&content);
    api.wait_until("1", |one| one["activity"] == "paused");
    api.wait_until("2", |one| one["activity"] == "paused");
    // Returns the next event with its name.
    let next = |last: Option<&str>| {
        let mut headers = vec![("Authorization", api.bearer.as_str())];
        headers.extend(last.map(|last| ("Last-Event-ID", last)));
        let (reader, head) = open(api.address, "GET /api/v1/events", &headers, "");
        assert_eq!(head.status, 200);
        let (mut id, mut data) = (None, None);
        for line in reader.lines().map_while(Result::ok) {
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.to_owned());
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str::<Value>(text).unwrap());
            }
            if id.is_some() && data.is_some() {
                break;
            }
        }
        (id.unwrap(), data.unwrap())
    };
    let mut known = Torrents::default();
    let (id, event) = next(None);
    assert_eq!(event["full"], true);
    known.apply(event);
    assert_eq!(known.0.len(), 2);
    let labels = json!({"action": "set", "labels": ["new"]});
    assert_eq!(api.apply(2, &labels).status, 202);
    let (id, event) = next(Some(&id));
    assert_eq!(event["full"], false);
    let changed = event["changed"].as_array().unwrap();
    assert!(
        changed.len() == 1 && changed[0].get("total_bytes").is_none(),
        "{event}"
    );
    known.apply(event);
    assert_eq!(known.0[&2]["labels"], json!(["new"]));
    assert_eq!(api.apply(1, &json!({"action": "remove"})).status, 202);
    let (_, event) = next(Some(&id));
    assert_eq!(event["removed"], json!([1]));
    known.apply(event);
    assert_eq!(known.0.keys().collect::<Vec<_>>(), [&2]);
    // An event of another start is followed by all torrents.
    let (_, event) = next(Some("0123456789abcdef-1"));
    assert_eq!(event["full"], true);
    api.daemon.terminate();
}

/// One request changes many torrents. Each of them has its result.
#[test]
fn batches() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let api = Api::start(&state, &downloads, &[]);
    let torrents = api.add_two_paused(&content);
    let hash = shown(&torrents[0])["info_hash_v1"]
        .as_str()
        .unwrap()
        .to_owned();
    let batch = |body: Value| api.send("POST", "batch", &body);
    let unknown = "0".repeat(40);
    let labels = json!({"action": "set", "labels": ["x"]});
    let answer = batch(json!({"torrents": [hash, "2", unknown, "?"], "change": labels})).json();
    let results = answer["results"].as_array().unwrap().iter();
    let statuses: Vec<_> = results.map(|it| it["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [202, 202, 404, 404], "{answer}");
    for number in ["1", "2"] {
        assert_eq!(
            api.get(&format!("torrents/{number}")).json()["labels"],
            json!(["x"])
        );
    }
    for invalid in [
        json!({"change": {"action": "pause"}}),
        json!({"torrents": [], "all": true, "change": {"action": "pause"}}),
        json!({"all": true, "change": {"action": "exec"}}),
        json!({"all": true, "change": {"action": "relocate"}}),
        json!({"all": true, "change": {"action": "set", "label": "x"}}),
    ] {
        assert_eq!(batch(invalid.clone()).status, 422, "{invalid}");
    }
    let outside = json!({"all": true, "change": {"action": "relocate", "folder": "/etc"}});
    let refused = batch(outside).json();
    let refused = refused["results"].as_array().unwrap().iter();
    let statuses: Vec<_> = refused.map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, [403, 403]);
    // A number is no name and no first digits.
    api.daemon.done(["set", "--title", "77", "1"]);
    let top = json!({"action": "queue", "to": "top"});
    let status = |torrent: Value| {
        let answer = batch(json!({"torrents": [torrent], "change": top})).json();
        answer["results"][0]["status"].clone()
    };
    assert_eq!(status(json!("77")), 202);
    assert_eq!(status(json!(77)), 404);
    assert_eq!(status(json!(2)), 202);
    let twice = json!({"torrents": [hash, 1], "change": {"action": "queue", "to": "top"}});
    let twice = batch(twice).json();
    assert_eq!(twice["results"][0]["found"], twice["results"][1]["found"]);
    let removed = batch(json!({"all": true, "change": {"action": "remove"}})).json();
    assert_eq!(removed["results"].as_array().unwrap().len(), 2, "{removed}");
    assert!(
        api.get("torrents").json()["torrents"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    api.daemon.terminate();
}

/// A daemon orders, names and places torrents as requests say.
#[test]
fn requests_order_name_and_place_torrents() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let api = Api::start(&state, &downloads, &[]);
    api.add_two_paused(&content);
    let done = |command: Value| {
        let answer = api.apply(2, &command);
        assert_eq!(answer.status, 202, "{command}: {answer:?}");
    };
    done(json!({"action": "queue", "to": 0}));
    assert_eq!(api.daemon.done(["list"])[0]["name"], "file.bin");
    done(json!({"action": "set", "title": "a title"}));
    assert_eq!(api.get("torrents/2").json()["torrent"], "a title");
    done(json!({"action": "set", "title": null}));
    assert_eq!(api.get("torrents/2").json()["torrent"], "file.bin");
    let below = downloads.join("below");
    fs::create_dir(&below).unwrap();
    fs::copy(content.path().join("file.bin"), below.join("file.bin")).unwrap();
    done(json!({"action": "place", "folder": below}));
    api.wait_until("2", |one| one["complete"] == true);
    done(json!({"action": "rename", "from": "file.bin", "to": "other.bin"}));
    wait_for(|| below.join("other.bin").exists());
    api.wait_until("2", |one| one["content"] == json!(below.join("other.bin")));
    api.daemon.terminate();
}

/// The page is not served to other machines without a login by mistake.
#[test]
fn get_and_seed_warn_about_a_missing_login() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let options = ["--http", "0", "--insecure-no-auth"];
    let seed = Peer::seed_with(&[&torrent], content.path(), &options);
    let warning = seed.wait_for_line("warning");
    let text = warning.to_string();
    assert!(
        text.contains("everybody who reaches this address"),
        "{text}"
    );
    let page = seed.wait_for_line("page");
    assert!(page["token"].is_null(), "{page}");
    let url = page["url"].as_str().unwrap().trim_start_matches("http://");
    let address = url.trim_end_matches('/').parse().unwrap();
    let json = [("Content-Type", "application/json")];
    let pause = r#"{"action": "pause"}"#;
    assert_eq!(
        ask(address, "POST /api/v1/torrents/0", &json, pause).status,
        202
    );
    // Other machines can reach this address, so that reading needs the token.
    let seed = Peer::seed_with(&[&torrent], content.path(), &["--http", "0.0.0.0:0"]);
    let page = seed.wait_for_line("page");
    let port = page["url"].as_str().unwrap().trim_end_matches('/');
    let port: u16 = port.rsplit(':').next().unwrap().parse().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let bearer = format!("Bearer {}", page["token"].as_str().unwrap());
    let read = |headers: &[(&str, &str)]| ask(address, "GET /api/v1/torrents", headers, "").status;
    assert_eq!(read(&[]), 401);
    assert_eq!(read(&[("Authorization", &bearer)]), 200);
}

/// A request reads the configuration again.
#[test]
fn a_request_reloads_the_configuration() {
    let (place, state, downloads) = places();
    let config = place.path().join("config.toml");
    fs::write(&config, "").unwrap();
    let api = Api::start(&state, &downloads, &["--config", config.to_str().unwrap()]);
    fs::write(&config, "[network]\nmax-up = 5000\nmax-peers = 3\n").unwrap();
    let answer = api.send("POST", "reload", &Value::Null);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json(), json!({"restart": ["max-peers"]}));
    wait_for(|| api.get("config").json()["max_up"] == 5000);
    fs::write(&config, "[network]\nmax-up = 0\n").unwrap();
    let answer = api.send("POST", "reload", &Value::Null);
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(
        answer.body.contains("config.toml: line 2: max-up: "),
        "{answer:?}"
    );
    assert_eq!(api.get("config").json()["max_up"], 5000);
    api.daemon.terminate();
}

/// Adds content outside the folder of requests, and content that is only served, by `ctl`. Returns the paths of both.
pub(crate) fn add_outside(daemon: &Daemon, content: &Content, downloads: &Path) -> [PathBuf; 2] {
    let outside = downloads.with_file_name("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(downloads).unwrap();
    let paths = [outside.join("file.bin"), downloads.join("served.bin")];
    for path in &paths {
        fs::copy(content.path().join("file.bin"), path).unwrap();
    }
    let [v1, v2] = ["v1", "v2"].map(|version| content.torrent("file.bin", version));
    daemon.done(["add", text(&v1), "--dir", text(&outside)]);
    daemon.done(["add", text(&v2), "--content", text(&paths[1])]);
    wait_for(|| {
        let list = daemon.done(["list"]);
        list.iter().all(|torrent| torrent["activity"] == "serving")
    });
    paths
}

/// Requests change no content where a person alone placed it, and delete none that is only served.
#[test]
fn content_of_others_is_not_deleted() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let api = Api::start(&state, &downloads, &["--remote-delete"]);
    let paths = add_outside(&api.daemon, &content, &downloads);
    let delete = json!({"action": "remove", "content": "delete"});
    for number in 1..=2 {
        let deleted = api.apply(number, &delete);
        assert_eq!(deleted.status, 403, "{deleted:?}");
    }
    let batch = json!({"all": true, "change": delete});
    let results = api.send("POST", "batch", &batch).json();
    let results = results["results"].as_array().unwrap();
    assert!(
        results.iter().all(|one| one["status"] == 403),
        "{results:?}"
    );
    let into = json!({"action": "relocate", "folder": text(&downloads)});
    let moved = api.apply(1, &into);
    assert_eq!(moved.status, 403, "{moved:?}");
    assert!(paths.iter().all(|path| path.exists()));
    // The user's own command deletes both.
    api.daemon.done(["remove", "--all", "--delete-content"]);
    wait_for(|| !paths.iter().any(|path| path.exists()));
    api.daemon.terminate();
}
