//! `hashlane magnet --fetch`, and torrents from the standard input stream.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::peers::{Content, Peer, ended, fetch_command, get_command, get_from, ran, seed_command};
use crate::VERSIONS;

pub(crate) fn shown(torrent: &Path) -> Value {
    ran(["show", "--json"], [torrent]).swap_remove(0)
}

/// The torrent has the info dictionary of the seed, and the sources of the link.
#[test]
fn the_torrent_of_a_link() {
    let content = Content::new();
    for version in VERSIONS {
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let link = content.magnet(&torrent)
            + "&tr=http%3A%2F%2F127.0.0.1%3A1%2Fa&tr=http%3A%2F%2F127.0.0.1%3A1%2Fb&ws=http%3A%2F%2F127.0.0.1%3A1%2Fw";
        let folder = tempfile::tempdir().unwrap();
        let ended = ended(&mut fetch_command(
            &[&link],
            folder.path(),
            Some(&seed),
            &[],
        ));
        assert_eq!(ended.code, Some(0), "{version}: {ended:?}");
        let line = ended.lines.iter().find(|line| line["type"] == "fetched");
        let line = line.unwrap();
        let original = shown(&torrent);
        assert_eq!(line["output"], "tree.torrent");
        assert_eq!(
            (&line["name"], &line["total_bytes"]),
            (&"tree".into(), &original["content_bytes"])
        );
        let fetched = folder.path().join("tree.torrent");
        let found = shown(&fetched);
        for key in ["info_hash_v1", "info_hash_v2"] {
            assert_eq!(line[key], original[key], "{version}");
            assert_eq!(found[key], original[key], "{version}");
        }
        let tiers = serde_json::json!([["http://127.0.0.1:1/a"], ["http://127.0.0.1:1/b"]]);
        assert_eq!(found["trackers"], tiers);
        assert_eq!(
            found["web_seeds"],
            serde_json::json!(["http://127.0.0.1:1/w"])
        );
        // Peers send no piece layers without the content.
        let has_note = ended.stderr.contains("1 file without a piece layer");
        assert_eq!(has_note, version != "v1", "{}", ended.stderr);
        let lines = ran(["verify", "--json", "-d"], [content.path(), &fetched]);
        assert_eq!(lines.last().unwrap()["complete"], true, "{version}");
        assert_eq!(seed.interrupt().code, Some(0));
    }
}

#[test]
fn files_are_not_overwritten() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let link = content.magnet(&torrent);
    let folder = tempfile::tempdir().unwrap();
    let fetch = |links: &[&str], options: &[&str]| {
        ended(&mut fetch_command(
            links,
            folder.path(),
            Some(&seed),
            options,
        ))
    };
    let place = folder.path().join("file.bin.torrent");
    fs::write(&place, "mine").unwrap();
    let refused = fetch(&[&link], &[]);
    refused.assert_failed("file.bin.torrent: exists: use --force to replace it");
    assert!(
        refused.lines.iter().any(|line| line["type"] == "error"),
        "{refused:?}"
    );
    // The file of --output is refused before anything is fetched.
    let refused = fetch(&[&link], &["-o", "file.bin.torrent"]);
    refused.assert_failed("file.bin.torrent: exists");
    assert!(refused.lines.is_empty(), "{refused:?}");
    assert_eq!(fs::read(&place).unwrap(), b"mine");
    assert_eq!(fetch(&[&link], &["--force"]).code, Some(0));
    assert_eq!(shown(&place)["name"], "file.bin");
    // An invalid link fails on its own.
    let other = folder.path().join("other.torrent");
    fs::remove_file(&place).unwrap();
    let several = fetch(&["magnet:?xt=urn:btih:x", &link, "t.torrent"], &[]);
    several.assert_failed("t.torrent: neither a magnet link nor an info-hash");
    assert!(place.exists() && !other.exists());
    fetch(&[&link, &link], &["-o", "x"]).assert_failed("--output needs a single magnet link");
    fetch(&[&link], &["-o", "-"]).assert_failed("--output -: --fetch writes to files only");
}

