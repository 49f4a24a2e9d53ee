//! The page at a Unix socket, and at the addresses of a name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::daemon::{Daemon, daemon_command};
use super::http::ask;
use super::page::Page;
use super::peers::{Content, Peer, ended, seed_command};
use crate::not_run::is_installed;
use crate::wait_for;

/// Sends a request by curl. Returns the status and the answer.
fn curl(socket: &Path, args: &[&str]) -> (u16, Value) {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--write-out", "\n%{http_code}"]);
    command.arg("--unix-socket").arg(socket).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (
        status.parse().unwrap(),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

const TORRENTS: &str = "http://localhost/api/v1/torrents";
const LIMITS: [&str; 5] = [
    "--request",
    "PATCH",
    "--json",
    r#"{"max_up": 100000}"#,
    "http://localhost/api/v1/config",
];

#[test]
fn curl_uses_the_socket_of_a_seed() {
    if !is_installed("CURL", "curl", "curl") {
        return;
    }
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("page");
    let http = format!("unix:{}", socket.display());
    let options = ["--http", http.as_str()];
    let peer = Peer::seed_with(&[&torrent], content.path(), &options);
    let page = peer.wait_for_line("page");
    assert_eq!(page["url"], http);
    let mode = socket.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (status, torrents) = curl(&socket, &[TORRENTS]);
    assert_eq!(status, 200);
    assert_eq!(torrents["torrents"][0]["number"], 0);
    let (status, problem) = curl(&socket, &LIMITS);
    assert_eq!((status, &problem["status"]), (401, &401.into()));
    let bearer = format!("Authorization: Bearer {}", page["token"].as_str().unwrap());
    let with_token = [&["--header", &bearer], &LIMITS[..]].concat();
    assert_eq!(curl(&socket, &with_token).0, 202);
    // Another process does not take the socket.
    let other = ended(&mut seed_command(&[&torrent], content.path(), &options));
    other.assert_failed(&format!("--http {http}: another process listens"));
    assert_eq!(peer.interrupt().code, Some(0));
    assert!(!socket.exists());
    // A process that is killed leaves the socket, which the next one replaces.
    let peer = Peer::seed_with(&[&torrent], content.path(), &options);
    peer.wait_for_line("page");
    peer.kill();
    assert!(socket.exists());
    let peer = Peer::seed_with(&[&torrent], content.path(), &options);
    peer.wait_for_line("page");
    assert_eq!(curl(&socket, &[TORRENTS]).0, 200);
    peer.interrupt();
}

#[test]
fn curl_uses_the_socket_of_a_daemon() {
    if !is_installed("CURL", "curl", "curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (state, socket) = (folder.path().join("state"), folder.path().join("page"));
    let http = format!("unix:{}", socket.display());
    let daemon = Daemon::of(&state, daemon_command(&state, &["--http", &http]));
    wait_for(|| socket.exists());
    let (status, problem) = curl(&socket, &[TORRENTS]);
    assert_eq!((status, &problem["title"]), (401, &"Unauthorized".into()));
    let token = fs::read_to_string(state.join("http-token")).unwrap();
    let bearer = format!("Authorization: Bearer {}", token.trim());
    let (status, torrents) = curl(&socket, &["--header", &bearer, TORRENTS]);
    assert_eq!(
        (status, torrents["torrents"].as_array().unwrap().len()),
        (200, 0)
    );
    daemon.terminate();
    assert!(!socket.exists());
}

/// Only this machine reaches all addresses of `localhost`, so that reading needs no token.
#[test]
fn the_page_has_the_addresses_of_a_name() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let options = ["--http", "localhost:0"];
    let page = Page::of(Peer::seed_with(&[&torrent], content.path(), &options));
    assert!(page.address.ip().is_loopback());
    let host = format!("localhost:{}", page.address.port());
    let request = "GET /api/v1/torrents";
    assert_eq!(
        ask(page.address, request, &[("Host", &host)], "").status,
        200
    );
    page.peer.interrupt();
    for (address, problem) in [
        ("nowhere.invalid:1", "--http nowhere.invalid:1: "),
        ("nowhere", "neither a port, nor HOST:PORT"),
        ("[localhost]:1", "neither a port, nor HOST:PORT"),
        ("::1:1", "neither a port, nor HOST:PORT"),
        ("unix:", "needs the path"),
    ] {
        let options = ["--http", address];
        let ended = ended(&mut seed_command(&[&torrent], content.path(), &options));
        ended.assert_failed(problem);
    }
}
