//! Every command of a daemon, by every interface: `hashlane ctl`, the HTTP API, Transmission RPC and the Web API of qBittorrent. What
//! each of them did is read from the state folder, because it has to last.

#![expect(clippy::too_many_lines, reason = "a test follows one daemon")]

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::daemon::ctl;
use super::daemon_api::{Api, places};
use super::http::{Response, ask};
use super::peers::{Content, Peer};
use super::tracker::Tracker;
use crate::wait_for;

/// A request by an interface.
enum By<'r> {
    Ctl(&'r [&'r str]),
    /// A command for the torrent.
    Http(Value),
    /// A method and a path below `/api/v1`, with a body.
    Path(&'r str, &'r str, Value),
    /// A method and its arguments, which get the torrent.
    Transmission(&'r str, Value),
    /// A method and its form, in which `{}` is the torrent.
    QBittorrent(&'r str, &'r str),
}

use By::{Ctl, Http, Path as Route, QBittorrent, Transmission};

/// A daemon with all interfaces, and a paused torrent.
struct Served {
    api: Api,
    state: PathBuf,
    transmission: SocketAddr,
    qbittorrent: SocketAddr,
    hash: String,
}

/// Returns the address of a protocol in what a daemon printed.
fn listener(stdout: &Path, protocol: &str) -> SocketAddr {
    let mut address = None;
    wait_for(|| {
        let text = fs::read_to_string(stdout).unwrap();
        let start = format!("{protocol}: http://");
        let mut lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        let url = lines.find_map(|line| line.strip_prefix(&start));
        address = url.map(|url| url.trim().trim_end_matches('/').parse().unwrap());
        address.is_some()
    });
    address.unwrap()
}

impl Served {
    fn start(state: &Path, downloads: &Path, torrent: &Path) -> Self {
        let local = "127.0.0.1:0";
        let api = Api::start(
            state,
            downloads,
            &[
                "--transmission",
                local,
                "--qbittorrent",
                local,
                "--insecure-no-auth",
            ],
        );
        let stdout = state.with_extension("stdout");
        assert_eq!(api.add(torrent, &json!({"paused": true})).status, 201);
        let hash = api.daemon.torrent()["info_hash"]
            .as_str()
            .unwrap()
            .to_owned();
        Self {
            transmission: listener(&stdout, "Transmission RPC"),
            qbittorrent: listener(&stdout, "qBittorrent Web API"),
            state: state.to_owned(),
            api,
            hash,
        }
    }

    fn rpc(&self, method: &str, mut arguments: Value) -> Response {
        arguments["ids"] = json!([self.hash]);
        if method.starts_with("session") {
            arguments.as_object_mut().unwrap().remove("ids");
        }
        let body = json!({ "method": method, "arguments": arguments }).to_string();
        let request = "POST /transmission/rpc";
        let first = ask(self.transmission, request, &[], &body);
        let session = first.header("x-transmission-session-id").unwrap();
        let session = ("X-Transmission-Session-Id", session);
        ask(self.transmission, request, &[session], &body)
    }

    #[track_caller]
    fn send(&self, by: &By<'_>) {
        match by {
            Ctl(args) => {
                let args = args.iter().map(|arg| arg.replace("{}", &self.hash));
                self.api.daemon.done(args);
            }
            Http(command) => {
                let answer = self.api.apply(&self.hash, command);
                assert_eq!(answer.status, 202, "{command}: {answer:?}");
            }
            Route(method, path, body) => {
                let answer = self.api.send(method, path, body);
                assert!(
                    (200..300).contains(&answer.status),
                    "{path} {body}: {answer:?}"
                );
            }
            Transmission(method, arguments) => {
                let answer = self.rpc(method, arguments.clone());
                assert_eq!(answer.json()["result"], "success", "{method} {arguments}");
            }
            QBittorrent(method, form) => {
                let form = form.replace("{}", &self.hash);
                let kind = [("Content-Type", "application/x-www-form-urlencoded")];
                let request = format!("POST /api/v2/{method}");
                let answer = ask(self.qbittorrent, &request, &kind, &form);
                assert_eq!(answer.status, 200, "{method} {form}: {answer:?}");
            }
        }
    }

    /// Returns what the state folder has for the torrent.
    fn chosen(&self) -> String {
        fs::read_to_string(self.state.join(format!("torrents/{}.toml", self.hash))).unwrap()
    }

