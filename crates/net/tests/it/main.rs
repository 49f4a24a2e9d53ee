//! Runs `hashlane get` and `hashlane seed` as processes that connect only to each other, over loopback.
#![cfg(feature = "libtorrent")]
#![allow(missing_docs, clippy::unwrap_used)]

mod adding;
#[cfg(target_os = "linux")]
mod bad_blocks;
#[cfg(target_os = "linux")]
mod book;
mod browser;
mod changes;
mod changing;
mod control;
mod daemon;
mod daemon_activation;
mod daemon_api;
#[cfg(target_os = "linux")]
mod daemon_categories;
mod daemon_client;
mod daemon_commands;
mod daemon_faults;
mod daemon_hooks;
mod daemon_hostile;
mod daemon_imported;
mod daemon_kills;
mod daemon_limits;
mod daemon_messages;
mod daemon_names;
mod daemon_paused;
mod daemon_protocols;
mod daemon_qbittorrent;
mod daemon_queue;
mod daemon_reload;
mod daemon_remote;
mod daemon_rules;
mod daemon_shared;
mod daemon_trust;
mod daemon_twice;
mod descriptors;
mod disks;
mod elsewhere;
mod embedded;
mod foreign;
mod hostile;
mod http;
#[cfg(target_os = "linux")]
mod interface;
#[cfg(target_os = "linux")]
mod limits;
mod matrix;
mod messages;
mod metadata;
#[cfg(target_os = "linux")]
mod monitoring;
mod moving;
mod naming;
mod network;
mod not_run;
mod openapi;
mod overwrite;
mod page;
mod page_actions;
mod page_browser;
mod page_content;
mod page_daemon;
mod page_faults;
mod page_files;
mod page_links;
mod page_list;
mod page_pictures;
mod page_socket;
mod page_tree;
#[path = "../../../cli/tests/pages/mod.rs"]
mod pages;
mod peers;
mod places;
mod port_file;
mod program;
mod random;
mod reach;
mod repair;
mod report_page;
mod reverse_proxy;
mod secrets;
mod servers;
mod signal;
mod terminal;
#[cfg(target_os = "linux")]
mod threads;
mod tracker;
mod trust;
#[cfg(target_os = "linux")]
mod unread;
#[cfg(target_os = "linux")]
mod unreadable;

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::fmt::Debug;
use std::fs;
use std::hash::BuildHasher as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use disks::{report_no_image, report_no_mount};
use peers::{Content, PARTING, Peer, ended, get, get_from, ran, seed_command};
use serde_json::Value;
use tracker::Tracker;

const VERSIONS: [&str; 3] = ["v1", "v2", "hybrid"];

/// Returns the present pieces according to a verification.
fn there(torrent: &Path, folder: &Path) -> BTreeSet<u64> {
    let lines = ran(["verify", "--json", "-d"], [folder, torrent]);
    let mut pieces = BTreeSet::new();
    for line in lines
        .iter()
        .filter(|line| line["type"] == "pieces" && line["state"] == "have")
    {
        let first = line["first"].as_u64().unwrap();
        pieces.extend(first..first + line["count"].as_u64().unwrap());
    }
    pieces
}

fn finished(lines: &[Value]) -> &Value {
    let found = lines.iter().find(|line| line["type"] == "finished");
    found.unwrap_or_else(|| panic!("{lines:#?}"))
}

#[test]
fn torrents_of_every_version_are_downloaded() {
    let content = Content::new();
    for name in ["tree", "file.bin"] {
        for version in VERSIONS {
            let torrent = content.torrent(name, version);
            let seed = Peer::seed(&[&torrent], content.path());
            let folder = tempfile::tempdir().unwrap();
            let ended = get(&[&torrent], folder.path(), &seed, &[]);
            assert_eq!(ended.code, Some(0), "{version} {name}: {ended:?}");
            content.assert_same(name, folder.path());
            // The other peer sends the content once, with padding if the version has it.
            let came = finished(&ended.lines)["downloaded_bytes"].as_u64().unwrap();
            let wanted = content.len_of(name);
            assert!(
                (wanted..wanted + 4 * content.piece_len()).contains(&came),
                "{version}: {came}"
            );
            let ended = seed.interrupt();
            assert_eq!(ended.code, Some(0), "{ended:?}");
        }
    }
}

