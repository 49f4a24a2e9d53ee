//! Slow and hostile clients of a daemon: of its API, and of the protocols of other programs.

#![expect(clippy::too_many_lines, reason = "a test follows one daemon")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::json;

use super::daemon::{Daemon, folder};
use super::http::{Response, ask, encoded, open};
use super::peers::Content;

/// As many connections as each server takes.
const CONNECTIONS: usize = 128;

/// Requests to each server.
const REQUESTS: usize = 3000;

/// A password that all requests need.
const PASSWORD: &str = "correct horse";

/// A daemon with all its servers.
struct Served {
    daemon: Daemon,
    downloads: PathBuf,
    http: SocketAddr,
    transmission: SocketAddr,
    qbittorrent: SocketAddr,
    bearer: String,
    _place: super::daemon::Place,
}

/// Returns an address of loopback that was free a moment ago.
fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

impl Served {
    fn start() -> Self {
        let (place, state) = folder();
        let downloads = place.path().join("downloads");
        fs::create_dir(&downloads).unwrap();
        let password = place.path().join("password");
        fs::write(&password, PASSWORD).unwrap();
        // Another test can take a free port before the daemon does.
        for _ in 0..10 {
            let [http, transmission, qbittorrent] = [free(), free(), free()];
            let [at_http, at_transmission, at_qbittorrent] =
                [http, transmission, qbittorrent].map(|address| address.to_string());
            let options = [
                "--dir",
                downloads.to_str().unwrap(),
                "--http",
                &at_http,
                "--transmission",
                &at_transmission,
                "--qbittorrent",
                &at_qbittorrent,
                "--remote-user",
                "user",
                "--remote-password-file",
                password.to_str().unwrap(),
            ];
            if let Some(daemon) = Daemon::try_start(&state, &options) {
                let token = fs::read_to_string(state.join("http-token")).unwrap();
                return Self {
                    daemon,
                    downloads,
                    http,
                    transmission,
                    qbittorrent,
                    bearer: format!("Bearer {}", token.trim()),
                    _place: place,
                };
            }
        }
        panic!("no port is free");
    }

    /// Asks each server something that a program with the right to it asks, and asserts that it answers.
    #[track_caller]
    fn assert_served(&self) {
        let all = ask(
            self.http,
            "GET /api/v1/torrents",
            &[("Authorization", &self.bearer)],
            "",
        );
        assert_eq!(all.status, 200, "{all:?}");
        let stats = self.rpc("session-stats", &json!({}));
        assert!(stats.contains("\"success\""), "{stats}");
        let version = self.web("app/version", &[]);
        assert_eq!(version.status, 200, "{version:?}");
    }

    /// Returns the identifier of the session of Transmission RPC.
    fn rpc_session(&self) -> String {
        let login = ("Authorization", &*basic());
        let first = ask(self.transmission, "POST /transmission/rpc", &[login], "{}");
        first
            .header("x-transmission-session-id")
            .unwrap()
            .to_owned()
    }

    /// Sends a request of Transmission RPC, and returns the body of the answer.
    fn rpc(&self, method: &str, arguments: &serde_json::Value) -> String {
        let login = ("Authorization", &*basic());
        let session = ("X-Transmission-Session-Id", &*self.rpc_session());
        let body = json!({"method": method, "arguments": arguments}).to_string();
        let request = "POST /transmission/rpc";
        ask(self.transmission, request, &[login, session], &body).body
    }

    /// Logs in to the qBittorrent Web API, and returns the cookie.
    fn web_cookie(&self) -> String {
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        let login = format!("username=user&password={}", encoded(PASSWORD));
        let login = ask(self.qbittorrent, "POST /api/v2/auth/login", &[kind], &login);
        let cookie = login.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Logs in to the qBittorrent Web API, and sends a request with a form.
    fn web(&self, method: &str, form: &[(&str, &str)]) -> Response {
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        let cookie = ("Cookie", &*self.web_cookie());
        let pairs = form
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = format!("POST /api/v2/{method}");
        ask(self.qbittorrent, &request, &[kind, cookie], &body)
    }

    /// Returns the beginning of a request to each server that may be sent, without the end of its head.
    fn heads(&self) -> [(SocketAddr, String); 3] {
        let basic = basic();
        [
            (self.http, "/api/v1/torrents", &self.bearer),
            (self.transmission, "/transmission/rpc", &basic),
            (self.qbittorrent, "/api/v2/auth/login", &basic),
        ]
        .map(|(address, path, authorization)| {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\n"
            );
            (address, head)
        })
    }
}

/// Returns the header value of the name and the password.
fn basic() -> String {
    let login = BASE64.encode(format!("user:{PASSWORD}").as_bytes());
    format!("Basic {login}")
}

/// Takes all connections of a server with the beginning of a request.
fn taken(address: SocketAddr, beginning: &str) -> Vec<TcpStream> {
    let connect = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        let _ = stream.write_all(beginning.as_bytes());
        stream
    };
    (0..CONNECTIONS).map(connect).collect()
}

