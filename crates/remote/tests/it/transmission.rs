//! Transmission RPC by requests.

mod session;

use hashlane_api::{Command, Priority, QueueMove, Target};
use std::net::SocketAddr;
use std::sync::Arc;

use data_encoding::BASE64;
use hashlane_client::Activity;
use hashlane_remote::{Listen, ListenError, Login, serve_transmission};
use hashlane_server::Server;
use serde_json::{Value, json};
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::client::{Client, DELETE, KEEP, TIME};

type IsRight = fn(&Value) -> bool;

const MAX_METAINFO_LEN: u64 = 1 << 20;
const V1: &str = "11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a";
pub(crate) const MAGNET: &str =
    "magnet:?xt=urn:btih:11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a&dn=linked";

/// The .torrent file of the demo.
pub(crate) fn metainfo() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../demo/union-addresses.torrent"
    );
    std::fs::read(path).unwrap()
}

pub(crate) fn listen() -> Listen {
    Listen {
        endpoint: SocketAddr::from(([127, 0, 0, 1], 0)).into(),
        listener: None,
        login: None,
        hosts: Vec::new(),
        is_open: false,
        about: String::new(),
    }
}

fn json_of(answer: &mut Response<Body>) -> Value {
    serde_json::from_slice(&answer.body_mut().read_to_vec().unwrap()).unwrap()
}

fn basic(credentials: &str) -> String {
    format!("Basic {}", BASE64.encode(credentials.as_bytes()))
}

/// A server, its client, and what a program remembers of it.
pub(crate) struct Served {
    pub(crate) client: Arc<Client>,
    pub(crate) server: Server,
    agent: Agent,
    /// The header `Authorization`.
    authorization: String,
    session_id: String,
}

impl Served {
    pub(crate) fn new(listen: Listen) -> Self {
        Self::with_password(listen, "")
    }

    /// Starts a server, and sends it a user name and a password, joined by a colon.
    pub(crate) fn with_password(listen: Listen, credentials: &str) -> Self {
        let client = Arc::new(Client::default());
        let control: Arc<Client> = Arc::clone(&client);
        let server = serve_transmission(listen, control, MAX_METAINFO_LEN).unwrap();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .new_agent();
        let mut served = Self {
            client,
            server,
            agent,
            authorization: basic(credentials),
            session_id: String::new(),
        };
        let refused = served.post(&[], b"{}");
        let id = refused.headers().get("x-transmission-session-id");
        if let Some(id) = id {
            assert_eq!(refused.status(), 409);
            id.to_str().unwrap().clone_into(&mut served.session_id);
        }
        served
    }

    fn url(&self) -> String {
        format!(
            "http://{}/transmission/rpc",
            self.server.endpoint().address().unwrap()
        )
    }

    /// Sends the request of a browser without a password for the address of the server.
    fn front(&self, host: &str) -> Response<Body> {
        let url = self.url().replace("/transmission/rpc", "/");
        self.agent.get(url).header("host", host).call().unwrap()
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &[u8]) -> Response<Body> {
        let mut request = self.agent.post(self.url());
        request = request.header("x-transmission-session-id", &self.session_id);
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", &self.authorization);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send(body).unwrap()
    }

    /// Calls a method, and returns its result and the arguments of its answer.
    fn call(&self, method: &str, arguments: &Value) -> (String, Value) {
        let request = json!({ "method": method, "arguments": arguments, "tag": 7 });
        let mut answer = self.post(&[], request.to_string().as_bytes());
        assert_eq!(answer.status(), 200, "{method}");
        assert!(answer.headers().get("x-transmission-rpc-version").is_none());
        let answer: Value = json_of(&mut answer);
        assert_eq!(answer["tag"], 7, "{method}");
        let result = answer["result"].as_str().unwrap().to_owned();
        (result, answer["arguments"].clone())
    }

    /// Calls a method that must succeed.
    pub(crate) fn done(&self, method: &str, arguments: &Value) -> Value {
        let (result, answer) = self.call(method, arguments);
        assert_eq!(result, "success", "{method} {arguments}");
        answer
    }

