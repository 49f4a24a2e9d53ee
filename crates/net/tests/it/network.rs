//! The ways in which a process finds peers and receives pieces.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::disks::report_no_mount;
use super::page::Page;
use super::peers::{
    Content, Ended, PARTING, Peer, ended, get, get_command, get_from, get_in_vain, preloaded,
    seed_command, text_command,
};
use super::servers::{Socks, TlsServer, WebServer};
use super::tracker::Tracker;
use crate::not_run::{is_installed, not_run_unless_required};
use crate::{VERSIONS, finished, wait_for};

fn assert_came(ended: &Ended, content: &Content, name: &str, folder: &Path) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same(name, folder);
}

/// A web server is the only source of pieces (BEP 19).
#[test]
fn web_seeds() {
    let content = Content::new();
    let server = WebServer::of(content.path());
    for (name, url) in [("file.bin", "file.bin"), ("tree", "")] {
        for version in ["v1", "hybrid"] {
            let options = ["--web-seed", &server.url(url)];
            let torrent = content.torrent_with(name, version, &options);
            let folder = tempfile::tempdir().unwrap();
            let ended = get_from(&[&torrent], folder.path(), None, &["--web-seeds"]);
            assert_came(&ended, &content, name, folder.path());
        }
    }
    assert!(server.sent("tree/a.bin") >= 2 * (content.len_of("tree") - 12_345));
}

/// A web seed that lacks the content is reported.
#[test]
fn a_web_seed_that_fails() {
    let content = Content::new();
    let server = WebServer::of(content.path());
    let options = ["--web-seed", &server.url("absent")];
    let torrent = content.torrent_with("file.bin", "v1", &options);
    let folder = tempfile::tempdir().unwrap();
    let ended = get_from(
        &[&torrent],
        folder.path(),
        None,
        &["--timeout", "3s", "--web-seeds"],
    );
    ended.assert_failed("/absent: ");
}

/// The .torrent file can be given as a URL.
#[test]
fn torrents_from_the_web() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let server = WebServer::of(content.path());
    let seed = Peer::seed(&[&torrent], content.path());
    for url in ["file.bin.v1.torrent", "moved"] {
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[server.url(url).as_ref()], folder.path(), &seed, &[]);
        assert_came(&ended, &content, "file.bin", folder.path());
    }
    let folder = tempfile::tempdir().unwrap();
    for (url, reason) in [
        (server.url("absent"), "404"),
        (server.url("endless"), "longer than the limit of 32 MiB"),
        (server.url("bomb"), "longer than the limit of 32 MiB"),
        (server.url("tree/a.bin"), "a.bin of 127.0.0.1:"),
        ("http://127.0.0.1:1/".to_owned(), "Connection refused"),
        ("https://".to_owned(), "https URL: "),
        ("ftp://127.0.0.1/x".to_owned(), "ftp: unsupported; pass"),
    ] {
        let ended = get(&[url.as_ref()], folder.path(), &seed, &[]);
        ended.assert_failed(reason);
    }
    // An info-hash is a magnet link without anything else.
    let hash = "0123456789abcdef0123456789abcdef01234567".as_ref();
    let ended = get(&[hash], folder.path(), &seed, &["--timeout", "3s"]);
    ended.assert_failed("no metadata received for the magnet link");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The certificate of a web server must be signed by an authority that the system trusts.
#[test]
fn torrents_from_the_web_over_tls() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    if !is_installed("OPENSSL", "openssl", "openssl") {
        return;
    }
    let server = TlsServer::of(content.path());
    let seed = Peer::seed(&[&torrent], content.path());
    let url = server.url("file.bin.v1.torrent");
    let folder = tempfile::tempdir().unwrap();
    for options in [&[][..], &["--bind", "127.0.0.1"]] {
        let mut command = get_command(&[url.as_ref()], folder.path(), Some(&seed), options);
        ended(&mut command).assert_failed("certificate verify failed");
        command.env("SSL_CERT_FILE", server.certificate());
        assert_came(&ended(&mut command), &content, "file.bin", folder.path());
        fs::remove_file(folder.path().join("file.bin")).unwrap();
    }
    // The server on this port only accepts TLS.
    let plain = url.replace("https:", "http:");
    get(&[plain.as_ref()], folder.path(), &seed, &[]).assert_failed("torrent of 127.0.0.1:");
}