/// Clients whose bodies do not arrive lose their places, whether they may ask for something or not.
#[test]
fn bodies_that_stop_delay_no_other_client() {
    let served = Served::start();
    let end = "Content-Length: 1000\r\n\r\nx=";
    let mut slow = Vec::new();
    for (address, head) in served.heads() {
        slow.push(taken(address, &format!("{head}{end}")));
    }
    served.assert_served();
    drop(slow);
    let mut slow = Vec::new();
    for (address, head) in served.heads() {
        let wrong = head.replace("Authorization: ", "Authorization: x");
        slow.push(taken(address, &format!("{wrong}{end}")));
    }
    served.assert_served();
    drop(slow);
    served.daemon.terminate();
}

/// Clients that send their heads byte by byte lose their places too.
#[test]
fn heads_that_take_long_delay_no_other_client() {
    let served = Served::start();
    let mut slow = Vec::new();
    for (address, head) in served.heads() {
        slow.extend(taken(address, &head));
    }
    let (ended, is_ended) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while is_ended.recv_timeout(Duration::from_millis(100))
                == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                for stream in &mut slow {
                    // The server may have closed the connection.
                    let _ = stream.write_all(b"x");
                }
            }
        });
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| served.assert_served()));
        drop(ended);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    served.daemon.terminate();
}

/// Clients that ask for events and do not read them get a limited number of streams, and delay no other client.
#[test]
fn events_that_are_not_read_delay_no_other_client() {
    let served = Served::start();
    let bearer = [("Authorization", served.bearer.as_str())];
    let (mut readers, mut n_refused) = (Vec::new(), 0);
    for _ in 0..CONNECTIONS {
        let (reader, head) = open(served.http, "GET /api/v1/events", &bearer, "");
        n_refused += usize::from(head.status == 503);
        readers.push(reader);
    }
    assert!((1..CONNECTIONS).contains(&n_refused), "{n_refused}");
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    served
        .daemon
        .done(["add", "--paused", torrent.to_str().unwrap()]);
    served.assert_served();
    drop(readers);
    served.daemon.terminate();
}

/// Wrong tokens and passwords, in number, open nothing, and the right ones still work where they cannot be guessed.
#[test]
fn guessing_opens_nothing() {
    let served = Served::start();
    for n in 0..500 {
        let guess = format!("Bearer {n:032x}");
        let answer = ask(
            served.http,
            "GET /api/v1/torrents",
            &[("Authorization", &guess)],
            "",
        );
        assert_eq!(answer.status, 401, "{answer:?}");
    }
    let read = ask(
        served.http,
        "GET /api/v1/torrents",
        &[("Authorization", &served.bearer)],
        "",
    );
    assert_eq!(read.status, 200);
    let mut statuses = [Vec::new(), Vec::new()];
    for n in 0..50 {
        let basic = format!("Basic {}", BASE64.encode(format!("user:{n}").as_bytes()));
        let rpc = ask(
            served.transmission,
            "POST /transmission/rpc",
            &[("Authorization", &basic)],
            "{}",
        );
        statuses[0].push(rpc.status);
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        let login = format!("username=user&password={n}");
        let web = ask(
            served.qbittorrent,
            "POST /api/v2/auth/login",
            &[kind],
            &login,
        );
        assert!(web.header("set-cookie").is_none(), "{web:?}");
        statuses[1].push(web.status);
    }
    // Both adapters share one limit of ten wrong passwords.
    assert!(statuses[0][..5].iter().all(|status| *status == 401));
    for statuses in &statuses {
        // After some guesses, none is checked.
        assert!(
            statuses[20..].iter().all(|status| *status == 403),
            "{statuses:?}"
        );
    }
    // Not even the right password is, for a minute.
    let right = ask(
        served.transmission,
        "POST /transmission/rpc",
        &[("Authorization", &basic())],
        "{}",
    );
    assert_eq!(right.status, 403, "{right:?}");
    served.daemon.terminate();
}

