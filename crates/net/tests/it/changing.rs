//! Content that changes while it is served.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, symlink};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::disks::report_no_mount;
use super::http::ask;
use super::peers::{Content, PATIENCE, Peer, get, get_command};
use crate::finished;

const A: &str = "tree/a.bin";
const B: &str = "tree/sub/b.bin";

/// Returns the line about the n-th change.
fn change(seed: &Peer, n: usize) -> Value {
    let started = Instant::now();
    loop {
        let changes = seed.lines_of("changed");
        if let Some(change) = changes.get(n) {
            return change.clone();
        }
        assert!(started.elapsed() < PATIENCE, "{changes:#?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the number of bytes that the page shows as present.
fn done_bytes(seed: &Peer) -> u64 {
    let page = seed.wait_for_line("page");
    let url = page["url"].as_str().unwrap();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let all = ask(address.parse().unwrap(), "GET /api/v1/torrents", &[], "").json();
    all["torrents"][0]["done_bytes"].as_u64().unwrap()
}

/// Writes to the last piece of a file.
fn damage(path: &Path) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let end = file.metadata().unwrap().len();
    file.write_all_at(b"damaged", end - 100).unwrap();
}

/// No peer gets a wrong block. The pieces are withdrawn, and restored with the file.
#[test]
fn changed_pieces_are_withdrawn_and_restored() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let seed = Peer::seed_with(&[&torrent], content.path(), &["--http", "0"]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = get_command(&[&torrent], folder.path(), Some(&seed), &[]);
    command.args(["--max-down", "800KiB", "--sequential", "--log"]);
    command.arg(&log);
    let leech = Peer::start(command);
    leech.wait_for_line("piece");
    let original = fs::read(content.path().join(A)).unwrap();
    damage(&content.path().join(A));
    let line = change(&seed, 0);
    assert_eq!(line["restored"], 0, "{line}");
    let withdrawn = line["withdrawn"].as_u64().unwrap();
    assert!((1..=2).contains(&withdrawn), "{line}");
    let pieces = line["pieces"].as_u64().unwrap();
    assert_eq!(line["have"], pieces - withdrawn, "{line}");
    while done_bytes(&seed) == content.len_of("tree") {
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::write(content.path().join(A), original).unwrap();
    let line = change(&seed, 1);
    assert_eq!(
        (&line["withdrawn"], &line["have"]),
        (&0.into(), &pieces.into())
    );
    let ended = leech.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // A part of a block can be lost with its connection, but no piece failed its check.
    let wasted = finished(&ended.lines)["wasted_bytes"].as_u64().unwrap();
    assert!(wasted < content.piece_len(), "{ended:?}");
    let log = fs::read_to_string(log).unwrap();
    assert!(!log.contains("piece failed its hash check"), "{log}");
    content.assert_same("tree", folder.path());
    let ended = seed.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = format!("the content changed: {withdrawn} piece");
    assert!(ended.stderr.contains(&text), "{ended:?}");
}

/// A file that is deleted, truncated or replaced takes only its own pieces along, whether a peer asks for it or not.
#[test]
fn a_missing_file_withdraws_only_its_pieces() {
    let content = Content::new();
    let path = content.path().join(A);
    let original = fs::read(&path).unwrap();
    let delete = |path: &Path| fs::remove_file(path).unwrap();
    let truncate = |path: &Path| File::create(path).map(drop).unwrap();
    let replace = |path: &Path| {
        let other = path.with_extension("new");
        fs::write(&other, vec![7; 2_500_000]).unwrap();
        fs::rename(other, path).unwrap();
    };
    let changes: [&dyn Fn(&Path); 3] = [&delete, &truncate, &replace];
    for change_file in changes {
        for is_asked_for in [false, true] {
            let torrent = content.torrent("tree", "v2");
            let seed = Peer::seed(&[&torrent], content.path());
            seed.wait_for_line("verified");
            change_file(&path);
            let folder = tempfile::tempdir().unwrap();
            if is_asked_for {
                let options = ["--timeout", "1s"];
                let ended = get(&[&torrent], folder.path(), &seed, &options);
                ended.assert_failed("no data received");
            }
            let line = change(&seed, 0);
            assert_eq!((&line["have"], &line["pieces"]), (&1.into(), &40.into()));
            let options = ["--include", "b.bin"];
            let ended = get(&[&torrent], folder.path(), &seed, &options);
            assert_eq!(ended.code, Some(0), "{ended:?}");
            let b = fs::read(folder.path().join(B)).unwrap();
            assert!(b == fs::read(content.path().join(B)).unwrap());
            let ended = seed.interrupt();
            assert_eq!(ended.code, Some(1), "{ended:?}");
            fs::write(&path, &original).unwrap();
        }
    }
}

/// Content that is not there at the start is served once it is.
#[test]
fn content_that_appears_is_served() {
    let content = Content::new();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("later");
    for (name, version) in [("tree", "v2"), ("file.bin", "v1")] {
        let torrent = content.torrent(name, version);
        let seed = Peer::seed_with(&[&torrent], &folder, &["--http", "0"]);
        let absent = seed.wait_for_line("absent");
        assert_eq!(absent["reason"], "no_folder", "{absent}");
        let message = absent["message"].as_str().unwrap();
        assert!(message.contains("the folder does not exist"), "{message}");
        let page = seed.wait_for_line("page");
        let address = page["url"].as_str().unwrap().trim_start_matches("http://");
        let address = address.trim_end_matches('/').parse().unwrap();
        let activity = || {
            let all = ask(address, "GET /api/v1/torrents", &[], "").json();
            all["torrents"][0]["activity"].clone()
        };
        while activity() != "absent" {
            std::thread::sleep(Duration::from_millis(20));
        }
        // A copy is under way: the first file is there, but not its content.
        let first = if name == "tree" { A } else { name };
        let first = folder.join(first);
        fs::create_dir_all(first.parent().unwrap()).unwrap();
        File::create(&first).unwrap().set_len(100_000).unwrap();
        let started = Instant::now();
        while seed.lines_of("absent").len() < 2 {
            assert!(started.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(seed.lines_of("absent")[1]["reason"], "no_piece");
        let mut copy = Command::new("cp");
        copy.arg("-r").args([&content.path().join(name), &folder]);
        assert!(copy.status().unwrap().success());
        let verified = seed.wait_for_line("verified");
        let pieces = verified["pieces"].as_u64();
        while seed.lines_of("changed").last().unwrap_or(&verified)["have"].as_u64() != pieces {
            assert!(started.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
        let other = tempfile::tempdir().unwrap();
        let ended = get(&[&torrent], other.path(), &seed, &[]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        content.assert_same(name, other.path());
        assert_eq!(seed.interrupt().code, Some(0));
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// Errors of the file system do not end a torrent that waits for its content.
#[test]
fn errors_while_content_is_awaited_end_nothing() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let place = tempfile::tempdir().unwrap();
    let tree = place.path().join("tree");
    let seed = Peer::seed(&[&torrent], place.path());
    seed.wait_for_line("absent");
    let wait_for_warnings = |n: usize| {
        let started = Instant::now();
        let is_waiting = |line: &Value| {
            let message = line["message"].as_str().unwrap_or_default();
            message.contains("waiting for the content")
        };
        while seed
            .lines_of("warning")
            .iter()
            .filter(|line| is_waiting(line))
            .count()
            < n
        {
            let errors = seed.lines_of("error");
            assert!(errors.is_empty(), "{errors:?}");
            assert!(started.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // A link to itself cannot be opened.
    symlink("tree", &tree).unwrap();
    wait_for_warnings(1);
    fs::remove_file(&tree).unwrap();
    // The copy appears at once. One of its files is still a link out of the folder.
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(content.path().join("tree"));
    copy.arg(place.path().join("copy"));
    assert!(copy.status().unwrap().success());
    let (file, kept) = (
        place.path().join("copy/sub/b.bin"),
        place.path().join("kept"),
    );
    fs::rename(&file, &kept).unwrap();
    symlink("/etc/hostname", &file).unwrap();
    fs::rename(place.path().join("copy"), &tree).unwrap();
    wait_for_warnings(2);
    fs::rename(&kept, tree.join("sub/b.bin")).unwrap();
    seed.wait_for_line("verified");
    let other = tempfile::tempdir().unwrap();
    let ended = get(&[&torrent], other.path(), &seed, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("tree", other.path());
    assert_eq!(seed.interrupt().code, Some(0));
}

/// A file system that is mounted after the start, unmounted and mounted again.
#[test]
fn a_folder_that_is_mounted_later() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let (disk, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = |program: &str, args: &[&str], paths: &[&Path]| {
        let mut command = Command::new(program);
        let status = command
            .args(args)
            .args(paths)
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !run("mount", &["-t", "tmpfs", "tmpfs"], &[disk.path()]) {
        return report_no_mount();
    }
    let copied = run("cp", &["-r"], &[&content.path().join("tree"), disk.path()]);
    let seed = Peer::seed(&[&torrent], folder.path());
    let mount = || run("mount", &["--bind"], &[disk.path(), folder.path()]);
    let unmount = || run("umount", &["--lazy"], &[folder.path()]);
    // The file systems are unmounted before any assertion fails.
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        assert!(copied);
        let absent = seed.wait_for_line("absent");
        assert_eq!(absent["reason"], "empty_folder", "{absent}");
        assert!(mount());
        let verified = seed.wait_for_line("verified");
        assert_eq!(verified["have"], verified["pieces"], "{verified}");
        assert!(unmount());
        let withdrawn = change(&seed, 0);
        assert_eq!(
            (&withdrawn["have"], &withdrawn["reason"]),
            (&0.into(), &"unmounted".into())
        );
        assert!(mount());
        let restored = change(&seed, 1);
        assert_eq!(restored["have"], restored["pieces"], "{restored}");
        assert_eq!(restored.get("reason"), None, "{restored}");
        // Missing files are no missing file system.
        fs::remove_dir_all(disk.path().join("tree")).unwrap();
        fs::write(disk.path().join("other"), "").unwrap();
        let missing = change(&seed, 2);
        assert_eq!(
            (&missing["have"], &missing["reason"]),
            (&0.into(), &"no_piece".into())
        );
    }));
    let ended = seed.interrupt();
    unmount();
    run("umount", &["--lazy"], &[disk.path()]);
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert!(
        ended.stderr.contains("was unmounted or replaced"),
        "{ended:?}"
    );
}

/// New times without new content withdraw nothing.
#[test]
fn a_touched_file_is_still_served() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let seed = Peer::seed(&[&torrent], content.path());
    seed.wait_for_line("verified");
    let file = File::open(content.path().join(A)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ended = get(&[&torrent], folder.path(), &seed, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("tree", folder.path());
    assert_eq!(seed.lines_of("changed"), [] as [Value; 0]);
    let ended = seed.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}