/// A .torrent file is fetched from the address of `--bind`, and without the proxies of the
/// environment.
#[test]
fn torrents_from_the_web_take_the_same_route() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let server = WebServer::of(content.path());
    let seed = Peer::seed_with(&[&torrent], content.path(), &["--bind", "127.0.0.1"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    let fetched_from = std::thread::spawn(move || {
        let (mut stream, from) = listener.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        from.ip().to_string()
    });
    let folder = tempfile::tempdir().unwrap();
    let options = ["--bind", "127.0.0.2"];
    let ended = get_from(&[url.as_ref()], folder.path(), None, &options);
    ended.assert_failed("404");
    assert_eq!(fetched_from.join().unwrap(), "127.0.0.2");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.args("get --bind 127.0.0.1 --port 0 --no-dht --no-discovery --timeout 30s".split(' '));
    command.args(["--peer", &seed.address().to_string(), "--dir"]);
    command
        .arg(folder.path())
        .arg(server.url("file.bin.v1.torrent"));
    for variable in ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"] {
        command.env(variable, "http://127.0.0.1:1");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    content.assert_same("file.bin", folder.path());
}

/// All outgoing connections use the proxy, which requires a password.
#[test]
fn a_proxy() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let server = WebServer::of(content.path());
    let seed = Peer::seed(&[&torrent], content.path());
    let proxy = Socks::start();
    let url = format!("socks5://me:secret@{}", proxy.address);
    let folder = tempfile::tempdir().unwrap();
    let options = ["--proxy", &url];
    let given = server.url("file.bin.v1.torrent");
    let ended = get(&[given.as_ref()], folder.path(), &seed, &options);
    assert_came(&ended, &content, "file.bin", folder.path());
    // The .torrent file, and the peer.
    assert!(proxy.through() >= 2, "{}", proxy.through());
    // The password is not on the command line, where every user could read it.
    let file = folder.path().join("proxy");
    fs::write(&file, format!("{url}\n")).unwrap();
    let by_file = ["--proxy-file", file.to_str().unwrap()];
    let before = proxy.through();
    let folder = tempfile::tempdir().unwrap();
    let ended = get(&[given.as_ref()], folder.path(), &seed, &by_file);
    assert_came(&ended, &content, "file.bin", folder.path());
    assert!(proxy.through() >= before + 2, "{}", proxy.through());
    let before = proxy.through();
    let folder = tempfile::tempdir().unwrap();
    let mut by_variable = get_command(&[given.as_ref()], folder.path(), Some(&seed), &[]);
    by_variable.env("HASHLANE_PROXY", &url);
    assert_came(
        &self::ended(&mut by_variable),
        &content,
        "file.bin",
        folder.path(),
    );
    assert!(proxy.through() >= before + 2, "{}", proxy.through());
    // The URL is not printed.
    fs::write(&file, "socks4://me:secret@h:1").unwrap();
    for (mut command, name) in [
        (text_command("get", &by_file), "--proxy-file"),
        (text_command("get", &[]), "HASHLANE_PROXY"),
    ] {
        command.env("HASHLANE_PROXY", "socks4://me:secret@h:1");
        let output = command.arg(&torrent).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(name) && !stderr.contains("secret"),
            "{stderr}"
        );
    }
    let url = format!("socks5://me:wrong@{}", proxy.address);
    let folder = tempfile::tempdir().unwrap();
    let options = ["--proxy", &url, "--timeout", "3s"];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

