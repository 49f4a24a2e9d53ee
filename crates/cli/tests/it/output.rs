//! Output that cannot be written: a closed pipe, and a full disk.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use crate::fixture::{Fixture, demo, end, hashlane, verify_demo};

/// Returns a pipe whose reader is closed.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Returns the exit status and the errors of a command whose output pipe is closed.
fn end_unread(command: &mut Command) -> (Option<i32>, String) {
    let output = command
        .stdout(closed_pipe())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_closed_pipe_does_not_change_the_verdict() {
    for options in [&[][..], &["--json"], &["--quiet"], &["--quiet", "--json"]] {
        for (folder, status, verdict) in [
            ("good", 0, ""),
            ("damaged", 1, "1 bad of 20 pieces"),
            ("nowhere", 1, "20 missing of 20 pieces"),
        ] {
            let (code, stderr) = end_unread(verify_demo(folder).args(options));
            assert_eq!(code, Some(status), "{folder} {options:?}");
            let is_named = options == ["--quiet"] && status == 1;
            let expected = format!("hashlane: union-addresses.torrent: {verdict}\n");
            let expected = if is_named { &expected } else { "" };
            assert_eq!(stderr, expected, "{folder} {options:?}");
        }
    }
}

/// The report of the first torrent exceeds any buffer, so writing fails in the middle.
#[test]
fn after_a_closed_pipe_all_other_torrents_are_checked() {
    let names: Vec<String> = (0..2000).map(|i| format!("file{i:04}")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (&name[..], &b"1234"[..])).collect();
    let many = Fixture::new("many", 4, &files);
    for options in [&["--verbose"][..], &["--json"]] {
        let mut verify = many.verify();
        let ended = end_unread(verify.args(options));
        assert_eq!(ended, (Some(0), String::new()), "{options:?}");
        let mut verify = many.verify();
        verify.arg(demo().join("union-addresses.torrent"));
        let ended = end_unread(verify.args(options).arg("-d").arg(many.folder.path()));
        assert_eq!(ended, (Some(1), String::new()), "{options:?}");
        let mut verify = many.verify();
        let (code, stderr) = end_unread(verify.args(options).arg("no.torrent"));
        assert_eq!(code, Some(2), "{options:?}");
        assert!(stderr.starts_with("hashlane: no.torrent: "), "{stderr}");
    }
}

#[test]
fn a_bitfield_is_written_after_a_closed_pipe() {
    let folder = tempfile::tempdir().unwrap();
    for (number, options) in [&[][..], &["--json"], &["--quiet"]].iter().enumerate() {
        let bits = folder.path().join(format!("bits{number}"));
        let mut verify = verify_demo("damaged");
        verify.args(*options).arg("--bitfield").arg(&bits);
        assert_eq!(end_unread(&mut verify).0, Some(1));
        assert_eq!(fs::read(&bits).unwrap(), [0xff, 0b1111_1011, 0b1111_0000]);
    }
}

#[test]
fn a_closed_error_stream_does_not_change_the_verdict() {
    for (args, status) in [
        (&["union-addresses.torrent", "-d", "damaged"][..], 1),
        (&["no.torrent"], 2),
        (&["no.torrent", "--json"], 2),
        (&["--frobnicate"], 2),
    ] {
        for stdout in [Stdio::null(), closed_pipe()] {
            let mut verify = hashlane();
            verify.current_dir(demo()).arg("verify").args(args);
            verify.stdout(stdout).stderr(closed_pipe());
            assert_eq!(verify.status().unwrap().code(), Some(status), "{args:?}");
        }
    }
}

/// A command that only prints has done its work when its reader has read enough.
#[test]
fn a_closed_pipe_is_quiet_for_commands_that_only_print() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["show", "union-addresses.torrent"],
        &["show", "union-addresses.torrent", "--json"],
        &["magnet", "union-addresses.torrent"],
        &["completions", "bash"],
        &["man"],
    ] {
        let ended = end_unread(hashlane().current_dir(demo()).args(args));
        assert_eq!(ended, (Some(0), String::new()), "{args:?}");
    }
}