    fn refused(&self, method: &str, arguments: &Value) -> String {
        let (result, answer) = self.call(method, arguments);
        assert_ne!(result, "success", "{method} {arguments}");
        assert_eq!(answer, json!({}));
        result
    }

    /// Adds the demo and a magnet link, with the numbers 1 and 2.
    fn with_two(self) -> Self {
        self.done(
            "torrent-add",
            &json!({ "metainfo": BASE64.encode(&metainfo()) }),
        );
        self.done("torrent-add", &json!({ "filename": MAGNET }));
        self
    }

    pub(crate) fn get(&self, id: u32, field: &str) -> Value {
        let answer = self.done("torrent-get", &json!({ "ids": id, "fields": [field] }));
        answer["torrents"][0][field].clone()
    }
}

#[test]
fn a_request_needs_the_identifier_of_the_session() {
    let served = Served::new(listen());
    assert_eq!(served.session_id.len(), 48);
    let get = br#"{"method":"session-get"}"#;
    let right = served.post(&[], get);
    assert_eq!(right.status(), 200);
    let kind = right.headers()["content-type"].to_str().unwrap();
    assert!(kind.starts_with("application/json"), "{kind}");
    for wrong in ["", "x", &"0".repeat(48)] {
        let request = served.agent.post(served.url());
        let request = request.header("x-transmission-session-id", wrong);
        let refused = request.send(get).unwrap();
        assert_eq!(refused.status(), 409);
        assert_eq!(
            refused.headers()["x-transmission-session-id"],
            *served.session_id
        );
    }
    let other = Served::new(listen());
    assert_ne!(other.session_id, served.session_id);
}

#[test]
fn other_names_of_the_host_are_refused() {
    let served = Served::new(Listen {
        hosts: vec!["hashlane".into(), "nas.local:9091".into()],
        ..listen()
    });
    let status = |host: &str| {
        let answer = served.post(&[("host", host)], br#"{"method":"session-get"}"#);
        let status = answer.status().as_u16();
        assert_eq!(served.front(host).status(), status, "{host}");
        status
    };
    for known in [
        "127.0.0.1",
        "localhost:9091",
        "[::1]:9091",
        "hashlane:9091",
        "HASHLANE",
        "nas.local:9091",
    ] {
        assert_eq!(status(known), 200, "{known}");
    }
    for other in [
        "example.com",
        "hashlane.example.com",
        "nas.local:9092",
        "127.0.0.1.example.com",
    ] {
        assert_eq!(status(other), 421, "{other}");
    }
}

#[test]
fn a_browser_gets_a_text() {
    let served = Served::new(Listen {
        login: Some(Login::new("user", "password").unwrap().into()),
        about: "This is <a> text.\n".into(),
        ..listen()
    });
    let mut answer = served.front("localhost");
    assert_eq!(answer.status(), 200);
    for (name, value) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        (
            "content-security-policy",
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ] {
        assert_eq!(answer.headers()[name], value, "{name}");
    }
    let text = answer.body_mut().read_to_string().unwrap();
    assert_eq!(text, "This is <a> text.\n");
}

#[test]
fn nobody_else_controls_the_client_by_mistake() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let address: SocketAddr = address.parse().unwrap();
        let client = Arc::new(Client::default());
        let closed = Listen {
            endpoint: address.into(),
            ..listen()
        };
        let error = serve_transmission(closed, client, MAX_METAINFO_LEN).unwrap_err();
        assert!(matches!(error, ListenError::NoLogin(_)), "{error}");
        assert!(
            error
                .to_string()
                .contains("a user name and a password are required")
        );
    }
    let address = SocketAddr::from(([0, 0, 0, 0], 0));
    for (login, is_open) in [
        (Some(Login::new("u", "p").unwrap().into()), false),
        (None, true),
    ] {
        let listen = Listen {
            endpoint: address.into(),
            login,
            is_open,
            ..listen()
        };
        let client = Arc::new(Client::default());
        serve_transmission(listen, client, MAX_METAINFO_LEN).unwrap();
    }
}

