//! What `get`, `seed` and watched folders say about peers and files that are of no use.

use std::fs;
use std::process::Stdio;

use super::daemon::{Daemon, folder, text};
use super::http::ask;
use super::peers::{Content, ended, get_from, seed_command, seed_text_command};
use crate::wait_for;

#[test]
fn a_peer_that_is_not_reached_is_named_once() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    // libtorrent connects to no peer with port 1.
    let options = ["--peer", "127.0.0.1:2", "--timeout", "3s"];
    let ended = get_from(&[&torrent], folder.path(), None, &options);
    ended.assert_failed("warning: ");
    let problem = "peer 127.0.0.1:2: Connection refused";
    let warning = format!("{}: {problem}", torrent.display());
    ended.assert_failed(&warning);
    let warnings = ended.stderr.lines().filter(|line| line.contains("warning"));
    assert_eq!(warnings.count(), 1, "{ended:?}");
}

/// The first piece of a file is right. That does not prove that the file belongs to the torrent.
#[test]
fn a_file_that_is_partly_right_says_so() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(content.path().join("file.bin")).unwrap();
    bytes[content.piece_len() as usize..].fill(7);
    fs::write(folder.path().join("file.bin"), &bytes).unwrap();
    let ended = get_from(&[&torrent], folder.path(), None, &[]);
    ended.assert_failed("or differs too much: 1 of 31 pieces are right; not overwritten; --force");
    assert!(fs::read(folder.path().join("file.bin")).unwrap() == bytes);
}

#[test]
fn a_folder_of_torrents_gives_a_hint() {
    let content = Content::new();
    content.torrent("file.bin", "v1");
    let ended = ended(&mut seed_command(&[content.path()], content.path(), &[]));
    let files = content.path().join("*.torrent");
    let hint = format!(
        "is a directory: name its .torrent files, for example {}",
        files.display()
    );
    ended.assert_failed(&hint);
}

#[test]
fn the_case_of_a_suffix_does_not_matter() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let watched = place.path().join("watched");
    fs::create_dir(&watched).unwrap();
    fs::copy(torrent, watched.join("UP.TORRENT")).unwrap();
    let downloads = place.path().join("downloads");
    let options = ["--watch-dir", text(&watched), "--dir", text(&downloads)];
    let daemon = Daemon::start(&state, &options);
    wait_for(|| watched.join("UP.TORRENT.added").exists());
    assert_eq!(daemon.torrent()["name"], "file.bin");
    daemon.terminate();
}

/// The token stays in its file, and people read that the command keeps nothing.
#[test]
fn a_seed_takes_the_token_of_a_file() {
    const TOKEN: &str = "a-token-that-lasts";
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let (token, stdout) = (folder.path().join("token"), folder.path().join("stdout"));
    fs::write(&token, format!("{TOKEN}\n")).unwrap();
    let options = ["--http", "0", "--http-token-file", text(&token)];
    let mut command = seed_text_command(&[&torrent], content.path(), &options);
    command
        .stdout(fs::File::create(&stdout).unwrap())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let printed = || fs::read_to_string(&stdout).unwrap();
    let note =
        "torrents that the page adds, and what it changes, last until the end of this command\n";
    wait_for(|| printed().contains(note));
    let printed = printed();
    assert!(!printed.contains(TOKEN), "{printed}");
    let url = printed
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let address = url
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .parse()
        .unwrap();
    let status = |token: &str| {
        let bearer = format!("Bearer {token}");
        ask(
            address,
            "GET /api/v1/torrents",
            &[("Authorization", &bearer)],
            "",
        )
        .status
    };
    assert_eq!((status(TOKEN), status("another-token-here")), (200, 401));
    child.kill().unwrap();
    child.wait().unwrap();
}
