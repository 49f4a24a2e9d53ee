//! The file of the catalogue: opened, made and refused.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashlane_files::CATALOGUE_NAME;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Reason};
use crate::record::{COLUMNS, Record};

/// The name of the catalogue in the folder of its archive, unless another place is chosen.
pub const FILE_NAME: &str = CATALOGUE_NAME;

/// The version of the schema that this crate reads and writes.
pub const SCHEMA_VERSION: i64 = 1;

/// Marks the file as a catalogue: `HLar`.
const APPLICATION_ID: i64 = 0x484c_6172;

/// The schema, which docs/reference/archive.md describes.
const SCHEMA: &str = "\
CREATE TABLE files (
  path BLOB NOT NULL PRIMARY KEY CHECK (length(path) > 0),
  size INTEGER NOT NULL CHECK (size >= 0),
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  first_checked INTEGER NOT NULL,
  last_checked INTEGER NOT NULL,
  rot_since INTEGER,
  row_check INTEGER NOT NULL
) STRICT, WITHOUT ROWID";

/// The number of rows and the sum of their checks, modulo 2^64: a row that is lost is found.
const TOTAL_SCHEMA: &str = "\
CREATE TABLE total (
  n_files INTEGER NOT NULL,
  row_checks INTEGER NOT NULL
) STRICT";

const LOCK_SUFFIX: &str = "-lock";

/// Longest value of a catalogue, in bytes. Paths are shorter on every system.
const MAX_VALUE: i32 = 1 << 20;

/// Memory for pages of the catalogue, in KiB.
const CACHE_KIB: i64 = 32 << 10;

/// Time to wait for a reader or writer that is not of this crate. Runs of this crate exclude each other by a lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open catalogue.
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// Held as long as the catalogue may be written to.
    _lock: Option<Lock>,
}

impl Catalogue {
    /// Returns the place of the catalogue of a folder, unless another one is chosen.
    pub fn default_place(folder: &Path) -> PathBuf {
        folder.join(FILE_NAME)
    }

    /// Opens a catalogue to change it, or makes an empty one if there is none at `path`. Only one run at a time can change a
    /// catalogue.
    ///
    /// # Errors
    /// The file is no catalogue, is damaged, is of a newer version, or is in use by another run.
    pub fn open_or_create(path: &Path) -> Result<Self, Error> {
        Self::open_to_write(path, true)
    }

    /// Opens a catalogue that exists to change it.
    ///
    /// # Errors
    /// As for [`Self::open_or_create`], and if there is no catalogue.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_to_write(path, false)
    }

    /// Opens a catalogue only to read it, also while another run changes it.
    ///
    /// # Errors
    /// As for [`Self::open`], but never because it is in use.
    pub fn open_to_read(path: &Path) -> Result<Self, Error> {
        let open = || {
            let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            if is_empty(&connection)? {
                return Err(Reason::Absent);
            }
            check(&connection)?;
            Ok(Self {
                connection,
                path: path.to_owned(),
                _lock: None,
            })
        };
        open().map_err(|reason: Reason| reason.at(path))
    }

    fn open_to_write(path: &Path, creates: bool) -> Result<Self, Error> {
        let open = || {
            let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
            if creates {
                flags |= OpenFlags::SQLITE_OPEN_CREATE;
            }
            let connection = connect(path, flags)?;
            // A file of another program is refused before a lock is made beside it.
            let was_empty = is_empty(&connection)?;
            if was_empty && !creates {
                return Err(Reason::Absent);
            }
            let lock = Lock::beside(path)?;
            // Another run may have made it meanwhile.
            if was_empty && is_empty(&connection)? {
                create(&connection)?;
            }
            check(&connection)?;
            // The answer is another mode if the file system has no shared memory. That mode is safe as well.
            let mode = "PRAGMA journal_mode = WAL";
            connection.query_row(mode, [], |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            Ok(Self {
                connection,
                path: path.to_owned(),
                _lock: Some(lock),
            })
        };
        open().map_err(|reason: Reason| reason.at(path))
    }

    /// Returns the place of the catalogue.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Calls `visit` with each path, in the order of its bytes, and its record.
    pub(crate) fn each<E: From<Reason>>(
        &self,
        visit: impl FnMut(&[u8], Record) -> Result<(), E>,
    ) -> Result<(), E> {
        each(&self.connection, visit)
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = OsString::from(path);
    path.push(suffix);
    path.into()
}

/// Opens a file as a database, and limits what a hostile file can do.
fn connect(path: &Path, mut flags: OpenFlags) -> Result<Connection, Reason> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(Reason::Foreign),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.is_symlink() {
                return Err(Reason::Dangling);
            }
            if !flags.contains(OpenFlags::SQLITE_OPEN_CREATE) {
                return Err(Reason::Absent);
            }
            flags |= OpenFlags::SQLITE_OPEN_NOFOLLOW;
        }
        Err(error) => return Err(error.into()),
    }
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(connection)
}

