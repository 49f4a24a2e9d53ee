//! Exported lists, checked by the programs whose form they have.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Archive;
use crate::fixture::{Ended, bagit_python, end};
use crate::not_run::{is_installed, not_run_unless_required};

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
    if !is_installed("HASHDEEP", "hashdeep", "hashdeep") {
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

#[test]
fn bagit_python_accepts_the_manifest() {
    let Some(program) = bagit_python() else {
        return;
    };
    let archive = archive();
    // Not a name with a percent sign, which bagit-python reads as in version 0.97.
    for (path, content) in [("~a", "four"), ("line\nfeed", "five")] {
        archive.write(path, content);
    }
    archive.run("update", &[]);
    let bag = archive.root.path().join("bag");
    fs::create_dir(&bag).unwrap();
    let manifest = ["--format", "bagit", "-o", "bag/manifest-sha256.txt"];
    assert_eq!(archive.run("export", &manifest).code, Some(0));
    fs::rename(archive.path(""), bag.join("data")).unwrap();
    let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    fs::write(bag.join("bagit.txt"), declaration).unwrap();
    let python = || end(Command::new(&program).arg("--validate").arg(&bag));
    let hashlane = || {
        end(crate::fixture::hashlane()
            .args(["bag", "validate"])
            .arg(&bag))
    };
    let valid = python();
    assert_eq!(valid.code, Some(0), "{valid:?}");
    assert_eq!(hashlane().code, Some(0));
    fs::write(bag.join("data/a"), "two").unwrap();
    let damaged = python();
    assert_eq!(damaged.code, Some(1), "{damaged:?}");
    assert_eq!(hashlane().code, Some(1));
}

#[test]
fn a_name_that_bagit_cannot_have_is_reported() {
    use std::os::unix::ffi::OsStrExt as _;
    let archive = archive();
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    fs::write(archive.path("").join(name), "four").unwrap();
    archive.run("update", &[]);
    let exported = export(&archive, "bagit");
    assert_eq!(exported.code, Some(2));
    let reason = "left out, because a manifest of BagIt can only have names in UTF-8\n";
    assert!(exported.stderr.ends_with(reason), "{}", exported.stderr);
    let list = fs::read_to_string(archive.root.path().join("list")).unwrap();
    assert_eq!(list.lines().count(), 4, "{list}");
}

/// Prints the columns and the rows of a Parquet file as JSON.
const READ_PARQUET: &str = "
import json, sys, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
rows = [{**row, 'sha256': row['sha256'].hex()} for row in table.to_pylist()]
print(json.dumps([{field.name: str(field.type) for field in table.schema}, rows]))
";

/// Returns a command of Python with pyarrow, which the tests of the Python package install.
fn python_with_pyarrow() -> Option<Command> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for program in [
        &root.join("target/python/test/bin/python"),
        Path::new("python3"),
    ] {
        let mut import = Command::new(program);
        import.args(["-c", "import pyarrow.parquet"]);
        if import.output().is_ok_and(|output| output.status.success()) {
            return Some(Command::new(program));
        }
    }
    not_run_unless_required(
        "PYARROW",
        "the comparison with pyarrow",
        "it is not installed",
        "cargo xtask test-python, or pip install pyarrow",
    );
    None
}

#[test]
fn pyarrow_reads_the_parquet_file() {
    use serde_json::{Value, json};
    let Some(mut python) = python_with_pyarrow() else {
        return;
    };
    let archive = archive();
    assert_eq!(export(&archive, "parquet").code, Some(0));
    let read = end(python
        .args(["-c", READ_PARQUET])
        .arg(archive.root.path().join("list")));
    assert_eq!(read.code, Some(0), "{read:?}");
    let [types, Value::Array(rows)]: [Value; 2] = serde_json::from_str(&read.stdout).unwrap()
    else {
        panic!("{}", read.stdout);
    };
    let expected = json!({
        "path": "string", "path_hex": "string", "size": "int64", "mtime_ns": "int64", "ctime_ns": "int64",
        "inode": "uint64", "sha256": "fixed_size_binary[32]", "first_checked": "int64",
        "last_checked": "int64", "rot_since": "int64",
    });
    assert_eq!(types, expected);
    // The same as the JSON lines, which have no `path_hex` for a path in UTF-8.
    let lines = archive.run("export", &["--json"]).stdout;
    let lines = lines.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let fields = row.as_object_mut().unwrap();
        fields.remove("type");
        fields.entry("path_hex").or_insert(Value::Null);
        row
    });
    assert_eq!(rows, lines.collect::<Vec<_>>());
    assert_eq!(rows.len(), 4);
}
