//! A daemon on disks that are full, read-only, or vanish.

use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use super::daemon::{Daemon, daemon_command, folder};
use super::disks::{Image, mount, on_disk, run};
use super::peers::{Content, Peer, ended, preloaded};
use super::tracker::Tracker;
use crate::wait_for;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Content that a seed serves, announced by a tracker.
fn served(options: &[&str]) -> (Content, std::path::PathBuf, Peer, Tracker) {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("file.bin", "v1", &["--announce", &tracker.url()]);
    let seed = Peer::seed_with(&[&torrent], content.path(), options);
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    (content, torrent, seed, tracker)
}

#[test]
fn a_full_disk_of_the_state_refuses_changes() {
    on_disk("size=256k", |disk| {
        let content = Content::new();
        let (file, tree) = (
            content.torrent("file.bin", "v1"),
            content.torrent("tree", "v1"),
        );
        let state = disk.join("state");
        let daemon = Daemon::of(
            &state,
            daemon_command(&state, &["--dir", text(content.path())]),
        );
        daemon.done(["add", "--paused", text(&file)]);
        let filler = disk.join("filler");
        // Fails at the end of the space.
        let _ = fs::write(&filler, vec![1; 1 << 20]);
        daemon
            .ctl(["add", "--paused", text(&tree)])
            .assert_failed("No space left on device");
        daemon
            .ctl(["resume", "--all"])
            .assert_failed("No space left on device");
        let listed = daemon.torrent();
        assert_eq!(listed["paused"], true);
        fs::remove_file(&filler).unwrap();
        daemon.done(["add", "--paused", text(&tree)]);
        daemon.kill();
        let daemon = Daemon::of(&state, daemon_command(&state, &[]));
        assert_eq!(daemon.done(["list"]).len(), 2);
        // The errors of requests go to their clients, and the folder has no damage.
        assert_eq!(
            daemon.done(["status"])[0]["problems"],
            serde_json::json!([])
        );
    });
}

#[test]
fn a_read_only_state_folder_is_refused() {
    on_disk("size=1m", |disk| {
        let content = Content::new();
        let torrent = content.torrent("file.bin", "v1");
        let state = disk.join("state");
        let daemon = Daemon::of(
            &state,
            daemon_command(&state, &["--dir", text(content.path())]),
        );
        daemon.done(["add", "--paused", text(&torrent)]);
        daemon.terminate();
        assert!(mount("remount,ro", disk));
        let refused = ended(&mut daemon_command(&state, &[]));
        refused.assert_failed("Read-only file system");
        assert!(refused.stderr.contains(text(&state)), "{refused:?}");
        assert!(mount("remount,rw", disk));
        let daemon = Daemon::of(&state, daemon_command(&state, &[]));
        assert_eq!(daemon.done(["list"]).len(), 1);
    });
}

/// The error of a full disk is shown with what is missing, at each try, and printed once.
#[test]
fn a_full_disk_of_the_content_delays_a_download() {
    // For less than half of the content.
    on_disk("size=768k", |disk| {
        let (content, torrent, _seed, _tracker) = served(&[]);
        let (place, state) = folder();
        let (log, stdout) = (place.path().join("log"), place.path().join("stdout"));
        let options = ["--dir", text(disk), "--log", text(&log)];
        let mut command = daemon_command(&state, &options);
        command.stdout(fs::File::create(&stdout).unwrap());
        let daemon = Daemon::of(&state, command);
        daemon.done(["add", text(&torrent)]);
        let tries = || {
            let log = fs::read_to_string(&log).unwrap();
            log.matches(" ERROR failed ").count()
        };
        for n in 1..=3 {
            wait_for(|| tries() == n);
            // What has arrived stays visible.
            let full = daemon.wait_until("full", |torrent| {
                torrent["error"].is_string() && torrent["done_bytes"].as_u64() > Some(0)
            });
            assert_eq!(
                (&full["activity"], &full["paused"]),
                (&"waiting".into(), &false.into())
            );
            let reason = full["error"].as_str().unwrap();
            let start = format!("waiting for space: {}", text(disk));
            assert!(reason.starts_with(&start), "{n}: {reason}");
            let missing = reason.rsplit_once("; ").map(|(_, missing)| missing);
            let is_named = missing.is_some_and(|missing| missing.ends_with("iB more needed"));
            assert!(is_named, "{n}: {reason}");
            assert_eq!(full["wanted_bytes"], content.len_of("file.bin"));
            // The next try comes at once.
            daemon.done(["verify", "--all"]);
        }
        wait_for(|| tries() == 4);
        let errors = daemon.stderr();
        assert_eq!(errors.matches("No space left").count(), 1, "{errors}");
        assert!(mount("remount,size=8m", disk));
        daemon.wait_until("complete", |torrent| torrent["complete"] == true);
        content.assert_same("file.bin", disk);
        daemon.terminate();
        let printed = fs::read_to_string(&stdout).unwrap();
        let lines = ["complete and verified", " present"];
        let counts = lines.map(|line| printed.matches(line).count());
        assert_eq!(counts, [1, 1], "{printed}");
        // Once for each try, and not for each block.
        let log = fs::read_to_string(&log).unwrap();
        assert_eq!(log.matches(" ERROR ").count(), 4, "{log}");
    });
}

