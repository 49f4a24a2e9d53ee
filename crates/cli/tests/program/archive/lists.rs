//! Exported lists, checked by the programs whose form they have.

use std::fs;
use std::process::{Command, Stdio};

use super::Archive;
use crate::fixture::{Ended, end};

fn archive() -> Archive {
    let archive = Archive::new(&[
        ("a", "one"),
        ("na,me \"q\"", "two"),
        ("b/back\\slash", "three"),
        ("empty", ""),
    ]);
    assert_eq!(archive.run("update", &[]).code, Some(0));
    archive
}

fn export(archive: &Archive, form: &str) -> Ended {
    archive.run("export", &["--format", form, "-o", "list"])
}

/// Runs a program in the folder of the archive.
fn judge(archive: &Archive, program: &str, args: &[&str]) -> Ended {
    let mut command = Command::new(program);
    command
        .current_dir(archive.path(""))
        .args(args)
        .stdin(Stdio::null());
    end(&mut command)
}

#[test]
fn sha256sum_accepts_the_list() {
    let archive = archive();
    archive.write("line\nfeed", "four");
    archive.run("update", &[]);
    assert_eq!(export(&archive, "sha256sum").code, Some(0));
    let check = ["-c", "--strict", "--quiet", "../list"];
    let accepted = judge(&archive, "sha256sum", &check);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    archive.write("b/back\\slash", "other");
    assert_eq!(judge(&archive, "sha256sum", &check).code, Some(1));
    let exists = export(&archive, "sha256sum");
    assert_eq!(exists.code, Some(2), "{exists:?}");
}

#[test]
fn hashdeep_accepts_the_list() {
    if Command::new("hashdeep").arg("-V").output().is_err() {
        assert!(
            std::env::var_os("HASHLANE_TEST_REQUIRE_HASHDEEP").is_none(),
            "hashdeep is not installed"
        );
        eprintln!("NOT RUN: hashdeep is not installed");
        return;
    }
    let archive = archive();
    assert_eq!(export(&archive, "hashdeep").code, Some(0));
    let audit = ["-a", "-vv", "-k", "../list", "-r", "-l", "."];
    let passed = judge(&archive, "hashdeep", &audit);
    assert_eq!(passed.code, Some(0), "{passed:?}");
    assert!(passed.stdout.contains("Audit passed"), "{passed:?}");
    assert!(passed.stdout.contains("Files matched: 4\n"), "{passed:?}");
    archive.write("a", "two");
    let failed = judge(&archive, "hashdeep", &audit);
    assert!(failed.stdout.contains("Audit failed"), "{failed:?}");
}

#[test]
fn a_name_that_hashdeep_cannot_have_is_reported() {
    let archive = archive();
    archive.write("line\nfeed", "four");
    archive.run("update", &[]);
    let exported = export(&archive, "hashdeep");
    assert_eq!(exported.code, Some(2));
    let reason = "line\\u{a}feed: left out, because a list of hashdeep cannot have a name with a line feed\n";
    assert_eq!(exported.stderr, format!("hashlane: {reason}"));
    let list = fs::read_to_string(archive.root.path().join("list")).unwrap();
    assert_eq!(list.lines().filter(|line| line.contains("./")).count(), 4);
}