#[test]
fn a_magnet_link_is_downloaded() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let link = content.magnet(&torrent);
        let folder = tempfile::tempdir().unwrap();
        // The root identifies a whole file, and the digest identifies a piece of version 1.
        fs::create_dir_all(folder.path().join("tree/sub")).unwrap();
        let b = Path::new("tree/sub/b.bin");
        fs::copy(content.path().join(b), folder.path().join(b)).unwrap();
        let ended = get(&[link.as_ref()], folder.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        content.assert_same("tree", folder.path());
        if version != "v1" {
            let had = ended.lines.iter().find(|line| line["type"] == "verified");
            assert_eq!(had.unwrap()["have"], 1, "{version}");
        }
    }
}

/// Most of the content is present, one piece is wrong, and one is zeros. Correct pieces are not
/// downloaded again.
#[test]
fn present_pieces_are_not_downloaded_again() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("file.bin", version);
        let folder = tempfile::tempdir().unwrap();
        let piece = content.piece_len() as usize;
        let mut bytes = fs::read(content.path().join("file.bin")).unwrap();
        let end = bytes.len() / piece * 3 / 4;
        bytes[3 * piece + 5] ^= 1;
        bytes[5 * piece..6 * piece].fill(0);
        bytes[end * piece..].fill(0);
        // Bytes after the end of the content are not changed.
        bytes.extend(b"and more");
        fs::write(folder.path().join("file.bin"), &bytes).unwrap();
        fs::write(folder.path().join("other"), b"mine").unwrap();
        let seed = Peer::seed(&[&torrent], content.path());
        let ended = get(&[&torrent], folder.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        let now = fs::read(folder.path().join("file.bin")).unwrap();
        let (now, behind) = now.split_at(now.len() - 8);
        assert!(now == fs::read(content.path().join("file.bin")).unwrap());
        assert_eq!(behind, b"and more");
        assert_eq!(fs::read(folder.path().join("other")).unwrap(), b"mine");
        let lacked = content.len_of("file.bin") - (end as u64 - 2) * content.piece_len();
        let came = finished(&ended.lines)["downloaded_bytes"].as_u64().unwrap();
        assert!(
            (lacked..=lacked + 16384).contains(&came),
            "{version}: {came} for {lacked}"
        );
        let sent = seed.interrupt();
        let sent = sent
            .lines
            .iter()
            .find(|line| line["type"] == "ended")
            .unwrap();
        assert_eq!(sent["uploaded_bytes"], came, "{version}");
    }
}

