//! Transfers to and from other programs.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::elsewhere::{save_map, scatter};
use super::peers::{Content, Peer, get_from};
use super::tracker::Tracker;
use crate::not_run::{has_python_module, is_installed, not_run_unless_required};
use crate::{VERSIONS, wait_for};

/// Another program's process, which ends with the test.
struct Foreign(Child);

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts another program.
fn foreign(command: &mut Command) -> Foreign {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Foreign(command.spawn().unwrap())
}

fn aria2(torrent: &Path, folder: &Path, encryption: &str) -> Command {
    let mut command = Command::new("aria2c");
    command.args([
        "--no-conf",
        "--enable-dht=false",
        "--bt-enable-lpd=false",
        "--listen-port=20000-29999",
        // It tries a peer to which it could not connect again only after it has asked the tracker.
        "--bt-tracker-interval=5",
    ]);
    command.args([
        "--check-integrity=true",
        "--seed-ratio=0",
        "--interface=127.0.0.1",
        "--file-allocation=none",
    ]);
    command.arg(format!("--bt-require-crypto={encryption}"));
    command
        .arg(format!("--dir={}", folder.display()))
        .arg(torrent);
    command
}

/// Transfers to and from aria2, with and without encryption.
#[test]
fn aria2_serves_and_downloads() {
    if !is_installed("ARIA2", "aria2c", "aria2") {
        return;
    }
    let content = Content::new();
    for encryption in ["false", "true"] {
        let options: &[&str] = if encryption == "true" {
            &["--encryption", "required"]
        } else {
            &[]
        };
        let tracker = Tracker::start();
        let torrent = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
        let seed = foreign(&mut aria2(&torrent, content.path(), encryption));
        wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
        let folder = tempfile::tempdir().unwrap();
        let ended = get_from(&[&torrent], folder.path(), None, options);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        content.assert_same("tree", folder.path());
        drop(seed);

        let tracker = Tracker::start();
        let torrent = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
        let seed = Peer::seed_with(&[&torrent], content.path(), options);
        wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
        let folder = tempfile::tempdir().unwrap();
        let other = foreign(&mut aria2(&torrent, folder.path(), encryption));
        wait_for(|| same(&content.path().join("tree"), &folder.path().join("tree")));
        drop(other);
        assert_eq!(seed.interrupt().code, Some(0));
    }
}

pub(crate) fn same(one: &Path, other: &Path) -> bool {
    let mut diff = Command::new("diff");
    let diff = diff.arg("-r").args([one, other]);
    diff.stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Serves or downloads with the Python binding and its defaults.
const PYTHON: &str = "
import sys, time, libtorrent as lt
torrent, folder, peer = sys.argv[1:]
session = lt.session({'listen_interfaces': '127.0.0.1:0', 'enable_dht': False, 'enable_lsd': False,
    'enable_upnp': False, 'enable_natpmp': False, 'enable_outgoing_utp': False, 'enable_incoming_utp': False,
    'allow_multiple_connections_per_ip': True})
handle = session.add_torrent({'ti': lt.torrent_info(torrent), 'save_path': folder})
if peer:
    host, port = peer.rsplit(':', 1)
    while not handle.status().is_seeding:
        handle.connect_peer((host, int(port)))
        time.sleep(0.2)
time.sleep(60)
";

/// Starts the Python binding. It downloads from `peer`, or serves if that is empty.
fn python(torrent: &Path, folder: &Path, peer: &str) -> Foreign {
    let mut command = Command::new("python3");
    command.args(["-c", PYTHON]).args([torrent, folder]);
    foreign(command.arg(peer))
}

/// Transfers to and from libtorrent's Python binding, which supports version 2.
#[test]
fn libtorrent_serves_and_downloads() {
    if !has_python_module("LIBTORRENT", "libtorrent", "libtorrent") {
        return;
    }
    let content = Content::new();
    for version in VERSIONS {
        let tracker = Tracker::start();
        let torrent = content.torrent_with("tree", version, &["--announce", &tracker.url()]);
        let seed = python(&torrent, content.path(), "");
        wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
        let folder = tempfile::tempdir().unwrap();
        let ended = get_from(&[&torrent], folder.path(), None, &[]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", folder.path());
        drop(seed);

        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let other = python(&torrent, folder.path(), &seed.address().to_string());
        wait_for(|| same(&content.path().join("tree"), &folder.path().join("tree")));
        drop(other);
        assert_eq!(seed.interrupt().code, Some(0), "{version}");
    }
}

/// Content that lies under other names is served to libtorrent's Python binding from where it is.
#[test]
fn libtorrent_downloads_mapped_content() {
    if !has_python_module("LIBTORRENT", "libtorrent", "libtorrent") {
        return;
    }
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let place = tempfile::tempdir().unwrap();
        let (large, small) = scatter(&content, place.path());
        let map = save_map(&torrent, place.path(), "map");
        let empty = tempfile::tempdir().unwrap();
        let options = ["--content-map", map.to_str().unwrap()];
        let seed = Peer::seed_with(&[&torrent], empty.path(), &options);
        let folder = tempfile::tempdir().unwrap();
        let address = seed.address().to_string();
        let other = python(&torrent, folder.path(), &address);
        wait_for(|| same(&content.path().join("tree"), &folder.path().join("tree")));
        drop(other);
        assert_eq!(seed.interrupt().code, Some(0), "{version}");
        // The files stay where they are, and nothing is made beside them.
        assert!(same(&large, &content.path().join("tree/a.bin")));
        assert!(same(&small, &content.path().join("tree/sub/b.bin")));
        assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
    }
}

/// Returns an address of this machine that is not a loopback address, because Transmission accepts
/// no peers from loopback. The lookup sends no packets.
fn own_address() -> Option<Ipv4Addr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    match socket.local_addr().ok()?.ip() {
        IpAddr::V4(address) if !address.is_loopback() => Some(address),
        _ => None,
    }
}

