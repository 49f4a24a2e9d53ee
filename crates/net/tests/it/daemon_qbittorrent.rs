//! A daemon that the tests of qbittorrent-api control. `cargo xtask counterparts` downloads them from `PyPI`.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use super::daemon::{Daemon, folder};
use super::servers::WebServer;
use crate::not_run::not_run_unless_required;

/// The tests of the methods that need no other site and no other part of qBittorrent.
const TESTS: [&str; 3] = ["test_version.py", "test_auth.py", "test_torrents.py"];

/// The tests that `qbittorrent_api/excluded.txt` does not name succeed.
#[test]
fn tests_of_qbittorrent_api_succeed() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = package.join("../../target/qbittorrent-api");
    let sources = target.join("qbittorrent-api");
    if !sources.exists() {
        return not_run_unless_required(
            "QBITTORRENT_API_TESTS",
            "the tests of qbittorrent-api",
            "they are not installed",
            "cargo xtask counterparts",
        );
    }
    let server = WebServer::of(&sources.join("tests/_resources"));
    let (place, state) = folder();
    let place = place.path();
    let password = place.join("password");
    fs::write(&password, "adminadmin\n").unwrap();
    let place_text = place.to_str().unwrap();
    let mut address = String::new();
    // Another test can take a free port before the daemon does.
    let daemon = (0..10).find_map(|_| {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let free: SocketAddr = port.local_addr().unwrap();
        drop(port);
        address = free.to_string();
        let mut options = vec!["--dir", place_text, "--qbittorrent", &address];
        options.extend(["--remote-user", "admin", "--remote-password-file"]);
        options.push(password.to_str().unwrap());
        options.extend(["--remote-delete", "--http-fetch-local"]);
        Daemon::try_start(&state, &options)
    });
    let daemon = daemon.expect("a port is free");
    let plugin = package.join("tests/it/qbittorrent_api");
    let mut pytest = Command::new(target.join("venv/bin/python"));
    pytest.current_dir(&sources).env("PYTHONPATH", plugin);
    // The tests place content below both.
    pytest.env("HOME", place).env("CI", "true");
    pytest.env("QBITTORRENTAPI_HOST", &address);
    pytest.env("RESOURCES_URL", server.url("").trim_end_matches('/'));
    pytest.args([
        "-m",
        "pytest",
        "-p",
        "hashlane_plugin",
        "-o",
        "addopts=",
        "-q",
    ]);
    pytest.arg("--basetemp").arg(place.join("pytest"));
    let output = pytest
        .args(TESTS.map(|test| format!("tests/{test}")))
        .output();
    let output = output.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{printed}{errors}\n{}",
        daemon.stderr()
    );
    assert!(printed.contains(" passed"), "{printed}");
    daemon.terminate();
}
