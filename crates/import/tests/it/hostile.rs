//! Hostile sessions: a torrent fails alone, with its file and the reason.

use std::fs;
use std::path::Path;

use hashlane_import::{MAX_TORRENT_BYTES, Options, Program, read};

use crate::fixture::{Item, copy, failures, keys, made, read_mapped, session};

/// Writes a session of qBittorrent with one torrent, and returns its error.
fn error(resume: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (torrent, id) = made();
    fs::create_dir(folder.path().join("BT_backup")).unwrap();
    fs::write(
        folder.path().join(format!("BT_backup/{id}.torrent")),
        torrent,
    )
    .unwrap();
    fs::write(
        folder.path().join(format!("BT_backup/{id}.fastresume")),
        resume,
    )
    .unwrap();
    let failure = read_mapped(Program::QBittorrent, folder.path(), &[])
        .remove(0)
        .unwrap_err();
    assert!(failure.file.ends_with(format!("BT_backup/{id}.fastresume")));
    failure.reason.to_string()
}

#[test]
fn paths_that_leave_the_content_are_refused() {
    for (path, reason) in [
        (
            "../../etc/passwd",
            "path component is \"..\", which leaves the content folder",
        ),
        (
            "name/../../x",
            "path component is \"..\", which leaves the content folder",
        ),
        ("/etc/passwd", "path component is empty"),
        ("name//a", "path component is empty"),
        ("name/a\0", "path component contains a NUL byte"),
    ] {
        let files = Item::List(vec!["".into(), path.into()]);
        let resume = keys([("mapped_files", files), ("save_path", "/srv".into())]);
        let expected = format!("file 1 is renamed to a path that is refused: {reason}");
        assert_eq!(error(&resume.encoded()), expected, "{path:?}");
    }
    let resume = keys([("save_path", "/srv/../etc".into())]);
    assert_eq!(error(&resume.encoded()), "/srv/../etc/name contains \"..\"");
}

#[test]
fn damaged_state_is_refused_with_place_and_reason() {
    for (resume, reason) in [
        (&b""[..], "byte 0: expected a value, found the end"),
        (b"d", "byte 1: expected a key or 'e', found the end"),
        (b"le", "is a list, expected a dictionary"),
        (
            b"d9:save_pathi3ee",
            "the key \"save_path\" is an integer, expected a byte string",
        ),
        (
            b"d12:mapped_filesi3e9:save_path2:/de",
            "the key \"mapped_files\" is an integer, expected a list",
        ),
        (
            b"d9:save_path99999999999:e",
            "byte 12: byte string is 99999999999 bytes long, but 1 bytes follow",
        ),
        (b"de", "the folder of the content is unknown"),
    ] {
        assert_eq!(error(resume), reason);
    }
    let deep = [vec![b'l'; 1000], vec![b'e'; 1000]].concat();
    assert!(error(&deep).contains("nested more than 100 levels deep"));
    let mut many = b"d".to_vec();
    for key in 0..2000 {
        many.extend(format!("4:{key:04}0:").bytes());
    }
    many.push(b'e');
    assert_eq!(
        error(&many),
        "byte 0: the dictionary has more than 1000 keys"
    );
}

/// Other values are hints, whose types differ between versions.
#[test]
fn a_hint_of_another_type_is_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let (torrent, id) = made();
    fs::write(folder.path().join(format!("{id}.torrent")), torrent).unwrap();
    let state = keys([
        ("custom1", Item::Text(b"\xff".to_vec())),
        ("directory", "/d/name".into()),
        ("state", "yes".into()),
        ("total_uploaded", (-5).into()),
    ]);
    fs::write(
        folder.path().join(format!("{id}.torrent.rtorrent")),
        state.encoded(),
    )
    .unwrap();
    let torrent = read_mapped(Program::RTorrent, folder.path(), &[])
        .remove(0)
        .unwrap();
    let notes: Vec<String> = torrent.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "the key \"custom1\" is not UTF-8: invalid parts were replaced",
            "ignored: the key \"state\" is a byte string, expected an integer",
        ]
    );
    assert_eq!(torrent.labels, ["\u{fffd}"]);
    assert_eq!(torrent.statistics.sent_bytes, 0);
}

#[cfg(unix)]
#[test]
fn links_and_huge_files_fail_alone() {
    use std::os::unix::fs::symlink;

    let copied = tempfile::tempdir().unwrap();
    copy(&session("qbittorrent/data"), copied.path());
    let backup = copied.path().join("BT_backup");
    let path = |id: &str, suffix: &str| backup.join(format!("{id}.{suffix}"));
    let one = "681d56bb517eee10e4bffe9bfdc0335320d615b7";
    let album = "0bf7c96e28f7954fbfdff21fce2c793337c9181d";
    fs::rename(path(one, "torrent"), copied.path().join("elsewhere")).unwrap();
    symlink(copied.path().join("elsewhere"), path(one, "torrent")).unwrap();
    // A hole of the disk: no memory of its length is used.
    let huge = fs::File::create(path(album, "fastresume")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let failures = failures(Program::QBittorrent, copied.path());
    let expected = [
        format!(
            "{}: has more than {MAX_TORRENT_BYTES} bytes",
            path(album, "fastresume").display()
        ),
        format!(
            "{}: is a symbolic link, which is not followed",
            path(one, "fastresume").display()
        ),
    ];
    assert_eq!(failures, expected);
}

#[cfg(unix)]
#[test]
fn a_database_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torrents.db");
    let open = |path: &Path| {
        read(Program::QBittorrent, path, Options::default())
            .unwrap_err()
            .to_string()
    };
    fs::write(&path, "no database").unwrap();
    assert!(
        open(folder.path())
            .ends_with("torrents.db: the database cannot be read: file is not a database"),
        "{}",
        open(folder.path())
    );
    fs::remove_file(&path).unwrap();
    // A view could compute without end.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE VIEW torrents AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n").unwrap();
    drop(connection);
    assert!(open(folder.path()).ends_with("it has no table of torrents"));
}

#[test]
fn a_folder_without_a_session_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for program in Program::ALL {
        let error = read(program, &folder.path().join("absent"), Options::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("absent: is no session: expected "),
            "{error}"
        );
    }
}
