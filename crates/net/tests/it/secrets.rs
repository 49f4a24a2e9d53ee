//! Passwords and passkeys in URLs are printed nowhere, also if a server repeats them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;

use super::page::Page;
use super::peers::{Content, Ended, Peer, ended, get_command, get_from, get_in_vain};
use super::servers::serve;
use super::tracker::Tracker;

/// Passkeys of a path, of the name and of the value of a query, and a password. None looks like a key outside of its URL.
pub(crate) const KEYS: [&str; 4] = ["pathkey9", "namekey99", "valuekey", "pass-word"];

/// Asserts that no text contains a key.
pub(crate) fn assert_hidden(texts: &[(&str, &str)]) {
    for (name, text) in texts {
        for key in KEYS {
            assert!(!text.contains(key), "{key} is in {name}: {text}");
        }
    }
}

fn assert_hidden_by(ended: &Ended, log: &str) {
    let lines = format!("{:?}", ended.lines);
    assert_hidden(&[
        ("stderr", &ended.stderr),
        ("JSON", &lines),
        ("the log", log),
    ]);
}

/// A web server that repeats the keys in the status text of its answers.
pub(crate) fn telling_server() -> SocketAddr {
    serve(|mut stream| {
        let lines = BufReader::new(stream.try_clone()?).lines();
        let end = lines.map_while(Result::ok).find(String::is_empty);
        assert!(end.is_some());
        let keys = KEYS.join(" ");
        write!(
            stream,
            "HTTP/1.1 403 no {keys}\r\nServer: {keys}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    })
}

/// Returns the URL of a path with all keys.
pub(crate) fn with_keys(address: impl std::fmt::Display, path: &str) -> String {
    let [in_path, name, value, password] = KEYS;
    format!("http://me:{password}@{address}/{path}/{in_path}?{name}=1&token={value}")
}

/// libtorrent sends no query to a web seed of this machine, and nothing but announcements to a tracker (SSRF mitigation).
pub(crate) fn without_query(url: &str) -> String {
    url.split('?').next().unwrap().to_owned()
}

/// Trackers and web seeds repeat the keys, and libtorrent logs what it sends.
#[test]
fn keys_that_servers_repeat() {
    let content = Content::new();
    let tracker = Tracker::refusing(format!("unknown user: {}", KEYS.join(", ")));
    let tracker = tracker
        .url()
        .replace("http://", "")
        .replace("/announce", "");
    let (tracker, server) = (
        with_keys(tracker, "announce"),
        without_query(&with_keys(telling_server(), "f")),
    );
    let options = ["--announce", &tracker, "--web-seed", &server, "--private"];
    let torrent = content.torrent_with("file.bin", "v1", &options);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let log_name = log.to_str().unwrap();
    let options = ["--timeout", "3s", "--log", log_name, "--log-level", "trace"];
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    ended.assert_failed("unknown user: ***, ***, ***, ***");
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("/announce/***?***=***"), "{log}");
    // Many events of libtorrent are those of the session.
    assert!(!log.contains("torrent=\"\""), "{log}");
    assert_hidden_by(&ended, &log);

    // The page shows the same problem to everybody who can connect.
    let page = Page::of(Peer::seed_with(
        &[&torrent],
        content.path(),
        &["--http", "0"],
    ));
    let trackers = "/api/v1/torrents/0/trackers";
    page.wait_for(|_| page.get(trackers).body.contains("unknown user"));
    let bodies = [
        trackers,
        "/api/v1/torrents",
        "/api/v1/torrents/0",
        "/metrics",
    ];
    for path in bodies {
        assert_hidden(&[(path, &page.get(path).body)]);
    }
}

/// libtorrent's reason "blocked by SSRF mitigation" does not say what to change.
#[test]
fn refused_local_servers_are_explained() {
    let content = Content::new();
    let tracker = "http://127.0.0.1:1/other";
    let server = "http://127.0.0.1:1/file.bin?key=1";
    let options = ["--announce", tracker, "--web-seed", server];
    let torrent = content.torrent_with("file.bin", "v1", &options);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let options = [
        "--timeout",
        "3s",
        "--web-seeds",
        "--log",
        log.to_str().unwrap(),
        "--log-level",
        "debug",
    ];
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    ended.assert_failed("a tracker needs the path /announce");
    let log = fs::read_to_string(&log).unwrap();
    let words = |what: &str| {
        log.lines()
            .any(|line| line.contains(what) && line.contains("a torrent could abuse"))
    };
    assert!(words("tracker failed") && words("web seed failed"), "{log}");
    assert!(!log.contains("SSRF"), "{log}");
}

/// The URL of a .torrent file is never the name of a torrent.
#[test]
fn keys_in_the_url_of_a_torrent() {
    let folder = tempfile::tempdir().unwrap();
    let address = telling_server();
    let url = with_keys(address, "dl");
    let log = folder.path().join("log");
    let log_name = log.to_str().unwrap();
    let options = [
        "--http",
        "0",
        "--seed",
        "--log",
        log_name,
        "--log-level",
        "trace",
    ];
    let alone = Peer::get_alone(
        &[url.as_ref()],
        folder.path(),
        &[
            &options[..],
            &["--watch-dir", folder.path().to_str().unwrap()],
        ]
        .concat(),
    );
    let page = Page::of(alone);
    page.wait_for(|all| all["torrents"][0]["activity"] == "failed");
    let all = page.get("/api/v1/torrents");
    assert_eq!(
        all.json()["torrents"][0]["torrent"],
        format!("torrent of {address}")
    );
    for path in ["/api/v1/torrents", "/api/v1/torrents/0", "/metrics"] {
        assert_hidden(&[(path, &page.get(path).body)]);
    }
    let ended = page.peer.interrupt();
    assert_hidden_by(&ended, &fs::read_to_string(&log).unwrap());
    let bad = url.replace("http://", "http:/ /");
    let ended = ended_of_bad_url(&bad);
    assert_hidden_by(&ended, "");
}

/// Returns the end of a process whose web seed is no URL.
fn ended_of_bad_url(url: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let mut command = get_command(&[], folder.path(), None, &["--proxy", url]);
    ended(&mut command)
}

/// A tracker sends a long reason at each announcement.
#[test]
fn long_texts_of_trackers_are_cut() {
    let content = Content::new();
    let tracker = Tracker::refusing("y".repeat(100_000));
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let (ended, log) = get_in_vain(&torrent);
    ended.assert_failed("yyyy");
    let longest = |text: &str| text.split(|c| c != 'y').map(str::len).max();
    let lines = format!("{:?}", ended.lines);
    for text in [&ended.stderr, &log, &lines] {
        assert!(
            (100..=500).contains(&longest(text).unwrap()),
            "{:?}",
            longest(text)
        );
    }
}
