//! A daemon on disks that are full, read-only, or vanish.

use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::{Command, Stdio};

use super::daemon::{Daemon, daemon_command, folder};
use super::peers::{Content, Peer, ended, not_run};
use super::tracker::Tracker;
use crate::wait_for;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Mounts a file system of memory, or changes its options.
fn mount(options: &str, at: &Path) -> bool {
    run("mount", &["-t", "tmpfs", "-o", options, "tmpfs"], &[at])
}

fn run(program: &str, args: &[&str], paths: &[&Path]) -> bool {
    let mut command = Command::new(program);
    let status = command
        .args(args)
        .args(paths)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Runs a test on a file system of memory, which is unmounted before an assertion fails.
fn on_disk(options: &str, test: impl FnOnce(&Path)) {
    let disk = tempfile::tempdir().unwrap();
    if !mount(options, disk.path()) {
        not_run("mount", "a file system of memory cannot be mounted here");
        return;
    }
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| test(disk.path())));
    run("umount", &["--lazy"], &[disk.path()]);
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
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
        // The daemon holds its lock open for writing, so that the file system itself cannot become read-only.
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

#[test]
fn a_full_disk_of_the_content_delays_a_download() {
    on_disk("size=1m", |disk| {
        let (content, torrent, _seed, _tracker) = served(&[]);
        let (_place, state) = folder();
        let daemon = Daemon::start(&state, &["--dir", text(disk)]);
        daemon.done(["add", text(&torrent)]);
        let full = daemon.wait_until("full", |torrent| torrent["error"].is_string());
        assert_eq!(
            (&full["activity"], &full["paused"]),
            (&"paused".into(), &false.into())
        );
        let reason = full["error"].as_str().unwrap();
        assert!(
            reason.contains("file.bin: No space left on device"),
            "{reason}"
        );
        assert!(mount("remount,size=8m", disk));
        daemon.wait_until("complete", |torrent| torrent["complete"] == true);
        content.assert_same("file.bin", disk);
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
        daemon.wait_for_activity("paused");
        daemon.done(["resume", "--all"]);
        let still = daemon.torrent();
        assert_eq!(
            (&still["activity"], &still["paused"]),
            (&"paused".into(), &false.into())
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
