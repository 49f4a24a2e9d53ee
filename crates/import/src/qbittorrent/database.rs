//! The database `torrents.db`, which is never changed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use hashlane_metainfo::bencode::Writer;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use tempfile::TempDir;

use crate::Reason;
use crate::file::{MAX_TORRENT_BYTES, MAX_TORRENTS};

/// Characters with a meaning in the path of a URI, and `%`.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'#').add(b'%').add(b'?');

/// An open database.
pub(super) struct Database {
    connection: Connection,
    /// A copy of a database that qBittorrent did not close. Removed after the connection is closed.
    _copy: Option<TempDir>,
}

/// One torrent of the database.
pub(super) struct Row {
    /// The identity of the torrent.
    pub(super) id: String,
    /// Resume data of libtorrent.
    pub(super) resume: Vec<u8>,
    /// The other columns, as the keys of a `.fastresume` file.
    pub(super) columns: Vec<u8>,
    /// The .torrent file.
    pub(super) metadata: Option<Vec<u8>>,
}

impl From<rusqlite::Error> for Reason {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.to_string())
    }
}

impl Database {
    /// Opens a database so that SQLite creates no file beside it. If qBittorrent did not close it, a journal beside it has a
    /// part of its rows, and SQLite would write to both; so a copy is opened.
    pub(super) fn open(path: &Path) -> Result<Self, Reason> {
        if path.symlink_metadata()?.is_symlink() {
            return Err(Reason::Link);
        }
        let journals = ["-wal", "-journal"].map(|suffix| with_suffix(path, suffix));
        let has_rows = |journal: &PathBuf| journal.metadata().is_ok_and(|file| file.len() > 0);
        let copy = if journals.iter().any(has_rows) {
            let copy = tempfile::tempdir()?;
            for file in std::iter::once(path).chain(journals.iter().map(PathBuf::as_path)) {
                if file.exists() {
                    fs::copy(file, copy.path().join(file.file_name().unwrap_or_default()))?;
                }
            }
            Some(copy)
        } else {
            None
        };
        let connection = if let Some(copy) = &copy {
            let path = copy.path().join(path.file_name().unwrap_or_default());
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?
        } else {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(uri(path)?, flags)?
        };
        harden(&connection)?;
        Ok(Self {
            connection,
            _copy: copy,
        })
    }

    /// Returns the numbers of the rows in the order of the queue.
    pub(super) fn rows(&self) -> Result<Vec<i64>, Reason> {
        let kind = "SELECT type FROM sqlite_schema WHERE name = 'torrents'";
        let kind: Option<String> = self
            .connection
            .query_row(kind, [], |row| row.get(0))
            .optional()?;
        if kind.as_deref() != Some("table") {
            return Err(Reason::Database("it has no table of torrents".into()));
        }
        let mut statement = self
            .connection
            // Complete torrents are not in the queue, and have the position -1.
            .prepare(
                "SELECT id FROM torrents ORDER BY queue_position < 0, queue_position, id LIMIT ?1",
            )?;
        let limit = i64::try_from(MAX_TORRENTS).unwrap_or(i64::MAX);
        let limit = limit.saturating_add(1);
        let rows: Vec<i64> = statement
            .query_map([limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        if rows.len() > MAX_TORRENTS {
            return Err(Reason::TooMany { max: MAX_TORRENTS });
        }
        Ok(rows)
    }

    /// Returns a row. Columns that a version does not have are absent.
    pub(super) fn row(&self, id: i64) -> Result<Row, Reason> {
        let mut statement = self
            .connection
            .prepare("SELECT * FROM torrents WHERE id = ?1")?;
        let row = statement.query_row([id], |row| {
            Ok(Row {
                id: text(row, "torrent_id")?.unwrap_or_default(),
                resume: blob(row, "libtorrent_resume_data")?.unwrap_or_default(),
                columns: columns(row)?,
                metadata: blob(row, "metadata")?.filter(|metadata| !metadata.is_empty()),
            })
        });
        Ok(row?)
    }
}

/// Returns the columns as the keys of a `.fastresume` file.
fn columns(row: &rusqlite::Row<'_>) -> rusqlite::Result<Vec<u8>> {
    let mut writer = Writer::new();
    writer.begin_dictionary();
    let stopped = integer(row, "stopped")?;
    if let Some(stopped) = stopped {
        let is_forced = text(row, "operating_mode")?.as_deref() == Some("Forced");
        let is_managed = stopped == 0 && !is_forced;
        writer.key("auto_managed").integer(i64::from(is_managed));
        writer.key("paused").integer(i64::from(stopped != 0));
    }
    // Sorted by key, as bencode demands.
    for (key, column) in [
        ("qBt-category", "category"),
        ("qBt-contentLayout", "content_layout"),
        ("qBt-downloadPath", "download_path"),
    ] {
        if let Some(text) = text(row, column)? {
            writer.key(key).bytes(text);
        }
    }
    for (key, column) in [
        ("qBt-firstLastPiecePriority", "has_outer_pieces_priority"),
        (
            "qBt-inactiveSeedingTimeLimit",
            "inactive_seeding_time_limit",
        ),
    ] {
        if let Some(number) = integer(row, column)? {
            writer.key(key).integer(number);
        }
    }
    if let Some(name) = text(row, "name")? {
        writer.key("qBt-name").bytes(name);
    }
    if let Some(ratio) = integer(row, "ratio_limit")? {
        writer.key("qBt-ratioLimit").integer(ratio);
    }
    if let Some(folder) = text(row, "target_save_path")? {
        writer.key("qBt-savePath").bytes(folder);
    }
    for (key, column) in [
        ("qBt-seedStatus", "has_seed_status"),
        ("qBt-seedingTimeLimit", "seeding_time_limit"),
    ] {
        if let Some(number) = integer(row, column)? {
            writer.key(key).integer(number);
        }
    }
    writer.key("qBt-tags").begin_list();
    let tags = text(row, "tags")?.unwrap_or_default();
    for tag in tags.split(',').filter(|tag| !tag.is_empty()) {
        writer.bytes(tag);
    }
    writer.end();
    writer.end();
    Ok(writer.finish())
}

/// Returns a column, or `None` if it is absent, null or of another type.
fn column<'r>(row: &'r rusqlite::Row<'_>, name: &str) -> rusqlite::Result<Option<ValueRef<'r>>> {
    match row.get_ref(name) {
        Ok(value) => Ok(Some(value)),
        Err(rusqlite::Error::InvalidColumnName(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn integer(row: &rusqlite::Row<'_>, name: &str) -> rusqlite::Result<Option<i64>> {
    Ok(column(row, name)?.and_then(|value| value.as_i64().ok()))
}

fn text(row: &rusqlite::Row<'_>, name: &str) -> rusqlite::Result<Option<String>> {
    let bytes = blob(row, name)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns the bytes of a text or blob.
fn blob(row: &rusqlite::Row<'_>, name: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let bytes = column(row, name)?.and_then(|value| value.as_bytes().ok());
    Ok(bytes.map(<[u8]>::to_vec))
}

/// Returns the URI of a database that SQLite neither locks nor writes to.
fn uri(path: &Path) -> Result<String, Reason> {
    let path = std::path::absolute(path)?;
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), ESCAPED);
    Ok(format!("file:{path}?immutable=1"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Limits what a hostile database can do.
fn harden(connection: &Connection) -> Result<(), Reason> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 2 * MAX_TORRENT_BYTES as i32)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(())
}