/// No adapter places content outside of the folders of the configuration.
#[test]
fn adapters_place_no_content_outside() {
    let content = Content::new();
    let magnet = content.magnet(&content.torrent("tree", "v1"));
    let served = Served::start();
    let downloads = served.downloads.to_str().unwrap().to_owned();
    let outside = tempfile::tempdir().unwrap();
    let link = served.downloads.join("link");
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let below = format!("{downloads}/below");
    let added = served.web(
        "torrents/add",
        &[("urls", &magnet), ("savepath", &below), ("stopped", "true")],
    );
    assert_eq!(added.body, "Ok.", "{added:?}");
    let torrent = served.daemon.torrent();
    let hash = torrent["info_hash"].as_str().unwrap();
    let other = format!("magnet:?xt=urn:btih:{}", "1".repeat(40));
    for refused in [
        "/etc",
        "/",
        "relative",
        "../outside",
        &format!("{downloads}/.."),
        &format!("{downloads}/../outside"),
        &format!("{downloads}/below/../../outside"),
        &format!("{downloads}x"),
        &format!("{downloads}/link"),
        &format!("{downloads}/link/new"),
    ] {
        for (method, arguments) in [
            (
                "torrent-add",
                json!({"filename": other, "download-dir": refused, "paused": true}),
            ),
            (
                "torrent-set-location",
                json!({"ids": [hash], "location": refused, "move": true}),
            ),
            (
                "torrent-set-location",
                json!({"ids": [hash], "location": refused, "move": false}),
            ),
            ("session-set", json!({"download-dir": refused})),
            ("free-space", json!({"path": refused})),
        ] {
            let answer = served.rpc(method, &arguments);
            assert!(
                !answer.contains("\"result\":\"success\""),
                "{method} {refused}: {answer}"
            );
        }
        for (method, form) in [
            (
                "torrents/add",
                vec![("urls", other.as_str()), ("savepath", refused)],
            ),
            (
                "torrents/setLocation",
                vec![("hashes", hash), ("location", refused)],
            ),
            (
                "torrents/setSavePath",
                vec![("id", hash), ("path", refused)],
            ),
            (
                "torrents/createCategory",
                vec![("category", "c"), ("savePath", refused)],
            ),
        ] {
            let answer = served.web(method, &form);
            assert!(
                answer.status != 200 || answer.body == "Fails.",
                "{method} {refused}: {answer:?}"
            );
        }
        assert_eq!(served.daemon.torrent()["folder"], json!(below), "{refused}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    served.daemon.terminate();
}

/// A request, and its answer: the status, and a part of the body.
#[derive(Clone, Copy)]
struct Asked<'a> {
    text: &'a str,
    status: u16,
    part: &'a str,
}

impl Asked<'_> {
    /// Sends the request over a connection that stays open. Returns `true` if the answer is right.
    fn send(&self, reader: &mut BufReader<TcpStream>) -> bool {
        reader.get_mut().write_all(self.text.as_bytes()).unwrap();
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let is_expected = line.starts_with(&format!("HTTP/1.1 {} ", self.status));
        let mut len = 0;
        while line.trim_end() != "" {
            line.clear();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                len = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body).unwrap();
        is_expected && String::from_utf8(body).unwrap().contains(self.part)
    }
}

/// Sends requests over as many connections as a server takes, each tenth of them without the right to it. Returns the number
/// of right answers.
fn ask_often(address: SocketAddr, [right, wrong]: [Asked<'_>; 2]) -> usize {
    let client = move |n: usize| {
        let stream = TcpStream::connect(address).unwrap();
        let patience = Duration::from_secs(120);
        stream.set_read_timeout(Some(patience)).unwrap();
        let mut reader = BufReader::new(stream);
        let asked = (0..n).map(|i| if i % 10 == 9 { wrong } else { right });
        asked.filter(|asked| asked.send(&mut reader)).count()
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|i| {
                let n = REQUESTS / CONNECTIONS + usize::from(i < REQUESTS % CONNECTIONS);
                scope.spawn(move || client(n))
            })
            .collect();
        let answered = clients.into_iter().map(|client| client.join().unwrap());
        answered.sum()
    })
}

/// All of many requests over as many connections as a server takes are answered.
#[test]
fn many_requests_over_many_connections() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let served = Served::start();
    served
        .daemon
        .done(["add", "--paused", torrent.to_str().unwrap()]);
    // The API does not show its name before.
    served.daemon.wait_for_activity("paused");
    let get = |path: &str, authorization: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n\r\n")
    };
    let api = |bearer: &str| get("/api/v1/torrents/1", &format!("Authorization: {bearer}"));
    let web = |cookie: &str| get("/api/v2/torrents/info", &format!("Cookie: {cookie}"));
    let body = json!({"method": "torrent-get", "arguments": {"fields": ["name"]}}).to_string();
    let rpc = |session: &str| {
        format!(
            "POST /transmission/rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
             X-Transmission-Session-Id: {session}\r\nContent-Length: {}\r\n\r\n{body}",
            basic(),
            body.len(),
        )
    };
    let wrong = "SID=0123456789abcdef";
    for (address, right, wrong, refused) in [
        (served.http, api(&served.bearer), api("Bearer 0"), 401),
        (
            served.transmission,
            rpc(&served.rpc_session()),
            rpc("0"),
            409,
        ),
        (
            served.qbittorrent,
            web(&served.web_cookie()),
            web(wrong),
            403,
        ),
    ] {
        let right = Asked {
            text: &right,
            status: 200,
            part: "\"name\":\"tree\"",
        };
        let wrong = Asked {
            text: &wrong,
            status: refused,
            part: "",
        };
        assert_eq!(
            ask_often(address, [right, wrong]),
            REQUESTS,
            "{}",
            right.text
        );
    }
    served.daemon.terminate();
}
