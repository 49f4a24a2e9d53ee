use serde::Deserialize;

use super::lines;
use crate::fixture::{end, hashlane};
use crate::import::session;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(
    dead_code,
    clippy::large_enum_variant,
    reason = "the types are checked"
)]
enum Line {
    Imported {
        outcome: String,
        file: String,
        name: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        content_bytes: Option<u64>,
        path: String,
        path_hex: Option<String>,
        renamed: Vec<Renamed>,
        priorities: Option<Vec<String>>,
        category: Option<String>,
        labels: Vec<String>,
        paused: bool,
        forced: bool,
        sequential: bool,
        super_seeding: bool,
        max_down: Option<u64>,
        max_up: Option<u64>,
        seed_ratio: serde_json::Value,
        seed_seconds: serde_json::Value,
        idle_seconds: serde_json::Value,
        sent_bytes: u64,
        received_bytes: u64,
        added: Option<u64>,
        completed: Option<u64>,
        seeding_seconds: Option<u64>,
        notes: Vec<String>,
    },
    Category {
        name: String,
        folder: Option<String>,
        seed_ratio: serde_json::Value,
        seed_seconds: serde_json::Value,
        idle_seconds: serde_json::Value,
    },
    Error {
        file: String,
        message: String,
    },
    Summary {
        dry_run: bool,
        new: u64,
        present: u64,
        failed: u64,
        content_bytes: u64,
        notes: Vec<String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the type is checked")]
struct Renamed {
    file: usize,
    path: String,
    path_hex: Option<String>,
}

#[test]
fn imported_torrents_errors_and_totals() {
    let mut command = hashlane();
    command.args(["import", "qbittorrent", "--dry-run", "--json"]);
    let ended = end(command.arg(session("qbittorrent")));
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let lines: Vec<Line> = lines(&ended.stdout);
    assert_eq!(lines.len(), 12);
    let films = r#"{"type":"category","name":"films","folder":"/srv/torrents/films","seed_ratio":"inherited","#;
    assert!(ended.stdout.starts_with(films), "{}", ended.stdout);
    let album = &ended.stdout.lines().nth(3).unwrap();
    for part in [
        r#""outcome":"new""#,
        r#""info_hash_v1":"0bf7c96e28f7954fbfdff21fce2c793337c9181d","info_hash_v2":null,"content_bytes":40000"#,
        r#""path":"/srv/torrents/album","renamed":[{"file":2,"path":"sub/renamed b.txt"}]"#,
        r#""priorities":["skip","high","normal"],"category":null,"labels":[],"paused":true"#,
        r#""seed_ratio":"inherited""#,
    ] {
        assert!(album.contains(part), "{part} in {album}");
    }
    assert!(
        ended
            .stdout
            .contains(r#""seed_ratio":2.5,"seed_seconds":36000,"#)
    );
    assert!(
        matches!(
            lines[11],
            Line::Summary {
                dry_run: true,
                new: 9,
                content_bytes: 579_636,
                ..
            }
        ),
        "{lines:?}"
    );

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.torrent"), "d4:infode").unwrap();
    let ended = end(hashlane()
        .args(["import", "rtorrent", "--dry-run", "--json"])
        .arg(folder.path()));
    assert_eq!(ended.code, Some(2));
    let lines: Vec<Line> = super::lines(&ended.stdout);
    assert!(matches!(&lines[0], Line::Error { file, .. } if file.ends_with("a.torrent.rtorrent")));
    assert!(matches!(
        lines[1],
        Line::Summary {
            new: 0,
            failed: 1,
            ..
        }
    ));
}
