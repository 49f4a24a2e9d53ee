//! The HTTP page, its API and metrics.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::http::{Chunks, Response, ask, open};
use super::metadata::shown;
use super::peers::{Content, PARTING, PATIENCE, Peer, ended, get, seed_command};

/// A process that serves the page.
pub(crate) struct Page {
    pub(crate) peer: Peer,
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    bearer: String,
}

impl Page {
    pub(crate) fn of(peer: Peer) -> Self {
        peer.wait_for_line("page");
        Self::at_last_address(peer)
    }

    /// Returns the page of the process that continues from this one.
    pub(crate) fn again(self) -> Self {
        Self::at_last_address(self.peer)
    }

    fn at_last_address(peer: Peer) -> Self {
        let lines = peer.lines_of("page");
        let line = lines.last().unwrap();
        let url = line["url"].as_str().unwrap().to_owned();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Self {
            peer,
            address: address.parse().unwrap(),
            bearer: format!("Bearer {}", line["token"].as_str().unwrap()),
            url,
        }
    }

    /// Returns the address that is shown to users.
    pub(crate) fn with_token(&self) -> String {
        format!("{}#{}", self.url, self.bearer.trim_start_matches("Bearer "))
    }

    /// Returns the header of requests that change something.
    pub(crate) fn bearer(&self) -> &str {
        &self.bearer
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        let headers = [("Authorization", self.bearer.as_str())];
        ask(self.address, &format!("GET {path}"), &headers, "")
    }

    pub(crate) fn change(&self, request: &str, body: &str) -> u16 {
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        ask(self.address, request, &headers, body).status
    }

    /// Sends a command to one torrent. Returns the status.
    pub(crate) fn apply(&self, torrent: impl Display, command: &Value) -> u16 {
        let request = format!("POST /api/v1/torrents/{torrent}");
        self.change(&request, &command.to_string())
    }

