//! Processes with few descriptors, no new thread, or a small stack.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::fixture::{Ended, can_drop_privileges, drop_privileges, end, hashlane};
use crate::not_run::{is_installed, not_run_unless_required};

/// A folder of small files, some of them in folders of folders, and one file that can be mapped.
fn content() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d/e/f/g");
    fs::create_dir_all(&deep).unwrap();
    for i in 0..100 {
        fs::write(folder.path().join("d").join(i.to_string()), i.to_string()).unwrap();
        fs::write(deep.join(i.to_string()), vec![i; 20_000]).unwrap();
    }
    fs::write(deep.join("large"), vec![1; 3 << 20]).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let created = end(hashlane()
        .current_dir(folder.path())
        .args(["create", "-q", "-l", "14", "d"]));
    assert_eq!(created.code, Some(0), "{created:?}");
    folder
}

/// Arguments of commands that open many files.
fn commands(folder: &Path) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<String>> = [
        "sum -r d -t 1",
        "sum -r d -t 16",
        "verify d.torrent -t 1",
        "verify d.torrent -t 16",
        "create -q -n x -o - d",
    ]
    .map(|line| line.split(' ').map(str::to_owned).collect())
    .into();
    let names = fs::read_dir(folder.join("d")).unwrap();
    let names = names.map(|entry| entry.unwrap().path());
    let files = names.filter(|path| path.is_file());
    let files = files.map(|path| path.to_str().unwrap().to_owned());
    commands.push(
        std::iter::once("sha256sum".to_owned())
            .chain(files)
            .collect(),
    );
    commands
}

/// Returns the end of a command without the time that it took.
fn ended(mut command: Command) -> (Option<i32>, Vec<u8>, String) {
    let output = command.output().unwrap();
    let is_digest = |line: &&[u8]| !line.windows(11).any(|part| part == b"checked in ");
    let lines = output.stdout.split(|c| *c == b'\n').filter(is_digest);
    let stdout = lines.collect::<Vec<_>>().join(&b'\n');
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stdout, stderr)
}

/// Each result is that of a process without limits. `timeout` ends a program that waits for a descriptor.
#[test]
fn few_descriptors_are_enough() {
    let folder = content();
    for args in commands(folder.path()) {
        let mut expected = hashlane();
        expected.current_dir(folder.path()).args(&args);
        let expected = ended(expected);
        assert_eq!(expected.0, Some(0), "{args:?}: {expected:?}");
        for limit in [4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 64] {
            let mut limited = Command::new("sh");
            limited
                .args(["-c", &format!("ulimit -n {limit} && exec \"$@\"")])
                .args(["sh", "timeout", "60", env!("CARGO_BIN_EXE_hashlane")])
                .args(&args)
                .current_dir(folder.path());
            let (code, stdout, stderr) = ended(limited);
            assert_eq!(code, Some(0), "{limit} {args:?}: {stderr}");
            assert!(stdout == expected.1, "{limit} {args:?}: {stderr}");
        }
    }
}

/// Returns a command of a process that can start no thread, or `None` if this machine cannot run it.
pub(crate) fn without_threads() -> Option<Command> {
    if !can_drop_privileges() || !is_installed("PRLIMIT", "prlimit", "util-linux") {
        return None;
    }
    let limited = || {
        let mut command = Command::new("prlimit");
        command.args(["--nproc=1", env!("CARGO_BIN_EXE_hashlane")]);
        // The superuser has no such limit.
        drop_privileges(&mut command);
        command
    };
    let runs = limited().arg("-V").output();
    if runs.is_ok_and(|output| output.status.success()) {
        return Some(limited());
    }
    not_run_unless_required(
        "PRLIMIT",
        "commands that can start no thread",
        "they cannot start at all with this limit",
        "run as root, while the user `nobody` runs nothing else",
    );
    None
}

#[test]
fn no_thread_is_needed() {
    let folder = content();
    for args in commands(folder.path()) {
        let Some(mut limited) = without_threads() else {
            return;
        };
        let mut expected = hashlane();
        expected.current_dir(folder.path()).args(&args);
        limited.current_dir(folder.path()).args(&args);
        let (expected, (code, stdout, stderr)) = (ended(expected), ended(limited));
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        assert!(stdout == expected.1, "{args:?}: {stderr}");
    }
}

#[test]
fn a_search_without_threads_names_the_limit() {
    let Some(mut limited) = without_threads() else {
        return;
    };
    let address = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Z?X71";
    let Ended { code, stderr, .. } = end(limited.args(["recover", address]));
    assert_eq!(code, Some(2), "{stderr}");
    let expected =
        "cannot start a thread: Resource temporarily unavailable (os error 11); `ulimit -u`";
    assert!(stderr.contains(expected), "{stderr}");
}

#[test]
fn a_small_stack_is_enough() {
    let folder = content();
    let mut commands = commands(folder.path());
    commands.push(vec!["--help".into()]);
    commands.push(vec!["show".into(), "d.torrent".into()]);
    for args in commands {
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "ulimit -s 64 && exec \"$@\"", "sh"])
            .arg(env!("CARGO_BIN_EXE_hashlane"))
            .args(&args)
            .current_dir(folder.path());
        let mut expected = hashlane();
        expected.current_dir(folder.path()).args(&args);
        let (expected, (code, stdout, stderr)) = (ended(expected), ended(limited));
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        assert!(stdout == expected.1, "{args:?}: {stderr}");
    }
}
