//! Files that are no ordinary .torrent, temporary files, and what error messages show of URLs.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::{demo, end, hashlane};
#[cfg(target_os = "linux")]
use crate::not_run::not_run;

/// Returns a new named pipe in a folder.
fn pipe_in(folder: &Path) -> std::path::PathBuf {
    let pipe = folder.join("pipe.torrent");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    pipe
}

#[test]
fn a_pipe_without_a_writer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = pipe_in(folder.path());
    for command in ["show", "verify", "magnet"] {
        // `timeout` ends a program that waits.
        let ended = end(Command::new("timeout")
            .args(["20", env!("CARGO_BIN_EXE_hashlane"), command])
            .arg(&pipe));
        assert_eq!(ended.code, Some(2), "{command}: {ended:?}");
        let message = "pipe.torrent: is a pipe that no program writes to\n";
        assert!(ended.stderr.ends_with(message), "{command}: {ended:?}");
    }
}

#[test]
fn a_pipe_with_a_writer_is_read_to_its_end() {
    let torrent = fs::read(demo().join("union-addresses.torrent")).unwrap();
    let show = |path: &str| {
        let mut child = hashlane()
            .args(["show", "--json", path])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let (first, rest) = torrent.split_at(10);
        stdin.write_all(first).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        stdin.write_all(rest).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        output.stdout
    };
    let file =
        end(hashlane()
            .current_dir(demo())
            .args(["show", "--json", "union-addresses.torrent"]));
    let piped = String::from_utf8(show("/dev/stdin")).unwrap();
    assert_eq!(
        piped.replace("/dev/stdin", "union-addresses.torrent"),
        file.stdout
    );
}

#[test]
fn passwords_of_urls_are_not_in_errors() {
    // Reports of a torrent name it without its URL.
    let (named, masked) = ("x.torrent of host: ", "http://user:***@host/");
    for (args, expected) in [
        (&["verify", "http://user:secret@host/x.torrent"][..], named),
        (&["show", "http://user:secret@host/x.torrent"], named),
        (
            &[
                "edit",
                "x.torrent",
                "--web-seed",
                "http://user:secret@host/ x",
            ],
            masked,
        ),
        (
            &["create", "x", "--announce", "http://user:secret@host/ \x1b"],
            masked,
        ),
        (&["http://user:secret@host/"], masked),
    ] {
        let ended = end(hashlane().args(args));
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
        assert!(!ended.stderr.contains("secret"), "{ended:?}");
    }
}

/// A magnet link or a URL in the place of a .torrent file.
#[test]
fn keys_of_links_in_the_wrong_place_are_not_printed() {
    const KEY: &str = "0123456789abcdef0123456789abcdef";
    let hash = "a".repeat(40);
    let link = format!("magnet:?xt=urn:btih:{hash}&tr=http%3A%2F%2Ft.example%2F{KEY}%2Fannounce");
    let url = format!("http://t.example/announce?passkey={KEY}");
    for given in [&*link, &url] {
        for args in [
            &["verify"][..],
            &["verify", "--json"],
            &["magnet"],
            &["magnet", "--json"],
            &["edit", "--comment", "x"],
            &["edit", "--comment", "x", "--json"],
            &["create"],
            &["sum"],
        ] {
            let ended = end(hashlane().args(args).arg(given));
            assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
            let is_printed = ended.stdout.contains(KEY) || ended.stderr.contains(KEY);
            assert!(!is_printed, "{args:?}: {ended:?}");
        }
    }
}

#[test]
fn temporary_files_of_another_create_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("c");
    fs::create_dir(&content).unwrap();
    for name in ["a", "b.tmp", ".hashlane-Ab1234.tmp"] {
        fs::write(content.join(name), name).unwrap();
    }
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["create", "c", "--json"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains(r#""files":2,"#), "{ended:?}");
}

/// A command that writes a file removes the temporary files of killed processes beside it, but not those in use.
#[test]
fn temporary_files_of_killed_processes_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let used = fs::File::create(path(".hashlane-usedxx.tmp")).unwrap();
    used.lock().unwrap();
    for name in [".hashlane-Ab1234.tmp", ".hashlane-other.tmp", "c"] {
        fs::write(path(name), name).unwrap();
    }
    let create = || {
        let mut command = hashlane();
        command.current_dir(folder.path());
        let ended = end(command.args(["create", "c", "--force"]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let kept = [
        ".hashlane-other.tmp",
        ".hashlane-usedxx.tmp",
        "c",
        "c.torrent",
    ];
    assert_eq!(create(), kept);
    drop(used);
    assert_eq!(create(), [kept[0], kept[2], kept[3]]);
}

/// An interrupted process leaves files that have names, so the new torrent gets its name when it is complete.
#[test]
#[cfg(target_os = "linux")]
fn a_new_torrent_has_no_temporary_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), "content").unwrap();
    let trace = folder.path().join("trace");
    let traced = Command::new("strace")
        .args([
            "-f",
            "-e",
            "trace=open,openat,linkat,rename,renameat,renameat2",
            "-o",
        ])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_hashlane"))
        .args(["create", "f", "--quiet"])
        .current_dir(folder.path())
        .status();
    let trace = fs::read_to_string(trace).unwrap_or_default();
    if !traced.is_ok_and(|status| status.success()) || trace.contains("EOPNOTSUPP") {
        return not_run(
            "names of temporary files",
            "strace traces nothing, or the file system has no O_TMPFILE",
            "apt-get install strace, and set TMPDIR to a folder on ext4, XFS, Btrfs or tmpfs",
        );
    }
    assert!(folder.path().join("f.torrent").exists());
    let named = trace.lines().find(|line| line.contains("O_CREAT"));
    assert_eq!(named, None);
    assert!(trace.contains("f.torrent\""), "{trace}");
}

/// The program hashes `/proc/self/limits`, in which the kernel describes the process that reads it.
#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_open_files_is_raised() {
    use sha1::{Digest as _, Sha1};

    let run = |soft: u32, hard: u32, program: &[&str]| {
        let limit = format!("ulimit -S -n {soft} && ulimit -H -n {hard} && exec \"$@\"");
        let mut command = Command::new("sh");
        end(command.args(["-c", &limit, "sh"]).args(program))
    };
    let hash = [
        env!("CARGO_BIN_EXE_hashlane"),
        "sha1sum",
        "/proc/self/limits",
    ];
    for (soft, hard, raised) in [
        (64, 256, 256),
        (64, 12_000, 10_240),
        (11_000, 12_000, 11_000),
    ] {
        let expected = run(raised, hard, &["cat", "/proc/self/limits"]);
        if expected.code != Some(0) && hard > 256 {
            not_run(
                &format!("the limit of {hard} open files"),
                &expected.stderr,
                "run where `ulimit -H -n` shows more",
            );
            continue;
        }
        assert_eq!(expected.code, Some(0), "{expected:?}");
        let limits = expected.stdout;
        assert!(limits.contains(&format!("Max open files            {raised} ")));
        let digest = Sha1::digest(limits);
        let digits = <[u8; 20]>::from(digest).map(|byte| format!("{byte:02x}"));
        let digits = digits.concat();
        let found = run(soft, hard, &hash);
        assert_eq!(found.stdout, format!("{digits}  /proc/self/limits\n"));
    }
}