    fn kept(&self, file: &str) -> String {
        fs::read_to_string(self.state.join(file)).unwrap_or_default()
    }
}

/// What a person chooses for a torrent: the line in the state folder, the command that undoes it, and the requests that do it.
type Choice<'r> = (&'r str, Value, Vec<By<'r>>);

fn choices() -> Vec<Choice<'static>> {
    let set = |patch: Value| {
        let mut command = patch;
        command["action"] = json!("set");
        command
    };
    vec![
        (
            "forced = true",
            json!({ "action": "pause" }),
            vec![
                Ctl(&["resume", "--now", "{}"]),
                Http(json!({ "action": "resume", "now": true })),
                Transmission("torrent-start-now", json!({})),
                QBittorrent("torrents/setForceStart", "hashes={}&value=true"),
            ],
        ),
        (
            "ratio = 2.5",
            set(json!({ "seed_ratio": "inherited" })),
            vec![
                Ctl(&["set", "--seed-ratio", "2.5", "{}"]),
                Http(set(json!({ "seed_ratio": 2.5 }))),
                Transmission(
                    "torrent-set",
                    json!({ "seedRatioLimit": 2.5, "seedRatioMode": 1 }),
                ),
                QBittorrent(
                    "torrents/setShareLimits",
                    "hashes={}&ratioLimit=2.5&seedingTimeLimit=-2&inactiveSeedingTimeLimit=-2",
                ),
            ],
        ),
        (
            "idle_seconds = 600",
            set(json!({ "idle_seconds": "inherited" })),
            vec![
                Ctl(&["set", "--idle-time", "10m", "{}"]),
                Http(set(json!({ "idle_seconds": 600 }))),
                Transmission(
                    "torrent-set",
                    json!({ "seedIdleLimit": 10, "seedIdleMode": 1 }),
                ),
                QBittorrent(
                    "torrents/setShareLimits",
                    "hashes={}&ratioLimit=-2&seedingTimeLimit=-2&inactiveSeedingTimeLimit=10",
                ),
            ],
        ),
        (
            "down = 5000",
            set(json!({ "max_down": null })),
            vec![
                Ctl(&["set", "--max-down", "5000", "{}"]),
                Http(set(json!({ "max_down": 5000 }))),
                Transmission(
                    "torrent-set",
                    json!({ "downloadLimit": 5, "downloadLimited": true }),
                ),
                QBittorrent("torrents/setDownloadLimit", "hashes={}&limit=5000"),
            ],
        ),
        (
            "sequential = true",
            set(json!({ "sequential": false })),
            vec![
                Ctl(&["set", "--sequential", "on", "{}"]),
                Http(set(json!({ "sequential": true }))),
                Transmission("torrent-set", json!({ "sequential_download": true })),
                QBittorrent("torrents/toggleSequentialDownload", "hashes={}"),
            ],
        ),
        (
            "super_seeding = true",
            set(json!({ "super_seeding": false })),
            vec![
                Ctl(&["set", "--super-seeding", "on", "{}"]),
                Http(set(json!({ "super_seeding": true }))),
                QBittorrent("torrents/setSuperSeeding", "hashes={}&value=true"),
            ],
        ),
        (
            "labels = [\"x\"]",
            set(json!({ "labels": [] })),
            vec![
                Ctl(&["set", "--label", "x", "{}"]),
                Http(set(json!({ "labels": ["x"] }))),
                Transmission("torrent-set", json!({ "labels": ["x"] })),
                QBittorrent("torrents/addTags", "hashes={}&tags=x"),
            ],
        ),
        (
            "category = \"tv\"",
            set(json!({ "category": null })),
            vec![
                Ctl(&["set", "--category", "tv", "{}"]),
                Http(set(json!({ "category": "tv" }))),
                Transmission("torrent-set", json!({ "labels": ["tv"] })),
                QBittorrent("torrents/setCategory", "hashes={}&category=tv"),
            ],
        ),
        (
            "title = \"other\"",
            set(json!({ "title": null })),
            vec![
                Ctl(&["set", "--title", "other", "{}"]),
                Http(set(json!({ "title": "other" }))),
                // Transmission has names of the content alone.
                QBittorrent("torrents/rename", "hash={}&name=other"),
            ],
        ),
        (
            "skip = [1]",
            json!({ "action": "prioritize", "files": [], "priority": "normal" }),
            vec![
                Ctl(&["priority", "skip", "--file", "1", "{}"]),
                Http(json!({ "action": "prioritize", "files": [1], "priority": "skip" })),
                Transmission("torrent-set", json!({ "files-unwanted": [1] })),
                QBittorrent("torrents/filePrio", "hash={}&id=1&priority=0"),
            ],
        ),
    ]
}