/// A download that is killed at any moment continues from the content on disk. Announced pieces are
/// present, and the peer does not send them again.
fn assert_killed_download_continues(version: &str) {
    let n_kills = std::env::var("HASHLANE_TEST_KILLS").ok();
    let n_kills: u64 = n_kills.map_or(6, |n| n.parse().unwrap());
    let random = RandomState::new();
    // Enough content that the download is not complete before the last kill.
    let content = Content::with_tree_of(600_000 * n_kills as usize);
    let torrent = content.torrent("tree", version);
    let log = content.path().join(format!("{version}.log"));
    let options = ["--log", log.to_str().unwrap(), "--log-level", "trace"];
    let seed = Peer::seed_with(&[&torrent], content.path(), &options);
    let folder = tempfile::tempdir().unwrap();
    let mut present = BTreeSet::new();
    let mut sent = Sent::default();
    let mut n_killed = 0;
    for i in 0..n_kills {
        // A rate low enough to kill the process at different moments: before the verification,
        // during it, and while pieces arrive.
        let rate = "800000";
        let options = ["--max-down", rate];
        let peer = Peer::get(&[&torrent], folder.path(), &seed, &options);
        let moment = random.hash_one((version, i)) % 1400;
        std::thread::sleep(Duration::from_millis(moment));
        let ended = peer.kill();
        let found = ended.lines.iter().find(|line| line["type"] == "verified");
        // The process may be killed before the verification ends.
        let found = found.map(|line| line["have"].as_u64().unwrap());
        assert!(
            found.is_none_or(|found| found == present.len() as u64),
            "{version}: {found:?} {present:?}"
        );
        n_killed += u64::from(ended.code.is_none());
        let pieces = ended.lines.iter().filter(|line| line["type"] == "piece");
        let pieces: BTreeSet<u64> = pieces.map(|line| line["piece"].as_u64().unwrap()).collect();
        // The peer sent nothing of the pieces on disk, and some blocks of each new piece.
        sent.read(&log);
        assert!(
            sent.new.is_disjoint(&present),
            "{version}: {:?} {present:?}",
            sent.new
        );
        assert!(
            sent.new.is_superset(&pieces),
            "{version}: {:?} {pieces:?}",
            sent.new
        );
        let there = there(&torrent, folder.path());
        let reported: BTreeSet<u64> = present.union(&pieces).copied().collect();
        assert!(
            reported.is_subset(&there),
            "{version}: {reported:?}, and there are {there:?}"
        );
        present = there;
    }
    assert_eq!(n_killed, n_kills, "{version}: it was done before");
    let ended = get(&[&torrent], folder.path(), &seed, &[]);
    assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
    content.assert_same("tree", folder.path());
    sent.read(&log);
    assert!(
        sent.new.is_disjoint(&present),
        "{version}: {:?} {present:?}",
        sent.new
    );
}

#[test]
fn a_killed_download_of_version_1_continues() {
    assert_killed_download_continues("v1");
}

#[test]
fn a_killed_download_of_version_2_continues() {
    assert_killed_download_continues("v2");
}

#[test]
fn a_killed_hybrid_download_continues() {
    assert_killed_download_continues("hybrid");
}

/// The pieces whose blocks a peer sent, according to its log.
#[derive(Default)]
struct Sent {
    read: usize,
    /// Pieces since the previous read.
    new: BTreeSet<u64>,
}

impl Sent {
    fn read(&mut self, log: &Path) {
        const ENDS: [&str; 3] = [
            "*** CONNECTION_CLOSED",
            "*** CONNECTION_FAILED",
            "*** PEER_ERROR",
        ];
        // The log is complete when it has the end of each connection.
        let mut text = String::new();
        wait_for(|| {
            text = fs::read_to_string(log).unwrap();
            let n_ended: usize = ENDS.iter().map(|end| text.matches(end).count()).sum();
            text.matches("<<< INCOMING_CONNECTION").count() <= n_ended
        });
        // The last line may be incomplete.
        let end = text.rfind('\n').map_or(0, |end| end + 1);
        let lines = text[self.read..end].lines();
        self.read = end;
        let pieces = lines.filter(|line| line.contains(" block was sent "));
        let piece = |line: &str| line.rsplit_once("piece=").unwrap().1.parse().unwrap();
        self.new = pieces.map(piece).collect();
    }
}

#[test]
fn only_selected_files_are_downloaded() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], folder.path(), &seed, &["--include", "b.bin"]);
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        let of = |name: &str| folder.path().join("tree").join(name);
        let whole = fs::read(content.path().join("tree/sub/b.bin")).unwrap();
        assert!(fs::read(of("sub/b.bin")).unwrap() == whole, "{version}");
        // In version 1, the files share a piece.
        assert_eq!(of("a.bin").exists(), version == "v1", "{version}");
        let ended = get(&[&torrent], folder.path(), &seed, &["--include", "c.bin"]);
        ended.assert_failed("the selection matches no file of the torrent");
    }
}