/// A tracker and a web seed that fail, and a torrent from a web server, all with a login.
#[test]
fn passwords_are_not_shown() {
    let content = Content::new();
    let server = WebServer::of(content.path());
    let with_login = |url: String| url.replacen("://", "://me:secret@", 1);
    let tracker = with_login("http://127.0.0.1:1/announce".into());
    let web_seed = with_login(server.url("absent"));
    let options = ["--announce", &tracker, "--web-seed", &web_seed];
    content.torrent_with("file.bin", "v1", &options);
    let given = with_login(server.url("file.bin.v1.torrent"));
    let (ended, log) = get_in_vain(given.as_ref());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for shown in [&log, &ended.stderr, &format!("{:?}", ended.lines)] {
        assert!(shown.contains("://me:***@127.0.0.1"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }
    // The log of libtorrent.
    assert!(log.contains("me:***@127.0.0.1:1/announce"), "{log}");
}

/// Peers that know a common node find each other, unless the torrent is private.
#[test]
fn the_distributed_hash_table() {
    let content = Content::new();
    let other = content.torrent("file.bin", "v1");
    let options = ["!--no-dht", "--dht-node", "127.0.0.1:1"];
    let node = Peer::seed_with(&[&other], content.path(), &options);
    let node_address = node.address().to_string();
    let options = ["!--no-dht", "--dht-node", &node_address];
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed_with(&[&torrent], content.path(), &options);
    let link = content.magnet(&torrent);
    let folder = tempfile::tempdir().unwrap();
    let ended = get_from(&[link.as_ref()], folder.path(), None, &options);
    assert_came(&ended, &content, "tree", folder.path());
    drop(seed);
    let torrent = content.torrent_with("tree", "v1", &["--private"]);
    let seed = Peer::seed_with(&[&torrent], content.path(), &options);
    let folder = tempfile::tempdir().unwrap();
    let options = [&options[..], &["--timeout", "5s"]].concat();
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    ended.assert_failed("no data received for 5 s: 0 peers");
    drop((seed, node));
}

/// A peer announces another peer (BEP 11).
#[test]
fn peer_exchange() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    // The middle peer downloads slowly: it has little to give, and stays connected to both peers.
    let options = ["--max-down", "40KiB", "--seed"];
    let middle = Peer::get(&[&torrent], folders[0].path(), &seed, &options);
    let ended = get(
        &[&torrent],
        folders[1].path(),
        &middle,
        &["--timeout", "90s"],
    );
    assert_came(&ended, &content, "tree", folders[1].path());
    // The download finished much faster than the middle peer could have supplied it.
    let half = folders[0].path().join("tree");
    assert!(!crate::foreign::same(&content.path().join("tree"), &half));
    drop(middle);
}

#[test]
fn utp_and_ipv6() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "hybrid");
    for options in [
        &["--transport", "utp"][..],
        &["--bind", "::1"],
        &["--bind", "::1", "--encryption", "required"],
    ] {
        let seed = Peer::seed_with(&[&torrent], content.path(), options);
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, options);
        assert_came(&ended, &content, "file.bin", folder.path());
    }
}

/// uTP holds a fast peer back, so TCP is tried first.
#[test]
fn tcp_comes_before_utp() {
    const BOTH: [&str; 2] = ["--transport", "both"];
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let seed = Peer::seed_with(&[&torrent], content.path(), &BOTH);
    let folder = tempfile::tempdir().unwrap();
    let options = [&BOTH[..], &["--http", "0", "--max-down", "200KiB"]].concat();
    let page = Page::of(Peer::get(&[&torrent], folder.path(), &seed, &options));
    page.wait_for(|all| all["torrents"][0]["peers"] == 1);
    let detail = page.get("/api/v1/torrents/0").json();
    assert_eq!(detail["peer_list"][0]["utp"], false, "{detail}");
    assert_eq!(detail["peer_list"][0]["outgoing"], true, "{detail}");
    drop(page);
    // Torrents and metadata can be fetched from a peer that has only uTP.
    let seed = Peer::seed_with(&[&torrent], content.path(), &["--transport", "utp"]);
    let link = content.magnet(&torrent);
    for source in [torrent.as_path(), link.as_ref()] {
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[source], folder.path(), &seed, &BOTH);
        assert_came(&ended, &content, "file.bin", folder.path());
    }
}

