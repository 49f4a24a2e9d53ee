//! Both protocols by libraries for Python that other programs use.

use crate::client::{DELETE, KEEP};
use std::path::Path;
use std::process::Command;

use hashlane_remote::{Listen, Login};

use crate::not_run::has_python_module;
use crate::transmission::listen;
use crate::{qbittorrent, transmission};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

fn run(script: &str, args: &[&str]) {
    let script = Path::new(CRATE).join("tests").join(script);
    let torrent = Path::new(CRATE).join("../../demo/union-addresses.torrent");
    let mut python = Command::new("python3");
    let output = python.arg(script).args(args).arg(torrent).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    assert_eq!(printed, "ok\n");
}

fn with_login() -> Listen {
    let login = Some(Login::new("user", "password").unwrap().into());
    Listen { login, ..listen() }
}

#[test]
fn qbittorrent_api_calls_every_method() {
    if !has_python_module("QBITTORRENT_API", "qbittorrentapi", "qbittorrent-api") {
        return;
    }
    let served = qbittorrent::Served::new(with_login());
    let host = format!("http://{}", served.server.endpoint().address().unwrap());
    run("use_qbittorrent.py", &[&host, "user", "password"]);
    let changes = served.client.changes();
    assert!(changes.contains(&(1, DELETE)));
    assert!(changes.contains(&(2, KEEP)));
}

#[test]
fn transmission_rpc_calls_every_method() {
    if !has_python_module("TRANSMISSION_RPC", "transmission_rpc", "transmission-rpc") {
        return;
    }
    let served = transmission::Served::with_password(with_login(), "user:password");
    let address = served.server.endpoint().address().unwrap();
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    run("use_transmission.py", &[&host, &port, "user", "password"]);
    let changes = served.client.changes();
    assert!(changes.contains(&(1, DELETE)));
    assert!(changes.contains(&(2, KEEP)));
}
