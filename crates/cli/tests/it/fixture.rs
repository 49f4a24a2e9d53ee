//! Runs the program, and creates torrents for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sha1::{Digest as _, Sha1};

#[cfg(unix)]
use crate::not_run::not_run;
use crate::not_run::not_run_unless_required;

/// Returns a command for the program, without environment variables that could change its
/// behaviour.
pub(crate) fn hashlane() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane"));
    command
        .stdin(Stdio::null())
        .env_remove("HASHLANE_BACKEND")
        .env("HASHLANE_CONFIG", "/dev/null")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("NO_COLOR");
    command
}

/// Returns the demo folder of the workspace.
pub(crate) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo")
}

/// Returns the command `hashlane verify` for the demo torrent and one of its folders.
pub(crate) fn verify_demo(folder: &str) -> Command {
    let mut command = hashlane();
    command
        .current_dir(demo())
        .args(["verify", "union-addresses.torrent", "-d", folder]);
    command
}

/// Exit status and output of a finished process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn end(command: &mut Command) -> Ended {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    Ended {
        code: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

/// Runs the program in a folder, with arguments that contain no spaces.
#[cfg(unix)]
pub(crate) fn run_in(folder: &Path, args: &str) -> Ended {
    let mut command = hashlane();
    command.current_dir(folder);
    end(command.args(args.split_whitespace()))
}

/// Does the same, and requires that it succeeds.
#[cfg(unix)]
#[track_caller]
pub(crate) fn good_in(folder: &Path, args: &str) -> Ended {
    let ended = run_in(folder, args);
    assert_eq!(
        ended.code,
        Some(0),
        "{args}: {}{}",
        ended.stdout,
        ended.stderr
    );
    ended
}

/// Runs a command with this standard input stream.
pub(crate) fn end_with_input(command: &mut Command, input: &[u8]) -> Ended {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), input).unwrap();
    end(command.stdin(Stdio::from(std::fs::File::open(file.path()).unwrap())))
}

/// Lets the superuser run a command as a user without privileges. Other users run it as themselves.
#[cfg(unix)]
pub(crate) fn drop_privileges(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    if end(Command::new("id").arg("-u")).stdout.trim() == "0" {
        // The user and the group `nobody`.
        command.uid(65534).gid(65534);
    }
}

/// Returns `true` if a user without privileges can run the program. Reports a checkout that only the superuser can read.
#[cfg(unix)]
pub(crate) fn can_drop_privileges() -> bool {
    let mut version = hashlane();
    drop_privileges(version.arg("-V"));
    let is_run = version.output().is_ok_and(|output| output.status.success());
    if !is_run {
        not_run(
            "commands of a user without privileges",
            "only root can run the program in this checkout",
            "use a checkout that all users can read, or run as another user",
        );
    }
    is_run
}

/// A torrent of files with these contents, in a temporary folder.
pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) torrent: PathBuf,
}

impl Fixture {
    /// Writes `NAME.torrent` and the files of the folder `NAME` beside it.
    pub(crate) fn new(name: &str, piece_length: usize, files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = files
            .iter()
            .flat_map(|(_, bytes)| bytes.iter().copied())
            .collect();
        let mut torrent = b"d4:infod5:filesl".to_vec();
        for (path, bytes) in files {
            let place = folder.path().join(name).join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, bytes).unwrap();
            torrent.extend(format!("d6:lengthi{}e4:pathl", bytes.len()).bytes());
            for component in path.split('/') {
                torrent.extend(format!("{}:{component}", component.len()).bytes());
            }
            torrent.extend(b"ee");
        }
        let pieces: Vec<u8> = content
            .chunks(piece_length)
            .flat_map(Sha1::digest)
            .collect();
        torrent.extend(
            format!(
                "e4:name{}:{name}12:piece lengthi{piece_length}e",
                name.len()
            )
            .bytes(),
        );
        torrent.extend(format!("6:pieces{}:", pieces.len()).bytes());
        torrent.extend(pieces);
        torrent.extend(b"ee");
        let torrent_path = folder.path().join(format!("{name}.torrent"));
        std::fs::write(&torrent_path, torrent).unwrap();
        Self {
            folder,
            torrent: torrent_path,
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Returns the command that verifies the content, in its folder.
    pub(crate) fn verify(&self) -> Command {
        let mut command = hashlane();
        command.current_dir(self.folder.path());
        command.arg("verify").arg(&self.torrent);
        command
    }
}

/// Returns bagit.py, which `cargo xtask counterparts` installs. Reports a missing one.
pub(crate) fn bagit_python() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = root.join("target/bagit/bin/bagit.py");
    if program.exists() {
        return Some(program);
    }
    not_run_unless_required(
        "BAGIT",
        "comparisons with bagit-python",
        "it is not installed",
        "cargo xtask counterparts",
    );
    None
}