/// What a person chose is the same by every interface, and lasts.
#[test]
fn every_choice_can_be_made_by_every_interface() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let served = Served::start(&state, &downloads, &content.torrent("tree", "v1"));
    served.send(&Ctl(&["category", "set", "tv"]));
    for (line, undo, requests) in choices() {
        for (number, by) in requests.iter().enumerate() {
            assert!(!served.chosen().contains(line), "{line} before {number}");
            served.send(by);
            let chosen = served.chosen();
            assert!(chosen.contains(line), "{line} by {number}: {chosen}");
            served.send(&Http(undo.clone()));
        }
    }
    served.api.daemon.terminate();
}

/// What a person chose for all torrents together is the same by every interface, and lasts.
#[test]
fn every_setting_can_be_changed_by_every_interface() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let served = Served::start(&state, &downloads, &content.torrent("tree", "v1"));
    let tv = downloads.join("tv");
    let tv = tv.to_str().unwrap();
    let with_folder = ["category", "set", "tv", "--dir", tv];
    let save_path = format!("category=tv&savePath={tv}");
    let config = |patch: Value| Route("PATCH", "config", patch);
    let settings: [(&str, &str, By<'_>, Vec<By<'_>>); 5] = [
        (
            "session.toml",
            "alternative = true",
            Ctl(&["limits", "--alternative", "off"]),
            vec![
                Ctl(&["limits", "--alternative", "on"]),
                config(json!({ "alternative": true })),
                Transmission("session-set", json!({ "alt-speed-enabled": true })),
                QBittorrent("transfer/setSpeedLimitsMode", "mode=1"),
            ],
        ),
        (
            "session.toml",
            "max_active_downloads = 7",
            Ctl(&["limits", "--configured"]),
            vec![
                Ctl(&["limits", "--max-active-downloads", "7"]),
                config(json!({ "max_active_downloads": 7 })),
                Transmission(
                    "session-set",
                    json!({ "download-queue-enabled": true, "download-queue-size": 7 }),
                ),
                QBittorrent(
                    "app/setPreferences",
                    "json={\"queueing_enabled\":true,\"max_active_downloads\":7}",
                ),
            ],
        ),
        (
            "session.toml",
            "ratio = 3.5",
            config(json!({ "seed_ratio": "inherited" })),
            vec![
                Ctl(&["limits", "--seed-ratio", "3.5"]),
                config(json!({ "seed_ratio": 3.5 })),
                Transmission(
                    "session-set",
                    json!({ "seedRatioLimit": 3.5, "seedRatioLimited": true }),
                ),
                QBittorrent(
                    "app/setPreferences",
                    "json={\"max_ratio_enabled\":true,\"max_ratio\":3.5}",
                ),
            ],
        ),
        (
            "groups.toml",
            tv,
            Ctl(&["category", "remove", "tv"]),
            vec![
                Ctl(&with_folder),
                Route(
                    "POST",
                    "groups",
                    json!({ "action": "set_category", "name": "tv", "folder": tv }),
                ),
                QBittorrent("torrents/createCategory", &save_path),
            ],
        ),
        (
            "groups.toml",
            "labels = [\"new\"]",
            Route(
                "POST",
                "groups",
                json!({ "action": "remove_labels", "labels": ["new"] }),
            ),
            vec![
                Route(
                    "POST",
                    "groups",
                    json!({ "action": "add_labels", "labels": ["new"] }),
                ),
                QBittorrent("torrents/createTags", "tags=new"),
            ],
        ),
    ];
    for (file, line, undo, requests) in &settings {
        for (number, by) in requests.iter().enumerate() {
            let before = served.kept(file);
            assert!(!before.contains(line), "{line} before {number}: {before}");
            served.send(by);
            let kept = served.kept(file);
            assert!(kept.contains(line), "{line} by {number}: {kept}");
            served.send(undo);
        }
    }
    let groups = served.api.get("groups").json();
    assert_eq!(groups, json!({ "categories": [], "labels": [] }));
    // A category outside the folders of requests is for `ctl` alone.
    let outside = json!({ "action": "set_category", "name": "x", "folder": "/etc" });
    assert_eq!(served.api.send("POST", "groups", &outside).status, 403);
    served.send(&Ctl(&["category", "set", "x", "--dir", "/etc"]));
    served.api.daemon.terminate();
}

