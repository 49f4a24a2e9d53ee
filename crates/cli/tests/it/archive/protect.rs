//! Recovery files of archives, repairs, and kills during both.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Archive;
use super::kills::n_kills;
use crate::fixture::{Ended, end, good_in, hashlane, run_in};
use crate::not_run::is_installed;
use crate::par2cmdline::turbo;
use crate::random::Random;

const SET: &str = ".hashlane-archive.sqlite-recovery-00000001";

/// Returns an archive with random files, and their content.
fn archive(n_files: usize, len: usize) -> (Archive, BTreeMap<PathBuf, Vec<u8>>) {
    let archive = Archive::new(&[]);
    let mut random = Random::new(2);
    let mut content = BTreeMap::new();
    for i in 0..n_files {
        let path = PathBuf::from(format!("{}/file {i}.jpg", i % 5));
        let bytes: Vec<u8> = random.bytes(len);
        let place = archive.path(path.to_str().unwrap());
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, &bytes).unwrap();
        content.insert(path, bytes);
    }
    (archive, content)
}

/// Runs a command of the archive whose catalogue lies in it.
fn run(archive: &Archive, args: &str) -> Ended {
    run_in(archive.root.path(), &format!("archive {args}"))
}

#[track_caller]
fn good(archive: &Archive, args: &str) -> String {
    good_in(archive.root.path(), &format!("archive {args}")).stdout
}

/// Changes a part of a file, and sets its time of modification back.
fn damage(place: &Path, offset: u64, bytes: &[u8]) {
    let modified = place.metadata().unwrap().modified().unwrap();
    let file = File::options().write(true).open(place).unwrap();
    file.write_all_at(bytes, offset).unwrap();
    file.set_modified(modified).unwrap();
}

fn assert_is(archive: &Archive, content: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in content {
        let found = fs::read(archive.path(path.to_str().unwrap())).unwrap();
        assert!(found == *bytes, "{}", path.display());
    }
}

#[test]
fn a_protected_archive_heals() {
    let (archive, content) = archive(100, 10_000);
    good(&archive, "update files");
    let made = good(&archive, "protect files --redundancy 10%");
    assert!(made.starts_with("1 set of recovery files, "), "{made}");
    assert!(
        made.ends_with(", for 100 files, 977 KiB, 1 new\n"),
        "{made}"
    );
    // Recovery files are no content, and nothing is left to do.
    let same = good(&archive, "update files");
    assert_eq!(same, "100 files, 0 bytes read: 100 unchanged\n");
    damage(&archive.path("3/file 3.jpg"), 5000, b"rot");
    damage(&archive.path("4/file 4.jpg"), 9999, b"!");

    let ended = run(&archive, "scrub files --repair");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let doubt = "doubtful  3/file 3.jpg  a program may have written it and set its time back: see --doubtful\n";
    assert!(ended.stdout.contains(doubt), "{}", ended.stdout);
    assert!(ended.stdout.contains("\n2 damaged files: 2 doubtful\n"));

    let other = archive.root.path().join("other");
    fs::create_dir_all(other.join("3")).unwrap();
    fs::copy(archive.path("3/file 8.jpg"), other.join("3/file 3.jpg")).unwrap();
    let right = &content[Path::new("4/file 4.jpg")];
    fs::create_dir_all(other.join("4")).unwrap();
    fs::write(other.join("4/file 4.jpg"), right).unwrap();
    let healed = good(&archive, "scrub files --repair --doubtful --from other");
    let repaired = "repaired  3/file 3.jpg  from recovery files, kept: file 3.jpg.damaged-1\n";
    assert!(healed.contains(repaired), "{healed}");
    assert!(healed.contains("repaired  4/file 4.jpg  from "), "{healed}");
    assert!(
        healed.contains("\n2 damaged files: 2 repaired\n"),
        "{healed}"
    );
    assert_is(&archive, &content);
    for (path, at) in [("3/file 3.jpg", 5000), ("4/file 4.jpg", 9999)] {
        let mut kept = fs::read(archive.path(&format!("{path}.damaged-1"))).unwrap();
        assert_ne!(kept, content[Path::new(path)]);
        kept[at..].copy_from_slice(&content[Path::new(path)][at..]);
        assert_eq!(kept, content[Path::new(path)]);
    }
    assert_eq!(good(&archive, "scrub files -q --repair"), "");
}