fn transmission(torrent: &Path, folder: &Path, config: &Path, encryption: &str) -> Command {
    let settings = r#"{"dht-enabled": false, "lpd-enabled": false, "utp-enabled": false, "pex-enabled": false}"#;
    std::fs::write(config.join("settings.json"), settings).unwrap();
    let mut command = Command::new("transmission-cli");
    command.args(["--no-portmap", encryption, "--port"]);
    command.arg(free_port().to_string());
    command.arg("--config-dir").arg(config);
    command.arg("--download-dir").args([folder, torrent]);
    command
}

/// Returns a port that is currently free.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Transfers to and from Transmission, which looks for peers every ten seconds.
fn to_and_from_transmission(theirs: &str, ours: &str) {
    if !is_installed("TRANSMISSION", "transmission-cli", "transmission-cli") {
        return;
    }
    let Some(address) = own_address() else {
        return not_run_unless_required(
            "TRANSMISSION",
            "transfers to and from Transmission",
            "this machine has no address but loopback's",
            "connect it to a network",
        );
    };
    let content = Content::new();
    let bind = address.to_string();
    let options = ["--bind", &bind, "--encryption", ours];
    let tracker = Tracker::at(address);
    let torrent = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
    let config = tempfile::tempdir().unwrap();
    let mut command = transmission(&torrent, content.path(), config.path(), theirs);
    let seed = foreign(&mut command);
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let folder = tempfile::tempdir().unwrap();
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("tree", folder.path());
    drop(seed);

    let tracker = Tracker::at(address);
    let torrent = content.torrent_with("tree", "v1", &["--announce", &tracker.url()]);
    let seed = Peer::seed_with(&[&torrent], content.path(), &options);
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (folder, config) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = transmission(&torrent, folder.path(), config.path(), theirs);
    let other = foreign(&mut command);
    // Transmission creates no empty files.
    let is_there = |name: &str| same(&content.path().join(name), &folder.path().join(name));
    wait_for(|| is_there("tree/a.bin") && is_there("tree/sub"));
    drop(other);
    assert_eq!(seed.interrupt().code, Some(0));
}

#[test]
fn transmission_serves_and_downloads() {
    to_and_from_transmission("--encryption-preferred", "allowed");
}

#[test]
fn transmission_serves_and_downloads_encrypted() {
    to_and_from_transmission("--encryption-required", "required");
}
