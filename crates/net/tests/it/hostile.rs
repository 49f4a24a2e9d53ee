//! A peer that breaks the rules of the protocol (BEP 3, BEP 52).

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hashlane_metainfo::needs_escape;
use hashlane_swarm::WebSeeds;
use serde_json::{Value, json};

use crate::not_run::not_run;
use crate::{VERSIONS, wait_for};

use super::http::ask_bytes;
use super::page::Page;
use super::peers::{
    Content, Ended, IMPATIENT, PATIENCE, Peer, ended, get, get_command, get_from, preloaded, ran,
    seed_command,
};
use super::servers::{Answer, WebServer, hostile_web_seed, redirecting_web_seed};
use super::tracker::Tracker;

/// Message types (BEP 3).
const UNCHOKE: u8 = 1;
const INTERESTED: u8 = 2;
const BITFIELD: u8 = 5;
const REQUEST: u8 = 6;
const PIECE: u8 = 7;

const BLOCK_LEN: u32 = 16 << 10;
const PIECE_LEN: u32 = 64 << 10;

/// Returns `true` if web seeds can block the installed libtorrent. Reports tests that a safe one does not run.
pub(crate) fn has_unsafe_web_seeds() -> bool {
    let is_unsafe = WebSeeds::default() == WebSeeds::Withheld;
    if !is_unsafe {
        not_run(
            "tests with unsafe web seeds",
            "libtorrent is safe",
            "install libtorrent 2.0.13 or older",
        );
    }
    is_unsafe
}

/// A connection to a process, after the handshakes.
pub(crate) struct Connection {
    stream: TcpStream,
    /// The name of the process.
    id: [u8; 20],
}

impl Connection {
    /// Connects to a process. It accepts connections before the torrent joins its session, and closes them again.
    pub(crate) fn open(address: SocketAddr, info_hash: [u8; 20]) -> io::Result<Self> {
        let started = Instant::now();
        loop {
            match Self::greet(TcpStream::connect(address)?, info_hash) {
                Err(_) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                result => return result,
            }
        }
    }

    /// Exchanges handshakes.
    fn greet(mut stream: TcpStream, info_hash: [u8; 20]) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = b"\x13BitTorrent protocol\0\0\0\0\0\0\0\0";
        stream.write_all(&[head, &info_hash[..], b"-XX0000-hostile-peer"].concat())?;
        stream.read_exact(&mut [0; 48])?;
        let mut id = [0; 20];
        stream.read_exact(&mut id)?;
        Ok(Self { stream, id })
    }

    fn send(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let len = 1 + payload.len() as u32;
        let message = [&len.to_be_bytes()[..], &[kind], payload].concat();
        self.stream.write_all(&message)
    }

    /// Returns the type and the payload of the next message.
    pub(crate) fn receive(&mut self) -> io::Result<(u8, Vec<u8>)> {
        loop {
            let mut len = [0; 4];
            self.stream.read_exact(&mut len)?;
            let mut message = vec![0; u32::from_be_bytes(len) as usize];
            self.stream.read_exact(&mut message)?;
            // An empty message keeps the connection open.
            if !message.is_empty() {
                let payload = message.split_off(1);
                return Ok((message[0], payload));
            }
        }
    }

    /// Returns the payload of the next message of this type.
    fn receive_only(&mut self, wanted: u8) -> io::Result<Vec<u8>> {
        loop {
            let (kind, payload) = self.receive()?;
            if kind == wanted {
                return Ok(payload);
            }
        }
    }

    /// Requests a block, and returns it.
    fn fetch(&mut self, piece: u32, begin: u32, len: u32) -> io::Result<Vec<u8>> {
        self.send(REQUEST, &numbers(&[piece, begin, len]))?;
        let block = self.receive_only(PIECE)?;
        assert_eq!(block[..8], numbers(&[piece, begin]));
        Ok(block[8..].to_vec())
    }

    /// Sends bytes from `begin` of a piece on, right or wrong.
    fn send_block(&mut self, piece: u32, begin: u32, bytes: &[u8]) -> io::Result<()> {
        let head = numbers(&[piece, begin]);
        self.send(PIECE, &[&head[..], bytes].concat())
    }
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_be_bytes()).collect()
}

