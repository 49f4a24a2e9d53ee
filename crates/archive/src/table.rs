//! Reads and changes single files of the catalogue.

use std::time::{Duration, Instant};

use hashlane_sha::Sha256Digest;
use rusqlite::{Connection, OptionalExtension as _, Statement};

use crate::catalogue::total;
use crate::error::Reason;
use crate::record::{COLUMNS, Record, State};

/// Time after which changes are committed. A kill loses at most the changes of this time, and the files are read again.
const INTERVAL: Duration = Duration::from_secs(1);

/// The table of files, and the transaction that changes it.
#[derive(Debug)]
pub(crate) struct Table<'c> {
    connection: &'c Connection,
    select: Statement<'c>,
    put: Statement<'c>,
    delete: Statement<'c>,
    set_total: Statement<'c>,
    /// The number of rows and the sum of their checks, with the changes that are not committed.
    total: (i64, i64),
    /// The begin of the open transaction.
    begun: Option<Instant>,
}

impl<'c> Table<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Result<Self, Reason> {
        let prepare = |sql: &str| connection.prepare(sql);
        Ok(Self {
            connection,
            select: prepare(&format!("SELECT {COLUMNS} FROM files WHERE path = ?1"))?,
            put: prepare(&format!(
                "INSERT OR REPLACE INTO files ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
            ))?,
            delete: prepare("DELETE FROM files WHERE path = ?1")?,
            set_total: prepare("UPDATE total SET n_files = ?1, row_checks = ?2")?,
            total: total(connection)?,
            begun: None,
        })
    }

    /// Returns what the catalogue has of a file.
    pub(crate) fn record(&mut self, path: &[u8]) -> Result<Option<Record>, Reason> {
        let record = self.select.query_row([path], |row| Ok(Record::of(row)));
        record.optional()?.transpose()
    }

    /// Records the content of a file that was read now, in seconds since 1970, in place of what was known of it.
    pub(crate) fn write(
        &mut self,
        path: &[u8],
        state: &State,
        digest: &Sha256Digest,
        now: i64,
    ) -> Result<(), Reason> {
        let record = Record {
            state: *state,
            digest: *digest,
            first_checked: now,
            last_checked: now,
            rot_since: None,
        };
        self.put(path, &record)
    }

    /// Records that a file still has its content.
    pub(crate) fn confirm(&mut self, path: &[u8], state: &State, now: i64) -> Result<(), Reason> {
        self.change(path, |record| Record {
            state: *state,
            last_checked: now,
            rot_since: None,
            ..record
        })
    }

    /// Records that a file has other content without another time. Its digest stays.
    pub(crate) fn mark_rot(&mut self, path: &[u8], now: i64) -> Result<(), Reason> {
        self.change(path, |record| Record {
            last_checked: now,
            rot_since: record.rot_since.or(Some(now)),
            ..record
        })
    }

    /// Records the new path of a file.
    pub(crate) fn rename(&mut self, from: &[u8], to: &[u8], state: &State) -> Result<(), Reason> {
        let Some(record) = self.record(from)? else {
            return Ok(());
        };
        self.delete(from)?;
        let state = *state;
        self.put(to, &Record { state, ..record })
    }

    /// Forgets a file.
    pub(crate) fn delete(&mut self, path: &[u8]) -> Result<(), Reason> {
        self.begin()?;
        if let Some(record) = self.record(path)? {
            self.delete.execute([path])?;
            self.total.0 -= 1;
            self.total.1 = self.total.1.wrapping_sub(record.check(path));
        }
        Ok(())
    }

    fn change(&mut self, path: &[u8], change: impl FnOnce(Record) -> Record) -> Result<(), Reason> {
        match self.record(path)? {
            Some(record) => self.put(path, &change(record)),
            None => Ok(()),
        }
    }

    fn put(&mut self, path: &[u8], record: &Record) -> Result<(), Reason> {
        self.begin()?;
        let (n_before, check_before) = match self.record(path)? {
            Some(before) => (1, before.check(path)),
            None => (0, 0),
        };
        let (state, check) = (&record.state, record.check(path));
        self.put.execute((
            path,
            state.size,
            state.mtime_ns,
            state.ctime_ns,
            state.inode,
            record.digest.as_ref(),
            record.first_checked,
            record.last_checked,
            record.rot_since,
            check,
        ))?;
        let (n_files, row_checks) = self.total;
        let row_checks = row_checks.wrapping_sub(check_before).wrapping_add(check);
        self.total = (n_files + 1 - n_before, row_checks);
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
            self.set_total.execute(self.total)?;
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(())
    }
}
