//! Reads and changes single files of the catalogue.

use std::time::{Duration, Instant};

use hashlane_sha::Sha256Digest;
use rusqlite::{Connection, OptionalExtension as _, Statement};

use crate::error::Reason;
use crate::record::{COLUMNS, Record, State};

/// Time after which changes are committed. A kill loses at most the changes of this time, and the files are read again.
const INTERVAL: Duration = Duration::from_secs(1);

/// The table of files, and the transaction that changes it.
#[derive(Debug)]
pub(crate) struct Table<'c> {
    connection: &'c Connection,
    select: Statement<'c>,
    insert: Statement<'c>,
    replace: Statement<'c>,
    confirm: Statement<'c>,
    mark: Statement<'c>,
    rename: Statement<'c>,
    delete: Statement<'c>,
    /// The begin of the open transaction.
    begun: Option<Instant>,
}

impl<'c> Table<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Result<Self, Reason> {
        let prepare = |sql: &str| connection.prepare(sql);
        Ok(Self {
            connection,
            select: prepare(&format!("SELECT {COLUMNS} FROM files WHERE path = ?1"))?,
            insert: prepare("INSERT INTO files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, NULL)")?,
            replace: prepare(
                "UPDATE files SET size = ?2, mtime_ns = ?3, ctime_ns = ?4, inode = ?5, sha256 = ?6, first_checked = ?7, \
                 last_checked = ?7, rot_since = NULL WHERE path = ?1",
            )?,
            confirm: prepare(
                "UPDATE files SET size = ?2, mtime_ns = ?3, ctime_ns = ?4, inode = ?5, last_checked = ?6, rot_since = NULL \
                 WHERE path = ?1",
            )?,
            mark: prepare(
                "UPDATE files SET last_checked = ?2, rot_since = coalesce(rot_since, ?2) WHERE path = ?1",
            )?,
            rename: prepare(
                "UPDATE files SET path = ?2, size = ?3, mtime_ns = ?4, ctime_ns = ?5, inode = ?6 WHERE path = ?1",
            )?,
            delete: prepare("DELETE FROM files WHERE path = ?1")?,
            begun: None,
        })
    }

    /// Returns what the catalogue has of a file.
    pub(crate) fn record(&mut self, path: &[u8]) -> Result<Option<Record>, Reason> {
        let record = self.select.query_row([path], |row| Ok(Record::of(row)));
        record.optional()?.transpose()
    }

    /// Adds a file that was read now, in seconds since 1970.
    pub(crate) fn insert(
        &mut self,
        path: &[u8],
        state: &State,
        digest: &Sha256Digest,
        now: i64,
    ) -> Result<(), Reason> {
        self.begin()?;
        write(&mut self.insert, path, state, digest, now)
    }

    /// Records the new content of a file.
    pub(crate) fn replace(
        &mut self,
        path: &[u8],
        state: &State,
        digest: &Sha256Digest,
        now: i64,
    ) -> Result<(), Reason> {
        self.begin()?;
        write(&mut self.replace, path, state, digest, now)
    }

    /// Records that a file still has its content.
    pub(crate) fn confirm(&mut self, path: &[u8], state: &State, now: i64) -> Result<(), Reason> {
        self.begin()?;
        let (size, mtime, ctime, inode) = numbers(state);
        self.confirm
            .execute((path, size, mtime, ctime, inode, now))?;
        Ok(())
    }

    /// Records that a file has other content without another time. Its digest stays.
    pub(crate) fn mark_rot(&mut self, path: &[u8], now: i64) -> Result<(), Reason> {
        self.begin()?;
        self.mark.execute((path, now))?;
        Ok(())
    }

    /// Records the new path of a file.
    pub(crate) fn rename(&mut self, from: &[u8], to: &[u8], state: &State) -> Result<(), Reason> {
        self.begin()?;
        let (size, mtime, ctime, inode) = numbers(state);
        self.rename.execute((from, to, size, mtime, ctime, inode))?;
        Ok(())
    }

    /// Forgets a file.
    pub(crate) fn delete(&mut self, path: &[u8]) -> Result<(), Reason> {
        self.begin()?;
        self.delete.execute([path])?;
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Reason> {
        if self.begun.is_none() {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
            self.begun = Some(Instant::now());
        }
        Ok(())
    }

    /// Commits the changes if that is due.
    pub(crate) fn commit_if_due(&mut self) -> Result<(), Reason> {
        if self.begun.is_some_and(|begun| begun.elapsed() >= INTERVAL) {
            return self.commit();
        }
        Ok(())
    }

    /// Commits the changes.
    pub(crate) fn commit(&mut self) -> Result<(), Reason> {
        if self.begun.take().is_some() {
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(())
    }
}

/// Executes a statement that takes all of a file that was read.
fn write(
    statement: &mut Statement<'_>,
    path: &[u8],
    state: &State,
    digest: &Sha256Digest,
    now: i64,
) -> Result<(), Reason> {
    let (size, mtime, ctime, inode) = numbers(state);
    statement.execute((path, size, mtime, ctime, inode, digest.as_ref(), now))?;
    Ok(())
}

fn numbers(state: &State) -> (i64, i64, i64, i64) {
    (state.size, state.mtime_ns, state.ctime_ns, state.inode)
}