/// Returns the info-hash of handshakes: version 2 sends the first 20 bytes (BEP 52).
pub(crate) fn info_hash(torrent: &Path) -> [u8; 20] {
    let lines = ran(["show", "--json"], [torrent]);
    let hash = ["info_hash_v1", "info_hash_v2"].map(|version| lines[0][version].as_str());
    let hash = hash[0].or(hash[1]).unwrap();
    std::array::from_fn(|i| u8::from_str_radix(&hash[2 * i..2 * i + 2], 16).unwrap())
}

/// Creates a file of this length and its torrent of version 2.
fn file_of(len: usize, folder: &Path) -> (Vec<u8>, PathBuf) {
    let bytes: Vec<u8> = (0..len).map(|i| (i * i / 7 + 1) as u8).collect();
    fs::write(folder.join("file"), &bytes).unwrap();
    let torrent = folder.join("file.torrent");
    let status = Command::new(env!("CARGO_BIN_EXE_hashlane-net"))
        .args(["create", "--quiet", "--format", "v2", "--piece-length"])
        .args([&PIECE_LEN.to_string(), "-o"])
        .args([&torrent, &folder.join("file")])
        .status();
    assert!(status.unwrap().success());
    (bytes, torrent)
}

/// A peer's name has the version of the program.
#[test]
fn peers_see_the_version() {
    let folder = tempfile::tempdir().unwrap();
    let (_, torrent) = file_of(100, folder.path());
    let seed = Peer::seed(&[&torrent], folder.path());
    let peer = Connection::open(seed.address(), info_hash(&torrent)).unwrap();
    let [major, minor, patch] = [
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
        env!("CARGO_PKG_VERSION_PATCH"),
    ];
    let expected = format!("-HA{major}{minor}{patch}0-");
    assert_eq!(peer.id[..8], *expected.as_bytes());
}

/// The last piece of version 2 can be shorter than its nominal length, up to which libtorrent accepts requests
/// and blocks.
const LENGTHS: [usize; 3] = [100, (64 << 10) + 100, 16 << 10];

#[test]
fn zeros_follow_the_last_piece_of_a_seed() {
    for len in LENGTHS {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, torrent) = file_of(len, folder.path());
        let seed = Peer::seed(&[&torrent], folder.path());
        let mut peer = Connection::open(seed.address(), info_hash(&torrent)).unwrap();
        peer.send(INTERESTED, &[]).unwrap();
        peer.receive_only(UNCHOKE).unwrap();
        let last = (len - 1) as u32 / PIECE_LEN;
        for begin in (0..PIECE_LEN).step_by(BLOCK_LEN as usize).rev() {
            let block = peer.fetch(last, begin, BLOCK_LEN).unwrap();
            let first = (last * PIECE_LEN + begin) as usize;
            let mut expected = bytes[first.min(len)..].to_vec();
            expected.resize(BLOCK_LEN as usize, 0);
            assert!(block == expected, "{len}: {begin}");
        }
        // Honest peers are still served.
        let other = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], other.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{len}: {ended:?}");
        assert!(fs::read(other.path().join("file")).unwrap() == bytes);
        let ended = seed.interrupt();
        assert_eq!(ended.code, Some(0), "{len}: {ended:?}");
        assert_eq!(ended.stderr, "", "{len}");
    }
}

#[test]
fn unrequested_blocks_end_no_download() {
    for len in LENGTHS {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, torrent) = file_of(len, folder.path());
        let other = tempfile::tempdir().unwrap();
        let download = Peer::get_alone(&[&torrent], other.path(), &[]);
        let last = (len - 1) as u32 / PIECE_LEN;
        for begin in (0..PIECE_LEN).step_by(BLOCK_LEN as usize) {
            // The blocks without content are after the end of the file.
            if last * PIECE_LEN + begin >= len as u32 {
                let mut peer = Connection::open(download.address(), info_hash(&torrent)).unwrap();
                peer.send_block(last, begin, &[7; BLOCK_LEN as usize])
                    .unwrap();
                // Waits until the process has read the block: it answers interest, or has closed the connection.
                let _ = peer.send(INTERESTED, &[]);
                let _ = peer.receive_only(UNCHOKE);
            }
        }
        // The download continues when an honest peer comes.
        let address = download.address().to_string();
        let seed = Peer::seed_with(&[&torrent], folder.path(), &["--peer", &address]);
        let ended = download.end();
        assert_eq!(ended.code, Some(0), "{len}: {ended:?}");
        assert_eq!(ended.stderr, "", "{len}");
        assert!(fs::read(other.path().join("file")).unwrap() == bytes);
        let ended = seed.interrupt();
        assert_eq!(ended.code, Some(0), "{len}: {ended:?}");
    }
}

