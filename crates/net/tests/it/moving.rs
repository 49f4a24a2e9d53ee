//! Downloads that move to another file system, and torrents that are added again.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use super::disks::report_no_image;
use super::http::ask_bytes;
use super::page::Page;
use super::peers::{Content, Peer, get, seed_command, seed_text_command, text_command};
use crate::not_run::not_run_unless_required;
use crate::signal::send;

/// Returns a folder on another file system than that of temporary folders. Reports that there is none.
pub(crate) fn elsewhere() -> Option<tempfile::TempDir> {
    let here = tempfile::tempdir().unwrap();
    let device = |folder: &Path| folder.metadata().unwrap().dev();
    let place = tempfile::tempdir_in("/dev/shm").ok();
    let place = place.filter(|place| device(place.path()) != device(here.path()));
    if place.is_none() {
        not_run_unless_required(
            "SHM",
            "moves to another file system",
            "there is none at /dev/shm that this user can write to",
            "mount -t tmpfs tmpfs /dev/shm",
        );
    }
    place
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A file of the user in the content's folder moves too, with its bytes. A file of the torrent that is not selected is
/// compared, because no verification covers it.
#[test]
fn files_of_the_user_move_with_the_content() {
    let Some(to) = elsewhere() else {
        return;
    };
    let content = Content::new();
    let torrent = content.torrent("tree", "v2");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("notes")).unwrap();
    fs::write(tree.join("notes/mine"), "mine").unwrap();
    fs::write(tree.join("a.bin"), "not of the torrent").unwrap();
    symlink("notes/mine", tree.join("link")).unwrap();
    // A process that was killed left this folder.
    let abandoned = to.path().join(".hashlane-moving-abc123/tree");
    fs::create_dir_all(&abandoned).unwrap();
    fs::write(abandoned.join("a.bin"), "half").unwrap();
    let to = to.path().to_str().unwrap();
    let options = ["--move-to", to, "--include", "sub"];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let to = Path::new(to);
    // It may be a folder of the user.
    assert_eq!(names(to), [".hashlane-moving-abc123", "tree"]);
    let note = ".hashlane-moving-abc123: an unfinished move; remove it";
    assert!(ended.stderr.contains(note), "{ended:?}");
    assert!(abandoned.join("a.bin").exists());
    assert!(names(folder.path()).is_empty());
    let moved = to.join("tree");
    let read = |name: &str| fs::read(moved.join(name)).unwrap();
    assert_eq!(read("notes/mine"), b"mine");
    assert_eq!(read("link"), b"mine");
    assert_eq!(read("a.bin"), b"not of the torrent");
    assert!(read("sub/b.bin") == fs::read(content.path().join("tree/sub/b.bin")).unwrap());
}

/// A process that was killed while it removed the originals left some of them. The next one names them.
#[test]
fn originals_that_are_left_are_named() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let (folder, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = ["--move-to", to.path().to_str().unwrap()];
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let left = folder.path().join("tree");
    fs::create_dir(&left).unwrap();
    fs::create_dir(to.path().join(".hashlane-moving-abc123")).unwrap();
    let ended = get(&[&torrent], folder.path(), &seed, &options);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let message = format!("{}: exists too", left.display());
    assert!(ended.stderr.contains(&message), "{ended:?}");
    assert_eq!(names(to.path()), [".hashlane-moving-abc123", "tree"]);
}

/// A file system whose writes wait until [`Thaw`] is dropped.
struct Frozen(tempfile::TempDir);

impl Frozen {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = r#"
cd "$0" && mkdir content && truncate -s 40M image && mkfs.ext4 -q -O ^has_journal -N 64 image &&
    mount -o loop image content && rmdir content/lost+found && fsfreeze --freeze content
"#;
        let mounted = in_folder(folder.path(), mount);
        let frozen = Self(folder);
        if !mounted.status.success() {
            report_no_image(&mounted.stderr);
            return None;
        }
        Some(frozen)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        in_folder(
            self.0.path(),
            r#"fsfreeze --unfreeze "$0/content" 2>/dev/null; umount "$0/content" 2>/dev/null"#,
        );
    }
}

/// Ends the waiting when it is dropped. It must be dropped before a process that waits.
struct Thaw<'f>(&'f Frozen);

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        in_folder(self.0.0.path(), r#"fsfreeze --unfreeze "$0/content""#);
    }
}

fn in_folder(folder: &Path, script: &str) -> std::process::Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(folder).output().unwrap()
}