#[test]
fn a_login_is_required_and_guessing_ends() {
    let served = Served::new(Listen {
        login: Some(Login::new("user", "password").unwrap().into()),
        ..listen()
    });
    assert_eq!(
        served.session_id, "",
        "the identifier is for those who may log in"
    );
    let status = |credentials: &str| {
        let answer = served.post(&[("authorization", &basic(credentials))], b"{}");
        answer.status().as_u16()
    };
    let asked = served.agent.post(served.url()).send("{}").unwrap();
    assert_eq!(asked.status(), 401);
    assert_eq!(
        asked.headers()["www-authenticate"],
        "Basic realm=\"Transmission\""
    );
    assert_eq!(status("user:password"), 409);
    for wrong in [
        "user:wrong",
        "other:password",
        "user:",
        ":password",
        "user:password:",
    ] {
        assert_eq!(status(wrong), 401, "{wrong}");
    }
    // A right password starts the count again.
    assert_eq!(status("user:password"), 409);
    for _ in 0..10 {
        assert_eq!(status("user:wrong"), 401);
    }
    assert_eq!(status("user:wrong"), 403);
    assert_eq!(status("user:password"), 403);
}

#[test]
fn the_identity_is_that_of_version_4_0() {
    let served = Served::new(listen());
    let all = served.done("session-get", &json!({}));
    assert_eq!(all["rpc-version"], 17);
    assert_eq!(all["rpc-version-minimum"], 14);
    assert_eq!(all["rpc-version-semver"], "5.3.0");
    assert_eq!(all["version"], "4.0.6 (hashlane 1.2.3)");
    assert_eq!(all["download-dir"], "/downloads");
    assert_eq!(all["session-id"], *served.session_id);
    let expected =
        json!({ "speed-limit-up": 500, "speed-limit-up-enabled": true, "seedRatioLimit": 2.0 });
    let fields: Vec<&String> = expected.as_object().unwrap().keys().collect();
    let some = served.done("session-get", &json!({ "fields": fields }));
    assert_eq!(some, expected);
    // Some programs write names with lines below.
    let some = served.done("session-get", &json!({ "fields": ["download_dir"] }));
    assert_eq!(some, json!({ "download-dir": "/downloads" }));
}

#[test]
fn torrents_are_added_once() {
    let served = Served::new(listen());
    let encoded = BASE64.encode(&metainfo());
    // Python's encoder breaks lines.
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = encoded.as_str();
    while rest.len() > 76 {
        let (line, next) = rest.split_at(76);
        lines.push(line);
        rest = next;
    }
    lines.push(rest);
    let arguments = json!({
        "metainfo": lines.join("\n"),
        "download-dir": "/other",
        "paused": true,
        "labels": [" one ", "two", "one"],
        "files-unwanted": [0],
    });
    let added = served.done("torrent-add", &arguments);
    let expected = hashlane_metainfo::Torrent::parse(metainfo())
        .unwrap()
        .info_hashes()
        .v1()
        .unwrap();
    assert_eq!(added["torrent-added"]["id"], 1);
    assert_eq!(added["torrent-added"]["hashString"], expected.to_string());
    assert_eq!(served.get(1, "downloadDir"), "/other");
    assert_eq!(served.get(1, "status"), 0);
    assert_eq!(served.get(1, "labels"), json!(["one", "two"]));
    assert_eq!(served.get(1, "wanted"), json!([0]));
    let again = served.done("torrent-add", &json!({ "metainfo": encoded }));
    assert_eq!(again["torrent-duplicate"], added["torrent-added"]);
    let linked = served.done("torrent-add", &json!({ "filename": MAGNET }));
    let expected = json!({ "id": 2, "name": "linked", "hashString": V1 });
    assert_eq!(linked, json!({ "torrent-added": expected }));
    let bare = served.done("torrent-add", &json!({ "filename": V1 }));
    assert_eq!(bare, json!({ "torrent-duplicate": expected }));
}