/// Starts a peer that claims to have all pieces, and sends wrong blocks. The peer ends with the test's process.
pub(crate) fn serve_wrong_blocks(info_hash: [u8; 20], n_pieces: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = move |stream| -> io::Result<()> {
        let mut peer = Connection::greet(stream, info_hash)?;
        let mut have = vec![0; n_pieces.div_ceil(8)];
        for piece in 0..n_pieces {
            have[piece / 8] |= 0x80 >> (piece % 8);
        }
        peer.send(BITFIELD, &have)?;
        peer.send(UNCHOKE, &[])?;
        loop {
            let request = peer.receive_only(REQUEST)?;
            let number = |i: usize| u32::from_be_bytes(request[4 * i..][..4].try_into().unwrap());
            peer.send_block(number(0), number(1), &vec![7; number(2) as usize])?;
        }
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // The process closes the connection to a banned peer.
            let _ = serve(stream);
        }
    });
    address
}

#[test]
fn a_peer_with_wrong_blocks_is_banned() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("file.bin", version);
        let n_pieces = content.len_of("file.bin").div_ceil(content.piece_len());
        let address = serve_wrong_blocks(info_hash(&torrent), n_pieces as usize).to_string();
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        // The peer speaks without encryption.
        let options = ["--encryption", "off", "--timeout", "4s", "--peer", &address];
        let log_options = ["--log", log.to_str().unwrap()];
        let options = [&options[..], &log_options].concat();
        let ended = get_from(&[&torrent], folder.path(), None, &options);
        ended.assert_failed("no data received");
        assert!(!ended.lines.iter().any(|line| line["type"] == "piece"));
        let log = fs::read_to_string(log).unwrap();
        let banned = format!("peer is banned torrent={torrent:?} peer={address:?}");
        assert!(log.contains(&banned), "{version}: {log}");
    }
}

/// A web seed cannot keep a download from ending, by itself or by Ctrl-C. libtorrent before 2.0.14 computes forever with
/// these lengths; a later version only disconnects. A process that ends beside threads of libtorrent destroys nothing that
/// they use.
#[cfg(target_os = "linux")]
#[test]
fn malformed_chunks_of_web_seeds_do_not_block_the_end() {
    let content = Content::new();
    let honest = content.torrent("file.bin", "v1");
    let seed = Peer::seed(&[&honest], content.path());
    let libraries = tempfile::tempdir().unwrap();
    let library = preloaded("destructor", libraries.path());
    for (len, is_interrupted) in [("ffffffffffffffff", true), ("-1", true), ("-1", false)] {
        let url = hostile_web_seed(Answer::Chunk(len));
        let torrent = content.torrent_with("file.bin", "v1", &["--web-seed", &url]);
        let folder = tempfile::tempdir().unwrap();
        let options = ["--web-seeds", "--timeout", "5s"];
        let mut command = get_command(&[&torrent], folder.path(), None, &options);
        command.env("LD_PRELOAD", &library);
        let download = Peer::start(command.env(IMPATIENT.0, IMPATIENT.1));
        let ended = if is_interrupted {
            std::thread::sleep(Duration::from_secs(2));
            download.interrupt()
        } else {
            download.end()
        };
        assert_eq!(ended.code, Some(2), "{len}: {ended:?}");
        let reasons = [
            "libtorrent does not respond",
            "makes libtorrent hang",
            "no data received",
            "interrupted",
        ];
        let has_reason = reasons.iter().any(|reason| ended.stderr.contains(reason));
        assert!(has_reason, "{len}: {ended:?}");
        let is_at_once = ended.stderr.contains("libtorrent does not respond");
        let has_destroyed = ended.stderr.contains("destructors run");
        assert_eq!(has_destroyed, !is_at_once, "{len}: {ended:?}");

        let ended = get(&[&torrent], folder.path(), &seed, &["--web-seeds=0"]);
        assert_eq!(ended.code, Some(0), "{len}: {ended:?}");
        content.assert_same("file.bin", folder.path());
    }
}