fn number(connection: &Connection, pragma: &str) -> Result<i64, Reason> {
    Ok(connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?)
}

/// Returns `true` for a database in which nothing was ever made, as a run leaves it that was killed at its very start.
fn is_empty(connection: &Connection) -> Result<bool, Reason> {
    let id = number(connection, "application_id")?;
    if id == APPLICATION_ID {
        return Ok(false);
    }
    let count = "SELECT count(*) FROM sqlite_schema";
    let n_objects: i64 = connection.query_row(count, [], |row| row.get(0))?;
    if id != 0 || n_objects > 0 || number(connection, "user_version")? != 0 {
        return Err(Reason::Foreign);
    }
    Ok(true)
}

/// Makes the table. A kill leaves all of it or nothing.
fn create(connection: &Connection) -> Result<(), Reason> {
    Ok(connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {SCHEMA_VERSION};
         {SCHEMA};
         {TOTAL_SCHEMA};
         INSERT INTO total VALUES (0, 0);
         COMMIT;"
    ))?)
}

/// Refuses a catalogue of another version, and a damaged one.
fn check(connection: &Connection) -> Result<(), Reason> {
    let version = number(connection, "user_version")?;
    if version > SCHEMA_VERSION {
        return Err(Reason::Newer {
            found: version,
            known: SCHEMA_VERSION,
        });
    }
    if version != SCHEMA_VERSION {
        return Err(Reason::damaged(format!("it has schema version {version}")));
    }
    let mut select = connection.prepare("SELECT sql FROM sqlite_schema")?;
    let objects: Vec<Option<String>> = select
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if objects != [SCHEMA, TOTAL_SCHEMA].map(|schema| Some(schema.to_owned())) {
        return Err(Reason::damaged("its schema is not that of its version"));
    }
    let check = "PRAGMA quick_check(1)";
    let answer: String = connection.query_row(check, [], |row| row.get(0))?;
    if answer != "ok" {
        return Err(Reason::damaged(answer));
    }
    // One snapshot, while another process may write.
    let snapshot = connection.unchecked_transaction()?;
    let (mut n_files, mut row_checks) = (0, 0_i64);
    each(&snapshot, |path, record| {
        n_files += 1;
        row_checks = row_checks.wrapping_add(record.check(path));
        Ok::<(), Reason>(())
    })?;
    if total(&snapshot)? != (n_files, row_checks) {
        return Err(Reason::damaged("files are missing in it"));
    }
    Ok(())
}

/// Returns the number of rows and the sum of their checks, as they were recorded.
pub(crate) fn total(connection: &Connection) -> Result<(i64, i64), Reason> {
    let mut select = connection.prepare("SELECT n_files, row_checks FROM total")?;
    let mut rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match (rows.next(), rows.next()) {
        (Some(total), None) => Ok(total?),
        _ => Err(Reason::damaged("it has no total")),
    }
}

/// Calls `visit` with each path, in the order of its bytes, and its record.
fn each<E: From<Reason>>(
    connection: &Connection,
    mut visit: impl FnMut(&[u8], Record) -> Result<(), E>,
) -> Result<(), E> {
    let reason = |error: rusqlite::Error| Reason::from(error);
    let select = format!("SELECT {COLUMNS} FROM files ORDER BY path");
    let mut select = connection.prepare(&select).map_err(reason)?;
    let mut rows = select.query([]).map_err(reason)?;
    while let Some(row) = rows.next().map_err(reason)? {
        visit(Record::path(row)?, Record::of(row)?)?;
    }
    Ok(())
}

/// The lock of a catalogue, which one run holds at a time. The system releases it when the process ends, also after a kill.
///
/// It is a file of its own: closing any descriptor of a database would release the locks that SQLite holds on it.
#[derive(Debug)]
struct Lock(File);

impl Lock {
    fn beside(path: &Path) -> Result<Self, Reason> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        let file = options.open(with_suffix(path, LOCK_SUFFIX))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(Reason::InUse),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl Drop for Lock {
    /// Releases the lock now. Otherwise a child process that another thread is starting would hold it until it executes its
    /// program.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