/// A file system limits names to 255 bytes, also those with the extension.
#[test]
fn long_names_are_shortened() {
    let content = Content::new();
    let names = [
        "x".repeat(247),
        "x".repeat(248),
        "x".repeat(255),
        "é".repeat(127),
    ];
    for name in names {
        let from = content.path().join(&name);
        fs::write(&from, "content").unwrap();
        let torrent = content.path().join("t.torrent");
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_hashlane-net"))
            .args(["create", "--quiet", "--force", "-o"])
            .args([&torrent, &from])
            .status();
        assert!(status.unwrap().success());
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let link = content.magnet(&torrent);
        let ended = ended(&mut fetch_command(
            &[&link],
            folder.path(),
            Some(&seed),
            &[],
        ));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let entry = fs::read_dir(folder.path())
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        let written = entry.file_name().into_string().unwrap();
        let start = written.strip_suffix(".torrent").unwrap();
        assert!(name.starts_with(start) && start.len() >= 246, "{written}");
        assert_eq!(shown(&entry.path())["name"], name);
    }
}

#[test]
fn no_peer_has_the_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let fetch = |options: &[&str]| fetch_command(&[hash], folder.path(), None, options);
    let late = ended(&mut fetch(&["--timeout", "1s"]));
    late.assert_failed("no metadata received for the magnet link: no peer");
    let fetching = Peer::start(fetch(&[]));
    fetching.wait_for_line("listening");
    fetching
        .interrupt()
        .assert_failed("no metadata received for the magnet link: interrupted");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The rest of a link can contain passkeys.
#[test]
fn a_link_is_reported_by_its_info_hash() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let topic = format!("magnet:?xt=urn:btih:{}", shown(&torrent)["info_hash_v1"]).replace('"', "");
    let link = format!("{topic}&dn=file.bin&tr=http%3A%2F%2F127.0.0.1%3A1%2F0123456789abcdef%2Fa");
    let folder = tempfile::tempdir().unwrap();
    let get = |link: &str, from: Option<&Peer>, options: &[&str]| {
        get_from(&[link.as_ref()], folder.path(), from, options)
    };
    for given in [&link, &format!("{link}&xt=urn:btih:x")] {
        let failed = get(given, None, &["--timeout", "1s"]);
        failed.assert_failed(&format!("hashlane: {topic}: "));
        assert!(!failed.stderr.contains("tr="), "{failed:?}");
        let error = failed.lines.iter().find(|line| line["type"] == "error");
        assert_eq!(error.unwrap()["torrent"], topic);
    }
    let seed = Peer::seed(&[&torrent], content.path());
    let named = folder.path().join("named");
    let exec = format!("printf %s \"$HASHLANE_TORRENT\" > '{}'", named.display());
    let ended = get(&link, Some(&seed), &["--exec", &exec]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(fs::read_to_string(named).unwrap(), topic);
}

#[test]
fn torrents_from_standard_input() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let stream = Path::new("-");
    let mut seed = seed_command(&[stream], content.path(), &[]);
    seed.stdin(fs::File::open(&torrent).unwrap());
    let seed = Peer::start(seed);
    let link = content.path().join("link");
    fs::write(&link, content.magnet(&torrent) + "\n").unwrap();
    for input in [&torrent, &link] {
        let folder = tempfile::tempdir().unwrap();
        let mut get = get_command(&[stream], folder.path(), Some(&seed), &[]);
        let ended = ended(get.stdin(fs::File::open(input).unwrap()));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        content.assert_same("file.bin", folder.path());
    }
    let mut twice = get_command(&[stream, stream], content.path(), None, &[]);
    ended(&mut twice).assert_failed("the standard input stream can be given only once");
}
