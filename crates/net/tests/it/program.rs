//! The program itself: the version of its caller, and errors.

use std::process::Command;

fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    program.env_remove("HASHLANE_CALLER");
    program
}

/// Returns the exit status and the messages.
fn end(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_caller_of_another_version_is_refused() {
    let version = env!("CARGO_PKG_VERSION");
    // Before the command line is read, which the other version may have changed.
    let args = ["get", "--option-of-the-future"];
    let (code, stderr) = end(program().args(args).env("HASHLANE_CALLER", "99.0.1"));
    assert_eq!(code, Some(2));
    let expected = format!("is version {version}: install both from the same source");
    assert!(
        stderr.starts_with("hashlane: this is version 99.0.1, but "),
        "{stderr}"
    );
    assert!(stderr.contains(&expected), "{stderr}");
    let (code, stderr) = end(program().args(args).env("HASHLANE_CALLER", version));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("--option-of-the-future"), "{stderr}");
}

#[test]
fn messages_name_the_program_that_the_user_called() {
    let (_, stderr) = end(program().args(["get", "--nonsense", "a"]));
    assert!(stderr.contains("hashlane get"), "{stderr}");
    assert!(!stderr.contains("hashlane-net"), "{stderr}");
    let output = program().arg("-V").output().unwrap();
    assert!(output.stdout.starts_with(b"hashlane 0."));
}

/// A path cannot start a line of its own, or control the terminal.
#[test]
fn paths_in_errors_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let bad = "a\u{1b}[2J\nhashlane: other\u{202e}.torrent";
    for is_missing in [true, false] {
        for command in ["get", "seed"] {
            let args = [
                command,
                "--bind",
                "127.0.0.1",
                "--port",
                "0",
                "--no-dht",
                "--no-discovery",
                bad,
            ];
            let (code, stderr) = end(program().args(args).current_dir(folder.path()));
            assert_eq!(code, Some(2), "{stderr}");
            assert!(
                stderr.contains(r"a\u{1b}[2J\u{a}hashlane: other\u{202e}.torrent"),
                "{stderr}"
            );
            assert!(
                !stderr
                    .lines()
                    .any(|line| line.starts_with("hashlane: other")),
                "{stderr}"
            );
        }
        if is_missing {
            std::fs::write(folder.path().join(bad), "not a torrent").unwrap();
        }
    }
}

/// A folder with content, its torrent, and a configuration of `get` and `seed`.
#[cfg(unix)]
fn configured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::create_dir(path.join("content")).unwrap();
    std::fs::write(path.join("content/file"), "content").unwrap();
    let create = ["create", "--quiet", "content/file"];
    let (code, stderr) = end(program().args(create).current_dir(path));
    assert_eq!((code, &*stderr), (Some(0), ""));
    let text = "[network]\nbind = '127.0.0.1'\nport = 0\nno-dht = true\nno-discovery = true\n\
                [get]\ndir = 'content'\nlog = 'get.log'\nexec = 'printf %s \"$HASHLANE_NAME\" >> done'\n\
                [seed]\ndir = 'content'\nlog = 'seed.log'\nlog-level = 'debug'\nseed-time = 1\n";
    std::fs::write(path.join("config.toml"), text).unwrap();
    folder
}

#[cfg(unix)]
#[test]
fn get_and_seed_use_the_configuration() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = configured();
    let path = folder.path();
    std::fs::create_dir(path.join("elsewhere")).unwrap();
    let run = |args: &[&str]| {
        let mut program = program();
        program.args(args).current_dir(path.join("elsewhere"));
        program.env("HASHLANE_CONFIG", path.join("config.toml"));
        end(program.env("XDG_STATE_HOME", path))
    };
    let exists = |name: &str| path.join(name).exists();
    // Without the folder of the configuration, the content would be absent.
    for (command, log) in [("get", "get.log"), ("seed", "seed.log")] {
        let (code, stderr) = run(&[command, "../file.torrent"]);
        assert_eq!((code, &*stderr), (Some(0), ""), "{command}");
        assert!(exists(log), "{command}");
    }
    assert_eq!(std::fs::read(path.join("elsewhere/done")).unwrap(), b"file");
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path.join("config.toml"), mode(0o666)).unwrap();
    let (code, stderr) = run(&["get", "../file.torrent"]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("line 9: exec: commands are accepted only from"),
        "{stderr}"
    );
    // The command line replaces the command, whose file others can change.
    let (code, stderr) = run(&[
        "get",
        "../file.torrent",
        "--exec",
        "true",
        "--log",
        "other.log",
    ]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert!(exists("elsewhere/other.log"));
}