/// A torrent that waits because of an error is removed with its content. What cannot be deleted is named.
#[test]
fn a_torrent_in_error_is_removed_with_its_content() {
    on_disk("size=1m", |disk| {
        let (_content, torrent, _seed, _tracker) = served(&[]);
        let (_place, state) = folder();
        let daemon = Daemon::start(&state, &["--dir", text(disk)]);
        daemon.done(["add", text(&torrent)]);
        daemon.wait_until("full", |torrent| torrent["error"].is_string());
        daemon.done(["remove", "--all", "--delete-content"]);
        let file = disk.join("file.bin");
        wait_for(|| !file.exists());
        assert!(daemon.done(["list"]).is_empty());
        // A folder where the file should be is not of the torrent.
        fs::create_dir(&file).unwrap();
        daemon.done(["add", text(&torrent)]);
        daemon.wait_until("failed", |torrent| torrent["error"].is_string());
        daemon.done(["remove", "--all", "--delete-content"]);
        wait_for(|| daemon.stderr().contains("left there: "));
        assert!(daemon.done(["list"]).is_empty());
        assert!(file.is_dir());
        daemon.terminate();
    });
}

/// A download pauses before the disk is full, whatever a person resumes.
#[test]
fn a_disk_keeps_free_space() {
    on_disk("size=8m", |disk| {
        let (content, torrent, _seed, _tracker) = served(&["--max-up", "200000"]);
        let (_place, state) = folder();
        let options = ["--dir", text(disk), "--min-free", "7864320"];
        let daemon = Daemon::start(&state, &options);
        daemon.done(["add", text(&torrent)]);
        let held = daemon.wait_until("held", |torrent| torrent["error"].is_string());
        let reason = held["error"].as_str().unwrap();
        assert!(
            reason.contains("less than 7.50 MiB (--min-free)"),
            "{reason}"
        );
        daemon.wait_for_activity("waiting");
        daemon.done(["resume", "--all"]);
        let still = daemon.torrent();
        assert_eq!(
            (&still["activity"], &still["paused"]),
            (&"waiting".into(), &false.into())
        );
        assert_eq!(still["complete"], false);
        assert!(mount("remount,size=32m", disk));
        daemon.wait_until("complete", |torrent| torrent["complete"] == true);
        content.assert_same("file.bin", disk);
    });
}

