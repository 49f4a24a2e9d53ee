//! Lists of `hashlane sum --format` that other programs check, and lists of these programs.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::fixture::{Ended, end, hashlane};

/// Names that all formats can have.
const FILES: [(&str, &str); 4] = [("a", "a"), ("d/b c", "b"), ("d/e/é", "e"), ("zero", "")];

fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// Returns `true` if a program is installed, and reports a missing one. The variable makes the test fail then.
fn has(program: &str) -> bool {
    let has = Command::new(program).arg("--version").output().is_ok();
    if !has {
        let is_required = std::env::var_os("HASHLANE_TEST_REQUIRE_LISTS").is_some();
        assert!(!is_required, "{program} is not installed");
        let _ = writeln!(std::io::stderr(), "NOT RUN: {program} is not installed");
    }
    has
}

fn run(folder: &Path, program: &str, args: &[&str]) -> Ended {
    end(Command::new(program).current_dir(folder).args(args))
}

/// Writes the list of all files of a tree, beside the tree.
fn write_list(root: &Path, format: &str, more: &[&str]) -> tempfile::TempPath {
    let list = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let mut sum = hashlane();
    sum.current_dir(root)
        .args(["sum", "-r", ".", "--format", format, "--force", "-o"])
        .arg(&list)
        .args(more);
    let ended = end(&mut sum);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{format}"
    );
    list
}

/// Checks a list with this program.
fn check(root: &Path, list: &Path) -> Ended {
    end(hashlane()
        .current_dir(root)
        .args(["sum", "--check"])
        .arg(list))
}

#[test]
fn each_format_is_read_again() {
    let root = tree();
    for format in ["gnu", "bsd", "hashdeep", "mtree", "sfv"] {
        let list = write_list(root.path(), format, &[]);
        let ended = check(root.path(), &list);
        assert_eq!(
            ended.code,
            Some(0),
            "{format}: {}{}",
            ended.stdout,
            ended.stderr
        );
        assert_eq!(ended.stdout, "4 files right\n", "{format}");
        fs::write(root.path().join("d/b c"), "x").unwrap();
        let ended = check(root.path(), &list);
        assert_eq!(ended.code, Some(1), "{format}");
        assert!(
            ended.stdout.contains("changed     "),
            "{format}: {}",
            ended.stdout
        );
        fs::write(root.path().join("d/b c"), "b").unwrap();
    }
}

#[test]
fn formats_refuse_what_they_cannot_have() {
    let root = tree();
    fs::write(root.path().join("line\nfeed"), "x").unwrap();
    for (format, code) in [("hashdeep", 2), ("sfv", 2), ("mtree", 0), ("gnu", 0)] {
        let ended = end(hashlane()
            .current_dir(root.path())
            .args(["sum", "-r", ".", "--format", format]));
        assert_eq!(ended.code, Some(code), "{format}: {}", ended.stderr);
        let message = "--format: the format cannot have this name\n";
        assert_eq!(
            ended.stderr.ends_with(message),
            code == 2,
            "{format}: {}",
            ended.stderr
        );
        assert!(ended.stdout.contains("zero"), "{format}");
    }
    for (args, message) in [
        (
            &["--format", "sfv", "-a", "md5"][..],
            "the format cannot have MD5",
        ),
        (
            &["--format", "hashdeep", "-a", "sha512"],
            "the format cannot have SHA512",
        ),
        (
            &["--format", "mtree", "-a", "blake3"],
            "the format cannot have BLAKE3",
        ),
        (
            &["--format", "mtree", "-a", "git"],
            "--format: a tree hash has none",
        ),
        (&["--format", "mtree", "--json"], "cannot be used with"),
    ] {
        let ended = end(hashlane()
            .current_dir(root.path())
            .args(["sum", "a"])
            .args(args));
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
    }
    let outside = end(hashlane()
        .current_dir(root.path().join("d"))
        .args(["sum", "../a", "--format", "mtree"]));
    assert_eq!(outside.code, Some(2));
}