/// The files, trackers and peers of a torrent are shown by every interface.
#[test]
fn every_list_can_be_read_by_every_interface() {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
    let _seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (_place, state, downloads) = places();
    let served = Served::start(&state, &downloads, &torrent);
    let hash = &served.hash;
    // A complete download would end the connection.
    served.send(&Http(json!({ "action": "set", "max_down": 1000 })));
    served.send(&Http(json!({ "action": "resume" })));
    let path = |below: &str| format!("torrents/{hash}{below}");
    wait_for(|| served.api.get(&path("")).json()["peer_list"] != json!([]));
    let url = tracker.url();
    let lists = [
        (
            "files",
            "/files",
            "path",
            "a.bin",
            "files",
            "torrents/files",
        ),
        (
            "trackers",
            "/trackers",
            "url",
            &url,
            "trackers",
            "torrents/trackers",
        ),
        (
            "peers",
            "",
            "address",
            "127.0.0.1",
            "peers",
            "sync/torrentPeers",
        ),
    ];
    for (list, below, name, shown, field, method) in lists {
        let answer = served.api.get(&path(below)).json();
        let answer = answer[if list == "peers" { "peer_list" } else { list }].clone();
        let names = |entries: &[Value]| -> Vec<String> {
            let names = entries.iter().map(|entry| entry[name].as_str().unwrap());
            names.map(str::to_owned).collect()
        };
        let by_http = names(answer.as_array().unwrap());
        assert!(
            by_http.iter().any(|name| name.contains(shown)),
            "{by_http:?}"
        );
        let lines = served.api.daemon.done([list, hash]);
        assert_eq!(names(&lines), by_http, "{list}");
        assert_eq!(lines[0]["type"], list.trim_end_matches('s'));
        let fields = |entry: &Value| -> Vec<String> {
            let keys = entry.as_object().unwrap().keys();
            keys.filter(|key| *key != "type").cloned().collect()
        };
        assert_eq!(fields(&lines[0]), fields(&answer[0]), "{list}");
        let table = ctl(&state).args([list, hash]).output().unwrap().stdout;
        let table = String::from_utf8(table).unwrap();
        assert_eq!(table.lines().count(), by_http.len() + 1, "{table}");
        assert!(table.contains(shown), "{table}");
        let by_rpc = served.rpc("torrent-get", json!({ "fields": [field] }));
        assert!(by_rpc.body.contains(shown), "{list}: {by_rpc:?}");
        let request = format!("GET /api/v2/{method}?hash={hash}");
        let by_qbittorrent = ask(served.qbittorrent, &request, &[], "");
        assert!(
            by_qbittorrent.body.contains(shown),
            "{list}: {by_qbittorrent:?}"
        );
    }
    served
        .api
        .daemon
        .ctl(["files", "other"])
        .assert_failed("other: no such torrent");
    for by in [
        Ctl(&["announce", "{}"]),
        Http(json!({ "action": "reannounce" })),
        Transmission("torrent-reannounce", json!({})),
        QBittorrent("torrents/reannounce", "hashes={}"),
    ] {
        served.send(&by);
    }
    served.api.daemon.terminate();
}

/// What a person chooses for a new torrent is the same by every interface that takes it.
#[test]
fn a_torrent_is_added_with_choices_by_every_interface() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let served = Served::start(&state, &downloads, &content.torrent("tree", "v1"));
    served.send(&Ctl(&["category", "set", "tv"]));
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let link = format!("magnet:?xt=urn:btih:{hash}");
    let options = json!({
        "paused": true,
        "set": { "category": "tv", "seed_ratio": 2.5, "idle_seconds": 600, "max_down": 5000, "sequential": true },
    });
    let form = format!(
        "urls={link}&stopped=true&category=tv&ratioLimit=2.5&inactiveSeedingTimeLimit=10&dlLimit=5000&sequentialDownload=true"
    );
    let by_ctl =
        "add --paused --category tv --seed-ratio 2.5 --idle-time 10m --max-down 5000 --sequential";
    let by_ctl: Vec<&str> = by_ctl.split(' ').chain([&*link]).collect();
    for (number, by) in [
        Ctl(&by_ctl),
        Route(
            "POST",
            "torrents",
            json!({ "link": link, "options": options }),
        ),
        QBittorrent("torrents/add", &form),
    ]
    .iter()
    .enumerate()
    {
        served.send(by);
        let chosen = served.kept(&format!("torrents/{hash}.toml"));
        for line in [
            "paused = true",
            "category = \"tv\"",
            "ratio = 2.5",
            "idle_seconds = 600",
            "down = 5000",
            "sequential = true",
        ] {
            assert!(chosen.contains(line), "{line} by {number}: {chosen}");
        }
        served.send(&Ctl(&["remove", hash]));
    }
    served.api.daemon.terminate();
}

