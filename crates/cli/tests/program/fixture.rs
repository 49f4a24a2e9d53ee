//! Runs the program, and makes torrents for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sha1::{Digest as _, Sha1};

/// The program, with nothing of our surroundings that could change what it does.
pub(crate) fn hashlane() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane"));
    command
        .stdin(Stdio::null())
        .env_remove("HASHLANE_BACKEND")
        .env_remove("NO_COLOR");
    command
}

/// The folder of the demo in the workspace.
pub(crate) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo")
}

/// `hashlane verify` of the demo torrent against one of its folders.
pub(crate) fn verify_demo(folder: &str) -> Command {
    let mut command = hashlane();
    command
        .current_dir(demo())
        .args(["verify", "union-addresses.torrent", "-d", folder]);
    command
}

/// How a finished process ended, and what it printed.
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

/// A torrent with one piece length and files of these contents, in a folder of its own.
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

    pub(crate) fn verify(&self) -> Command {
        let mut command = hashlane();
        command.arg("verify").arg(&self.torrent);
        command
    }
}