/// While one download moves, another is verified, and waits to be moved.
#[test]
fn a_move_does_not_delay_the_verification_of_other_downloads() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v1"),
    );
    let Some(frozen) = Frozen::mount() else {
        return;
    };
    let seed = Peer::seed(&[&tree, &file], content.path());
    let folder = tempfile::tempdir().unwrap();
    let to = frozen.0.path().join("content");
    let watched = tempfile::tempdir().unwrap();
    let page = moving_page(&seed, folder.path(), watched.path(), &to);
    let thaw = Thaw(&frozen);
    add(&page, &tree);
    wait_for(&page, 0, "moving");
    add(&page, &file);
    wait_for(&page, 1, "moving");
    drop(thaw);
    wait_for(&page, 0, "serving");
    wait_for(&page, 1, "serving");
    assert_eq!(page.peer.interrupt().code, Some(0));
    assert_eq!(names(&to), ["file.bin", "tree"]);
    for name in ["tree", "file.bin"] {
        content.assert_same(name, &to);
    }
}

/// Returns the page of a process that downloads what is added, and moves it to a folder.
fn moving_page(seed: &Peer, folder: &Path, watched: &Path, to: &Path) -> Page {
    let [watched, to] = [watched, to].map(|path| path.to_str().unwrap());
    let options = [
        "--http",
        "0",
        "--seed",
        "--watch-dir",
        watched,
        "--move-to",
        to,
    ];
    Page::of(Peer::get(&[], folder, seed, &options))
}

fn add(page: &Page, torrent: &Path) {
    let headers = [
        ("Content-Type", "application/x-bittorrent"),
        ("Authorization", page.bearer()),
    ];
    let bytes = fs::read(torrent).unwrap();
    let answer = ask_bytes(page.address, "POST /api/v1/torrents", &headers, &bytes);
    assert_eq!(answer.status, 201);
}

fn wait_for(page: &Page, number: usize, activity: &str) {
    page.wait_for(|all| all["torrents"][number]["activity"] == activity);
}

/// Ends a torrent, and adds it again. It is served as before.
fn end_and_add(page: &Page, number: usize, torrent: &Path) {
    let end = json!({"action": "end"});
    assert_eq!(page.apply(number, &end), 202);
    wait_for(page, number, "ended");
    add(page, torrent);
    wait_for(page, number + 1, "serving");
}

/// A torrent that ended or failed can be added again, as a file and as a link, by `get` and by `seed`.
#[test]
fn ended_torrents_are_added_again() {
    let content = Content::new();
    let torrent = content.torrent("tree", "hybrid");
    let watched = tempfile::tempdir().unwrap();
    let options = [
        "--http",
        "0",
        "--watch-dir",
        watched.path().to_str().unwrap(),
    ];
    let seed = Page::of(Peer::seed_with(&[], content.path(), &options));
    add(&seed, &torrent);
    wait_for(&seed, 0, "serving");
    end_and_add(&seed, 0, &torrent);

    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("tree");
    fs::write(&wrong, "a file instead of a folder").unwrap();
    let options = [&options[..], &["--seed"]].concat();
    let page = Page::of(Peer::get(&[], folder.path(), &seed.peer, &options));
    add(&page, &torrent);
    wait_for(&page, 0, "failed");
    fs::remove_file(&wrong).unwrap();
    add(&page, &torrent);
    wait_for(&page, 1, "serving");
    end_and_add(&page, 1, &torrent);
    assert_eq!(page.apply(2, &json!({"action": "end"})), 202);
    wait_for(&page, 2, "ended");
    let link = json!({"link": content.magnet(&torrent)}).to_string();
    assert_eq!(page.change("POST /api/v1/torrents", &link), 201);
    wait_for(&page, 3, "serving");
    // A torrent that has not ended still occupies its path. A request would not add it.
    assert_eq!(page.change("POST /api/v1/torrents", &link), 200);
    fs::copy(&torrent, watched.path().join("again.torrent")).unwrap();
    wait_for(&page, 4, "failed");
    page.peer.interrupt().assert_failed("remove one of the two");
    content.assert_same("tree", folder.path());
    seed.peer.interrupt();
}