/// A magnet link can select files (BEP 53), and a pattern can select a folder.
#[test]
fn links_and_folder_patterns_select_files() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v2");
    let seed = Peer::seed(&[&torrent], content.path());
    // The third file is sub/b.bin.
    let link = content.magnet(&torrent) + "&so=2";
    let cases: [(&Path, &[&str]); 2] = [(link.as_ref(), &[]), (&torrent, &["--include", "sub"])];
    for (given, options) in cases {
        let folder = tempfile::tempdir().unwrap();
        let ended = get(&[given], folder.path(), &seed, options);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let of = |folder: &Path, name: &str| fs::read(folder.join("tree").join(name));
        let whole = of(content.path(), "sub/b.bin").unwrap();
        assert!(of(folder.path(), "sub/b.bin").unwrap() == whole);
        assert!(of(folder.path(), "a.bin").is_err());
    }
}

/// Of two torrents that would overwrite each other, only one is downloaded.
#[test]
fn two_torrents_do_not_overwrite_each_other() {
    let content = Content::new();
    let (v1, v2) = (content.torrent("tree", "v1"), content.torrent("tree", "v2"));
    let seed = Peer::seed(&[&v1], content.path());
    let folder = tempfile::tempdir().unwrap();
    let ended = get(&[&v1, &v2], folder.path(), &seed, &[]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let message = format!("{} has the same file", v1.display());
    assert!(ended.stderr.contains(&message), "{ended:?}");
    content.assert_same("tree", folder.path());
}

/// Closing the pipe of its output ends the process with an error.
#[test]
fn a_closed_pipe_ends_the_process() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let script = r#""$0" get --json --bind 127.0.0.1 --port 0 --transport tcp --no-dht --no-discovery \
        --max-down 200KiB --peer "$1" --dir "$2" "$3" | head -n 3; exit "${PIPESTATUS[0]}""#;
    let mut command = Command::new("bash");
    command.args([
        "-c",
        script,
        env!("CARGO_BIN_EXE_hashlane-net"),
        &seed.address().to_string(),
    ]);
    let output = command.args([folder.path(), &torrent]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 3);
}

#[test]
fn encryption_can_be_required() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let seed = Peer::seed_with(&[&torrent], content.path(), &["--encryption", "required"]);
    let folder = tempfile::tempdir().unwrap();
    let options = ["--encryption", "off", "--timeout", "2s"];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let ended = get(
        &[&torrent],
        folder.path(),
        &seed,
        &["--encryption", "required"],
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("file.bin", folder.path());
}

/// Serving writes, creates and touches no file, and an absent file is an error of its own torrent
/// only.
#[test]
fn seeding_changes_no_file() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v1"),
    );
    fs::remove_file(content.path().join("file.bin")).unwrap();
    let damaged = content.path().join("tree/sub/b.bin");
    let mut bytes = fs::read(&damaged).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&damaged, &bytes).unwrap();
    let state = || {
        let mut state = Vec::new();
        for entry in walk(content.path()) {
            let metadata = fs::metadata(&entry).unwrap();
            state.push((entry, metadata.len(), metadata.modified().unwrap()));
        }
        state
    };
    let before = state();
    let seed = Peer::seed(&[&tree, &file], content.path());
    let folder = tempfile::tempdir().unwrap();
    let ended = get(&[&tree], folder.path(), &seed, &["--timeout", "3s"]);
    ended.assert_failed("no data received for");
    let ended = seed.interrupt();
    ended.assert_failed("file.bin: no piece of the content is present");
    assert_eq!(state(), before);
    // The download received every piece that was present: all except the piece that both files
    // share.
    let of = |folder: &Path| fs::read(folder.join("tree/a.bin")).unwrap()[..38 << 16].to_vec();
    assert!(of(folder.path()) == of(content.path()));
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(walk(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

/// A symbolic link inside the folder does not lead a download out of the folder.
#[test]
fn downloads_follow_no_link_out_of_the_folder() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join("tree")).unwrap();
    std::os::unix::fs::symlink(other.path(), folder.path().join("tree/sub")).unwrap();
    let ended = get(&[&torrent], folder.path(), &seed, &[]);
    ended.assert_failed("tree/sub/b.bin: ");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
}

