//! `hashlane archive`: catalogues of folders.

mod kills;
mod lists;
mod protect;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;

use crate::fixture::{Ended, can_drop_privileges, drop_privileges, end, hashlane};

/// A folder `files`, whose catalogue lies beside it.
pub(super) struct Archive {
    pub(super) root: tempfile::TempDir,
}

impl Archive {
    fn new(files: &[(&str, &str)]) -> Self {
        let archive = Self {
            root: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(archive.path("")).unwrap();
        for (path, content) in files {
            archive.write(path, content);
        }
        archive
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join("files").join(path)
    }

    pub(super) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Changes a file, and sets its time of modification back.
    fn rot(&self, path: &str, content: &str) {
        let path = self.path(path);
        let modified = path.metadata().unwrap().modified().unwrap();
        let mut file = File::options().write(true).open(path).unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.set_modified(modified).unwrap();
    }

    /// Returns the command for the folder `files`.
    pub(super) fn command(&self, action: &str, args: &[&str]) -> Command {
        let mut command = hashlane();
        command
            .current_dir(self.root.path())
            .args(["archive", action, "files", "--catalogue", "catalogue"])
            .args(args);
        command
    }

    fn run(&self, action: &str, args: &[&str]) -> Ended {
        end(&mut self.command(action, args))
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    File {
        path: String,
        path_hex: Option<String>,
        verdict: String,
        size: Option<u64>,
        from: Option<Place>,
        rot_since: Option<i64>,
        message: Option<String>,
    },
    Summary {
        action: String,
        files: Counts,
        read_bytes: u64,
        left_files: u64,
        left_out: u64,
        interrupted: bool,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    path: String,
    path_hex: Option<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    unchanged: u64,
    intact: u64,
    repaired: u64,
    new: u64,
    moved: u64,
    copied: u64,
    changed: u64,
    rot: u64,
    missing: u64,
    unstable: u64,
    unreadable: u64,
}

fn lines(ended: &Ended) -> Vec<Line> {
    let lines = ended.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn ended(code: i32, stdout: &str) -> Ended {
    Ended {
        code: Some(code),
        stdout: stdout.into(),
        stderr: String::new(),
    }
}

#[test]
fn each_run_reports_what_has_happened() {
    let archive = Archive::new(&[("a", "one"), ("b/c", "two"), ("d", "three")]);
    let new = ended(0, "3 files, 11 bytes read: 3 new\n");
    assert_eq!(archive.run("update", &[]), new);
    let same = ended(0, "3 files, 0 bytes read: 3 unchanged\n");
    assert_eq!(archive.run("update", &[]), same);
    let intact = ended(0, "3 files, 11 bytes read: 3 intact\n");
    assert_eq!(archive.run("check", &[]), intact);
    assert_eq!(archive.run("scrub", &[]), intact);
    assert_eq!(archive.run("scrub", &["--oldest"]), intact);
    assert_eq!(
        archive.run("scrub", &["--oldest=30d"]),
        ended(0, "0 files, 0 bytes read\n")
    );
    assert_eq!(
        archive.run("scrub", &["--budget", "3"]),
        ended(
            0,
            "1 file, 3 bytes read: 1 intact, 2 left for the next scrub\n"
        )
    );

    fs::rename(archive.path("a"), archive.path("z")).unwrap();
    archive.write("b/c", "changed");
    archive.write("copy", "three");
    archive.write("new", "");
    let check = archive.run("check", &[]);
    let expected = "\
changed   b/c
moved     z  from a
copied    copy  of d
new       new
5 files, 20 bytes read: 1 intact, 1 new, 1 moved, 1 copied, 1 changed\n";
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(Into::into).collect();
        lines.sort();
        lines
    };
    assert_eq!(check.code, Some(1), "{check:?}");
    assert_eq!(sorted(&check.stdout), sorted(expected));
    let update = archive.run("update", &[]);
    assert_eq!(update.code, Some(0), "{update:?}");
    let expected = expected
        .replace("new       new\n", "")
        .replace("20 bytes read: 1 intact, ", "15 bytes read: 1 unchanged, ");
    assert_eq!(sorted(&update.stdout), sorted(&expected));
    assert_eq!(archive.run("check", &["-q"]), ended(0, ""));
}

#[test]
fn rot_and_loss_never_exit_with_0() {
    let archive = Archive::new(&[("a", "one"), ("b", "two")]);
    archive.run("update", &[]);
    archive.rot("a", "ONE");
    for action in ["check", "scrub", "update"] {
        let rot = archive.run(action, &["-q"]);
        let expected = "rot       a  its content changed, its time did not\n";
        assert_eq!(rot, ended(1, expected), "{action}");
    }
    archive.rot("a", "one");
    let repaired = archive.run("update", &[]);
    let expected = "repaired  a\n2 files, 3 bytes read: 1 unchanged, 1 repaired\n";
    assert_eq!(repaired, ended(0, expected));

    fs::remove_file(archive.path("b")).unwrap();
    for action in ["check", "scrub", "update"] {
        assert_eq!(archive.run(action, &["-q"]), ended(1, "missing   b\n"));
    }
    let forgotten = archive.run("update", &["--forget"]);
    assert_eq!(
        forgotten,
        ended(
            1,
            "missing   b\n2 files, 0 bytes read: 1 unchanged, 1 missing\n"
        )
    );
    assert_eq!(archive.run("check", &["-q"]), ended(0, ""));
}

#[test]
fn json_lines_have_the_documented_fields() {
    let archive = Archive::new(&[("a", "one")]);
    archive.run("update", &[]);
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    archive.rot("a", "ONE");
    archive.write("copy", "one");
    std::os::unix::fs::symlink("a", archive.path("link")).unwrap();
    let ended = archive.run("check", &["--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let [
        Line::File {
            rot_since: Some(found),
            ..
        },
        copy,
        summary,
    ] = &lines(&ended)[..]
    else {
        panic!("{}", ended.stdout);
    };
    assert!(found.unsigned_abs() >= since);
    let from = Place {
        path: "a".into(),
        path_hex: None,
    };
    let copied = Line::File {
        path: "copy".into(),
        path_hex: None,
        verdict: "copied".into(),
        size: Some(3),
        from: Some(from),
        rot_since: None,
        message: None,
    };
    assert_eq!(*copy, copied);
    let counts = Counts {
        copied: 1,
        rot: 1,
        ..Counts::default()
    };
    let expected = Line::Summary {
        action: "check".into(),
        files: counts,
        read_bytes: 6,
        left_files: 0,
        left_out: 1,
        interrupted: false,
    };
    assert_eq!(*summary, expected);
}

/// What cannot be read has no verdict: it is neither missing nor right.
#[test]
fn unreadable_files_and_folders_are_errors_and_not_missing() {
    use std::os::unix::fs::PermissionsExt as _;
    if !can_drop_privileges() {
        return;
    }
    let archive = Archive::new(&[
        ("a", "one"),
        ("shut/b", "two"),
        ("shut/c/d", "x"),
        ("z", "y"),
    ]);
    let mode = |path: &str, mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(archive.path(path), mode).unwrap();
    };
    fs::set_permissions(archive.root.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let run = |action: &str| {
        let mut command = archive.command(action, &[]);
        drop_privileges(&mut command);
        end(&mut command)
    };
    assert_eq!(run("update").code, Some(0));
    mode("shut", 0o000);
    mode("z", 0o000);
    let check = run("check");
    mode("shut", 0o755);
    mode("z", 0o644);
    assert_eq!(check.code, Some(2), "{check:?}");
    assert_eq!(
        check.stdout,
        "3 files, 3 bytes read: 1 intact, 2 unreadable\n"
    );
    let expected = "hashlane: files/shut/: Permission denied (os error 13)\n\
                    hashlane: files/z: Permission denied (os error 13)\n";
    assert_eq!(check.stderr, expected);
    // The times of the last change are others.
    let update = run("update");
    assert_eq!(
        update,
        ended(0, "4 files, 1 byte read: 3 unchanged, 1 intact\n")
    );
}

#[test]
fn catalogues_that_cannot_be_used_are_refused() {
    let archive = Archive::new(&[("a", "one")]);
    let fails = |action: &str, args: &[&str], reason: &str| {
        let failed = archive.run(action, args);
        let expected = Ended {
            code: Some(2),
            stdout: String::new(),
            stderr: format!("hashlane: {reason}\n"),
        };
        assert_eq!(failed, expected, "{action}");
    };
    let all = |reason: &str, update_too: bool| {
        for (action, args) in [
            ("update", &[][..]),
            ("scrub", &[]),
            ("check", &[]),
            ("export", &["--json"]),
        ] {
            if update_too || action != "update" {
                fails(action, args, reason);
            }
        }
    };
    all(
        "catalogue: no catalogue: make it with `hashlane archive update`",
        false,
    );
    assert!(!archive.root.path().join("catalogue").exists());
    fs::write(archive.root.path().join("catalogue"), "text ".repeat(999)).unwrap();
    all(
        "catalogue: is no catalogue of `hashlane archive`: name another file with --catalogue",
        true,
    );
    fs::remove_file(archive.root.path().join("catalogue")).unwrap();
    assert_eq!(archive.run("update", &[]).code, Some(0));
    let bytes = fs::read(archive.root.path().join("catalogue")).unwrap();
    // The schema version, at offset 60 of the header of SQLite.
    let mut newer = bytes.clone();
    newer[60..64].copy_from_slice(&9_u32.to_be_bytes());
    fs::write(archive.root.path().join("catalogue"), newer).unwrap();
    all(
        "catalogue: has schema version 9, but this program knows only 1: use a newer version of hashlane",
        true,
    );
    let mut damaged = bytes.clone();
    damaged[4096..8192].fill(0x55);
    fs::write(archive.root.path().join("catalogue"), damaged).unwrap();
    for action in ["update", "scrub", "check"] {
        let failed = archive.run(action, &[]);
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(2), ""));
        assert!(
            failed.stderr.contains("catalogue: is damaged ("),
            "{failed:?}"
        );
    }
    let none = end(hashlane().args(["archive", "update", "no such folder"]));
    let expected = "hashlane: no such folder: No such file or directory (os error 2)\n";
    assert_eq!((none.code, none.stderr.as_str()), (Some(2), expected));
}

#[test]
fn the_catalogue_lies_in_the_folder_by_default() {
    let archive = Archive::new(&[("a", "one")]);
    for _ in 0..2 {
        let mut update = hashlane();
        update.current_dir(archive.root.path());
        let updated = end(update.args(["archive", "update", "files", "--json"]));
        assert_eq!(updated.code, Some(0), "{updated:?}");
        assert!(!updated.stdout.contains("sqlite"), "{}", updated.stdout);
    }
    assert!(archive.path(".hashlane-archive.sqlite").exists());
    let mut export = hashlane();
    export.current_dir(archive.root.path());
    let exported = end(export.args(["archive", "export", "files", "--format", "sha256sum"]));
    let one = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    assert_eq!(exported, ended(0, &format!("{one}  a\n")));
}

/// A moved folder was a line for each file, among which rot was lost.
#[test]
fn a_moved_folder_has_one_line_and_bad_files_come_last() {
    let archive = Archive::new(&[("a/1", "one"), ("a/sub/2", "two"), ("b", "b"), ("z", "z")]);
    archive.write("c", "c");
    assert_eq!(archive.run("update", &[]).code, Some(0));
    fs::rename(archive.path("a"), archive.path("new")).unwrap();
    fs::rename(archive.path("c"), archive.path("d")).unwrap();
    archive.rot("b", "B");
    fs::remove_file(archive.path("z")).unwrap();
    let ended = archive.run("update", &[]);
    let expected = "moved     new/  from a/  2 files\n\
                    moved     d  from c\n\
                    rot       b  its content changed, its time did not\n\
                    missing   z\n";
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.starts_with(expected), "{}", ended.stdout);
    let ended = archive.run("check", &[]);
    let lines: Vec<&str> = ended.stdout.lines().map(|line| &line[..7]).collect();
    assert_eq!(lines[..2], ["rot    ", "missing"], "{}", ended.stdout);
}

/// "moved é from é" told nobody what had changed.
#[test]
fn a_name_in_another_unicode_form_is_said_to_be_one() {
    let (nfc, nfd) = ("\u{e9}", "e\u{301}");
    let archive = Archive::new(&[(nfc, "1")]);
    assert_eq!(archive.run("update", &[]).code, Some(0));
    fs::rename(archive.path(nfc), archive.path(nfd)).unwrap();
    let ended = archive.run("update", &[]);
    let expected = format!("moved     {nfd}  from {nfc}  the same name in another Unicode form\n");
    assert!(ended.stdout.starts_with(&expected), "{}", ended.stdout);
}

/// `--quiet` left out the changed files that are the reason for the exit status.
#[test]
fn quiet_and_list_bad_name_each_file_that_the_exit_status_is_about() {
    let archive = Archive::new(&[("changed", "1"), ("line\nfeed", "2"), ("ok", "3")]);
    assert_eq!(archive.run("update", &[]).code, Some(0));
    archive.write("changed", "one");
    archive.rot("line\nfeed", "x");
    archive.write("new", "4");
    for action in ["check", "scrub"] {
        let ended = archive.run(action, &["--quiet"]);
        assert_eq!(ended.code, Some(1));
        assert!(
            ended.stdout.starts_with("changed   changed\nrot "),
            "{}",
            ended.stdout
        );
        assert_eq!(ended.stdout.lines().count(), 2, "{}", ended.stdout);
        let ended = archive.run(action, &["--list-bad"]);
        let mut lines: Vec<&str> = ended.stdout.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["\\line\\nfeed", "changed"]);
    }
    // An update takes changes for right.
    let ended = archive.run("update", &["--list-bad"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), "\\line\\nfeed\n")
    );
}