/// Names of files, trackers and the queue.
#[test]
fn every_change_can_be_made_by_every_interface() {
    let content = Content::new();
    let (_place, state, downloads) = places();
    let served = Served::start(&state, &downloads, &content.torrent("tree", "v1"));
    let other = content.torrent("file.bin", "v1");
    assert_eq!(served.api.add(&other, &json!({"paused": true})).status, 201);
    let files = served.rpc("torrent-get", json!({ "fields": ["files"] }));
    let files = files.json()["arguments"]["torrents"][0]["files"].clone();
    let first = files[0]["name"].as_str().unwrap().to_owned();
    let (folder, name) = first.rsplit_once('/').unwrap();
    let new = format!("{folder}/new");
    let rename = |from: &str, to: &str| Http(json!({ "action": "rename", "from": from, "to": to }));
    let form = format!("hash={{}}&oldPath={first}&newPath={new}");
    for by in [
        Ctl(&["rename", "{}", &first, &new]),
        rename(&first, &new),
        Transmission(
            "torrent-rename-path",
            json!({ "path": first, "name": "new" }),
        ),
        QBittorrent("torrents/renameFile", &form),
    ] {
        served.send(&by);
        let chosen = served.chosen();
        // The state folder has paths below the content.
        let below = new.strip_prefix("tree/").unwrap();
        assert!(chosen.contains(&format!("0 = \"{below}\"")), "{chosen}");
        served.send(&rename(&new, &first));
        assert!(
            !served.chosen().contains("new"),
            "{name}: {}",
            served.chosen()
        );
    }

    let trackers = || {
        served
            .rpc("torrent-get", json!({ "fields": ["trackerList"] }))
            .json()
    };
    let list = |answer: Value| answer["arguments"]["torrents"][0]["trackerList"].clone();
    let url = "http://127.0.0.1:1/announce";
    for by in [
        Ctl(&["tracker", "add", url, "{}"]),
        Http(json!({ "action": "add_tracker", "url": url })),
        Transmission("torrent-set", json!({ "trackerAdd": [url] })),
        QBittorrent(
            "torrents/addTrackers",
            "hash={}&urls=http://127.0.0.1:1/announce",
        ),
    ] {
        served.send(&by);
        assert_eq!(list(trackers()), format!("{url}\n"));
        served.send(&Ctl(&[
            "tracker",
            "replace",
            url,
            "http://127.0.0.1:2/x",
            "{}",
        ]));
        assert_eq!(list(trackers()), "http://127.0.0.1:2/x\n");
        served.send(&Ctl(&["tracker", "remove", "http://127.0.0.1:2/x", "{}"]));
        assert_eq!(list(trackers()), "");
    }
    served.send(&Ctl(&["tracker", "set", "--tracker", url, "{}"]));
    assert_eq!(list(trackers()), format!("{url}\n"));

    served.send(&Ctl(&["limits", "--max-active-downloads", "5"]));
    let order = || {
        let torrents = served.api.daemon.done(["list"]).into_iter();
        let mut ours = torrents.filter(|torrent| torrent["info_hash"] == served.hash.as_str());
        ours.next().unwrap()["queue_position"].clone()
    };
    for by in [
        Ctl(&["queue", "bottom", "{}"]),
        Http(json!({ "action": "queue", "to": "bottom" })),
        Transmission("queue-move-bottom", json!({})),
        QBittorrent("torrents/bottomPrio", "hashes={}"),
    ] {
        assert_eq!(order(), 0);
        served.send(&by);
        assert_eq!(order(), 1);
        served.send(&Http(json!({ "action": "queue", "to": 0 })));
    }
    served.api.daemon.terminate();
}