/// A symbolic link that leads out of the content is not followed. The error appears before a peer connects. Only the
/// content itself can be a link.
#[test]
fn seeding_follows_no_link_out_of_the_content() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    let original = content.path().join("tree/a.bin");
    std::os::unix::fs::symlink(original, folder.path().join("tree/a.bin")).unwrap();
    let ended = ended(&mut seed_command(&[&torrent], folder.path(), &[]));
    ended.assert_failed("tree/a.bin: ");
}

#[test]
fn invalid_arguments_are_refused() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    // A magnet link for which no peer has the metadata.
    let link = "magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567";
    let ended = get(&[link.as_ref()], folder.path(), &seed, &["--timeout", "1s"]);
    ended.assert_failed("no metadata received");
    // An invalid torrent.
    let none = folder.path().join("none.torrent");
    fs::write(&none, b"d4:infode").unwrap();
    let ended = get(&[&none], folder.path(), &seed, &[]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    // A folder that is a file.
    let ended = get(&[&torrent], &none, &seed, &[]);
    ended.assert_failed("none.torrent: ");
    // A port in use.
    let port = seed.address().port().to_string();
    let ended = get(&[&torrent], folder.path(), &seed, &["--port", &port]);
    assert!(
        ended.stderr.contains(&format!("port {port}: ")),
        "{ended:?}"
    );
    assert_eq!(ended.code, Some(2), "{ended:?}");
    // An address that this machine does not have.
    let options = ["--bind", "198.51.100.7"];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    ended.assert_failed("Cannot assign requested address");
}

/// On a full disk the download ends with a message, and it continues when there is space.
#[test]
fn a_full_disk() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let mount = |options: &str| {
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let size = content.len_of("file.bin");
    if !mount(&format!("size={}", size / 2)) {
        return report_no_mount();
    }
    let seed = Peer::seed(&[&torrent], content.path());
    let ended = get(&[&torrent], folder.path(), &seed, &[]);
    let full = (
        ended.code,
        ended.stderr.contains("file.bin: No space left on device"),
    );
    let n_there = there(&torrent, folder.path()).len();
    let grown = mount(&format!("remount,size={}", size * 2));
    let again = get(&[&torrent], folder.path(), &seed, &[]);
    let whole = fs::read(folder.path().join("file.bin")).unwrap();
    let unmounted = Command::new("umount").arg(folder.path()).status();
    assert!(unmounted.unwrap().success());
    assert_eq!(full, (Some(2), true), "{ended:?}");
    assert!(n_there > 0 && grown);
    assert_eq!(again.code, Some(0), "{again:?}");
    let came = finished(&again.lines)["downloaded_bytes"].as_u64().unwrap();
    assert!(
        came <= size - (n_there as u64 - 1) * content.piece_len(),
        "{came}, {n_there}"
    );
    assert!(whole == fs::read(content.path().join("file.bin")).unwrap());
}

/// A file system that accepts more than its disk can hold: writes succeed, and the bytes are lost later.
#[test]
fn a_disk_that_loses_writes() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    // The image may grow to 20 MiB, and the file system around it has 1 MiB.
    let mount = r#"
cd "$0" && mkdir disk content && mount -t tmpfs -o size=1m tmpfs disk && truncate -s 20M disk/image &&
    mkfs.ext4 -q -O ^has_journal -N 16 disk/image && mount -o loop disk/image content
