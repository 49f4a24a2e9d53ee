//! A daemon that is killed again and again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::{Daemon, folder};
use super::peers::{Content, Peer};
use super::tracker::Tracker;
use crate::random::Random;
use crate::wait_for;

/// A magnet link without peers and trackers.
fn link(number: u64) -> (String, String) {
    let hash = format!("{:040x}", number + 0xABCD_0000_0000_0000);
    (format!("magnet:?xt=urn:btih:{hash}&dn={number}"), hash)
}

/// Sends random requests until the daemon is killed. Returns the state that was acknowledged, and the request without an
/// answer: the torrent, and its state if the request was done.
fn change_until_killed(
    state: &Path,
    known: &mut BTreeMap<String, bool>,
    numbers: &mut Random,
) -> Option<(String, Option<bool>)> {
    let mut stream = BufReader::new(UnixStream::connect(state.join("socket")).ok()?);
    loop {
        let (link, hash) = link(numbers.below(8) as u64);
        let apply = |action: &str| (format!("torrents/{hash}"), json!({"action": action}));
        let ((path, body), after) = match (known.get(&hash), numbers.below(3)) {
            (None, action) => {
                let paused = action == 0;
                let options = json!({"folder": "/nowhere", "paused": paused});
                let add = json!({"link": link, "options": options});
                (("torrents".to_owned(), add), Some(paused))
            }
            (Some(_), 0) => (apply("remove"), None),
            (Some(true), _) => (apply("resume"), Some(false)),
            (Some(false), _) => (apply("pause"), Some(true)),
        };
        match post(&mut stream, &path, &body) {
            Some(status) => assert!((200..300).contains(&status), "{path}: {status}"),
            None => return Some((hash, after)),
        }
        change(known, hash, after);
    }
}

/// Sends a request, and returns the status of the answer; `None` if the connection ends before the end of the answer.
fn post(stream: &mut BufReader<UnixStream>, path: &str, body: &Value) -> Option<u16> {
    let body = body.to_string();
    let request = format!(
        "POST /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.get_mut().write_all(request.as_bytes()).ok()?;
    let (mut status, mut len) = (None, 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let line = line.strip_suffix("\r\n")?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        status = status.or_else(|| line.split(' ').nth(1)?.parse().ok());
        if let Some(text) = line.strip_prefix("content-length: ") {
            len = text.parse().unwrap();
        }
    }
    stream.read_exact(&mut vec![0; len]).ok()?;
    status
}

fn change(known: &mut BTreeMap<String, bool>, hash: String, after: Option<bool>) {
    match after {
        Some(paused) => known.insert(hash, paused),
        None => known.remove(&hash),
    };
}

/// The torrents and their choices after a kill are those that were acknowledged.
#[test]
fn a_killed_daemon_loses_nothing() {
    let n_kills = std::env::var("HASHLANE_TEST_KILLS").map_or(6, |kills| kills.parse().unwrap());
    let (_place, state) = folder();
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let mut numbers = Random::new(1);
    let mut n_interrupted = 0;
    for kill in 0..n_kills {
        let daemon = Daemon::start(&state, &[]);
        let listed = daemon.done(["list"]);
        let found = listed.iter().map(|torrent| {
            let hash = torrent["info_hash"].as_str().unwrap().to_owned();
            (hash, torrent["paused"].as_bool().unwrap())
        });
        let found: BTreeMap<String, bool> = found.collect();
        assert_eq!(found, known, "after kill {kill}");
        assert!(daemon.stderr().is_empty(), "{}", daemon.stderr());
        let moment = Duration::from_micros(numbers.below(80_000) as u64);
        let (ready, is_ready) = mpsc::channel();
        let killer = std::thread::spawn(move || {
            is_ready.recv().unwrap();
            std::thread::sleep(moment);
            daemon.kill();
        });
        ready.send(()).unwrap();
        let open = change_until_killed(&state, &mut known, &mut numbers);
        killer.join().unwrap();
        // The request without an answer was done, or it was not: the files show which.
        if let Some((hash, after)) = open {
            let toml = fs::read_to_string(state.join(format!("torrents/{hash}.toml"))).ok();
            let now = toml.map(|toml| toml.contains("paused = true"));
            assert!(
                now == after || now == known.get(&hash).copied(),
                "{hash}: {now:?} {after:?}"
            );
            n_interrupted += u64::from(now == after);
            change(&mut known, hash, now);
        }
    }
    println!("{n_kills} kills, {n_interrupted} requests done and not acknowledged");
}

/// Content of a magnet link is asked for when its metadata is on the disk, so that a kill leaves nothing that cannot be verified.
#[test]
fn metadata_is_kept_before_content_comes() {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let link = format!("{}&tr={}", content.magnet(&torrent), tracker.url());
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let options = ["--dir", downloads.to_str().unwrap()];
    let daemon = Daemon::start(&state, &options);
    daemon.done(["add", &link]);
    let file = downloads.join("file.bin");
    while !file.exists() {
        std::thread::sleep(Duration::from_micros(100));
    }
    daemon.kill();
    drop(seed);
    let daemon = Daemon::start(&state, &options);
    let known = daemon.wait_until("known", |torrent| torrent["total_bytes"] != 0);
    assert_eq!(known["total_bytes"], content.len_of("file.bin"));
    let hash = known["info_hash"].as_str().unwrap();
    let kept = fs::read(state.join(format!("torrents/{hash}.torrent"))).unwrap();
    assert!(String::from_utf8_lossy(&kept).contains(&tracker.url()));
    daemon.terminate();
    // Without the metadata, the list says what is missing.
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &options);
    daemon.done([
        "add",
        &format!("{}&dn=file.bin", self::link(1).0.split('&').next().unwrap()),
    ]);
    let waits = daemon.wait_until("waiting", |torrent| torrent["error"].is_string());
    let expected = format!("{} exists, but its metadata is not known", file.display());
    assert!(
        waits["error"].as_str().unwrap().starts_with(&expected),
        "{waits}"
    );
    daemon.terminate();
}