/// A download whose disk is not mounted at the next start waits, and writes nothing where the disk should be.
#[test]
fn a_disk_that_vanishes_is_not_replaced() {
    on_disk("size=8m", |disk| {
        let (content, torrent, _seed, _tracker) = served(&["--max-up", "300000"]);
        let (place, state) = folder();
        let point = place.path().join("point");
        fs::create_dir(&point).unwrap();
        let bind = || run("mount", &["--bind"], &[disk, &point]);
        let unmount = || run("umount", &["--lazy"], &[&point]);
        assert!(bind());
        let daemon = Daemon::start(&state, &["--dir", text(&point)]);
        daemon.done(["add", text(&torrent)]);
        daemon.wait_until("received", |torrent| {
            torrent["done_bytes"].as_u64() > Some(0)
        });
        // The first bytes are recorded within two ticks, also if the daemon is killed.
        let totals = state.join("totals.toml");
        wait_for(|| {
            let totals = fs::read_to_string(&totals).unwrap_or_default();
            let mut counts = totals
                .lines()
                .filter_map(|line| line.strip_prefix("received = "));
            counts.any(|count| count != "0")
        });
        daemon.kill();
        assert!(unmount());
        let daemon = Daemon::start(&state, &["--dir", text(&point)]);
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let absent = daemon.wait_for_activity("absent");
            let reason = absent["error"].as_str().unwrap();
            assert!(
                reason.contains("file system may not be mounted"),
                "{reason}"
            );
            // A person who resumes everything does not mean this.
            daemon.done(["resume", "--all"]);
            assert_eq!(daemon.torrent()["activity"], "absent");
            assert_eq!(fs::read_dir(&point).unwrap().count(), 0);
            assert!(bind());
            daemon.wait_until("complete", |torrent| torrent["complete"] == true);
            content.assert_same("file.bin", disk);
        }));
        drop(daemon);
        unmount();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Bytes at the start of `file.bin` that are present.
const PRESENT_LEN: usize = 1_500_000;

/// A disk with a part of a torrent, and a mount point that shows the disk or not.
struct Point {
    content: Content,
    torrent: std::path::PathBuf,
    disk: std::path::PathBuf,
    at: std::path::PathBuf,
}

impl Point {
    /// Puts a part of `file.bin` below `downloads` on the disk.
    fn new(disk: &Path, place: &Path) -> Self {
        let content = Content::new();
        let torrent = content.torrent("file.bin", "v1");
        let at = place.join("point");
        fs::create_dir(&at).unwrap();
        fs::create_dir(disk.join("downloads")).unwrap();
        let mut bytes = fs::read(content.path().join("file.bin")).unwrap();
        bytes[PRESENT_LEN..].fill(0);
        fs::write(disk.join("downloads/file.bin"), &bytes).unwrap();
        let disk = disk.to_owned();
        let new = Self {
            content,
            torrent,
            disk,
            at,
        };
        new.mount();
        new
    }

    fn mount(&self) {
        assert!(run("mount", &["--bind"], &[&self.disk, &self.at]));
    }

    fn unmount(&self) {
        assert!(run("umount", &["--lazy"], &[&self.at]));
    }

    /// Asserts that the daemon waits for the disk whatever a person asks for, and continues when the disk is back.
    #[track_caller]
    fn assert_waits(&self, daemon: &Daemon, present: &serde_json::Value) {
        for request in ["resume", "verify"] {
            daemon.done([request, "--all"]);
            // The next look at the disk comes within this time.
            std::thread::sleep(std::time::Duration::from_secs(2));
            let absent = daemon.wait_for_activity("absent");
            let reason = absent["error"].as_str().unwrap();
            assert!(
                reason.contains("may not be mounted") || reason.contains("was unmounted"),
                "{reason}"
            );
            assert!(
                reason.ends_with("remove the torrent and add it again"),
                "{reason}"
            );
            assert_eq!(fs::read_dir(&self.at).unwrap().count(), 0);
        }
        self.mount();
        let again = daemon.wait_for_activity("downloading");
        assert_eq!(again["done_bytes"], *present);
        let kept = fs::read(self.disk.join("downloads/file.bin")).unwrap();
        let whole = fs::read(self.content.path().join("file.bin")).unwrap();
        assert!(kept[..PRESENT_LEN] == whole[..PRESENT_LEN]);
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        run("umount", &["--lazy"], &[&self.at]);
    }
}

/// Content that was copied to its place, and not received, is not begun again where its disk is not mounted.
#[test]
fn a_part_that_was_copied_is_awaited_after_a_restart() {
    on_disk("size=8m", |disk| {
        let (place, state) = folder();
        let point = Point::new(disk, place.path());
        let downloads = point.at.join("downloads");
        let daemon = Daemon::start(&state, &["--dir", text(&downloads)]);
        daemon.done(["add", text(&point.torrent)]);
        let part = daemon.wait_until("present", |torrent| {
            torrent["done_bytes"].as_u64() > Some(0)
        });
        assert_eq!(part["downloaded_bytes"], 0);
        let totals = state.join("totals.toml");
        wait_for(|| {
            let totals = fs::read_to_string(&totals);
            totals.is_ok_and(|totals| totals.contains("was_present = true"))
        });
        daemon.kill();
        point.unmount();
        let daemon = Daemon::start(&state, &[]);
        point.assert_waits(&daemon, &part["done_bytes"]);
        daemon.terminate();
    });
}