/// Adds a .torrent file by a request to the page of a process.
#[cfg(target_os = "linux")]
fn add_by_page(download: &Peer, torrent: &Path) {
    let page = download.wait_for_line("page");
    let address = page["url"].as_str().unwrap()["http://".len()..].trim_end_matches('/');
    let bearer = format!("Bearer {}", page["token"].as_str().unwrap());
    let headers = [
        ("Content-Type", "application/x-bittorrent"),
        ("Authorization", &*bearer),
    ];
    let address = address.parse().unwrap();
    let body = fs::read(torrent).unwrap();
    let answer = ask_bytes(address, "POST /api/v1/torrents", &headers, &body);
    assert_eq!(answer.status, 201);
}

/// A web seed that makes libtorrent compute forever is left out: the program executes itself again, with all torrents.
#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::too_many_lines, reason = "one session of a user")]
fn a_web_seed_that_blocks_libtorrent_is_left_out() {
    if !has_unsafe_web_seeds() {
        return;
    }
    let content = Content::new();
    let given = content.torrent("tree", "v1");
    let url = hostile_web_seed(Answer::Chunk("ffffffffffffffff"));
    let blocking = content.torrent_with("file.bin", "hybrid", &["--web-seed", &url]);
    let watched = tempfile::tempdir().unwrap();
    let path = watched.path().join("blocking.torrent");
    fs::copy(&blocking, &path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = [
        "--web-seeds",
        "--timeout",
        "300s",
        "--http",
        "0",
        "--watch-dir",
    ];
    let options = [&options[..], &[watched.path().to_str().unwrap()]].concat();
    // Standard input cannot be read again.
    let mut get = get_command(&["-".as_ref()], folder.path(), None, &options);
    get.stdin(fs::File::open(&given).unwrap());
    get.env(IMPATIENT.0, IMPATIENT.1);
    let temporary = tempfile::tempdir().unwrap();
    get.env("TMPDIR", temporary.path());
    let download = Peer::start(get);
    let command_line = || fs::read(format!("/proc/{}/cmdline", download.pid())).unwrap();
    let before = command_line();
    // A torrent that the page adds has no file.
    let third = content.path().join("third");
    fs::write(&third, "third").unwrap();
    let third = Content::torrent_of(&third, "v1", &[]);
    add_by_page(&download, &third);

    let warning = download.wait_for_line("warning");
    let message = warning["message"].as_str().unwrap();
    assert!(
        message.contains("of blocking.torrent: Hashlane has started again"),
        "{message}"
    );
    assert_eq!(command_line(), before);
    // libtorrent's sockets were closed.
    assert!(TcpStream::connect(download.address()).is_err());
    let address = || -> Option<String> {
        let lines = download.lines_of("listening");
        Some(lines.get(1)?["address"].as_str()?.to_owned())
    };
    let started = Instant::now();
    while address().is_none() {
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    let address = address().unwrap();
    let options = ["--peer", &address];
    let _seed = Peer::seed_with(&[&given, &blocking, &third], content.path(), &options);
    let wait_for_finished = |n: usize| {
        let started = Instant::now();
        while download.lines_of("finished").len() < n {
            assert!(
                started.elapsed() < PATIENCE,
                "{:?}",
                download.lines_of("error")
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_for_finished(3);
    for name in ["tree", "third", "file.bin"] {
        content.assert_same(name, folder.path());
    }
    // Nothing is added twice.
    assert_eq!(download.lines_of("added").len(), 2);
    let ended = download.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("Hashlane has started again"));
    let finished = ended.lines.iter().filter(|line| line["type"] == "finished");
    let labels: BTreeSet<_> = finished
        .map(|line| line["torrent"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["-", "blocking.torrent", "third"].into());
    // The torrents were in a folder of their own for a moment.
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

/// A web seed cannot use up the memory.
#[cfg(target_os = "linux")]
#[test]
fn endless_headers_of_web_seeds_use_little_memory() {
    // libtorrent requests at most 16 MiB at once.
    let content = Content::with_tree_of(20 << 20);
    let file = content.path().join("tree/a.bin");
    let bytes = fs::read(&file).unwrap().leak();
    for answer in [Answer::EndlessHead, Answer::EndlessSecondHead(bytes)] {
        let url = hostile_web_seed(answer);
        let torrent = Content::torrent_of(&file, "v1", &["--web-seed", &url]);
        assert_endless_headers_end(&torrent);
    }
}

/// A server that another web seed redirects to is recognised although no URL of the torrent names it.
#[cfg(target_os = "linux")]
#[test]
fn endless_headers_after_a_redirection_use_little_memory() {
    let content = Content::new();
    let url = redirecting_web_seed(hostile_web_seed(Answer::EndlessHead));
    let torrent = content.torrent_with("file.bin", "v1", &["--web-seed", &url]);
    assert_endless_headers_end(&torrent);
}

/// Asserts that a download stops reading endless headers, and uses little memory. libtorrent searches the whole header for its
/// end each time it receives a part, which takes long on a busy machine.
#[cfg(target_os = "linux")]
fn assert_endless_headers_end(torrent: &Path) {
    const REASON: &str = "too much data without the end of a header";
    let folder = tempfile::tempdir().unwrap();
    let options = ["--web-seeds", "--timeout", "10m"];
    let download = Peer::get_alone(&[torrent], folder.path(), &options);
    let status = format!("/proc/{}/status", download.pid());
    let started = Instant::now();
    let is_reported = || {
        let warnings = download.lines_of("warning");
        let mut texts = warnings
            .iter()
            .map(|line| line["message"].as_str().unwrap());
        texts.any(|text| text.contains(REASON))
    };
    // A process that has ended has no such line.
    let used = || {
        let text = fs::read_to_string(&status).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    while !is_reported()
        && let Some(used) = used()
    {
        assert!(used < 200 << 10, "{used} KiB");
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    if is_reported() {
        download.interrupt().assert_failed("interrupted");
    } else {
        // The search took so long that the program ended without waiting for libtorrent.
        download.end().assert_failed("libtorrent");
    }
}

/// A web seed that must be removed takes no other web seed of the same host with it. libtorrent writes nothing beyond its buffer, which
/// the allocator of glibc checks where it can.
#[test]
fn other_ports_of_a_hostile_web_seed_are_used() {
    let content = Content::new();
    let honest = WebServer::of(content.path()).url("file.bin");
    let hostile = hostile_web_seed(Answer::EndlessHead);
    let options = ["--web-seed", &hostile, "--web-seed", &honest];
    let torrent = content.torrent_with("file.bin", "v1", &options);
    let folder = tempfile::tempdir().unwrap();
    let mut get = get_command(&[&torrent], folder.path(), None, &["--web-seeds"]);
    if cfg!(target_env = "gnu") {
        get.env("LD_PRELOAD", "libc_malloc_debug.so.0");
        get.env("MALLOC_CHECK_", "3");
    }
    let ended = ended(&mut get);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("file.bin", folder.path());
}

/// Web seeds are off where they can stop all downloads, and say so.
#[test]
fn unsafe_web_seeds_are_off() {
    let content = Content::new();
    let server = WebServer::of(content.path());
    let torrent = content.torrent_with("file.bin", "v1", &["--web-seed", &server.url("file.bin")]);
    let folder = tempfile::tempdir().unwrap();
    let options = ["--timeout", "3s"];
    if !has_unsafe_web_seeds() {
        return;
    }
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    ended.assert_failed("--web-seeds uses them");
    assert_eq!(server.sent("file.bin"), 0);
    let options = ["--timeout", "3s", "--web-seeds=0"];
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    ended.assert_failed("no data received");
    assert!(!ended.stderr.contains("--web-seeds"), "{ended:?}");
}

/// A torrent that only waits costs nothing for its web seeds.
#[cfg(target_os = "linux")]
#[test]
fn idle_torrents_with_web_seeds_are_not_polled() {
    const N_TORRENTS: usize = 100;
    let content = Content::new();
    let paths: Vec<PathBuf> = (0..N_TORRENTS)
        .map(|i| {
            let path = content.path().join(format!("{i}"));
            fs::write(&path, [i as u8; 100]).unwrap();
            Content::torrent_of(&path, "v1", &["--web-seed", "http://127.0.0.1:9/"])
        })
        .collect();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let seed = Peer::seed_with(&paths, content.path(), &["--web-seeds"]);
    while seed.lines_of("verified").len() < N_TORRENTS {
        std::thread::sleep(Duration::from_millis(20));
    }
    // A request to libtorrent's thread makes two threads wait.
    let n_waits = || -> u64 {
        let threads = fs::read_dir(format!("/proc/{}/task", seed.pid())).unwrap();
        let waits = |folder: PathBuf| {
            let text = fs::read_to_string(folder.join("status")).ok()?;
            let line = text
                .lines()
                .find(|line| line.starts_with("voluntary_ctxt"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        threads
            .filter_map(|thread| waits(thread.unwrap().path()))
            .sum()
    };
    let before = n_waits();
    std::thread::sleep(Duration::from_secs(2));
    let n_waits = n_waits() - before;
    assert!(n_waits < 5 * N_TORRENTS as u64, "{n_waits}");
    assert_eq!(seed.interrupt().code, Some(0));
}

/// ESC, a C1 control, the override of the direction of text, and a new line.
pub(crate) const BAD: &str = "x\x1b[2J\u{9b}\u{202e}\nhashlane: other";

/// Asserts that the error messages contain this text, and no control characters.
#[track_caller]
fn assert_escaped(ended: &Ended, text: &str) {
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains(text), "{text}: {ended:?}");
    let is_safe =
        |line: &str| !line.starts_with("hashlane: other") && !line.chars().any(needs_escape);
    assert!(ended.stderr.lines().all(is_safe), "{ended:?}");
}

/// Starts a web server that answers each request with [`BAD`] as its reason. The server ends with the test's
/// process.
fn serve_bad_reasons() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let reason = BAD.replace('\n', " ");
            let _ = write!(stream, "HTTP/1.1 404 {reason}\r\nContent-Length: 0\r\n\r\n");
        }
    });
    address
}

#[test]
fn texts_of_servers_and_links_are_escaped() {
    let content = Content::new();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--timeout", "2s"];
    let tracker = Tracker::refusing(BAD.as_bytes());
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    assert_escaped(&ended, "x\\u{1b}[2J\\u{9b}\\u{202e}\\u{a}hashlane: other");
    let url = format!("http://{}/", serve_bad_reasons());
    let torrent = content.torrent_with("file.bin", "v1", &["--web-seed", &url]);
    let options = [&options[..], &["--web-seeds"]].concat();
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    assert_escaped(&ended, "x\\u{1b}[2J\\u{9b}\\u{202e}");
    let link = format!("{}&dn={BAD}", content.magnet(&torrent));
    let ended = get_from(&[link.as_ref()], folder.path(), None, &options);
    assert_escaped(&ended, "no metadata received");
    let link = format!("magnet:?xt=urn:btih:{BAD}");
    let ended = get_from(&[link.as_ref()], folder.path(), None, &options);
    assert_escaped(
        &ended,
        "btih:x\\u{1b}[2J\\u{9b}\\u{202e}\\u{a}hashlane: other: ",
    );
}

/// What the page changed lasts when the program executes itself again, also what it changed while libtorrent stood still.
#[cfg(target_os = "linux")]
#[test]
fn changes_last_when_a_web_seed_blocks_libtorrent() {
    if !has_unsafe_web_seeds() {
        return;
    }
    let content = Content::new();
    let given = content.torrent("tree", "v1");
    let url = hostile_web_seed(Answer::Chunk("ffffffffffffffff"));
    let blocking = content.torrent_with("file.bin", "v1", &["--web-seed", &url]);
    let watched = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // A part of the content is present.
    fs::create_dir(folder.path().join("tree")).unwrap();
    let present = "tree/a.bin";
    fs::copy(content.path().join(present), folder.path().join(present)).unwrap();
    let options = ["--web-seeds", "--http", "0", "--watch-dir"];
    let options = [&options[..], &[watched.path().to_str().unwrap()]].concat();
    let mut get = get_command(&[&given], folder.path(), None, &options);
    let page = Page::of(Peer::start(get.env(IMPATIENT.0, IMPATIENT.1)));
    let change = |page: &Page, command: &Value| {
        assert_eq!(page.apply(0, command), 202, "{command}");
    };
    page.wait_for(|all| all["torrents"][0]["activity"] == "downloading");
    let (first, last) = (folder.path().join("first"), folder.path().join("last"));
    let relocate = |page: &Page, to: &Path| {
        change(page, &json!({ "action": "relocate", "folder": to }));
    };
    relocate(&page, &first);
    wait_for(|| page.peer.lines_of("relocated").len() == 1);
    change(&page, &json!({"action": "set", "labels": ["a", "b"]}));
    let high = json!({"action": "prioritize", "files": [0], "priority": "high"});
    change(&page, &high);
    fs::copy(blocking, watched.path().join("blocking.torrent")).unwrap();
    // The loop may stand still from now on.
    wait_for(|| page.peer.lines_of("added").len() == 1);
    relocate(&page, &last);
    let set = json!({"action": "set", "max_down": 12345, "seed_ratio": 2.5});
    change(&page, &set);
    let tracker = json!({"action": "add_tracker", "url": "http://127.0.0.1:1/announce"});
    change(&page, &tracker);
    change(&page, &json!({"action": "pause"}));
    let limits = r#"{"max_down":null,"max_up":54321}"#;
    assert_eq!(page.change("PATCH /api/v1/config", limits), 202);
    wait_for(|| page.peer.lines_of("page").len() == 2);
    let page = page.again();
    assert_changes_lasted(&page, &first, &last);
    assert!(!folder.path().join("tree").exists());
}

/// Asserts that the continued process has the changes, with the content in the last folder if libtorrent still responded, or else in
/// the first one: it moves when it is complete.
fn assert_changes_lasted(page: &Page, first: &Path, last: &Path) {
    page.wait_for(|all| {
        let torrent = &all["torrents"][0];
        let is_at = |place: &Path| torrent["content"] == place.join("tree").to_str().unwrap();
        let is_due = is_at(first) && torrent["move_to"] == last.to_str().unwrap();
        let is_moved = is_at(last) && torrent["move_to"].is_null();
        (is_due || is_moved)
            && torrent["activity"] == "paused"
            && torrent["done_bytes"].as_u64() > Some(0)
    });
    let all = page.get("/api/v1/torrents").json();
    assert_eq!(
        (&all["max_down"], &all["max_up"]),
        (&Value::Null, &54321.into())
    );
    let torrent = &all["torrents"][0];
    assert_eq!(torrent["labels"], json!(["a", "b"]));
    assert_eq!(torrent["max_down"], 12345);
    assert_eq!(
        (&torrent["serve"], &torrent["seed_ratio"]),
        (&true.into(), &2.5.into())
    );
    let files = page.get("/api/v1/torrents/0/files").json();
    assert_eq!(files["files"][0]["priority"], "high", "{files:#}");
    let trackers = page.get("/api/v1/torrents/0/trackers").json();
    assert!(
        trackers.to_string().contains("http://127.0.0.1:1"),
        "{trackers:#}"
    );
}

/// Both commands continue from the state of another process, which the variable names.
#[test]
fn both_commands_continue() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let state = r#"{"cause": "a test", "has_failed": true, "avoided_web_seeds": [], "network": null,
        "memory": {"torrents": [], "next_number": 0, "totals": {}, "groups": {}, "session": {}, "given": [1], "watched": []}}"#;
    let folder = tempfile::tempdir().unwrap();
    let passed = folder.path().join("state");
    let invalid = folder.path().join("invalid");
    fs::write(&invalid, "no torrent").unwrap();
    let given = [torrent.as_path(), &invalid];
    let get = get_command(&given, content.path(), None, &[]);
    let seed = seed_command(&given, content.path(), &["--seed-time", "1s"]);
    for mut command in [get, seed] {
        fs::write(&passed, state).unwrap();
        let file = fs::File::options().read(true).write(true).open(&passed);
        command.stdin(file.unwrap());
        let ended = ended(command.env("HASHLANE_CONTINUE", "/dev/fd/0"));
        // The other process had read the second torrent, and failed.
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("because of a test"), "{ended:?}");
        assert!(
            !ended.lines.iter().any(|line| line["type"] == "error"),
            "{ended:?}"
        );
        // Commands inherit the file, and find nothing in it.
        assert_eq!(fs::read_to_string(&passed).unwrap(), "");
    }
    // A state that is damaged is not dropped.
    fs::write(&passed, &state[..50]).unwrap();
    let mut seed = seed_command(&given, content.path(), &["--seed-time", "1s"]);
    seed.stdin(fs::File::open(&passed).unwrap());
    let ended = ended(seed.env("HASHLANE_CONTINUE", "/dev/fd/0"));
    ended.assert_failed("HASHLANE_CONTINUE");
}
