//! The examples of the crate.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::Shared;

/// Returns an example that `cargo test` has built.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap().join("examples");
    let path = folder.join(name);
    // `cargo test --test it` does not build it.
    assert!(
        path.exists(),
        "run `cargo test` or build the examples first"
    );
    let mut command = Command::new(path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

#[test]
fn examples_run() {
    let shared = Shared::new();
    let folders = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let [torrents, state, other_state, folder] = folders.each_ref().map(tempfile::TempDir::path);
    let torrent = torrents.join("data.torrent");
    fs::write(&torrent, shared.torrent.bytes()).unwrap();
    let mut seed = example("seed_folder")
        .args([state, torrents, shared.folder.path()])
        .arg("127.0.0.1:0")
        .spawn()
        .unwrap();
    let lines = BufReader::new(seed.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| line.unwrap());
    let mut next = |start: &str| {
        let found = lines.find_map(|line| Some(line.strip_prefix(start)?.to_owned()));
        found.unwrap()
    };
    let address = next("listening: ");
    assert_eq!(next("serving: "), "data");
    // The file of the watched folder was added, and has another name now.
    let torrent = torrents.join("data.torrent.added");

    // The second call finds everything.
    for _ in 0..2 {
        let mut download = example("resume");
        let download = download.args([other_state, folder, &torrent]).arg(&address);
        let ended = download.output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(ended.stdout, b"data: complete and verified\n");
        shared.assert_same(folder);
    }
    let apply = |command: &str| {
        let ended = example("apply").arg(other_state).arg(command).output();
        String::from_utf8(ended.unwrap().stdout).unwrap()
    };
    let set = apply(r#"{"action":"set","labels":["linux"]}"#);
    assert_eq!(set, "data: running, labels [\"linux\"]\n");
    let paused = apply(r#"{"action":"pause"}"#);
    assert_eq!(paused, "data: paused, labels [\"linux\"]\n");
    assert_eq!(apply(r#"{"action":"remove"}"#), "data: removed\n");
    assert_eq!(apply(r#"{"action":"remove"}"#), "");
    drop(seed.stdin.take());
    assert!(seed.wait().unwrap().success());
}
