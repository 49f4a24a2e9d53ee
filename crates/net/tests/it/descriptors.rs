//! Processes with many torrents and a low limit of open files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::peers::{Peer, get_command, get_within};
use crate::not_run::is_installed;

/// Torrents of small files.
struct Content {
    folder: tempfile::TempDir,
    n_torrents: usize,
    n_files: usize,
    torrents: Vec<PathBuf>,
}

impl Content {
    fn new(n_torrents: usize, n_files: usize) -> Self {
        let mut content = Self {
            folder: tempfile::tempdir().unwrap(),
            n_torrents,
            n_files,
            torrents: Vec::new(),
        };
        let path = content.folder.path();
        let torrents = (0..n_torrents).map(|torrent| {
            let files = path.join(name(torrent));
            fs::create_dir(&files).unwrap();
            for file in 0..n_files {
                fs::write(files.join(file.to_string()), content.bytes(torrent, file)).unwrap();
            }
            let path = path.join(format!("{torrent}.torrent"));
            let status = Command::new(env!("CARGO_BIN_EXE_hashlane-net"))
                .args(["create", "--quiet", "--piece-length", "16384", "-o"])
                .args([&path, &files])
                .status();
            assert!(status.unwrap().success());
            path
        });
        content.torrents = torrents.collect();
        content
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn torrents(&self) -> Vec<&Path> {
        self.torrents.iter().map(PathBuf::as_path).collect()
    }

    fn bytes(&self, torrent: usize, file: usize) -> Vec<u8> {
        let first = torrent * self.n_files + file;
        (0..20_000).map(|i| (first + i * i / 7) as u8).collect()
    }

    fn assert_same(&self, folder: &Path) {
        for torrent in 0..self.n_torrents {
            for file in 0..self.n_files {
                let path = folder.join(name(torrent)).join(file.to_string());
                assert!(fs::read(path).unwrap() == self.bytes(torrent, file));
            }
        }
    }
}

fn name(torrent: usize) -> String {
    format!("torrent-{torrent}")
}

/// The files and folders of all torrents exceed the limit, which leaves room for one connection per
/// torrent.
#[test]
fn many_torrents_share_few_descriptors() {
    for (n_torrents, n_files, max_descriptors) in [(60, 4, 256), (24, 80, 1024)] {
        let content = Content::new(n_torrents, n_files);
        let folder = tempfile::tempdir().unwrap();
        let torrents = content.torrents();
        let seed = Peer::seed_within(max_descriptors, &torrents, content.path());
        let ended = get_within(max_descriptors, &torrents, folder.path(), &seed);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        content.assert_same(folder.path());
        let ended = seed.interrupt();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
}

/// Sets the limit of open files of a running process.
fn limit(pid: u32, max_descriptors: u32) {
    let status = Command::new("prlimit")
        .args(["--pid", &pid.to_string()])
        .arg(format!("--nofile={max_descriptors}:"))
        .status();
    assert!(status.unwrap().success());
}

/// Without a descriptor for longer than the storage waits, a torrent waits too, whether it is served or downloaded.
#[test]
fn a_torrent_waits_for_descriptors() {
    if !is_installed("PRLIMIT", "prlimit", "util-linux") {
        return;
    }
    let content = Content::new(1, 80);
    for is_seed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let torrents = content.torrents();
        let seed = Peer::seed(&torrents, content.path());
        let mut command = get_command(&torrents, folder.path(), Some(&seed), &[]);
        command.args(["--max-down", "300KiB"]);
        let get = Peer::start(command);
        get.wait_for_line("piece");
        let limited = if is_seed { &seed } else { &get };
        limit(limited.pid(), 4);
        let warning = limited.wait_for_line("warning");
        let message = warning["message"].as_str().unwrap();
        let text = "Too many open files (os error 24); trying again";
        assert!(message.ends_with(text), "{message}");
        limit(limited.pid(), 1024);
        let ended = get.end();
        assert_eq!(ended.code, Some(0), "{is_seed}: {ended:?}");
        content.assert_same(folder.path());
        let ended = seed.interrupt();
        assert_eq!(ended.code, Some(0), "{is_seed}: {ended:?}");
    }
}