    pub(crate) fn wait_for(&self, is_so: impl Fn(&Value) -> bool) {
        let started = Instant::now();
        loop {
            let torrents = self.get("/api/v1/torrents").json();
            if is_so(&torrents) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{torrents:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The torrents as a program knows them from events.
#[derive(Default)]
pub(crate) struct Torrents(pub(crate) BTreeMap<u64, serde_json::Map<String, Value>>);

impl Torrents {
    /// Applies an event, and returns it.
    pub(crate) fn apply(&mut self, event: Value) -> Value {
        if event["full"] == true {
            self.0.clear();
        }
        for fields in event["changed"].as_array().unwrap() {
            let known = self
                .0
                .entry(fields["number"].as_u64().unwrap())
                .or_default();
            known.extend(fields.as_object().unwrap().clone());
        }
        for number in event["removed"].as_array().unwrap() {
            self.0.remove(&number.as_u64().unwrap());
        }
        event
    }
}

/// Starts a slow download.
pub(crate) fn slow_download(torrent: &Path, folder: &Path, seed: &Peer) -> Page {
    let options = ["--http", "0", "--max-down", "200KiB", "--seed"];
    Page::of(Peer::get(&[torrent], folder, seed, &options))
}

/// Serves the tree and the file on the page.
pub(crate) fn two_served(content: &Content) -> Page {
    let torrents = ["tree", "file.bin"].map(|name| content.torrent(name, "v1"));
    let torrents = torrents.each_ref().map(PathBuf::as_path);
    let page = Page::of(Peer::seed_with(&torrents, content.path(), &["--http", "0"]));
    page.wait_for(|all| all["torrents"][1]["activity"] == "serving");
    page
}

/// Starts to serve a torrent.
pub(crate) fn served(content: &Content, torrent: &Path) -> Page {
    let options = ["--http", "0"];
    let page = Page::of(Peer::seed_with(&[torrent], content.path(), &options));
    page.wait_for(torrent_is("serving"));
    page
}

pub(crate) fn torrent_is(activity: &'static str) -> impl Fn(&Value) -> bool {
    move |all| all["torrents"][0]["activity"] == activity
}

#[test]
fn the_api_reports_and_controls_a_download() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = slow_download(&torrent, folder.path(), &seed);
    page.wait_for(|all| all["torrents"][0]["done_bytes"].as_u64() > Some(0));
    let all = page.get("/api/v1/torrents").json();
    let one = &all["torrents"][0];
    assert_eq!(one["name"], "tree");
    assert_eq!(one["activity"], "downloading");
    assert_eq!((&one["pieces"], &one["peers"]), (&json!(39), &json!(1)));
    assert_eq!(one["wanted_bytes"], content.len_of("tree"));
    assert_eq!(all["max_down"], 200 << 10);

    let detail = page.get("/api/v1/torrents/0").json();
    let have = data_encoding::BASE64.decode(detail["have"].as_str().unwrap().as_bytes());
    let n_there: u32 = have.unwrap().iter().map(|byte| byte.count_ones()).sum();
    assert!((1..=39).contains(&n_there), "{detail}");
    assert_eq!(
        detail["peer_list"][0]["address"],
        seed.address().to_string()
    );
    assert_eq!(detail["peer_list"][0]["progress"], 1.0);

    // Events arrive without polling.
    for path in ["/api/v1/events", "/api/v1/torrents/0/events"] {
        let (reader, head) = open(page.address, &format!("GET {path}"), &[], "");
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        let mut events = reader
            .lines()
            .map_while(Result::ok)
            .filter(|line| line.contains("data: "));
        for _ in 0..2 {
            let event = events.next().unwrap();
            // Events after the first one have only what changed.
            assert!(event.contains("\"number\":0"), "{event}");
        }
    }

    // Every client sees each step.
    assert_eq!(page.apply(0, &json!({"action": "pause"})), 202);
    page.wait_for(torrent_is("paused"));
    assert_eq!(page.apply(0, &json!({"action": "resume"})), 202);
    page.wait_for(torrent_is("downloading"));
    assert_eq!(
        page.change(
            "PATCH /api/v1/config",
            r#"{"max_down": null, "max_up": 100000}"#
        ),
        202
    );
    page.wait_for(|all| all["max_down"].is_null() && all["max_up"] == 100_000);
    // An absent field changes nothing.
    let body = r#"{"max_down": 5000000}"#;
    assert_eq!(page.change("PATCH /api/v1/config", body), 202);
    page.wait_for(|all| all["max_down"] == 5_000_000 && all["max_up"] == 100_000);
    page.wait_for(torrent_is("serving"));
    assert_eq!(page.apply(0, &json!({"action": "end"})), 202);
    let ended = page.peer.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("tree", folder.path());
}

/// A download that is ended before it is complete counts as failed. One of several can be ended.
#[test]
fn one_of_several_can_be_ended() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v2"),
    );
    let seed = Peer::seed(&[&tree, &file], content.path());
    let folder = tempfile::tempdir().unwrap();
    let options = ["--http", "0", "--max-down", "100KiB"];
    let page = Page::of(Peer::get(&[&tree, &file], folder.path(), &seed, &options));
    page.wait_for(|all| all["torrents"][1]["done_bytes"].as_u64() > Some(0));
    assert_eq!(page.apply(0, &json!({"action": "end"})), 202);
    page.wait_for(|all| all["torrents"][0]["activity"] == "failed");
    assert_eq!(page.get("/api/v1/torrents/0").json()["have"], "");
    assert_eq!(
        page.change(
            "PATCH /api/v1/config",
            r#"{"max_down": null, "max_up": null}"#
        ),
        202
    );
    let ended = page.peer.end();
    ended.assert_failed("ended by request");
    content.assert_same("file.bin", folder.path());
}

#[test]
fn invalid_requests_are_refused() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = served(&content, &torrent);
    let pause = "POST /api/v1/torrents/0";
    let refused =
        |request: &str, headers: &[(&str, &str)]| ask(page.address, request, headers, "").status;
    assert_eq!(refused(pause, &[]), 401);
    assert_eq!(
        refused(
            pause,
            &[("Authorization", "Bearer 00000000000000000000000000000000")]
        ),
        401
    );
    let bearer = ("Authorization", page.bearer.as_str());
    let origin = ("Origin", "http://example.com");
    assert_eq!(refused(pause, &[bearer, origin]), 403);
    assert_eq!(refused("GET /api/v1/torrents", &[origin]), 403);
    assert_eq!(refused("GET /", &[("Host", "example.com")]), 421);
    assert_eq!(refused("GET /nothing", &[]), 404);
    // Other sites cannot show the page in a frame, and the page loads nothing from other sites.
    let policy = page.get("/");
    let policy = policy.header("content-security-policy").unwrap();
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert_eq!(refused("GET /api/v1/torrents/1", &[]), 404);
    assert_eq!(refused("GET /api/v1/torrents/1/events", &[]), 404);
    assert_eq!(page.apply(1, &json!({"action": "pause"})), 404);
    assert_eq!(page.change("PATCH /api/v1/config", "{}"), 202);
    assert_eq!(
        page.change("PATCH /api/v1/config", r#"{"max_down": -1}"#),
        422
    );
    assert_eq!(page.change("PATCH /api/v1/config", r#"{"other": 1}"#), 422);
    assert_eq!(page.change("PATCH /api/v1/config", &" ".repeat(5000)), 413);
    assert!(torrent_is("serving")(&page.get("/api/v1/torrents").json()));
    // A port in use.
    let port = page.address.port().to_string();
    let mut command = seed_command(&[&torrent], content.path(), &["--http", &port]);
    let message = format!("--http 127.0.0.1:{port}: Address already in use");
    ended(&mut command).assert_failed(&message);
    // Open event streams do not delay the end.
    let (reader, _) = open(page.address, "GET /api/v1/events", &[], "");
    let asked = Instant::now();
    let ended = page.peer.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(asked.elapsed() < PARTING, "{:?}", asked.elapsed());
    drop(reader);
}

/// Pages are loaded over slow connections, and thousands of torrents are megabytes.
#[test]
fn answers_are_compressed_and_files_are_kept() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = served(&content, &torrent);
    let headers = [
        ("Authorization", page.bearer.as_str()),
        ("Accept-Encoding", "br, gzip"),
    ];
    let opened = |path: &str| open(page.address, &format!("GET {path}"), &headers, "");
    let answer = opened("/");
    assert_eq!(answer.1.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.1.header("cache-control"), Some("no-store"));
    let mut html = String::new();
    let mut unzipped = GzDecoder::new(Chunks::of(answer));
    unzipped.read_to_string(&mut html).unwrap();
    let plain = page.get("/");
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.header("vary"), Some("accept-encoding"));
    assert!(html == plain.body);
    let (_, script) = html.split_once("type=\"module\" src=\"").unwrap();
    let (script, _) = script.split_once('"').unwrap();
    let kept = page.get(&format!("/{script}"));
    assert_eq!(kept.status, 200);
    let header = kept.header("cache-control").unwrap();
    assert!(header.contains("immutable"), "{header}");
    assert!(kept.body.contains("import"));
    assert_eq!(page.get("/page.js").status, 404);
    // Short answers stay as they are.
    let short = opened("/api/v1/limits").1;
    assert_eq!(
        (short.status, short.header("content-encoding")),
        (200, None)
    );
    // Each event is sent at once, not when enough of them fill a block.
    let answer = opened("/api/v1/events");
    assert_eq!(answer.1.header("content-encoding"), Some("gzip"));
    let lines = BufReader::new(GzDecoder::new(Chunks::of(answer))).lines();
    let mut events = lines.filter_map(|line| Some(line.unwrap().strip_prefix("data:")?.to_owned()));
    let first: Value = serde_json::from_str(&events.next().unwrap()).unwrap();
    assert_eq!(
        (&first["full"], &first["changed"][0]["name"]),
        (&json!(true), &json!("tree"))
    );
    assert_eq!(page.apply(0, &json!({"action": "pause"})), 202);
    let paused = events.find(|event| event.contains("\"paused\":true"));
    assert!(paused.is_some());
}

#[test]
fn event_streams_are_limited() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = served(&content, &torrent);
    let mut watching: Vec<BufReader<TcpStream>> = Vec::new();
    for _ in 0..32 {
        let (reader, head) = open(page.address, "GET /api/v1/events", &[], "");
        assert_eq!(head.status, 200);
        watching.push(reader);
    }
    assert_eq!(ask(page.address, "GET /api/v1/events", &[], "").status, 503);
    // A closed stream makes room.
    watching.pop();
    let started = Instant::now();
    while open(page.address, "GET /api/v1/events", &[], "").1.status != 200 {
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Clients that send nothing only occupy their connections, and lose them to clients that send requests.
#[test]
fn silent_clients_do_not_block_the_page() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = served(&content, &torrent);
    let connect = || TcpStream::connect(page.address).unwrap();
    let silent: Vec<TcpStream> = (0..128).map(|_| connect()).collect();
    // Idle connections are closed after ten seconds. The next client does not wait for that.
    let mut watching = Vec::new();
    for _ in 0..4 {
        let mut next = connect();
        next.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        write!(next, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert_eq!(next.read(&mut [0]).unwrap(), 1);
        // A connection with a request in progress is not idle.
        let (reader, head) = open(page.address, "GET /api/v1/events", &[], "");
        assert_eq!(head.status, 200);
        watching.push(reader);
    }
    let others: Vec<TcpStream> = (0..200).map(|_| connect()).collect();
    assert_eq!(page.get("/metrics").status, 200);
    for mut reader in watching {
        let lines = reader.by_ref().lines().map_while(Result::ok);
        // An idle client sends nothing after the first event.
        assert_eq!(
            lines.filter(|line| line.contains("data: ")).take(1).count(),
            1
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let ended = get(&[&torrent], folder.path(), &page.peer, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    drop((silent, others));
}

/// Idle connections are closed, whether they have sent nothing, half a head, a request before, or half a body.
#[test]
fn idle_connections_are_closed() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = served(&content, &torrent);
    let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let connect = |sent: &str| {
        let mut stream = TcpStream::connect(page.address).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        stream
    };
    let half_body = "Host: localhost\r\nContent-Length: 100\r\n\r\n{";
    let half_get = format!("GET /metrics HTTP/1.1\r\n{half_body}");
    let half_put = format!("PATCH /api/v1/config HTTP/1.1\r\n{half_body}");
    let sent = ["", &request[..20], request, &half_get, &half_put];
    let idle: Vec<TcpStream> = (0..128).map(|i| connect(sent[i % sent.len()])).collect();
    let mut next = connect(request);
    next.set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    assert_eq!(next.read(&mut [0]).unwrap(), 1);
    drop(idle);
}

/// Clients that send requests and read no answer are disconnected.
#[test]
fn connections_without_a_reader_are_closed() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = served(&content, &torrent);
    let request = "GET /list.js HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let requests = request.repeat(2000);
    let connect = || {
        let mut stream = TcpStream::connect(page.address).unwrap();
        stream.set_nonblocking(true).unwrap();
        // Too many answers for the buffers of the system.
        let _ = stream.write(requests.as_bytes()).unwrap();
        stream
    };
    let silent: Vec<TcpStream> = (0..128).map(|_| connect()).collect();
    let mut next = TcpStream::connect(page.address).unwrap();
    write!(next, "{request}").unwrap();
    // The process fills the buffers of all connections before it waits for them.
    next.set_read_timeout(Some(Duration::from_secs(100)))
        .unwrap();
    assert_eq!(next.read(&mut [0]).unwrap(), 1);
    drop(silent);
}

/// A pipe whose writer is silent stands for a torrent whose verification takes long. Meanwhile the session,
/// the page and Ctrl-C work, and the other torrents join.
#[test]
fn the_page_works_while_others_are_verified() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let pipe = content.path().join("pipe.torrent");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut writer = fs::File::options();
    let _silent = writer.read(true).write(true).open(&pipe).unwrap();
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let torrents: [&Path; 2] = [&torrent, &pipe];
    let options = ["--http", "0", "--max-down", "200KiB", "--seed"];
    let get = Peer::get(&torrents, folder.path(), &seed, &options);
    let seeds = Peer::seed_with(&torrents, content.path(), &options[..2]);
    for (peer, activity) in [(get, "downloading"), (seeds, "serving")] {
        let page = Page::of(peer);
        page.wait_for(torrent_is(activity));
        assert_eq!(page.apply(0, &json!({"action": "pause"})), 202);
        page.wait_for(torrent_is("paused"));
        assert_eq!(page.apply(0, &json!({"action": "resume"})), 202);
        page.wait_for(torrent_is(activity));
        let all = page.get("/api/v1/torrents").json();
        assert_eq!(all["torrents"][1]["activity"], "waiting", "{all:#}");
        let asked = Instant::now();
        let ended = page.peer.interrupt();
        assert!(asked.elapsed() < PARTING, "{:?}", asked.elapsed());
        ended.assert_failed("pipe.torrent: interrupted");
    }
}

#[test]
fn metrics_that_prometheus_reads() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v2"),
    );
    fs::remove_file(content.path().join("file.bin")).unwrap();
    let page = Page::of(Peer::seed_with(
        &[&tree, &file],
        content.path(),
        &["--http", "0"],
    ));
    page.wait_for(torrent_is("serving"));
    page.wait_for(|all| all["torrents"][1]["activity"] == "absent");
    let response = page.get("/metrics");
    let kind = response.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let has = |line: &str| {
        let is_there = response.body.lines().any(|other| other == line);
        assert!(is_there, "{}", response.body);
    };
    has("hashlane_torrents{activity=\"serving\"} 1");
    has("hashlane_torrents{activity=\"absent\"} 1");
    has("# TYPE hashlane_torrent_uploaded_bytes counter");
    let tree_hash = shown(&tree)["info_hash_v1"].as_str().unwrap().to_owned();
    let labels = format!("number=\"0\",info_hash=\"{tree_hash}\",name=\"tree\"");
    has(&format!(
        "hashlane_torrent_uploaded_bytes_total{{{labels}}} 0"
    ));
    has(&format!(
        "hashlane_torrent_wanted_bytes{{{labels}}} {}",
        content.len_of("tree")
    ));
    has("# EOF");
}