#[test]
fn additions_that_are_refused() {
    let served = Served::new(listen());
    for (arguments, reason) in [
        (json!({}), "no filename or metainfo specified"),
        (json!({ "metainfo": "*" }), "invalid Base64"),
        (json!({ "metainfo": "aGFsbG8=" }), "not a .torrent file: "),
        (json!({ "metainfo": 1 }), "metainfo: expected a text"),
        (
            json!({ "filename": "/etc/passwd" }),
            "files of the server cannot be named",
        ),
        (
            json!({ "filename": "file:///etc/passwd" }),
            "files of the server cannot be named",
        ),
        (
            json!({ "filename": MAGNET, "download-dir": "relative" }),
            "must be absolute",
        ),
        (json!({ "filename": MAGNET, "labels": ["a,b"] }), "comma"),
        (json!({ "filename": MAGNET, "labels": [""] }), "empty"),
        (
            json!({ "filename": MAGNET, "files-wanted": [-1] }),
            "files-wanted: expected",
        ),
    ] {
        let result = served.refused("torrent-add", &arguments);
        assert!(result.contains(reason), "{arguments}: {result}");
    }
    assert_eq!(
        served.done("torrent-get", &json!({ "fields": ["id"] })),
        json!({ "torrents": [] })
    );
}

/// Each field of the specification has its type, with values of the client where a test can know them.
#[test]
fn every_field_of_a_torrent() {
    let served = Served::new(listen()).with_two();
    served.client.edit(1, |torrent| {
        torrent.error = Some("no space".into());
        torrent.done_bytes = torrent.total_bytes / 2;
    });
    let numbers = "activityDate addedDate bandwidthPriority corruptEver dateCreated desiredAvailable doneDate \
        downloadedEver downloadLimit editDate error eta etaIdle file-count fileCount haveUnchecked haveValid id \
        leftUntilDone manualAnnounceTime maxConnectedPeers metadataPercentComplete peer-limit peersConnected \
        peersGettingFromUs peersSendingToUs percentComplete percentDone pieceCount pieceSize queuePosition \
        rateDownload rateUpload recheckProgress secondsDownloading secondsSeeding seedIdleLimit seedIdleMode \
        seedRatioLimit seedRatioMode sizeWhenDone startDate status totalSize uploadedEver uploadLimit uploadRatio \
        webseedsSendingToUs";
    let texts = "comment creator downloadDir errorString group hashString magnetLink name pieces \
        primary-mime-type torrentFile trackerList";
    let switches = "downloadLimited honorsSessionLimits isFinished isPrivate isStalled sequentialDownload uploadLimited";
    let lists = "availability files fileStats labels peers priorities trackers trackerStats wanted webseeds";
    let types: [(&str, IsRight); 4] = [
        (numbers, Value::is_number),
        (texts, Value::is_string),
        (switches, Value::is_boolean),
        (lists, Value::is_array),
    ];
    for (fields, is_right) in types {
        for field in fields.split_whitespace() {
            for id in [1, 2] {
                let value = served.get(id, field);
                assert!(is_right(&value), "{field} of {id}: {value}");
            }
        }
    }
    let len = hashlane_metainfo::Torrent::parse(metainfo())
        .unwrap()
        .content_length();
    for (field, expected) in [
        ("addedDate", json!(TIME)),
        ("availability", json!([-1, -1, -1, -1, -1, 1, 1, 1, 1, 1])),
        ("error", json!(3)),
        ("errorString", json!("no space")),
        ("eta", json!(90)),
        ("haveValid", json!(len / 2)),
        ("leftUntilDone", json!(len - len / 2)),
        ("totalSize", json!(len)),
        ("percentDone", json!(0.5)),
        // The first five of ten bits.
        ("pieces", json!("+AA=")),
        ("priorities", json!([0])),
        ("wanted", json!([1])),
        ("status", json!(4)),
        ("uploadRatio", json!(1.5)),
        ("peersSendingToUs", json!(1)),
        ("peersGettingFromUs", json!(0)),
        (
            "trackerList",
            json!("http://tracker.example.com:80/announce?passkey=1\n\nudp://192.0.2.1:6969\n"),
        ),
    ] {
        assert_eq!(served.get(1, field), expected, "{field}");
    }
    let trackers = served.get(1, "trackers");
    assert_eq!(
        trackers[0]["scrape"],
        "http://tracker.example.com:80/scrape?passkey=1"
    );
    assert_eq!(
        (&trackers[0]["sitename"], &trackers[1]["sitename"]),
        (&json!("example"), &json!("192.0.2.1"))
    );
    let stats = served.get(1, "trackerStats");
    assert_eq!(stats[0]["host"], "tracker.example.com:80");
    assert_eq!(
        (&stats[0]["seederCount"], &stats[1]["seederCount"]),
        (&json!(3), &json!(-1))
    );
    // A program shows for how long the tracker has been asked.
    served.client.edit_trackers(1, |trackers| {
        (trackers[0].is_announcing, trackers[0].answered) = (true, None);
    });
    let stats = served.get(1, "trackerStats");
    assert!(
        stats[0]["lastAnnounceStartTime"].as_u64() > Some(TIME),
        "{stats}"
    );
    assert_eq!(served.get(2, "metadataPercentComplete"), 0.0);
    assert_eq!(served.get(2, "files"), json!([]));
}

