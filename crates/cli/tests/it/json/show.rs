//! The lines of `show`.

use std::fs;

use serde::Deserialize;

use super::{Target, lines, verify};
use crate::fixture::{end, hashlane};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Line {
    Torrent {
        torrent: String,
        name: String,
        version: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        single_file: bool,
        content_bytes: u64,
        total_bytes: u64,
        piece_length: u32,
        pieces: u32,
        private: bool,
        source: Option<String>,
        comment: Option<String>,
        created_by: Option<String>,
        creation_date: Option<i64>,
        trackers: Vec<Vec<String>>,
        web_seeds: Vec<String>,
        http_seeds: Vec<String>,
        nodes: Vec<String>,
        similar: Vec<String>,
        collections: Vec<String>,
        other_keys: Vec<OtherKey>,
        magnet: String,
        notes: Vec<String>,
    },
    File {
        torrent: String,
        index: usize,
        path: String,
        path_hex: Option<String>,
        kind: String,
        length: u64,
        offset: u64,
        target: Option<Target>,
        executable: bool,
        hidden: bool,
        renamed: bool,
        pieces_root: Option<String>,
        piece_layer: bool,
    },
    Magnet {
        torrent: String,
        name: Option<String>,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        total_bytes: Option<u64>,
        trackers: Vec<String>,
        web_seeds: Vec<String>,
        peers: Vec<String>,
        nodes: Vec<String>,
        select_only: Option<String>,
        notes: Vec<String>,
    },
    Error {
        torrent: String,
        message: String,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherKey {
    key: String,
    in_info: bool,
    kind: String,
    bytes: usize,
    value: Option<serde_json::Value>,
}

#[cfg(unix)]
#[test]
fn links_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("content");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("a"), b"a").unwrap();
    std::os::unix::fs::symlink("a", content.join("b")).unwrap();
    let in_folder = |args: &[&str]| end(hashlane().current_dir(folder.path()).args(args));
    assert_eq!(in_folder(&["create", "content", "-q"]).code, Some(0));
    let shown = lines(&in_folder(&["show", "content.torrent", "--json"]).stdout);
    let Line::File { kind, target, .. } = &shown[2] else {
        panic!("{shown:?}")
    };
    let a = Target {
        path: "a".into(),
        path_hex: None,
    };
    assert_eq!((kind.as_str(), target), ("link", &Some(a)));

    let verify = || {
        let ended = in_folder(&["verify", "content.torrent", "--json"]);
        let lines = lines(&ended.stdout);
        let link = lines.into_iter().find_map(|line| match line {
            verify::Line::File {
                path,
                state,
                found_target,
                ..
            } if path == "b" => Some((state, found_target)),
            _ => None,
        });
        (ended.code, link.unwrap())
    };
    assert_eq!(verify(), (Some(0), ("link".into(), None)));
    fs::remove_file(content.join("b")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", content.join("b")).unwrap();
    let wrong = ("wrong link".into(), Some("/etc/passwd".into()));
    assert_eq!(verify(), (Some(1), wrong));
}

#[test]
fn other_keys_and_errors_of_show() {
    let folder = tempfile::tempdir().unwrap();
    let info = "d6:lengthi1e4:name1:n12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxx1:xli1eee";
    let torrent = format!("d8:announce3:udp4:info{info}1:yi-7e1:z2:\u{e9}e");
    fs::write(folder.path().join("t.torrent"), torrent).unwrap();
    let ended =
        end(hashlane()
            .current_dir(folder.path())
            .args(["show", "--json", "missing", "t.torrent"]));
    assert_eq!(ended.code, Some(2));
    let [
        Line::Error { torrent, message },
        Line::Torrent { other_keys, .. },
        _,
    ] = &lines(&ended.stdout)[..]
    else {
        panic!("{}", ended.stdout);
    };
    assert_eq!(torrent, "missing");
    assert!(message.starts_with("missing: No such file"), "{message}");
    let key = |key: &str, in_info, kind: &str, bytes, value| OtherKey {
        key: key.into(),
        in_info,
        kind: kind.into(),
        bytes,
        value,
    };
    let expected = [
        key("y", false, "integer", 4, Some((-7).into())),
        key("z", false, "string", 2, Some("\u{e9}".into())),
        key("x", true, "list", 5, None),
    ];
    assert_eq!(other_keys, &expected);
}