/// A UDP tracker (BEP 15), which is notified of the end on SIGTERM.
#[test]
fn a_tracker_by_udp() {
    let content = Content::new();
    let tracker = Tracker::udp();
    let torrent = content.torrent_with("tree", "v2", &["--announce", &tracker.url()]);
    let seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let folder = tempfile::tempdir().unwrap();
    let ended = get_from(&[&torrent], folder.path(), None, &[]);
    assert_came(&ended, &content, "tree", folder.path());
    let asked = Instant::now();
    assert_eq!(seed.terminate().code, Some(0));
    assert!(asked.elapsed() < PARTING, "{:?}", asked.elapsed());
    wait_for(|| tracker.heard(|heard| heard.stopped.len() == 2));
}

/// The system chooses a port that is free for TCP. Another program can use the same port of UDP.
#[cfg(target_os = "linux")]
#[test]
fn a_free_port_of_tcp_that_is_taken_for_udp() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let mut command = seed_command(&[&torrent], content.path(), &[]);
    command.env("LD_PRELOAD", preloaded("bind", folder.path()));
    let seed = Peer::start(command);
    let ended = get(&[&torrent], folder.path(), &seed, &[]);
    assert_came(&ended, &content, "file.bin", folder.path());
    assert_eq!(seed.interrupt().code, Some(0));
}

/// Another version of the library can have the same name, and other types.
#[cfg(target_os = "linux")]
#[test]
fn another_version_of_libtorrent_is_an_error() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let mut command = seed_command(&[&torrent], content.path(), &[]);
    command.env("LD_PRELOAD", preloaded("version", folder.path()));
    let ended = ended(&mut command);
    ended.assert_failed("libtorrent 2.0.99.0 is installed, and this program was built for 2.");
    assert!(
        ended
            .stderr
            .contains("install the package for this release")
    );
}

/// A tracker's answer can contain any bytes.
#[test]
fn hostile_answers_of_trackers_are_escaped() {
    let content = Content::new();
    let tracker = Tracker::refusing(b"\xff\x1b[2Jno\r\n");
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let folder = tempfile::tempdir().unwrap();
    let ended = get_from(&[&torrent], folder.path(), None, &["--timeout", "2s"]);
    ended.assert_failed("\u{fffd}\\u{1b}[2Jno\\u{d}\\u{a}");
}

#[test]
fn pieces_in_order_and_super_seeding() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed_with(&[&torrent], content.path(), &["--super-seeding"]);
    let folder = tempfile::tempdir().unwrap();
    let ended = get(&[&torrent], folder.path(), &seed, &[]);
    assert_came(&ended, &content, "tree", folder.path());
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let options = ["--sequential", "--max-down", "2MiB"];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_came(&ended, &content, "tree", folder.path());
    let pieces = ended.lines.iter().filter(|line| line["type"] == "piece");
    let pieces: Vec<u64> = pieces.map(|line| line["piece"].as_u64().unwrap()).collect();
    // Several pieces are requested at the same time.
    let is_near = |(i, piece): (usize, &u64)| piece.abs_diff(i as u64) <= 4;
    assert!(pieces.iter().enumerate().all(is_near), "{pieces:?}");
}