#[test]
fn json_lines_say_what_became_of_each_file() {
    let (archive, _) = archive(20, 8192);
    good(&archive, "update files");
    let lines = |args: &str, code: i32| -> Vec<Value> {
        let ended = run(&archive, args);
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        let lines = ended.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let made = lines("protect files --json", 0);
    assert_eq!(made.len(), 1);
    let expected = serde_json::json!({
        "type": "protection", "redundancy": 5.0, "files": 20, "bytes": 20 * 8192, "unprotected": 0, "sets": 1, "new": 1,
        "removed": 0, "damaged": 0, "recovery_bytes": made[0]["recovery_bytes"], "interrupted": false,
    });
    assert_eq!(made[0], expected);
    // 40 slices, and two recovery slices.
    for i in 0..2 {
        damage(&archive.path(&format!("{i}/file {i}.jpg")), 0, &[0; 8192]);
    }
    let lost = lines("scrub files --json --repair --doubtful", 1);
    let repairs: Vec<&Value> = lost
        .iter()
        .filter(|line| line["type"] == "repair")
        .collect();
    assert_eq!(repairs.len(), 2);
    for repair in repairs {
        assert_eq!(repair["outcome"], "not_repairable");
        assert_eq!(repair["missing_bytes"], 2 * 4096);
        assert!(repair["origin"].is_null() && repair["damaged"].is_null());
    }
    fs::write(archive.path(&format!("{SET}.par2")), "").unwrap();
    let damaged = lines("protect files --json", 1);
    let kinds: Vec<&str> = damaged
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["damaged_recovery", "protection"]);
    assert_eq!(damaged[0]["intact"], 2);
    assert_eq!(damaged[1]["unprotected"], 2);
    // The damaged set is the only one that knows the rotten files.
    assert!(archive.path(&format!("{SET}.vol0+2.par2")).exists());
}

/// Wherever the catalogue lies and whatever its name is.
#[test]
fn recovery_files_are_no_content() {
    let (archive, _) = archive(5, 5000);
    for catalogue in ["files/my catalogue", "files/sub/.hashlane-archive.sqlite"] {
        fs::create_dir_all(archive.path("sub")).unwrap();
        let run = |action: &str| {
            let mut command = hashlane();
            command.current_dir(archive.root.path());
            end(command.args(["archive", action, "files", "--catalogue", catalogue]))
        };
        assert_eq!(run("update").code, Some(0));
        assert_eq!(run("protect").code, Some(0));
        let sets = fs::read_dir(archive.root.path().join(catalogue).parent().unwrap()).unwrap();
        assert!(
            sets.filter(|set| set
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|it| it == "par2"))
                .count()
                == 2
        );
        assert_eq!(run("update").stdout, "5 files, 0 bytes read: 5 unchanged\n");
        if catalogue.contains("my") {
            // Other commands know only the usual name.
            for file in fs::read_dir(archive.path("")).unwrap() {
                let path = file.unwrap().path();
                if path.is_file() {
                    fs::remove_file(path).unwrap();
                }
            }
        }
    }
    let mut sum = hashlane();
    sum.current_dir(archive.root.path());
    let listed = end(sum.args(["sum", "-r", "files"])).stdout;
    assert_eq!(listed.lines().count(), 5, "{listed}");
}

/// Any program for PAR2 verifies and repairs by the recovery files, as they lie in the archive.
fn is_known_to(program: &Path) {
    let (archive, content) = archive(40, 20_000);
    good(&archive, "update files");
    good(&archive, "protect files");
    let par2 = |action: &str| {
        let mut command = Command::new(program);
        command
            .current_dir(archive.path(""))
            .args([action, &format!("{SET}.par2")])
            .stdin(Stdio::null());
        command.output().unwrap()
    };
    let output = par2("verify");
    assert!(output.status.success(), "{output:?}");
    damage(&archive.path("2/file 2.jpg"), 0, &[1; 5000]);
    fs::remove_file(archive.path("3/file 3.jpg")).unwrap();
    let output = par2("repair");
    assert!(output.status.success(), "{output:?}");
    assert_is(&archive, &content);
    let check = run(&archive, "check files -q");
    assert_eq!((check.code, check.stdout.as_str()), (Some(0), ""));
}