"#;
    let in_folder = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(folder.path());
        command.output().unwrap()
    };
    let mounted = in_folder(mount);
    let is_mounted = mounted.status.success();
    let ended = is_mounted.then(|| {
        let place = folder.path().join("content");
        get(&[&torrent], &place.join("new"), &seed, &[])
    });
    // Also unmounts the first file system if the second mount failed.
    let unmount = r#"cd "$0" && umount content 2>/dev/null; umount disk 2>/dev/null"#;
    in_folder(unmount);
    let Some(ended) = ended else {
        return report_no_image(&mounted.stderr);
    };
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let path = folder.path().join("content/new/file.bin");
    let start = format!("{}: ", path.display());
    let mut reasons = ["No space left on device", "Input/output error"].into_iter();
    let is_reported = reasons.any(|reason| ended.stderr.contains(&format!("{start}{reason}")));
    assert!(is_reported, "{ended:?}");
}

/// A tracker introduces the peers, and is promptly notified of their end.
#[test]
fn a_tracker_is_notified_of_the_end() {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("tree", "hybrid", &["--announce", &tracker.url()]);
    let seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let folder = tempfile::tempdir().unwrap();
    let ended = get_from(&[&torrent], folder.path(), None, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("tree", folder.path());
    let asked = Instant::now();
    let ended = seed.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(asked.elapsed() < PARTING, "{:?}", asked.elapsed());
    assert!(tracker.heard(|heard| heard.stopped.len() == 2));
    // A tracker that does not answer is reported.
    let torrent =
        content.torrent_with("tree", "v1", &["--announce", "http://127.0.0.1:1/announce"]);
    let folder = tempfile::tempdir().unwrap();
    let ended = get_from(&[&torrent], folder.path(), None, &["--timeout", "3s"]);
    ended.assert_failed("http://127.0.0.1:1/announce: Connection refused");
}

/// Waits for something that comes, on a machine with a high load.
#[track_caller]
pub(crate) fn wait_for(is_so: impl FnMut() -> bool) {
    wait_for_state(is_so, |is_so| *is_so);
}

/// Waits until a state is as it will be, and returns it.
#[track_caller]
pub(crate) fn wait_for_state<T: Debug>(
    mut state: impl FnMut() -> T,
    is_so: impl Fn(&T) -> bool,
) -> T {
    let started = Instant::now();
    loop {
        let state = state();
        if is_so(&state) {
            return state;
        }
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "it does not come: {state:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The seed has the names that libtorrent writes. The download has the torrent's own names, and
/// libtorrent's for a name that no file system takes.
#[test]
fn names_of_other_programs() {
    let content = tempfile::tempdir().unwrap();
    let top = content.path().join("n");
    fs::create_dir(&top).unwrap();
    let long = |len| "b".repeat(len);
    for (name, byte) in [("a\tb", 1_u8), (long(255).as_str(), 2)] {
        fs::write(top.join(name), vec![byte; 100_000]).unwrap();
    }
    let torrent = content.path().join("n.torrent");
    ran(
        ["create", "--json", "--format=v1", "--force", "-o"],
        [&torrent, &top],
    );
    let bytes = fs::read(&torrent).unwrap();
    let (name, longer) = (format!("255:{}", long(255)), format!("300:{}", long(300)));
    let at = bytes
        .windows(name.len())
        .position(|window| window == name.as_bytes())
        .unwrap();
    let rest = &bytes[at + name.len()..];
    fs::write(&torrent, [&bytes[..at], longer.as_bytes(), rest].concat()).unwrap();
    fs::rename(top.join("a\tb"), top.join("a_b")).unwrap();
    fs::rename(top.join(long(255)), top.join(long(240))).unwrap();

    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let ended = get(&[&torrent], folder.path(), &seed, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for (name, byte) in [("a\tb", 1_u8), (long(240).as_str(), 2)] {
        let found = fs::read(folder.path().join("n").join(name)).unwrap();
        assert!(found == vec![byte; 100_000], "{name:?}");
    }
    assert_eq!(fs::read_dir(folder.path().join("n")).unwrap().count(), 2);
    // Content under libtorrent's names is complete.
    let ended = get(&[&torrent], content.path(), &seed, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(fs::read_dir(&top).unwrap().count(), 2);
    assert_eq!(seed.interrupt().code, Some(0));
}