/// Commands whose work is their output have lost some of it. No message is printed, as usual for a closed pipe.
#[test]
fn a_closed_pipe_stops_commands_whose_results_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("a"), "a").unwrap();
    fs::write(path("key"), "key").unwrap();
    fs::write(
        path("list"),
        "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8  a\n",
    )
    .unwrap();
    let mac = "780c3db4ce3de5b9e55816fba98f590631d96c075271b26976238d5f4444219b";
    let hmac = &["mac", "-a", "sha256_hmac", "-k", "key"];
    let address = "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71";
    for (args, status) in [
        (&["sum", "a"][..], 2),
        (&["sum", "--json", "a"], 2),
        (&["sum", "--check", "list"], 0),
        (&["recover", address], 2),
        (&["recover", "--json", address], 2),
        (&["digest", "-l"], 2),
        (&["digest", "-a", "sha1", "a"], 2),
        (&[&hmac[..], &["a"]].concat(), 2),
        (&[&hmac[..], &["--verify", mac, "a"]].concat(), 0),
        (
            &[&hmac[..], &["--verify", &mac.replace("78", "87"), "a"]].concat(),
            1,
        ),
    ] {
        let (code, stderr) = end_unread(hashlane().current_dir(folder.path()).args(args));
        assert_eq!(code, Some(status), "{args:?}");
        let is_other = status == 1;
        assert_eq!(stderr.is_empty(), !is_other, "{args:?}: {stderr}");
    }
}

/// A full disk is an error of every command, whatever its result.
#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_end_with_2() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["--help"][..],
        &["--version"],
        &["verify", "union-addresses.torrent", "-d", "good"],
        &["verify", "union-addresses.torrent", "-d", "good", "--json"],
        &["verify", "union-addresses.torrent", "-d", "damaged"],
        &["show", "union-addresses.torrent"],
        &["magnet", "union-addresses.torrent"],
        &["completions", "bash"],
        &["man"],
        &["recover", "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71"],
        &["sum", "union-addresses.torrent"],
    ] {
        let full = File::create("/dev/full").unwrap();
        let mut command = hashlane();
        command.current_dir(demo()).args(args).stdout(full);
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let expected = "hashlane: standard output: No space left on device";
        assert!(stderr.starts_with(expected), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    }
    // `create` still writes the .torrent file, and the message does not claim otherwise.
    let torrent = folder.path().join("new.torrent");
    let mut create = hashlane();
    create.current_dir(demo()).args(["create", "good", "-o"]);
    create
        .arg(&torrent)
        .stdout(File::create("/dev/full").unwrap());
    assert_eq!(
        create.stderr(Stdio::null()).status().unwrap().code(),
        Some(2)
    );
    assert!(torrent.is_file());
    // Nothing is printed, so no output is lost.
    let mut quiet = verify_demo("good");
    quiet.arg("-q").stdout(File::create("/dev/full").unwrap());
    assert_eq!(quiet.status().unwrap().code(), Some(0));
}

#[test]
fn colors_follow_the_option_and_the_standard_variables() {
    let is_colored = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = verify_demo("good");
        command.args(args).envs(variables.iter().copied());
        let ended = end(&mut command);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout.contains("\x1b[")
    };
    for (args, variables, expected) in [
        (&[][..], &[][..], false),
        (&["--color", "always"], &[], true),
        (&["--color", "auto"], &[], false),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&["--color=never"], &[("CLICOLOR_FORCE", "1")], false),
        (&["--color=always"], &[("NO_COLOR", "1")], true),
    ] {
        assert_eq!(
            is_colored(args, variables),
            expected,
            "{args:?} {variables:?}"
        );
    }
    // A command that is parsed with the definition of all commands.
    let config = end(hashlane().args(["config", "--color", "always"]));
    assert_eq!((config.code, &*config.stderr), (Some(0), ""));
}
