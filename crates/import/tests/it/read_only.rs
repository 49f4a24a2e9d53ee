//! A session is only read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hashlane_import::Program;

use crate::fixture::{copy, session, torrents};

/// Every file and folder below a folder with its bytes and time of modification.
type Tree = BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)>;

fn tree(folder: &Path) -> Tree {
    let mut tree = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let bytes = metadata.is_file().then(|| fs::read(&path).unwrap());
        if metadata.is_dir() {
            waiting.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        tree.insert(path, (bytes, metadata.modified().unwrap()));
    }
    tree
}

#[test]
fn no_session_is_changed() {
    for (program, name, count) in [
        (Program::QBittorrent, "qbittorrent", 9),
        (Program::QBittorrent, "qbittorrent-sqlite", 9),
        (Program::Transmission, "transmission", 7),
        (Program::RTorrent, "rtorrent", 7),
        (Program::Deluge, "deluge", 8),
    ] {
        let copied = tempfile::tempdir().unwrap();
        copy(&session(name), copied.path());
        let before = tree(copied.path());
        assert_eq!(torrents(program, copied.path()).len(), count, "{name}");
        assert!(tree(copied.path()) == before, "{name}");
    }
}

/// Also not by SQLite, which would write the rows of the journal into the database.
#[cfg(unix)]
#[test]
fn a_database_that_was_not_closed_is_read_with_its_journal_and_not_changed() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("qbittorrent-sqlite"), copied.path());
    let data = copied.path().join("data");
    let database = data.join("torrents.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .pragma_update(None, "journal_mode", "wal")
        .unwrap();
    connection
        .pragma_update(None, "wal_autocheckpoint", 0)
        .unwrap();
    let closed = tempfile::tempdir().unwrap();
    connection
        .execute(
            "UPDATE torrents SET category = 'in the journal' WHERE id = 1",
            [],
        )
        .unwrap();
    // A copy of the files as they are while the program runs, or after it was killed.
    copy(copied.path(), closed.path());
    let journal = closed.path().join("data/torrents.db-wal");
    assert!(journal.metadata().unwrap().len() > 0);
    fs::remove_file(closed.path().join("data/torrents.db-shm")).unwrap();
    let before = tree(closed.path());
    let found = torrents(Program::QBittorrent, closed.path());
    assert_eq!(found["one.bin"].category.as_deref(), Some("in the journal"));
    assert!(tree(closed.path()) == before);
}

/// `SQLite` creates files beside such a database even to read it, unless it is told that the database does not change.
#[cfg(unix)]
#[test]
fn a_closed_database_with_a_write_ahead_log_gets_no_files_beside_it() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("qbittorrent-sqlite"), copied.path());
    let database = copied.path().join("data/torrents.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .pragma_update(None, "journal_mode", "wal")
        .unwrap();
    drop(connection);
    let before = tree(copied.path());
    assert_eq!(before.len(), 6);
    let found = torrents(Program::QBittorrent, copied.path());
    assert_eq!(found.len(), 9);
    assert!(tree(copied.path()) == before);
}