/// Both info-hashes of a hybrid torrent name it in every request, in either letter case.
#[test]
fn torrents_are_named_by_their_info_hashes() {
    let content = Content::new();
    let other = content.torrent("file.bin", "v1");
    let torrent = content.torrent("tree", "hybrid");
    let seed = Peer::seed_with(&[&other, &torrent], content.path(), &["--http", "0"]);
    let page = Page::of(seed);
    page.wait_for(|all| all["torrents"][1]["activity"] == "serving");
    let shown = shown(&torrent);
    let hash = |version: &str| shown[version].as_str().unwrap().to_owned();
    let (v1, v2) = (hash("info_hash_v1"), hash("info_hash_v2"));
    let keys = ["1", &v1, &v2, &v1.to_uppercase(), &v2.to_uppercase()];
    for key in keys {
        let one = page.get(&format!("/api/v1/torrents/{key}")).json();
        assert_eq!((&one["number"], &one["name"]), (&json!(1), &json!("tree")));
        assert_eq!(one["info_hash"], v1);
        assert_eq!(one["info_hash_v1"], v1);
        assert_eq!(one["info_hash_v2"], v2);
        let files = page.get(&format!("/api/v1/torrents/{key}/files")).json();
        assert!(files["total"].as_u64().unwrap() > 1, "{files}");
        let event = format!("GET /api/v1/events?torrent={key}");
        assert_eq!(open(page.address, &event, &[], "").1.status, 200);
        for (action, activity) in [("pause", "paused"), ("resume", "serving")] {
            let status = page.apply(key, &json!({ "action": action }));
            assert_eq!(status, 202, "{action} {key}");
            page.wait_for(|all| all["torrents"][1]["activity"] == activity);
            page.wait_for(|all| all["torrents"][0]["activity"] == "serving");
        }
    }
    for (key, status) in [
        ("0".repeat(40), 404),
        ("0".repeat(64), 404),
        ("a".repeat(39), 400),
    ] {
        let path = format!("/api/v1/torrents/{key}");
        assert_eq!(page.get(&path).status, status, "{path}");
    }
    let line = page.peer.wait_for_line("verified");
    assert!(
        line["number"].is_u64() && line["info_hash_v1"].is_string(),
        "{line}"
    );
}