#[test]
fn hashdeep_audits_a_list_and_its_list_is_checked() {
    if !has("hashdeep") {
        return;
    }
    let root = tree();
    for algorithms in ["md5,sha256", "sha1"] {
        let list = write_list(root.path(), "hashdeep", &["-a", algorithms]);
        let list = list.to_str().unwrap();
        let audit = ["-r", "-l", "-a", "-v", "-k", list, "."];
        let ended = run(root.path(), "hashdeep", &audit);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        assert!(
            ended.stdout.contains("Files matched: 4"),
            "{}",
            ended.stdout
        );
        fs::write(root.path().join("a"), "x").unwrap();
        assert_ne!(run(root.path(), "hashdeep", &audit).code, Some(0));
        fs::write(root.path().join("a"), "a").unwrap();
    }
    let theirs = run(root.path(), "hashdeep", &["-r", "-l", "."]);
    let list = tempfile::NamedTempFile::new().unwrap();
    fs::write(list.path(), theirs.stdout).unwrap();
    let ended = check(root.path(), list.path());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "4 files right\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn mtree_checks_a_specification_and_its_own_is_checked() {
    if !has("mtree") {
        return;
    }
    let root = tree();
    fs::write(root.path().join("odd #*\\=\n\té"), "odd").unwrap();
    for algorithms in ["sha256", "md5,sha1,sha384,sha512"] {
        let list = write_list(root.path(), "mtree", &["-a", algorithms]);
        let args = ["-f", list.to_str().unwrap(), "-p", "."];
        let ended = run(root.path(), "mtree", &args);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        fs::write(root.path().join("d/b c"), "x").unwrap();
        let ended = run(root.path(), "mtree", &args);
        assert_ne!(ended.code, Some(0), "{}", ended.stdout);
        assert!(ended.stdout.contains("b c"), "{}", ended.stdout);
        fs::write(root.path().join("d/b c"), "b").unwrap();
    }
    for args in [
        &["-c", "-k", "type,size,sha256,md5"][..],
        &["-c", "-K", "sha1"],
    ] {
        let theirs = run(root.path(), "mtree", &[args, &["-p", "."]].concat());
        let list = tempfile::NamedTempFile::new().unwrap();
        fs::write(list.path(), &theirs.stdout).unwrap();
        let ended = check(root.path(), list.path());
        let found = (ended.code, ended.stdout.as_str());
        assert_eq!(
            found,
            (Some(0), "5 files right\n"),
            "{args:?}: {}{}",
            theirs.stdout,
            ended.stderr
        );
    }
}

#[test]
fn cksfv_checks_a_list_and_its_list_is_checked() {
    if !has("cksfv") {
        return;
    }
    let root = tree();
    let list = write_list(root.path(), "sfv", &[]);
    let args = ["-q", "-f", list.to_str().unwrap()];
    let ended = run(root.path(), "cksfv", &args);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    fs::write(root.path().join("a"), "x").unwrap();
    assert_ne!(run(root.path(), "cksfv", &args).code, Some(0));
    fs::write(root.path().join("a"), "a").unwrap();
    let theirs = run(root.path(), "cksfv", &["a", "d/b c", "zero"]);
    let list = tempfile::NamedTempFile::new().unwrap();
    fs::write(list.path(), theirs.stdout).unwrap();
    let ended = check(root.path(), list.path());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "3 files right\n"),
        "{}",
        ended.stderr
    );
}

/// Lists of `md5sum`, which are named `.md5`.
#[test]
fn md5sum_checks_a_list() {
    let root = tree();
    let list = write_list(root.path(), "gnu", &["-a", "md5"]);
    let ended = run(
        root.path(),
        "md5sum",
        &["--quiet", "-c", list.to_str().unwrap()],
    );
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), ""),
        "{}",
        ended.stderr
    );
}

/// mtree has two keywords for each algorithm, and both must be right.
#[test]
fn a_list_can_name_an_algorithm_twice() {
    const OF_A: [(&str, &str); 3] = [
        ("md5", "0cc175b9c0f1b6a831c399e269772661"),
        ("sha1", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
        (
            "sha256",
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        ),
    ];
    let root = tree();
    let list = tempfile::NamedTempFile::new().unwrap();
    for (keyword, digest) in OF_A {
        let wrong = digest.replace('c', "d").replace("86", "87");
        for (second, code) in [(digest, 0), (&*wrong, 1)] {
            let line = format!("a type=file {keyword}={digest} {keyword}digest={second}\n");
            fs::write(list.path(), format!("#mtree\n{line}")).unwrap();
            let ended = check(root.path(), list.path());
            assert_eq!(ended.code, Some(code), "{line}{}", ended.stderr);
        }
    }
    for (algorithm, digest) in OF_A {
        let twice = format!("{algorithm},{algorithm}");
        let ended = end(hashlane()
            .current_dir(root.path())
            .args(["sum", "-a", &twice, "a", "d/b c"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ended.stdout.matches(digest).count(), 2, "{}", ended.stdout);
    }
}
