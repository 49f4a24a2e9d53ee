//! Content that another program saved under changed names.

use std::fs;

use serde_json::json;

use super::metadata::shown;
use super::peers::{Content, Peer, get_from, seed_text_command};

#[test]
fn names_of_other_programs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("n\\m");
    fs::create_dir(&own).unwrap();
    for name in ["a\tb", "plain"] {
        fs::write(own.join(name), name.repeat(1000)).unwrap();
    }
    let torrent = Content::torrent_of(&own, "v1", &[]);
    let torrent_path = folder.path().join("x.torrent");
    fs::rename(torrent, &torrent_path).unwrap();
    // libtorrent's name of the folder, and Transmission's of a file in it.
    let found = folder.path().join("nm");
    fs::rename(own, &found).unwrap();
    fs::rename(found.join("a\tb"), found.join("a_b")).unwrap();
    let info_hash = &shown(&torrent_path)["info_hash_v1"];
    let expected = |torrent: &str| {
        [
            json!({"type": "foreign_name", "torrent": torrent, "number": 0,
                "info_hash": info_hash, "info_hash_v1": info_hash, "info_hash_v2": null,
                "path": "n\\m", "found_as": "nm", "named_by": "libtorrent", "is_content": true}),
            json!({"type": "foreign_name", "torrent": torrent, "number": 0,
                "info_hash": info_hash, "info_hash_v1": info_hash, "info_hash_v2": null,
                "path": "a\tb", "found_as": "a_b", "named_by": "libtorrent", "is_content": false}),
        ]
    };
    let label = torrent_path.to_str().unwrap();
    let seed = Peer::seed(&[&torrent_path], folder.path());
    assert_eq!(seed.wait_for_line("verified")["have"], 1);
    assert_eq!(seed.lines_of("foreign_name"), expected(label));
    seed.interrupt();
    let ended = get_from(&[&torrent_path], folder.path(), None, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut lines = ended.lines;
    lines.retain(|line| line["type"] == "foreign_name");
    assert_eq!(lines, expected(label));

    let options = ["--seed-time", "0.01"];
    let mut command = seed_text_command(&[&torrent_path], folder.path(), &options);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let note = "n\\m: uses 2 names of libtorrent: nm instead of n\\m, ...\n";
    assert!(
        text.lines().next().unwrap().ends_with(note.trim_end()),
        "{text}"
    );
}
