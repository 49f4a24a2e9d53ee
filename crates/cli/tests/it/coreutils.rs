//! `sha1sum`, `md5sum`, `b2sum` and the other drop-in programs: recorded results, and a comparison with coreutils
//! where version 9.1 is installed.
#![cfg(target_os = "linux")]

mod compared;
mod lists;
mod recorded;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// Names that need escapes or quotes, or look like something else.
const NAMES: [&[u8]; 33] = [
    b"a",
    b"e",
    b"b b",
    b"n\nl",
    b"c\rr",
    b"bs\\s",
    b"q\\\n\r",
    b"-dash",
    b"\xff\xfe",
    b"\xc3\xa9",
    b"it's",
    b"it's\n",
    b"\n'\n'",
    b"a'b\"c",
    b"a:b",
    b"#h",
    b"~t",
    b"x~",
    b"=x",
    b"tab\tx",
    b"\x01x",
    b"\x7f",
    b"{",
    b"{}",
    b" lead",
    b"*star",
    b"tr ",
    b"x)y",
    b"(p)",
    b"\\",
    b"\\n",
    b"%41",
    b"a@b",
];

/// Creates files with these names, folders, and dangling links in a temporary folder.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    for (i, name) in NAMES.iter().enumerate() {
        let bytes = if *name == b"e" {
            vec![]
        } else {
            name.repeat(i * 37 + 1)
        };
        fs::write(path(name), bytes).unwrap();
    }
    fs::write(path(b"big"), b"0123456789abcde".repeat(200_000)).unwrap();
    fs::create_dir(path(b"dir")).unwrap();
    fs::create_dir(path(b"d d")).unwrap();
    symlink("nowhere", path(b"dangling")).unwrap();
    symlink("loop", path(b"loop")).unwrap();
    folder
}

/// The result of a program. `both` holds the output and the errors from one pipe, to show their order.
#[derive(PartialEq, Eq)]
struct Ended {
    code: Option<i32>,
    signal: Option<i32>,
    both: Vec<u8>,
}

impl std::fmt::Debug for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = String::from_utf8_lossy(&self.both);
        write!(f, "{:?} {:?}\n{text}", self.code, self.signal)
    }
}

/// Runs `program` as `name` in a folder.
fn run(program: &Path, name: &str, args: &[&[u8]], folder: &Path, stdin: &[u8]) -> Ended {
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(stdin).unwrap();
    std::io::Seek::rewind(&mut input).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let args: Vec<OsString> = args
        .iter()
        .map(|arg| OsStr::from_bytes(arg).into())
        .collect();
    let mut command = Command::new(program);
    command
        .arg0(name)
        .args(args)
        .current_dir(folder)
        .stdin(input);
    command.env_clear().env("LC_ALL", "C");
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    // Closes the parent's end, so that the pipe ends with the child.
    drop(command);
    let mut both = Vec::new();
    std::io::Read::read_to_end(&mut reader, &mut both).unwrap();
    let status = child.wait().unwrap();
    Ended {
        code: status.code(),
        signal: status.signal(),
        both,
    }
}

fn ours() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hashlane"))
}

/// Runs a line of `sh`, in which `$sum` is the program, called `sha1sum`.
fn shell(line: &str, folder: &Path) -> Ended {
    let link = folder.join("bin");
    if !link.exists() {
        fs::create_dir(&link).unwrap();
        symlink(ours(), link.join("sha1sum")).unwrap();
    }
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder)
        .stdin(Stdio::null());
    command
        .env("PATH", format!("{}:/usr/bin:/bin", link.display()))
        .env("LC_ALL", "C");
    let output = command.stderr(Stdio::piped()).output().unwrap();
    Ended {
        code: output.status.code(),
        signal: output.status.signal(),
        both: [output.stdout, output.stderr].concat(),
    }
}

/// docs/reference/checksums.md describes the difference to GNU's programs in other locales.
#[test]
fn messages_are_those_of_the_locale_c_in_every_locale() {
    let quoted = r"'caf'$'\303\251'";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/checksums.md");
    assert!(fs::read_to_string(page).unwrap().contains(quoted));
    for locale in ["C", "C.UTF-8", "de_DE.UTF-8"] {
        let mut command = Command::new(ours());
        command.env("LC_ALL", locale).args(["sha256sum", "café"]);
        let output = command.output().unwrap();
        let message = format!("sha256sum: {quoted}: No such file or directory\n");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            message,
            "{locale}"
        );
    }
}
