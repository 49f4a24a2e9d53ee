//! The lines of `create`.

use std::fs;

use serde::Deserialize;

use super::{Target, lines, show};
use crate::fixture::{end, hashlane};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    File {
        path: String,
        path_hex: Option<String>,
        length: u64,
        target: Option<Target>,
    },
    Planned {
        path: String,
        torrent: String,
        version: String,
        note: Option<String>,
        name: String,
        files: usize,
        content_bytes: u64,
        padding_bytes: u64,
        piece_length: u32,
        pieces: u32,
        left_out: LeftOut,
    },
    Created {
        path: String,
        torrent: String,
        version: String,
        note: Option<String>,
        name: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        magnet: String,
        files: usize,
        content_bytes: u64,
        padding_bytes: u64,
        piece_length: u32,
        pieces: u32,
        changed_names: usize,
        circular_links: usize,
        left_out: LeftOut,
        elapsed_seconds: f64,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    excluded: usize,
    own: usize,
    hidden: usize,
    links: usize,
    junk: Vec<Target>,
    nodes: usize,
    web_seeds: usize,
}

#[test]
fn a_torrent_that_is_planned() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("content");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("a"), vec![1; 20_000]).unwrap();
    fs::write(content.join("Thumbs.db"), b"junk").unwrap();
    let options = [
        "--dry-run",
        "--json",
        "-p",
        "-a",
        "http://t/",
        "-w",
        "http://w/",
    ];
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["create", "content", "--node", "host:1"])
        .args(options));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let file = Line::File {
        path: "a".into(),
        path_hex: None,
        length: 20_000,
        target: None,
    };
    let junk = Target {
        path: "Thumbs.db".into(),
        path_hex: None,
    };
    let planned = Line::Planned {
        path: "content".into(),
        torrent: "content.torrent".into(),
        version: "v1".into(),
        note: Some("version 1 only: sites of private trackers refuse other versions".into()),
        name: "content".into(),
        files: 1,
        content_bytes: 20_000,
        padding_bytes: 0,
        piece_length: 16_384,
        pieces: 2,
        left_out: LeftOut {
            excluded: 0,
            own: 0,
            hidden: 0,
            links: 0,
            junk: vec![junk],
            nodes: 1,
            web_seeds: 1,
        },
    };
    assert_eq!(lines::<Line>(&ended.stdout), [file, planned]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "every field of three kinds of lines")]
fn a_torrent_that_is_made_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("content");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("a"), vec![1; 100_000]).unwrap();
    fs::write(content.join("b"), vec![2; 31_072]).unwrap();
    let options = ["-l", "16KiB", "--format", "hybrid", "--json", "-p"];
    let ended = end(hashlane()
        .current_dir(folder.path())
        .args(["create", "content", "-a", "http://t/a", "-s", "here"])
        .args(options));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let Line::Created {
        path,
        torrent,
        version,
        note,
        name,
        info_hash_v1,
        info_hash_v2,
        magnet,
        files,
        content_bytes,
        padding_bytes,
        piece_length,
        pieces,
        changed_names,
        circular_links,
        left_out,
        elapsed_seconds,
    } = serde_json::from_str(&ended.stdout).unwrap()
    else {
        panic!("{}", ended.stdout);
    };
    let nothing = LeftOut {
        excluded: 0,
        own: 0,
        hidden: 0,
        links: 0,
        junk: Vec::new(),
        nodes: 0,
        web_seeds: 0,
    };
    assert_eq!((changed_names, circular_links, left_out), (0, 0, nothing));
    assert_eq!((path.as_str(), name.as_str()), ("content", "content"));
    assert_eq!(
        (torrent.as_str(), version.as_str(), note),
        ("content.torrent", "hybrid", None)
    );
    assert_eq!((files, content_bytes), (2, 131_072));
    assert_eq!((padding_bytes, piece_length, pieces), (16_384, 16_384, 9));
    assert!(elapsed_seconds >= 0.0);

    let ended =
        end(hashlane()
            .current_dir(folder.path())
            .args(["show", "--json", "content.torrent"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let shown = lines(&ended.stdout);
    assert_eq!(
        shown[0],
        show::Line::Torrent {
            torrent: "content.torrent".into(),
            name: "content".into(),
            name_decoded: None,
            version: "hybrid".into(),
            info_hash_v1: info_hash_v1.clone(),
            info_hash_v2: info_hash_v2.clone(),
            single_file: false,
            content_bytes: 131_072,
            total_bytes: 147_456,
            piece_length: 16_384,
            pieces: 9,
            private: true,
            source: Some("here".into()),
            comment: None,
            created_by: Some(format!("hashlane {}", env!("CARGO_PKG_VERSION"))),
            creation_date: None,
            encoding: None,
            trackers: vec![vec!["http://t/a".into()]],
            web_seeds: vec![],
            http_seeds: vec![],
            nodes: vec![],
            similar: vec![],
            collections: vec![],
            other_keys: vec![],
            magnet: magnet.clone(),
            notes: vec![],
        }
    );
    let kinds: Vec<_> = shown[1..]
        .iter()
        .map(|line| match line {
            show::Line::File {
                path, kind, offset, ..
            } => (path.as_str(), kind.as_str(), *offset),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("a", "regular", 0),
            (".pad/14688", "padding", 100_000),
            ("b", "regular", 114_688),
            (".pad/1696", "padding", 145_760),
        ]
    );

    let ended = end(hashlane().args(["show", "--json", &magnet]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        lines::<show::Line>(&ended.stdout),
        [show::Line::Magnet {
            // The rest of the link could contain passkeys.
            torrent: format!("magnet:?xt=urn:btih:{}", info_hash_v1.as_ref().unwrap()),
            name: Some("content".into()),
            info_hash_v1,
            info_hash_v2,
            total_bytes: Some(131_072),
            // The torrent is private.
            trackers: vec![],
            web_seeds: vec![],
            peers: vec![],
            nodes: vec![],
            select_only: None,
            notes: vec![],
        }]
    );
}