#[test]
fn states_have_the_numbers_of_transmission() {
    let served = Served::new(listen()).with_two();
    let states = [
        (Activity::Paused, false, 0),
        (Activity::Waiting, false, 1),
        (Activity::Verifying, false, 2),
        (Activity::Queued, false, 3),
        (Activity::Downloading, false, 4),
        (Activity::Moving, true, 4),
        (Activity::Queued, true, 5),
        (Activity::Serving, true, 6),
    ];
    for (activity, is_complete, number) in states {
        served.client.edit(1, |torrent| {
            (torrent.activity, torrent.is_complete) = (activity, is_complete);
        });
        assert_eq!(served.get(1, "status"), number);
    }
    // Sonarr removes what is stopped and finished.
    served.client.edit(1, |torrent| {
        torrent.activity = Activity::Paused;
        torrent.done_bytes = torrent.wanted_bytes;
        torrent.goal.ratio = Target::At(1.5);
    });
    assert_eq!(served.get(1, "isFinished"), true);
    served
        .client
        .edit(1, |torrent| torrent.goal.ratio = Target::At(1.6));
    assert_eq!(served.get(1, "isFinished"), false);
}

#[test]
fn torrents_are_named_in_every_form() {
    let served = Served::new(listen()).with_two();
    let ids = |ids: &Value| {
        let answer = served.done("torrent-get", &json!({ "ids": ids, "fields": ["id"] }));
        let torrents = answer["torrents"].as_array().unwrap().iter();
        torrents
            .map(|torrent| torrent["id"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&Value::Null), [1, 2]);
    assert_eq!(ids(&json!([])), [0; 0]);
    assert_eq!(ids(&json!(2)), [2]);
    assert_eq!(ids(&json!([2, 1, 3, -1])), [1, 2]);
    assert_eq!(ids(&json!([V1.to_uppercase()])), [2]);
    assert_eq!(
        ids(&json!(["0000000000000000000000000000000000000000"])),
        [0; 0]
    );
    served.refused("torrent-get", &json!({ "ids": [{}], "fields": ["id"] }));
    served.refused("torrent-get", &json!({ "ids": [1] }));
    let table = json!({ "ids": [2, 1], "fields": ["id", "unknown", "name"], "format": "table" });
    let answer = served.done("torrent-get", &table);
    assert_eq!(answer["torrents"][0], json!(["id", "name"]));
    assert_eq!(answer["torrents"][2], json!([2, "linked"]));
}

#[test]
fn recent_changes_and_removals() {
    let served = Served::new(listen()).with_two();
    let recent = json!({ "ids": "recently-active", "fields": ["id"] });
    // Both were changed long ago.
    assert_eq!(
        served.done("torrent-get", &recent),
        json!({ "torrents": [], "removed": [] })
    );
    served
        .client
        .edit(2, |torrent| torrent.down_bytes_per_second = 1);
    assert_eq!(
        served.done("torrent-get", &recent)["torrents"],
        json!([{ "id": 2 }])
    );
    served.done("torrent-remove", &json!({ "ids": [1] }));
    assert_eq!(served.done("torrent-get", &recent)["removed"], json!([1]));
    assert_eq!(served.client.changes(), [(1, KEEP)]);
    assert!(served.done("torrent-get", &json!({ "fields": ["id"] }))["removed"].is_null());
}

#[test]
fn actions_reach_the_client() {
    let served = Served::new(listen()).with_two();
    for (method, arguments, expected) in [
        ("torrent-start", json!({}), Command::Resume { now: false }),
        (
            "torrent-start-now",
            json!({}),
            Command::Resume { now: true },
        ),
        ("torrent-stop", json!({}), Command::Pause),
        ("torrent-verify", json!({}), Command::Verify),
        ("torrent-reannounce", json!({}), Command::Reannounce),
        (
            "queue-move-top",
            json!({}),
            Command::Queue { to: QueueMove::Top },
        ),
        (
            "queue-move-up",
            json!({}),
            Command::Queue { to: QueueMove::Up },
        ),
        (
            "queue-move-down",
            json!({}),
            Command::Queue {
                to: QueueMove::Down,
            },
        ),
        (
            "queue-move-bottom",
            json!({}),
            Command::Queue {
                to: QueueMove::Bottom,
            },
        ),
        (
            "torrent-set-location",
            json!({ "location": "/new", "move": true }),
            Command::Relocate {
                folder: "/new".into(),
            },
        ),
        (
            "torrent-set-location",
            json!({ "location": "/found" }),
            Command::Place {
                folder: "/found".into(),
            },
        ),
        (
            "torrent-rename-path",
            json!({ "path": "linked", "name": "renamed" }),
            Command::Rename {
                from: "linked".into(),
                to: "renamed".into(),
            },
        ),
    ] {
        let mut arguments = arguments;
        arguments["ids"] = json!([2]);
        served.done(method, &arguments);
        assert_eq!(served.client.changes(), [(2, expected)], "{method}");
    }
    served.client.calls();
    served.done("torrent-stop", &json!({}));
    assert_eq!(served.client.calls(), 1, "one write for all torrents");
    assert_eq!(
        served.client.changes(),
        [(1, Command::Pause), (2, Command::Pause)]
    );
    served.done(
        "torrent-remove",
        &json!({ "ids": [2], "delete-local-data": true }),
    );
    assert_eq!(served.client.changes(), [(2, DELETE)]);
}

#[test]
fn limits_goals_and_files_of_a_torrent() {
    let served = Served::new(listen()).with_two();
    let set = |arguments: Value| {
        let mut arguments = arguments;
        arguments["ids"] = json!([1]);
        served.done("torrent-set", &arguments);
    };
    set(json!({ "downloadLimit": 100, "downloadLimited": true, "uploadLimit": 5 }));
    assert_eq!(served.get(1, "downloadLimit"), 100);
    assert_eq!(served.get(1, "downloadLimited"), true);
    assert_eq!(
        served.get(1, "uploadLimited"),
        false,
        "the value alone sets no limit"
    );
    set(json!({ "downloadLimit": 200 }));
    assert_eq!(served.get(1, "downloadLimit"), 200);
    set(json!({ "downloadLimited": false }));
    assert_eq!(served.get(1, "downloadLimited"), false);
    // Sonarr's limits.
    set(
        json!({ "seedRatioLimit": 1.5, "seedRatioMode": 1, "seedIdleLimit": 30, "seedIdleMode": 1 }),
    );
    assert_eq!(
        (
            served.get(1, "seedRatioLimit"),
            served.get(1, "seedRatioMode")
        ),
        (json!(1.5), json!(1))
    );
    assert_eq!(
        (
            served.get(1, "seedIdleLimit"),
            served.get(1, "seedIdleMode")
        ),
        (json!(30), json!(1))
    );
    set(json!({ "seedRatioMode": 2, "seedIdleMode": 0 }));
    assert_eq!(
        (
            served.get(1, "seedRatioMode"),
            served.get(1, "seedIdleMode")
        ),
        (json!(2), json!(0))
    );
    set(json!({ "labels": ["sonarr"] }));
    assert_eq!(served.get(1, "labels"), json!(["sonarr"]));
    set(json!({ "files-unwanted": [] }));
    assert_eq!(served.get(1, "wanted"), json!([0]));
    set(json!({ "files-wanted": [0], "priority-high": [0] }));
    assert_eq!(
        (served.get(1, "wanted"), served.get(1, "priorities")),
        (json!([1]), json!([1]))
    );
    set(json!({ "trackerAdd": ["http://other.example/announce"] }));
    assert_eq!(
        served.get(1, "trackers")[2]["announce"],
        "http://other.example/announce"
    );
    set(json!({ "trackerReplace": [1, "udp://c.example"], "trackerRemove": [2] }));
    let list = served.get(1, "trackerList");
    assert_eq!(
        list,
        "http://tracker.example.com:80/announce?passkey=1\n\nudp://c.example\n"
    );
    set(json!({ "trackerList": "http://a.example\nhttp://b.example\n\nhttp://c.example" }));
    let tiers: Vec<_> = served
        .get(1, "trackers")
        .as_array()
        .unwrap()
        .iter()
        .map(|tracker| tracker["tier"].clone())
        .collect();
    assert_eq!(tiers, [0, 0, 1]);
    let select = |priority| Command::Prioritize {
        files: vec![0],
        priority,
    };
    let changes = served.client.changes();
    assert!(
        changes.contains(&(1, select(Priority::High))),
        "{changes:?}"
    );
    for arguments in [
        json!({ "seedRatioMode": 3 }),
        json!({ "seedRatioLimit": -1 }),
        json!({ "group": "slow" }),
        json!({ "location": "relative" }),
        json!({ "labels": "sonarr" }),
        json!({ "downloadLimit": 1e12 }),
        json!({ "trackerRemove": [3] }),
        json!({ "trackerReplace": [0] }),
        json!({ "trackerReplace": [0, "no url"] }),
        json!({ "trackerAdd": ["no url"] }),
    ] {
        served.refused("torrent-set", &arguments);
        assert_eq!(served.client.changes(), [], "{arguments}");
    }
}

#[test]
fn what_cannot_be_done_is_an_error() {
    let served = Served::new(listen()).with_two();
    for (method, arguments, reason) in [
        ("torrent-remove", json!({}), "required"),
        ("torrent-set-location", json!({ "ids": [1] }), "no location"),
        (
            "torrent-rename-path",
            json!({ "path": "a", "name": "b" }),
            "requires 1 torrent",
        ),
        (
            "torrent-rename-path",
            json!({ "ids": [1], "path": "a", "name": "../b" }),
            "no name",
        ),
        ("session-close", json!({}), "service"),
        ("blocklist-update", json!({}), "no blocklist"),
        ("port-test", json!({}), "not tested"),
        (
            "group-set",
            json!({ "name": "slow" }),
            "no bandwidth groups",
        ),
        (
            "free-space",
            json!({ "path": "/missing" }),
            "no such folder",
        ),
        ("free-space", json!({ "path": "relative" }), "absolute"),
        ("torrent-explode", json!({}), "method name not recognized"),
        ("", json!({}), "method name not recognized"),
    ] {
        let result = served.refused(method, &arguments);
        assert!(result.contains(reason), "{method}: {result}");
    }
    assert_eq!(served.client.changes(), []);
    assert_eq!(
        served.done("free-space", &json!({ "path": "/data" })),
        json!({ "path": "/data", "size-bytes": 1_u64 << 40, "total_size": 1_u64 << 41 })
    );
    assert_eq!(served.done("group-get", &json!({})), json!({ "group": [] }));
    let stats = served.done("session-stats", &json!({}));
    assert_eq!(
        (&stats["torrentCount"], &stats["activeTorrentCount"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(stats["cumulative-stats"]["uploadedBytes"], 100);
}

#[test]
fn hostile_requests() {
    let served = Served::new(listen()).with_two();
    let nested = "[".repeat(100_000);
    for body in [
        "",
        "x",
        "null",
        "[]",
        "1",
        "{\"method\":1}",
        &nested,
        "{\"arguments\":[],\"method\":\"torrent-get\"}",
    ] {
        let mut answer = served.post(&[], body.as_bytes());
        assert_eq!(answer.status(), 200);
        let answer: Value = json_of(&mut answer);
        assert_ne!(answer["result"], "success", "{body:.40}");
    }
    let long = vec![b' '; (MAX_METAINFO_LEN as usize) / 3 * 4 + (5 << 20)];
    let sent = served.agent.post(served.url()).send(&long[..]);
    // The server answers before it has read everything, and may close the connection.
    assert!(sent.is_err() || sent.is_ok_and(|answer| answer.status() == 413));
    // It goes on.
    served.done("session-stats", &json!({}));
}
