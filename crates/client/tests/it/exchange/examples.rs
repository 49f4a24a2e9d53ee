//! The examples of the crate.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use hashlane_client::InvalidKey;
use hashlane_metainfo::Version;

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

/// The examples exchange a torrent.
#[test]
fn examples_run() {
    let shared = Shared::new(Version::Hybrid);
    let torrents = tempfile::tempdir().unwrap();
    let torrent = torrents.path().join("data.torrent");
    fs::write(&torrent, shared.torrent.bytes()).unwrap();
    let mut seed = example("seed");
    let folders = [torrents.path(), shared.folder.path()];
    let mut seed = seed.args(folders).arg("127.0.0.1:0").spawn().unwrap();
    let mut lines = BufReader::new(seed.stdout.take().unwrap()).lines();
    let mut next = |start: &str| {
        let mut lines = lines.by_ref().map(|line| line.unwrap());
        let found = lines.find_map(|line| Some(line.strip_prefix(start)?.to_owned()));
        found.unwrap()
    };
    let address = next("listening: ");
    let pieces = next("data: serving ");
    let n_pieces = shared.torrent.lengths().piece_count();
    assert_eq!(pieces, format!("{n_pieces} of {n_pieces} pieces"));

    let folder = tempfile::tempdir().unwrap();
    let mut download = example("download");
    let download = download.arg(&torrent).arg(folder.path()).arg(&address);
    let ended = download.output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(ended.stdout, b"data: complete and verified\n");
    shared.assert_same(folder.path());

    let folder = tempfile::tempdir().unwrap();
    let mut commands = example("commands")
        .arg(folder.path())
        .arg(&address)
        .spawn()
        .unwrap();
    let info_hashes = shared.torrent.info_hashes();
    let (v1, v2) = (info_hashes.v1().unwrap(), info_hashes.v2().unwrap());
    let input = format!("add {v1}\npause 0\nresume 0\nwait 0\nlist\nend {v2}\nend x\n");
    commands
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let ended = commands.wait_with_output().unwrap();
    let output = String::from_utf8(ended.stdout).unwrap();
    let bytes = shared.torrent.content_length();
    let expected = format!(
        "0: added\n0: pause\n0: resume\n0: wait\n0: data: ended, {bytes} of {bytes} bytes\n\
         error: the torrent has ended\nerror: {InvalidKey}\n"
    );
    assert_eq!(output, expected);
    shared.assert_same(folder.path());

    drop(seed.stdin.take());
    assert!(seed.wait().unwrap().success());
}