/// Pieces of zeros are created as holes and not downloaded if a peer has all pieces.
#[test]
fn zeros_become_holes_without_a_download() {
    let content = Content::new();
    let path = content.path().join("file.bin");
    let mut bytes = fs::read(&path).unwrap();
    let piece = content.piece_len() as usize;
    bytes[4 * piece..20 * piece].fill(0);
    fs::write(&path, &bytes).unwrap();
    for version in VERSIONS {
        let torrent = content.torrent("file.bin", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, &[]);
        assert_came(&ended, &content, "file.bin", folder.path());
        let came = finished(&ended.lines)["downloaded_bytes"].as_u64().unwrap();
        let lacked = content.len_of("file.bin") - 16 * content.piece_len();
        assert!(
            (lacked..=lacked + 16384).contains(&came),
            "{version}: {came}"
        );
        let metadata = fs::metadata(folder.path().join("file.bin")).unwrap();
        let on_disk = std::os::unix::fs::MetadataExt::blocks(&metadata) * 512;
        assert!(on_disk < content.len_of("file.bin"), "{version}: {on_disk}");
    }
}

/// A read-only file system is served and found complete; a missing file on it is an error.
#[test]
fn a_read_only_file_system_is_served() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let missing = content.torrent("tree", "v1");
    let folder = tempfile::tempdir().unwrap();
    let mount = |options: &str| {
        let mut command = Command::new("mount");
        let mount = command
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(folder.path());
        mount
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if !mount("size=16m") {
        return report_no_mount();
    }
    fs::copy(
        content.path().join("file.bin"),
        folder.path().join("file.bin"),
    )
    .unwrap();
    let is_read_only = mount("remount,ro");
    let served = Peer::seed(&[&torrent], folder.path());
    let other = tempfile::tempdir().unwrap();
    let came = get(&[&torrent], other.path(), &served, &[]);
    let ended = served.interrupt();
    let whole = get_from(&[&torrent], folder.path(), None, &[]);
    let failed = get_from(&[&missing], folder.path(), None, &[]);
    let unmounted = Command::new("umount").arg(folder.path()).status();
    assert!(is_read_only && unmounted.unwrap().success());
    assert_came(&came, &content, "file.bin", other.path());
    assert_eq!(
        (ended.code, whole.code),
        (Some(0), Some(0)),
        "{ended:?} {whole:?}"
    );
    failed.assert_failed("tree/a.bin: Read-only file system");
}

/// A separate network namespace with one address that accepts multicast. It runs a seed, and a
/// download that knows no peers.
const NAMESPACE: &str = r#"
set -e
ip link set lo up multicast on
ip addr add 10.9.0.1/24 dev lo
ip route add 224.0.0.0/4 dev lo
options="--quiet --bind 10.9.0.1 --transport tcp --no-dht"
"$0" seed $options --port 7001 -d "$2" "$1" &
trap "kill $!" EXIT
"$0" get $options --port 7002 --timeout 30s --dir "$3" "$1"
"#;

/// Reports a test that needs a network namespace.
pub(crate) fn report_no_namespace() {
    not_run_unless_required(
        "NETWORK",
        "tests in a network of their own",
        "no network namespace can be made",
        "run as root with util-linux and iproute2",
    );
}

/// Runs a script of the shell in a network namespace of its own, with the program as `$0`. Returns its output, or `None` if no
/// namespace can be made.
#[track_caller]
pub(crate) fn in_namespace(script: &str, args: [&Path; 3]) -> Option<String> {
    let may = Command::new("unshare")
        .args(["--net", "ip", "link"])
        .output();
    if !may.is_ok_and(|output| output.status.success()) {
        report_no_namespace();
        return None;
    }
    let mut command = Command::new("unshare");
    command.args([
        "--net",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_hashlane-net"),
    ]);
    let output = command.args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Peers of the local network find each other (BEP 14).
#[test]
fn local_discovery() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let folder = tempfile::tempdir().unwrap();
    let args = [&*torrent, content.path(), folder.path()];
    if in_namespace(NAMESPACE, args).is_none() {
        return;
    }
    content.assert_same("tree", folder.path());
}
