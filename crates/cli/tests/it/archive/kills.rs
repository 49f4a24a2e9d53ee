//! Runs that are killed, and several runs at once.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Archive;
use crate::fixture::{end, hashlane};
use crate::interrupt::interrupt;
use crate::random::Random;

/// Number of kills, unless `HASHLANE_TEST_KILLS` is set.
const KILLS: u64 = 20;

/// Returns the number of runs to kill.
pub(super) fn n_kills() -> u64 {
    std::env::var("HASHLANE_TEST_KILLS").map_or(KILLS, |n| n.parse().unwrap())
}

fn many_files() -> Archive {
    let archive = Archive::new(&[]);
    for i in 0..2000 {
        let content = i.to_string().repeat(1 + i % 997);
        archive.write(&format!("{}/{}/{i}", i % 7, i % 31), &content);
    }
    archive
}

/// Returns what a catalogue has, except the times of checks.
fn entries(archive: &Archive, catalogue: &str) -> Vec<Value> {
    let mut export = hashlane();
    export.current_dir(archive.root.path());
    export.args([
        "archive",
        "export",
        "files",
        "--json",
        "--catalogue",
        catalogue,
    ]);
    let exported = end(&mut export);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let entry = |line: &str| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        for time in ["first_checked", "last_checked"] {
            assert!(entry.as_object_mut().unwrap().remove(time).is_some());
        }
        entry
    };
    exported.stdout.lines().map(entry).collect()
}

/// Compares the catalogue with one that is made anew, after a last update.
fn assert_is_right(archive: &Archive) {
    let updated = archive.run("update", &["--forget"]);
    assert!(matches!(updated.code, Some(0 | 1)), "{updated:?}");
    let mut fresh = hashlane();
    fresh.current_dir(archive.root.path());
    let made = end(fresh.args(["archive", "update", "files", "--catalogue", "fresh", "-q"]));
    assert_eq!(made.code, Some(0), "{made:?}");
    let (found, expected) = (entries(archive, "catalogue"), entries(archive, "fresh"));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    let intact = archive.run("check", &["-q"]);
    assert_eq!(
        (intact.code, intact.stdout.as_str()),
        (Some(0), ""),
        "{intact:?}"
    );
}

#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let n_kills = n_kills();
    let mut random = Random::new(1);
    let archive = many_files();
    let began = Instant::now();
    let mut first = hashlane();
    first.current_dir(archive.root.path());
    first.args([
        "archive",
        "update",
        "files",
        "--catalogue",
        "measured",
        "-q",
    ]);
    assert!(first.status().unwrap().success());
    let usual = began.elapsed();
    let (mut n_killed, mut round) = (0, 0);
    // Some runs end before they are killed.
    while n_killed < n_kills {
        assert!(round < 4 * n_kills + 20, "only {n_killed} runs were killed");
        round += 1;
        // There is always something to do.
        for _ in 0..50 {
            let i = random.below(2000);
            let path = format!("{}/{}/{i}", i % 7, i % 31);
            match random.below(4) {
                0 => archive.write(&path, &format!("changed in round {round}")),
                1 => drop(fs::rename(
                    archive.path(&path),
                    archive.path(&format!("{i}")),
                )),
                2 => drop(fs::remove_file(archive.path(&path))),
                _ => archive.write(&format!("new/{round}/{i}"), &path),
            }
        }
        // The first kills hit the making of the catalogue.
        let actions = ["update", "update", "check", "scrub"];
        let action = if round < n_kills / 4 {
            "update"
        } else {
            actions[random.below(4)]
        };
        let mut child = archive
            .command(action, &[])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let wait = Duration::from_micros(random.below(1 + usual.as_micros() as usize) as u64);
        std::thread::sleep(wait);
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        n_killed += u64::from(output.status.code().is_none());
        let stderr = String::from_utf8(output.stderr).unwrap();
        // A check has no catalogue if every update so far was killed at once.
        let is_expected = stderr.is_empty() || stderr.contains(": no catalogue: ");
        assert!(is_expected, "round {round}: {stderr}");
    }
    eprintln!("{n_killed} of {round} runs were killed, the others ended before");
    assert_is_right(&archive);
}

#[test]
fn ctrl_c_ends_a_run_and_keeps_what_was_read() {
    let archive = many_files();
    // Holes need no space, and take long to hash.
    let large = fs::File::create(archive.path("large")).unwrap();
    large.set_len(64 << 30).unwrap();
    let mut child = archive
        .command("update", &["--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first line shows that files are being read.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    stdout.read_line(&mut text).unwrap();
    // The program must not wait for a full pipe.
    let rest = std::thread::spawn(move || {
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    let output = interrupt(child);
    let text = rest.join().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "hashlane: interrupted: what was read is in the catalogue\n";
    assert_eq!(stderr, expected);
    let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(summary["interrupted"], true);
    let n_new = text.lines().count() - 1;
    assert_eq!(summary["files"]["new"], n_new);
    assert_eq!(entries(&archive, "catalogue").len(), n_new);
    large.set_len(5).unwrap();
    assert_is_right(&archive);
}

#[test]
fn two_runs_at_once_are_safe() {
    let archive = many_files();
    for _ in 0..3 {
        let run = |action: &str| {
            archive
                .command(action, &["-q"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let runs = ["update", "update", "update"].map(run);
        let mut n_done = 0;
        for child in runs {
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            match output.status.code() {
                Some(0) => n_done += 1,
                Some(2) => {
                    let reason = "catalogue: is in use by another run of `hashlane archive`: try again when that has ended\n";
                    assert!(stderr.ends_with(reason), "{stderr}");
                }
                other => panic!("{other:?}: {stderr}"),
            }
        }
        assert!(n_done > 0);
        archive.write("new", "content");
    }
    assert_is_right(&archive);
}