/// A download that moved frees its old path and occupies the new one.
#[test]
fn a_moved_torrent_is_added_again() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let (folder, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watched = tempfile::tempdir().unwrap();
    let page = moving_page(&seed, folder.path(), watched.path(), to.path());
    add(&page, &torrent);
    wait_for(&page, 0, "serving");
    end_and_add(&page, 0, &torrent);
    assert_eq!(page.peer.interrupt().code, Some(0));
    content.assert_same("tree", to.path());
}

/// Returns the lines of a process without the local time of each, which is checked.
fn undated(text: &[u8]) -> Vec<&str> {
    let text = str::from_utf8(text).unwrap();
    let lines = text.lines().map(|line| {
        let (time, rest) = line.split_once(' ').unwrap();
        let shape: String = time
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect();
        let shape = shape.replace('-', "+");
        assert_eq!(shape, "0000+00+00T00:00:00+00:00", "{line}");
        rest
    });
    lines.collect()
}

/// A file gets one line for each event, with the time: no verification is reported twice, and the move is reported.
#[test]
fn people_read_each_event_once() {
    let content = Content::with_tree_of(6_000_000);
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let (folder, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let peer = seed.address().to_string();
    let options = ["--seed-time", "0.01", "--peer", &peer, "-d"];
    let run = |more: &[&str]| {
        let mut command = text_command("get", &options);
        command.arg(folder.path()).arg("--move-to").arg(to.path());
        command.args(more).arg(&torrent).output().unwrap()
    };
    let output = run(&["--max-down", "2MiB"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut lines = undated(&output.stdout);
    let n_lines = lines.len();
    lines.retain(|line| !line.contains(" %  "));
    assert!(lines.len() < n_lines, "no progress: {lines:?}");
    let moved = format!(
        "{}: moved to {}",
        torrent.display(),
        to.path().join("tree").display()
    );
    let sent = format!("{}: 0 bytes sent", torrent.display());
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("tree: 0 of "), "{lines:?}");
    assert!(
        lines[1].starts_with("tree: complete and verified, "),
        "{lines:?}"
    );
    assert_eq!(lines[2..], [&moved, &sent]);
    assert_eq!(run(&["--quiet"]).stdout, b"");
    let output = run(&[]);
    assert_eq!(undated(&output.stdout), ["tree: all pieces present", &sent]);
}

/// What the session reports has the time as well.
#[test]
fn warnings_of_the_session_have_the_time() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let watched = folder.path().join("watched");
    fs::create_dir(&watched).unwrap();
    let options = ["--watch-dir", watched.to_str().unwrap()];
    let mut command = seed_text_command(&[&torrent], content.path(), &options);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut text).unwrap();
    assert_eq!(undated(text.as_bytes()), ["file.bin: all pieces present"]);
    fs::remove_dir(&watched).unwrap();
    let mut warning = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut warning).unwrap();
    let expected = format!(
        "hashlane: warning: {}: No such file or directory (os error 2)",
        watched.display()
    );
    assert_eq!(undated(warning.as_bytes()), [expected]);
    send("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The end of the program has one line for all torrents, and JSON lines have one for each.
#[test]
fn people_read_one_sum_at_the_end() {
    let content = Content::new();
    let torrents = [
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v1"),
    ];
    let torrents: Vec<&Path> = torrents.iter().map(PathBuf::as_path).collect();
    let stopped = |mut command: Command, n_lines: usize| {
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let mut text = String::new();
        let mut reader = BufReader::new(stdout);
        while text
            .lines()
            .filter(|line| line.contains("present") || line.contains("verified"))
            .count()
            < n_lines
        {
            assert_ne!(reader.read_line(&mut text).unwrap(), 0, "{text}");
        }
        send("INT", child.id());
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{text}");
        text
    };
    let text = stopped(seed_text_command(&torrents, content.path(), &[]), 2);
    let lines = undated(text.as_bytes());
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[2], "2 torrents stopped: 0 bytes sent");
    let text = stopped(seed_text_command(&torrents, content.path(), &["-v"]), 2);
    let lines = undated(text.as_bytes());
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(
        lines[2..]
            .iter()
            .all(|line| line.ends_with(": 0 bytes sent")),
        "{lines:?}"
    );
    let text = stopped(seed_text_command(&torrents[..1], content.path(), &[]), 1);
    let lines = undated(text.as_bytes());
    assert_eq!(lines[1], format!("{}: 0 bytes sent", torrents[0].display()));
    let text = stopped(seed_command(&torrents, content.path(), &[]), 2);
    assert_eq!(text.matches(r#""type":"ended""#).count(), 2, "{text}");
}