/// A person who asks for a verification, or resumes a download, while its disk is away.
#[test]
fn a_verification_without_the_disk_awaits_it() {
    on_disk("size=8m", |disk| {
        let (place, state) = folder();
        let point = Point::new(disk, place.path());
        let downloads = point.at.join("downloads");
        let daemon = Daemon::start(&state, &["--dir", text(&downloads)]);
        daemon.done(["add", text(&point.torrent)]);
        let part = daemon.wait_until("present", |torrent| {
            torrent["done_bytes"].as_u64() > Some(0)
        });
        daemon.done(["pause", "--all"]);
        daemon.wait_for_activity("paused");
        point.unmount();
        daemon.done(["verify", "--all"]);
        daemon.wait_for_activity("absent");
        point.assert_waits(&daemon, &part["done_bytes"]);
        daemon.terminate();
    });
}

/// The same if the folder is replaced by an empty one on the same disk, as for a link or a mount below it that is made anew.
#[test]
fn a_verification_of_a_folder_that_was_replaced_awaits_it() {
    let (content, torrent, _seed, _tracker) = served(&[]);
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let daemon = Daemon::start(&state, &["--dir", text(&downloads)]);
    daemon.done(["add", text(&torrent)]);
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    let away = place.path().join("away");
    fs::rename(&downloads, &away).unwrap();
    fs::create_dir(&downloads).unwrap();
    daemon.done(["verify", "--all"]);
    let absent = daemon.wait_for_activity("absent");
    assert_eq!(absent["done_bytes"], 0);
    assert_eq!(fs::read_dir(&downloads).unwrap().count(), 0);
    fs::remove_dir(&downloads).unwrap();
    fs::rename(&away, &downloads).unwrap();
    let again = daemon.wait_until("served again", |torrent| torrent["complete"] == true);
    assert_eq!(again["error"], serde_json::Value::Null);
    content.assert_same("file.bin", &downloads);
    daemon.terminate();
}

/// Checks that no test of this file says more than the disk has: the pieces of the torrent that are announced are there.
#[track_caller]
fn assert_there(listed: &serde_json::Value, torrent: &Path, folder: &Path) {
    let there = crate::there(torrent, folder).len() as u64;
    let announced = listed["done_bytes"].as_u64().unwrap() / (64 << 10);
    assert!(announced <= there, "{announced} announced, {there} there");
}

/// The file system of a download becomes read-only, is unmounted, and is mounted again.
#[test]
fn a_read_only_disk_of_the_content_delays_a_download() {
    let Some(disk) = Image::mount("20m") else {
        return;
    };
    let (content, torrent, _seed, _tracker) = served(&["--max-up", "300000"]);
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(&disk.path())]);
    daemon.done(["add", text(&torrent)]);
    daemon.wait_until("received", |torrent| {
        torrent["done_bytes"].as_u64() > Some(200_000)
    });
    disk.fail();
    let failed = daemon.wait_until("read-only", |torrent| torrent["error"].is_string());
    assert_eq!(
        (&failed["activity"], &failed["paused"]),
        (&"waiting".into(), &false.into())
    );
    let reason = failed["error"].as_str().unwrap();
    assert!(
        reason.contains("file.bin: Read-only file system"),
        "{reason}"
    );
    assert_there(&failed, &torrent, &disk.path());
    // The daemon holds no file of a download that waits.
    wait_for(|| disk.unmount());
    let absent = daemon.wait_for_activity("absent");
    let reason = absent["error"].as_str().unwrap();
    assert!(
        reason.contains("file system may not be mounted"),
        "{reason}"
    );
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
    assert!(disk.mount_again());
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    content.assert_same("file.bin", &disk.path());
    daemon.terminate();
}

