//! The lines of `show`.

use std::fs;

use serde::Deserialize;

use super::{Target, lines, verify};
use crate::fixture::{end, hashlane};

#[expect(clippy::large_enum_variant, reason = "a test has few lines")]
#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Line {
    Torrent {
        torrent: String,
        name: String,
        name_decoded: Option<String>,
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
        encoding: Option<String>,
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
        path_decoded: Option<String>,
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

/// Bytes of GBK, the charset of old Chinese torrents: the title, and a file whose name is UTF-8.
#[test]
fn names_in_another_charset_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let write = |charset: &str| {
        let encoding = format!("d8:encoding{}:{charset}", charset.len());
        let parts: [&[u8]; 3] = [
            encoding.as_bytes(),
            b"4:infod5:filesld6:lengthi1e4:pathl4:\xb5\xe7\xd3\xb05:a.mkveed6:lengthi1e4:pathl1:beee4:name4:\xb5\xe7\xd3\xb0",
            b"12:piece lengthi2e6:pieces20:xxxxxxxxxxxxxxxxxxxxee",
        ];
        fs::write(folder.path().join("t.torrent"), parts.concat()).unwrap();
    };
    let show = |options: &[&str]| {
        let args = [&["show", "t.torrent"][..], options].concat();
        end(hashlane().current_dir(folder.path()).args(args)).stdout
    };
    write("GBK");
    let text = show(&[]);
    assert!(text.starts_with("\u{7535}\u{5f71}\n"), "{text}");
    let row = "  encoding    GBK (names are decoded here, and keep their bytes on the disk)\n";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("  \u{7535}\u{5f71}/\n"), "{text}");
    let json = lines(&show(&["--json"]));
    let Line::Torrent {
        name,
        name_decoded,
        encoding,
        ..
    } = &json[0]
    else {
        panic!("{json:?}");
    };
    assert_eq!(name, "\u{fffd}\u{fffd}\u{04f0}");
    assert_eq!(name_decoded.as_deref(), Some("\u{7535}\u{5f71}"));
    assert_eq!(encoding.as_deref(), Some("GBK"));
    let paths = json[1..].iter().map(|line| match line {
        Line::File {
            path_hex,
            path_decoded,
            ..
        } => (path_hex.as_deref(), path_decoded.as_deref()),
        other => panic!("{other:?}"),
    });
    let paths: Vec<_> = paths.collect();
    let decoded = Some("\u{7535}\u{5f71}/a.mkv");
    assert_eq!(
        paths,
        [(Some("b5e7d3b02f612e6d6b76"), decoded), (None, None)]
    );
    // An unknown charset, and one that does not have these bytes.
    for charset in ["GBK2", "UTF-8"] {
        write(charset);
        let text = show(&[]);
        assert!(text.starts_with("\\xb5\\xe7"), "{text}");
        assert!(!show(&["--json"]).contains("_decoded"));
    }
}
