//! `hashlane par2`.

#[cfg(unix)]
mod program;
#[cfg(target_os = "linux")]
mod unreadable;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::fixture::{Ended, end, hashlane};
use crate::random::Random;

/// A folder with three protected files: of ten, one and five slices of 100 bytes.
struct Place {
    folder: tempfile::TempDir,
}

const FILES: [(&str, usize); 3] = [("files/a", 990), ("files/d/é", 1), ("files/z", 450)];

fn content(name: &str, len: usize) -> Vec<u8> {
    Random::new((name.len() * 977 + len) as u64).bytes(len)
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, len) in FILES {
            let path = place.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content(name, len)).unwrap();
        }
        place
    }

    fn protected(recovery_slices: &str) -> Self {
        let place = Self::new();
        let args = [
            "create",
            "s.par2",
            "files",
            "--slice-size",
            "100",
            "--recovery-slices",
        ];
        place.expect(&[&args[..], &[recovery_slices, "-q"]].concat(), 0, "");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn par2(&self, args: &[&str]) -> Ended {
        end(hashlane()
            .current_dir(self.folder.path())
            .arg("par2")
            .args(args))
    }

    #[track_caller]
    fn expect(&self, args: &[&str], code: i32, stdout: &str) {
        let ended = self.par2(args);
        let found = (ended.code, ended.stdout.as_str());
        assert_eq!(found, (Some(code), stdout), "{args:?}: {}", ended.stderr);
    }

    #[track_caller]
    fn check(&self) {
        for (name, len) in FILES {
            assert_eq!(
                fs::read(self.path(name)).unwrap(),
                content(name, len),
                "{name}"
            );
        }
    }
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_set_is_created_verified_and_repairs_files() {
    let place = Place::new();
    place.expect(
        &[
            "create",
            "s.par2",
            "files",
            "--slice-size",
            "100",
            "--recovery-slices",
            "6",
        ],
        0,
        "s.par2: created, 3 files (1.41 KiB), 16 slices of 100 bytes, 6 recovery slices\n",
    );
    place.expect(
        &["verify", "s.par2"],
        0,
        "s.par2: intact, 3 of 3 files intact\n",
    );
    fs::remove_file(place.path("files/z")).unwrap();
    fs::write(place.path("files/d/é"), "x").unwrap();
    let ended = place.par2(&["verify", "s.vol1+2.par2"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for line in [
        "files/z: missing, 0 of 5 slices found",
        "files/d/é: damaged, 0 of 1 slice found",
        "s.vol1+2.par2: repairable, 6 slices missing, 6 recovery slices, 1 of 3 files intact",
    ] {
        assert!(
            ended.stdout.lines().any(|it| it == line),
            "{line}: {}",
            ended.stdout
        );
    }
    let ended = place.par2(&["repair", "s.par2"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .ends_with("s.par2: repaired, 2 files, 6 slices computed\n")
    );
    place.check();
    assert_eq!(fs::read(place.path("files/d/é.damaged-1")).unwrap(), b"x");
}

#[test]
fn results_are_json_lines() {
    let place = Place::protected("2");
    fs::write(place.path("files/d/é"), "x").unwrap();
    let found = lines(&place.par2(&["verify", "s.par2", "--json"]).stdout);
    let damaged = json!({
        "type": "file", "set": "s.par2", "path": "files/d/é", "state": "damaged", "slices": 1,
        "found": 0, "renamed_from": null,
    });
    assert!(found.contains(&damaged), "{found:?}");
    let verified = json!({
        "type": "verified", "set": "s.par2", "verdict": "repairable", "files": 3, "intact": 2,
        "slices": 16, "missing": 1, "recovery_slices": 2,
    });
    assert_eq!(found.last(), Some(&verified));
    let found = lines(
        &place
            .par2(&["repair", "s.par2", "--json", "--replace"])
            .stdout,
    );
    let repaired = json!({
        "type": "repaired", "set": "s.par2", "files": 1, "computed": 1, "passes": 1,
    });
    assert_eq!(found.last(), Some(&repaired));
    assert!(!place.path("files/d/é.damaged-1").exists());
    place.check();
}

#[test]
fn too_much_damage_is_reported_and_left_alone() {
    let place = Place::protected("4");
    fs::remove_file(place.path("files/z")).unwrap();
    for action in ["verify", "repair"] {
        let ended = place.par2(&[action, "s.par2"]);
        assert_eq!(ended.code, Some(2), "{action}: {}", ended.stdout);
        assert!(
            ended
                .stdout
                .contains("s.par2: not repairable, 5 slices missing, 4 recovery")
        );
    }
    assert!(!place.path("files/z").exists());
}

#[test]
fn other_files_are_searched() {
    let place = Place::protected("0");
    fs::create_dir(place.path("elsewhere")).unwrap();
    fs::rename(place.path("files/a"), place.path("elsewhere/b")).unwrap();
    assert_eq!(place.par2(&["verify", "s.par2"]).code, Some(2));
    assert_eq!(place.par2(&["repair", "s.par2", "elsewhere"]).code, Some(0));
    place.check();
    assert!(!place.path("elsewhere/b").exists());
}

#[test]
fn wrong_usage_is_refused() {
    let place = Place::protected("1");
    for (args, message) in [
        (&["create", "s.par2", "files"][..], "s.par2"),
        (
            &["create", "t", "files"],
            "t: the name of a recovery file ends with .par2",
        ),
        (
            &["create", "t.par2", "/etc/passwd"],
            "is not below the folder of t.par2",
        ),
        (
            &["create", "t.par2", "files", "--slice-size", "6"],
            "not a multiple of 4",
        ),
        (&["verify", "absent.par2"], "absent.par2"),
        (&["verify", "files/a"], "no packet of PAR2 is intact"),
    ] {
        let ended = place.par2(args);
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
    }
    let names = fs::read_dir(place.folder.path()).unwrap();
    assert_eq!(names.count(), 3, "nothing was written");
}