/// The kernel reports lost writes once, and shows the lost bytes until it needs the memory.
#[test]
fn a_download_that_the_disk_has_lost_is_not_complete() {
    let Some(disk) = Image::mount("1m") else {
        return;
    };
    let (content, torrent, _seed, _tracker) = served(&[]);
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &["--dir", text(&disk.path())]);
    daemon.done(["add", text(&torrent)]);
    let failed = daemon.wait_until("lost", |torrent| torrent["error"].is_string());
    let reason = failed["error"].as_str().unwrap();
    let reasons = ["No space left on device", "Input/output error"];
    assert!(
        reasons
            .iter()
            .any(|it| reason.contains(&format!("file.bin: {it}"))),
        "{reason}"
    );
    assert_eq!(failed["complete"], false);
    disk.resize_disk("20m");
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    daemon.terminate();
    // Nothing of the file is in memory after this.
    assert!(disk.unmount() && disk.mount_again());
    content.assert_same("file.bin", &disk.path());
}

/// Asserts that no change is acknowledged.
#[track_caller]
fn assert_refused(daemon: &Daemon, other: &Path, reasons: &[&str]) {
    for refused in [
        &["add", "--paused", text(other)][..],
        &["resume", "--all"],
        &["set", "--all", "--label", "new"],
    ] {
        let ended = daemon.ctl(refused);
        let is_named = reasons.iter().any(|reason| ended.stderr.contains(reason));
        assert!(ended.code == Some(2) && is_named, "{refused:?}: {ended:?}");
    }
    let listed = daemon.torrent();
    assert_eq!(listed["paused"], true);
    assert_eq!(listed["labels"], serde_json::json!([]));
}

/// A file system of the state that becomes read-only while the daemon runs.
#[test]
fn a_state_folder_that_becomes_read_only_refuses_changes() {
    let Some(disk) = Image::mount("20m") else {
        return;
    };
    let content = Content::new();
    let (file, tree) = (
        content.torrent("file.bin", "v1"),
        content.torrent("tree", "v1"),
    );
    let state = disk.path().join("state");
    let options = ["--dir", text(content.path())];
    let daemon = Daemon::of(&state, daemon_command(&state, &options));
    daemon.done(["add", "--paused", text(&file)]);
    disk.fail();
    // The text of the system, or that of Rust for the same number.
    assert_refused(
        &daemon,
        &tree,
        &["Read-only file system", "read-only filesystem"],
    );
    daemon
        .ctl(["remove", "--all"])
        .assert_failed("Read-only file system");
    assert_eq!(daemon.torrent()["paused"], true);
    daemon.kill();
    wait_for(|| disk.unmount());
    assert!(disk.mount_again());
    let daemon = Daemon::of(&state, daemon_command(&state, &options));
    assert_eq!(daemon.torrent()["paused"], true);
    daemon.done(["add", "--paused", text(&tree)]);
    assert_eq!(daemon.done(["list"]).len(), 2);
    daemon.terminate();
}

/// Served content on a file system that is unmounted and mounted again while the daemon runs.
#[test]
fn content_that_is_unmounted_is_served_again() {
    let Some(disk) = Image::mount("20m") else {
        return;
    };
    let (content, torrent, _seed, _tracker) = served(&[]);
    let served = disk.path().join("file.bin");
    fs::copy(content.path().join("file.bin"), &served).unwrap();
    let (_place, state) = folder();
    let daemon = Daemon::start(&state, &[]);
    daemon.done(["add", text(&torrent), "--content", text(&served)]);
    daemon.wait_until("served", |torrent| torrent["complete"] == true);
    assert!(run("umount", &["--lazy"], &[&disk.path()]));
    let absent = daemon.wait_for_activity("absent");
    assert_eq!(
        (&absent["complete"], &absent["done_bytes"]),
        (&false.into(), &0.into())
    );
    let reason = absent["error"].as_str().unwrap();
    assert!(reason.contains("was unmounted or replaced"), "{reason}");
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
    assert!(disk.mount_again());
    let again = daemon.wait_until("served again", |torrent| torrent["complete"] == true);
    assert_eq!(
        (&again["activity"], &again["error"]),
        (&"serving".into(), &serde_json::Value::Null)
    );
    daemon.terminate();
}

/// A disk whose reads and writes fail for some time.
struct Broken {
    place: tempfile::TempDir,
    library: std::path::PathBuf,
}

