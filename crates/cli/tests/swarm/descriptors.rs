//! Processes with many torrents and a low limit of open files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::peers::{Peer, get_within};

const N_TORRENTS: usize = 60;
const N_FILES: usize = 4;

/// The files and folders of all torrents exceed the limit, which leaves room for one connection per
/// torrent.
const MAX_DESCRIPTORS: u32 = 256;

fn name(torrent: usize) -> String {
    format!("torrent-{torrent}")
}

fn bytes(torrent: usize, file: usize) -> Vec<u8> {
    let first = torrent * N_FILES + file;
    (0..20_000).map(|i| (first + i * i / 7) as u8).collect()
}

fn create_torrents(folder: &Path) -> Vec<PathBuf> {
    let torrents = (0..N_TORRENTS).map(|torrent| {
        let content = folder.join(name(torrent));
        fs::create_dir(&content).unwrap();
        for file in 0..N_FILES {
            fs::write(content.join(file.to_string()), bytes(torrent, file)).unwrap();
        }
        let path = folder.join(format!("{torrent}.torrent"));
        let status = Command::new(env!("CARGO_BIN_EXE_hashlane"))
            .args(["create", "--quiet", "--piece-length", "16384", "-o"])
            .args([&path, &content])
            .status();
        assert!(status.unwrap().success());
        path
    });
    torrents.collect()
}

#[test]
fn many_torrents_share_few_descriptors() {
    let (content, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let torrents = create_torrents(content.path());
    let torrents: Vec<&Path> = torrents.iter().map(PathBuf::as_path).collect();
    let seed = Peer::seed_within(MAX_DESCRIPTORS, &torrents, content.path());
    let ended = get_within(MAX_DESCRIPTORS, &torrents, folder.path(), &seed);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for torrent in 0..N_TORRENTS {
        for file in 0..N_FILES {
            let path = folder.path().join(name(torrent)).join(file.to_string());
            assert!(fs::read(path).unwrap() == bytes(torrent, file));
        }
    }
    let ended = seed.interrupt();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}
