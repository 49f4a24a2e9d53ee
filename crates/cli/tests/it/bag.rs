//! `hashlane bag`, and bags that bagit-python makes and validates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::fixture::{Ended, bagit_python, end, hashlane};

/// A folder with a folder `files`.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, text) in [("a", "a"), ("d/b c", "b"), ("d/é", "e"), ("empty", "")] {
            place.write(&format!("files/{name}"), text);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn bag(&self, args: &[&str]) -> Ended {
        end(hashlane()
            .current_dir(self.folder.path())
            .arg("bag")
            .args(args))
    }

    #[track_caller]
    fn expect(&self, args: &[&str], code: i32, stdout: &str) {
        let ended = self.bag(args);
        let found = (ended.code, ended.stdout.as_str());
        assert_eq!(found, (Some(code), stdout), "{args:?}: {}", ended.stderr);
    }
}

fn lines(stdout: &str) -> Vec<Value> {
    let lines = stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_bag_is_created_validated_and_updated() {
    let place = Place::new();
    place.expect(
        &["create", "files"],
        0,
        "files: created, 4 files (3 bytes), sha512\n",
    );
    place.expect(
        &["validate", "files"],
        0,
        "files: valid, 4 files (3 bytes), sha512\n",
    );
    place.expect(&["validate", "--quiet", "files"], 0, "");
    place.expect(
        &["validate", "--fast", "files"],
        0,
        "files: valid, 4 files (3 bytes), only their number and length compared\n",
    );
    let info = fs::read_to_string(place.path("files/bag-info.txt")).unwrap();
    assert!(info.contains("\nBag-Software-Agent: hashlane "), "{info}");
    assert!(info.starts_with("Bagging-Date: 20"), "{info}");
    place.write("files/data/a", "x");
    place.write("files/data/new", "new");
    place.expect(
        &["validate", "--completeness-only", "files"],
        1,
        "files/data/new: not listed in manifest-sha512.txt
files/bag-info.txt: Payload-Oxum is 3.4, and the payload has 6.5 (bytes.files)
files: invalid, 5 files (6 bytes), only their names compared\n",
    );
    place.expect(
        &["validate", "files"],
        1,
        "files/data/new: not listed in manifest-sha512.txt
files/bag-info.txt: Payload-Oxum is 3.4, and the payload has 6.5 (bytes.files)
files/data/a: changed: its digest differs from manifest-sha512.txt
files: invalid, 5 files (6 bytes), sha512\n",
    );
    place.expect(
        &["update", "files", "-a", "sha256,md5"],
        0,
        "  added   data/new
files: updated, 5 files (6 bytes), 1 added, 0 changed, 0 removed\n",
    );
    place.expect(
        &["validate", "files"],
        0,
        "files: valid, 5 files (6 bytes), md5, sha256\n",
    );
}

#[test]
fn results_are_json_lines() {
    let place = Place::new();
    let args = [
        "create", "files", "--to", "new", "-a", "sha256", "--json", "--info", "A: b: c",
    ];
    let ended = place.bag(&args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let created = json!({
        "type": "created", "bag": "new", "files": 4, "bytes": 3, "algorithms": ["sha256"],
    });
    assert_eq!(lines(&ended.stdout), [created]);
    assert!(place.path("files/a").exists());
    let info = fs::read_to_string(place.path("new/bag-info.txt")).unwrap();
    assert!(info.starts_with("A: b: c\n"), "{info}");
    fs::remove_file(place.path("new/data/a")).unwrap();
    let ended = place.bag(&["validate", "new", "files", "--json"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    let found = lines(&ended.stdout);
    let problem = json!({
        "type": "problem", "bag": "new", "path": "data/a", "problem": "missing", "message": "missing: manifest-sha256.txt lists it",
    });
    assert_eq!(found[0], problem);
    assert_eq!(found[1]["problem"], "oxum");
    let validated = json!({
        "type": "validated", "bag": "new", "verdict": "invalid", "depth": "digests",
        "version": "1.0", "files": 3, "bytes": 2, "algorithms": ["sha256"],
        "invalid": 2, "not_fetched": 0, "unchecked": 0, "other_forms": 0,
    });
    assert_eq!(found[2], validated);
    assert_eq!(found[3]["type"], "error");
    let message = found[3]["message"].as_str().unwrap();
    assert!(
        message.ends_with("files: has no bagit.txt: not a bag"),
        "{message}"
    );
    let ended = place.bag(&["update", "new", "--json"]);
    let removed = json!({ "type": "file", "bag": "new", "path": "data/a", "change": "removed" });
    let updated = json!({
        "type": "updated", "bag": "new", "files": 3, "bytes": 2, "added": 0, "changed": 0, "removed": 1,
    });
    assert_eq!(lines(&ended.stdout), [removed, updated]);
}

#[test]
fn a_hostile_manifest_does_not_fill_the_memory() {
    let place = Place::new();
    assert_eq!(place.bag(&["create", "files"]).code, Some(0));
    place.write("files/manifest-sha512.txt", &"x\n".repeat(100_007));
    let ended = place.bag(&["validate", "files"]);
    assert_eq!(ended.code, Some(1));
    let n_lines = ended.stdout.lines().count();
    assert_eq!(n_lines, 100_000 + 1);
    // The manifest is changed, and lists none of the four files.
    assert_eq!(
        ended.stderr,
        "hashlane: files: 12 further problems not listed\n"
    );
}

#[test]
fn wrong_usage_changes_nothing() {
    let place = Place::new();
    for (args, message) in [
        (
            &["create", "files", "--info", "no label"][..],
            "must be `Label: value` on one line",
        ),
        (
            &["create", "files", "--info", "payload-oxum: 1.1"],
            "is computed from the files",
        ),
        (&["create", "files", "-a", "tiger"], "unknown algorithm"),
        (
            &["create", "files", "-a", "blake2b-256"],
            "unknown algorithm",
        ),
        (&["create", "nowhere"], "nowhere: No such file"),
        (
            &["create", "files", "--to", "files"],
            "files: exists: choose a new name",
        ),
        (&["update", "files"], "has no bagit.txt: not a bag"),
        (
            &["validate", "--fast", "--completeness-only", "files"],
            "cannot be used with",
        ),
    ] {
        let ended = place.bag(args);
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
        assert!(place.path("files/a").exists(), "{args:?}");
    }
}

/// Runs bagit.py, and returns its exit status and what it logs.
fn run_python(program: &Path, args: &[&str], bag: &Path) -> (Option<i32>, String) {
    let ended = end(Command::new(program).args(args).arg(bag));
    (ended.code, ended.stderr)
}

#[test]
fn bagit_python_validates_these_bags() {
    let Some(program) = bagit_python() else {
        return;
    };
    for algorithms in ["sha512", "md5,sha1,sha256,sha512"] {
        for to in [None, Some("copy")] {
            let place = Place::new();
            let mut args = vec![
                "create",
                "files",
                "-a",
                algorithms,
                "--info",
                "Contact-Name: Ä B",
            ];
            args.extend(to.iter().flat_map(|to| ["--to", *to]));
            let ended = place.bag(&args);
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            let bag = place.path(to.unwrap_or("files"));
            for args in [
                &["--validate"][..],
                &["--validate", "--fast"],
                &["--validate", "--completeness-only"],
            ] {
                let (code, log) = run_python(&program, args, &bag);
                assert_eq!(code, Some(0), "{args:?}: {log}");
            }
            // Both find the same damage.
            let byte = bag.join("data/d/b c");
            fs::write(&byte, "x").unwrap();
            let (code, log) = run_python(&program, &["--validate"], &bag);
            assert_ne!(code, Some(0), "{log}");
            assert_eq!(
                place.bag(&["validate", bag.to_str().unwrap()]).code,
                Some(1)
            );
            // And both accept the update.
            assert_eq!(place.bag(&["update", bag.to_str().unwrap()]).code, Some(0));
            let (code, log) = run_python(&program, &["--validate"], &bag);
            assert_eq!(code, Some(0), "{log}");
        }
    }
}

#[test]
fn bags_of_bagit_python_are_validated_and_updated() {
    let Some(program) = bagit_python() else {
        return;
    };
    for algorithms in [&["--sha256", "--sha512"][..], &["--md5", "--sha1"]] {
        let place = Place::new();
        place.write("files/line\nfeed", "l");
        place.write("files/50%", "p");
        let bag = place.path("files");
        let args = [algorithms, &["--contact-name", "Ä B"]].concat();
        let (code, log) = run_python(&program, &args, &bag);
        assert_eq!(code, Some(0), "{log}");
        let ended = place.bag(&["validate", "files"]);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        assert!(
            ended
                .stdout
                .starts_with("files: valid, 6 files (5 bytes), "),
            "{}",
            ended.stdout
        );
        let before = fs::read_to_string(bag.join("bag-info.txt")).unwrap();
        place.write("files/data/more", "more");
        assert_eq!(place.bag(&["validate", "--fast", "files"]).code, Some(1));
        let ended = place.bag(&["update", "files"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(place.bag(&["validate", "files"]).code, Some(0));
        let (code, log) = run_python(&program, &["--validate"], &bag);
        assert_eq!(code, Some(0), "{log}");
        let after = fs::read_to_string(bag.join("bag-info.txt")).unwrap();
        for line in before
            .lines()
            .filter(|line| !line.starts_with("Payload-Oxum"))
        {
            assert!(after.contains(line), "{line}: {after}");
        }
        let declaration = fs::read_to_string(bag.join("bagit.txt")).unwrap();
        assert!(
            declaration.starts_with("BagIt-Version: 0.97\n"),
            "{declaration}"
        );
    }
}
