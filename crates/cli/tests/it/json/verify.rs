//! The lines of `verify`.

use std::fs;

use serde::Deserialize;

use super::lines;
use crate::fixture::{Ended, Fixture, demo, end, hashlane, verify_demo};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Line {
    Torrent {
        torrent: String,
        name: String,
        info_hash_v1: Option<String>,
        info_hash_v2: Option<String>,
        content: String,
        candidate: Option<String>,
        named_by: Option<String>,
        outside_folder: bool,
        total_bytes: u64,
        piece_length: u32,
        pieces: u32,
        files: usize,
        notes: Vec<String>,
    },
    File {
        torrent: String,
        index: usize,
        path: String,
        path_hex: Option<String>,
        state: String,
        length: u64,
        length_on_disk: Option<u64>,
        extra_bytes: u64,
        zero_pieces: u32,
        first_piece: Option<u32>,
        pieces: Counts,
        pieces_v1: Option<Counts>,
        pieces_v2: Option<Counts>,
        candidate: Option<String>,
        found_as: Option<String>,
        named_by: Option<String>,
        found_target: Option<String>,
        outside_folder: bool,
        error: Option<FileError>,
    },
    Pieces {
        torrent: String,
        first: u32,
        count: u32,
        state: String,
    },
    Summary {
        torrent: String,
        complete: bool,
        cancelled: bool,
        pieces: Counts,
        checked_bytes: u64,
        have_bytes: u64,
        total_bytes: u64,
        elapsed_seconds: f64,
    },
    Total {
        torrents: u64,
        complete: u64,
        incomplete: u64,
        not_checked: u64,
        checked_bytes: u64,
        have_bytes: u64,
        total_bytes: u64,
        elapsed_seconds: f64,
    },
    Error {
        torrent: String,
        message: String,
    },
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counts {
    total: u32,
    have: u32,
    bad: u32,
    unproven: u32,
    missing: u32,
    unreadable: u32,
    unchecked: u32,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileError {
    offset: Option<u64>,
    message: String,
    os_error: Option<i32>,
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases, or one session")]
fn a_damaged_file() {
    let ended = end(verify_demo("damaged").arg("--json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let lines = lines(&ended.stdout);
    let torrent = || "union-addresses.torrent".to_owned();
    assert_eq!(
        lines[0],
        Line::Torrent {
            torrent: torrent(),
            name: "union-addresses".into(),
            info_hash_v1: Some("3ff6fe577e89feeb7c20674a06744c2f30efcd5f".into()),
            info_hash_v2: None,
            content: "damaged/union-addresses".into(),
            candidate: None,
            named_by: None,
            outside_folder: false,
            total_bytes: 313_706,
            piece_length: 16384,
            pieces: 20,
            files: 8,
            notes: vec![],
        }
    );
    assert_eq!(
        lines[6],
        Line::File {
            torrent: torrent(),
            index: 5,
            path: "lincoln/1862_abraham_lincoln_r.txt".into(),
            path_hex: None,
            state: "incomplete".into(),
            length: 49866,
            length_on_disk: Some(49866),
            extra_bytes: 0,
            zero_pieces: 0,
            first_piece: Some(11),
            pieces: Counts {
                total: 4,
                have: 3,
                bad: 1,
                ..Counts::default()
            },
            pieces_v1: Some(Counts {
                total: 4,
                have: 3,
                bad: 1,
                ..Counts::default()
            }),
            pieces_v2: None,
            candidate: None,
            found_as: None,
            named_by: None,
            found_target: None,
            outside_folder: false,
            error: None,
        }
    );
    let runs: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Pieces {
                first,
                count,
                state,
                ..
            } => Some((*first, *count, state.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(runs, [(0, 13, "have"), (13, 1, "bad"), (14, 6, "have")]);
    let Some(Line::Summary {
        complete,
        cancelled,
        pieces,
        have_bytes,
        checked_bytes,
        ..
    }) = lines.last()
    else {
        panic!("the last line is the summary: {lines:#?}");
    };
    assert_eq!((complete, cancelled), (&false, &false));
    assert_eq!(
        pieces,
        &Counts {
            total: 20,
            have: 19,
            bad: 1,
            ..Counts::default()
        }
    );
    assert_eq!((*have_bytes, *checked_bytes), (313_706 - 16384, 313_706));
}

#[test]
fn odd_files() {
    let fixture = Fixture::new(
        "name",
        4,
        &[("long", b"1234"), ("folder", b"1234"), ("e", b"")],
    );
    fs::write(fixture.path("name/long"), b"12345").unwrap();
    fs::remove_file(fixture.path("name/folder")).unwrap();
    fs::create_dir(fixture.path("name/folder")).unwrap();
    let ended = end(fixture.verify().arg("--json"));
    assert_eq!(ended.code, Some(2));
    let files: Vec<_> = lines(&ended.stdout)
        .into_iter()
        .filter_map(|line| match line {
            Line::File {
                state,
                length_on_disk,
                extra_bytes,
                first_piece,
                error,
                ..
            } => Some((state, length_on_disk, extra_bytes, first_piece, error)),
            _ => None,
        })
        .collect();
    assert_eq!(files[0], ("whole".into(), Some(5), 1, Some(0), None));
    let (state, length_on_disk, _, _, error) = &files[1];
    assert_eq!((state.as_str(), length_on_disk), ("unreadable", &None));
    let error = error.as_ref().unwrap();
    assert_eq!(
        (error.offset, error.message.as_str()),
        (None, "is a directory")
    );
    assert_eq!(files[2], ("whole".into(), Some(0), 0, None, None));
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_unicode_comes_as_bytes_too() {
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("t.torrent");
    let mut bytes = b"d4:infod5:filesld6:lengthi1e4:pathl2:a\xffeee4:name1:n".to_vec();
    bytes.extend(b"12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxxee");
    fs::write(&torrent, bytes).unwrap();
    let ended = end(hashlane().arg("verify").arg(&torrent).arg("--json"));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let Line::File { path, path_hex, .. } = &lines(&ended.stdout)[1] else {
        panic!()
    };
    assert_eq!(
        (path.as_str(), path_hex.as_deref()),
        ("a\u{fffd}", Some("61ff"))
    );
}

/// A place where nothing can be written is refused before the check. A failure to write follows the report.
#[cfg(target_os = "linux")]
#[test]
fn a_bitfield_that_cannot_be_written() {
    for (path, n_others) in [("absent/bits", 0), ("/dev/full", 10)] {
        let mut verify = verify_demo("good");
        let ended = end(verify.args(["--json", "--bitfield", path]));
        assert_eq!(ended.code, Some(2), "{path}: {}", ended.stderr);
        let lines = lines(&ended.stdout);
        let (error, others) = lines.split_last().unwrap();
        let Line::Error { message, .. } = error else {
            panic!("{path}: {error:?}");
        };
        assert!(message.starts_with(&format!("{path}: ")), "{message}");
        assert_eq!(
            others.len(),
            n_others + usize::from(n_others > 0),
            "{others:?}"
        );
        let is_report = matches!(others.last(), Some(Line::Summary { complete: true, .. }));
        assert_eq!(is_report, n_others > 0, "{path}");
    }
}

#[test]
fn a_torrent_that_is_refused() {
    let missing = demo().join("missing.torrent");
    let ended = end(hashlane().arg("verify").arg(&missing).arg("--json"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("No such file or directory"));
    let [Line::Error { torrent, message }] = &lines(&ended.stdout)[..] else {
        panic!()
    };
    assert_eq!(torrent, &missing.to_string_lossy());
    assert!(message.contains("No such file or directory"));
}

#[cfg(unix)]
#[test]
fn a_link_among_many_files() {
    let names: Vec<String> = (0..40).map(|n| format!("{n:02}")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|it| (it.as_str(), &b"1234"[..])).collect();
    let fixture = Fixture::new("name", 4, &files);
    let other = tempfile::tempdir().unwrap();
    for name in ["03", "31"] {
        fs::rename(fixture.path("name").join(name), other.path().join(name)).unwrap();
        std::os::unix::fs::symlink(other.path().join(name), fixture.path("name").join(name))
            .unwrap();
    }
    let ended = end(fixture.verify().arg("--json"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let outside = lines(&ended.stdout)
        .into_iter()
        .filter_map(|line| match line {
            Line::File {
                path,
                outside_folder: true,
                ..
            } => Some(path),
            _ => None,
        });
    assert_eq!(outside.collect::<Vec<_>>(), ["03", "31"]);
}

/// Bytes behind a link out of the folder are checked, and the refusal of other commands is reported.
#[cfg(unix)]
#[test]
fn content_outside_the_folder() {
    use std::os::unix::fs::symlink;

    let outside = |ended: &Ended| {
        let lines = lines(&ended.stdout);
        let outside = lines.into_iter().filter_map(|line| match line {
            Line::Torrent { outside_folder, .. } | Line::File { outside_folder, .. } => {
                Some(outside_folder)
            }
            _ => None,
        });
        outside.collect::<Vec<bool>>()
    };
    let files: [(&str, &[u8]); 5] = [
        ("away", b"1234"),
        ("below", b"1234"),
        ("dir/a", b"1234"),
        ("empty", b""),
        ("plain", b"1234"),
    ];
    let fixture = Fixture::new("name", 4, &files);
    let other = tempfile::tempdir().unwrap();
    // A file and a folder lead out, another file leads to a neighbour.
    for name in ["away", "dir", "empty"] {
        fs::rename(fixture.path("name").join(name), other.path().join(name)).unwrap();
        symlink(other.path().join(name), fixture.path("name").join(name)).unwrap();
    }
    fs::rename(fixture.path("name/below"), fixture.path("beside")).unwrap();
    symlink("../beside", fixture.path("name/below")).unwrap();
    let ended = end(fixture.verify().arg("--json"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = [false, true, false, true, false, false];
    assert_eq!(outside(&ended), expected);
    let ended = end(&mut fixture.verify());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let note = "(outside the folder: `seed` and `get` refuse it)\n";
    assert_eq!(ended.stdout.matches(note).count(), 2, "{}", ended.stdout);
    assert!(
        ended.stdout.contains("complete: 4 of 4 pieces"),
        "{ended:?}"
    );
    // `seed --content` serves no file beside the content.
    let named = end(fixture.verify().args(["--json", "--content", "name"]));
    let expected = [false, true, true, true, false, false];
    assert_eq!(outside(&named), expected);
    // Wrong bytes behind a link are wrong.
    fs::write(other.path().join("away"), b"1235").unwrap();
    assert_eq!(end(&mut fixture.verify()).code, Some(1));
    fs::write(other.path().join("away"), b"1234").unwrap();
    // The content itself can be a link: `seed` serves it, `get` does not.
    let linked = tempfile::tempdir().unwrap();
    symlink(fixture.path("name"), linked.path().join("name")).unwrap();
    let mut command = hashlane();
    command.arg("verify").arg(&fixture.torrent).arg("-d");
    let ended = end(command.arg(linked.path()).arg("--json"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(outside(&ended), [true, true, true, true, false, false]);
    let whole = end(hashlane()
        .arg("verify")
        .arg(demo().join("union-addresses.torrent"))
        .arg("-d")
        .arg(demo().join("good")));
    assert!(!whole.stdout.contains("outside"), "{whole:?}");
}