impl Broken {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let library = preloaded("pread", place.path());
        Self { place, library }
    }

    fn switch(&self) -> std::path::PathBuf {
        self.place.path().join("broken")
    }

    /// Starts a daemon in which files with this text in their paths are on the disk.
    fn start(&self, files: &str, state: &Path, options: &[&str]) -> Daemon {
        let mut command = daemon_command(state, options);
        command
            .env("LD_PRELOAD", &self.library)
            .env("HASHLANE_TEST_FILE", files)
            .env("HASHLANE_TEST_BROKEN", self.switch());
        Daemon::of(state, command)
    }

    fn breaks(&self) {
        fs::write(self.switch(), "").unwrap();
    }

    fn works(&self) {
        fs::remove_file(self.switch()).unwrap();
    }
}

#[test]
fn a_broken_disk_of_the_content_delays_a_download() {
    let (content, torrent, _seed, _tracker) = served(&["--max-up", "300000"]);
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let broken = Broken::new();
    let daemon = broken.start("/downloads/", &state, &["--dir", text(&downloads)]);
    daemon.done(["add", text(&torrent)]);
    daemon.wait_until("received", |torrent| {
        torrent["done_bytes"].as_u64() > Some(200_000)
    });
    broken.breaks();
    let failed = daemon.wait_until("broken", |torrent| torrent["error"].is_string());
    assert_eq!(
        (&failed["activity"], &failed["paused"]),
        (&"waiting".into(), &false.into())
    );
    let reason = failed["error"].as_str().unwrap();
    assert!(reason.contains("file.bin: Input/output error"), "{reason}");
    assert_there(&failed, &torrent, &downloads);
    // A person who resumes it sees the reason again.
    daemon.done(["resume", "--all"]);
    let again = daemon.wait_until("broken again", |torrent| torrent["error"].is_string());
    assert_eq!(again["complete"], false);
    broken.works();
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    content.assert_same("file.bin", &downloads);
    daemon.terminate();
}

#[test]
fn a_broken_disk_of_the_state_refuses_changes() {
    let content = Content::new();
    let (file, tree) = (
        content.torrent("file.bin", "v1"),
        content.torrent("tree", "v1"),
    );
    let (_place, state) = folder();
    let broken = Broken::new();
    let options = ["--dir", text(content.path())];
    let daemon = broken.start("/state/", &state, &options);
    daemon.done(["add", "--paused", text(&file)]);
    broken.breaks();
    assert_refused(&daemon, &tree, &["Input/output error"]);
    broken.works();
    daemon.done(["set", "--all", "--label", "new"]);
    daemon.kill();
    let daemon = broken.start("/state/", &state, &[]);
    assert_eq!(daemon.torrent()["labels"], serde_json::json!(["new"]));
    assert_eq!(
        daemon.done(["status"])[0]["problems"],
        serde_json::json!([])
    );
    daemon.terminate();
}

/// A torrent that was complete is only served after a restart. If it is damaged, the list says so, and a person who asks for its
/// verification gets what is missing.
#[test]
fn damage_is_repaired_when_a_person_asks() {
    let (content, torrent, _seed, _tracker) = served(&[]);
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let options = ["--dir", text(&downloads)];
    let daemon = Daemon::start(&state, &options);
    daemon.done(["add", text(&torrent)]);
    daemon.wait_for_activity("serving");
    daemon.terminate();
    let path = downloads.join("file.bin");
    let mut bytes = fs::read(&path).unwrap();
    bytes[5] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let daemon = Daemon::start(&state, &options);
    let damaged = daemon.wait_for_activity("serving");
    let reason = damaged["error"].as_str().unwrap();
    assert!(reason.contains("ctl verify"), "{reason}");
    // Nothing is written unasked: a person may have changed the file.
    assert_eq!(fs::read(&path).unwrap(), bytes);
    daemon.done(["verify", "--all"]);
    let repaired = daemon.wait_until("repaired", |torrent| {
        torrent["activity"] == "serving" && torrent["error"].is_null()
    });
    assert_eq!(repaired["complete"], true, "{repaired}");
    content.assert_same("file.bin", &downloads);
    daemon.terminate();
}
