//! Torrents that `hashlane import` took over from another program.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::daemon::{Daemon, folder, text};
use super::peers::{Content, Peer, ran};
use super::tracker::Tracker;
use crate::wait_for;

/// Imports a torrent of version 2 from a session of qBittorrent, with these keys before `save_path`.
fn import(state: &Path, torrent: &Path, downloads: &Path, keys: &str) {
    let session = tempfile::tempdir().unwrap();
    let backup = session.path().join("BT_backup");
    fs::create_dir(&backup).unwrap();
    let shown = ran(["show", "--json"], [torrent]);
    let hash = shown[0]["info_hash_v2"].as_str().unwrap();
    // qBittorrent cuts the hash of version 2.
    let name = &hash[..40];
    fs::copy(torrent, backup.join(format!("{name}.torrent"))).unwrap();
    let folder = text(downloads);
    let resume = format!("d{keys}9:save_path{}:{folder}e", folder.len());
    fs::write(backup.join(format!("{name}.fastresume")), resume).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.args(["import", "qbittorrent", "--state-dir"]);
    let output = command.arg(state).arg(&backup).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A file that was deselected before the download is not created, whether the download is paused or not.
#[test]
fn a_deselected_file_is_not_created() {
    let content = Content::new();
    let tracker = Tracker::start();
    let torrent = content.torrent_with("tree", "v2", &["--announce", &tracker.url()]);
    let _seed = Peer::seed(&[&torrent], content.path());
    wait_for(|| tracker.heard(|heard| heard.ports.len() == 1));
    let (place, state) = folder();
    let downloads = place.path().join("absent");
    // The list of libtorrent has padding, too.
    let keys = "13:file_priorityli1ei1ei1ei0ee6:pausedi1e";
    import(&state, &torrent, &downloads, keys);
    let daemon = Daemon::start(&state, &[]);
    daemon.wait_for_activity("paused");
    assert!(!downloads.exists());
    let hash = daemon.torrent()["info_hash"].as_str().unwrap().to_owned();
    daemon.done(["resume", &hash]);
    daemon.wait_until("complete", |torrent| torrent["complete"] == true);
    let read = |folder: &Path| fs::read(folder.join("tree/a.bin")).unwrap();
    assert!(read(&downloads) == read(content.path()));
    assert!(!downloads.join("tree/sub").exists());
    daemon.terminate();
}

/// Unfinished files of qBittorrent end in `.!qB`. They get their names, and what they have is not downloaded again.
#[test]
fn unfinished_files_lose_their_suffix() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v2");
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    fs::create_dir_all(downloads.join("tree")).unwrap();
    let unfinished = downloads.join("tree/a.bin.!qB");
    let mut bytes = fs::read(content.path().join("tree/a.bin")).unwrap();
    let (len, half) = (bytes.len(), 20 * 65_536);
    bytes[half..].fill(0);
    fs::write(&unfinished, &bytes).unwrap();
    let keys = "12:mapped_filesl14:tree/a.bin.!qB0:0:0:e";
    import(&state, &torrent, &downloads, keys);
    // The import itself changes nothing.
    assert_eq!(fs::metadata(&unfinished).unwrap().len(), len as u64);
    let daemon = Daemon::start(&state, &[]);
    let torrent = daemon.wait_for_activity("downloading");
    assert_eq!(torrent["done_bytes"], half);
    assert!(!unfinished.exists());
    assert!(fs::read(downloads.join("tree/a.bin")).unwrap() == bytes);
    daemon.terminate();
}