#[test]
fn par2cmdline_repairs_archives() {
    if is_installed("PAR2", "par2", "par2") {
        is_known_to(Path::new("par2"));
    }
}

#[test]
fn par2cmdline_turbo_repairs_archives() {
    if let Some(program) = turbo() {
        is_known_to(&program);
    }
}

#[test]
fn a_protection_needs_a_catalogue_and_an_amount() {
    let archive = Archive::new(&[("a", "a")]);
    let refused = run(&archive, "protect files");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("no catalogue"),
        "{}",
        refused.stderr
    );
    good(&archive, "update files");
    for (args, reason) in [
        ("protect files --redundancy 0%", "0% protects nothing"),
        ("scrub files --doubtful", "--repair"),
        ("scrub files --from other", "--repair"),
    ] {
        let refused = run(&archive, args);
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

/// Repairs what a killed run has left, and compares all files.
fn assert_heals(archive: &Archive, content: &BTreeMap<PathBuf, Vec<u8>>, args: &str) {
    let settled = run(archive, "scrub files --repair --doubtful --quiet");
    // Files that the killed update had to take are changed ones for a scrub.
    assert!(settled.code != Some(2), "{args}: {settled:?}");
    assert!(
        !settled.stdout.contains("not repairable"),
        "{args}: {settled:?}"
    );
    for (path, bytes) in content {
        let place = archive.path(path.to_str().unwrap());
        assert!(
            fs::read(&place).unwrap() == *bytes,
            "{args}: {}",
            path.display()
        );
        for number in 1..10 {
            let kept = format!("{}.damaged-{number}", place.display());
            drop(fs::remove_file(kept));
        }
    }
    good(archive, "update files --forget -q");
}

/// Each kill leaves the old or the new content under each name, and everything heals after it.
#[test]
fn a_kill_at_any_moment_leaves_files_and_protection() {
    let n_kills = n_kills();
    let mut random = Random::new(1);
    let (archive, mut content) = archive(200, 20_000);
    good(&archive, "update files");
    good(&archive, "protect files");
    let paths: Vec<PathBuf> = content.keys().cloned().collect();
    let began = Instant::now();
    good(&archive, "scrub files --repair");
    let usual = began.elapsed() * 3 / 2;
    let (mut n_killed, mut round) = (0, 0);
    while n_killed < n_kills {
        assert!(round < 4 * n_kills + 20, "only {n_killed} runs were killed");
        round += 1;
        let args = match round % 3 {
            0 => {
                for _ in 0..3 {
                    let path = &paths[random.below(200)];
                    let place = archive.path(path.to_str().unwrap());
                    let mut rotten = content[path].clone();
                    let offset = random.below(rotten.len());
                    rotten[offset] ^= 1;
                    damage(&place, offset as u64, &rotten[offset..][..1]);
                }
                "scrub files --repair --doubtful -q"
            }
            1 => {
                for _ in 0..5 {
                    let path = &paths[random.below(200)];
                    let bytes = vec![round as u8; 10_000 + random.below(10_000)];
                    fs::write(archive.path(path.to_str().unwrap()), &bytes).unwrap();
                    content.insert(path.clone(), bytes);
                }
                "update files -q"
            }
            _ => [
                "protect files --redundancy 8% -q",
                "protect files --redundancy 5% -q",
            ][random.below(2)],
        };
        let mut command = hashlane();
        command.current_dir(archive.root.path()).arg("archive");
        command.args(args.split_whitespace());
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(
            random.below(1 + usual.as_micros() as usize) as u64,
        ));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        n_killed += u64::from(output.status.code().is_none());
        assert_heals(&archive, &content, args);
    }
    eprintln!("{n_killed} of {round} runs were killed, the others ended before");
    good(&archive, "scrub files --repair -q");
    let checked = good(&archive, "protect files");
    assert!(!checked.contains("not protected"), "{checked}");
}
