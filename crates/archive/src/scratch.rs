//! What a run has to remember, in a temporary database: files to read, files that are gone, and new files. SQLite moves what
//! does not fit into its cache to a file, so that the memory of a run does not grow with the archive.

use hashlane_sha::Sha256Digest;
use rusqlite::{Connection, OptionalExtension as _, Statement};

use crate::error::Reason;
use crate::record::State;

const SCHEMA: &str = "
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE todo (place INTEGER NOT NULL, path BLOB NOT NULL, size INTEGER NOT NULL);
CREATE TABLE gone (path BLOB NOT NULL PRIMARY KEY, inode INTEGER NOT NULL, sha256 BLOB NOT NULL, moved_to BLOB)
  WITHOUT ROWID;
CREATE INDEX gone_inode ON gone (inode) WHERE moved_to IS NULL;
CREATE INDEX gone_sha256 ON gone (sha256) WHERE moved_to IS NULL;
CREATE TABLE fresh (path BLOB NOT NULL PRIMARY KEY, size INTEGER NOT NULL, sha256 BLOB NOT NULL, copy_of BLOB)
  WITHOUT ROWID;
CREATE INDEX fresh_sha256 ON fresh (sha256) WHERE copy_of IS NULL;
BEGIN;";

/// The temporary database of a run.
#[derive(Debug)]
pub(crate) struct Scratch(Connection);

impl Scratch {
    pub(crate) fn new() -> Result<Self, Reason> {
        // An empty name is that of a temporary database on the disk, which is removed when it is closed.
        let connection = Connection::open("")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self(connection))
    }

    /// Returns the statements of the run.
    pub(crate) fn statements(&self) -> Result<Statements<'_>, Reason> {
        let prepare = |sql| self.0.prepare(sql);
        Ok(Statements {
            add_todo: prepare("INSERT INTO todo VALUES (?1, ?2, ?3)")?,
            add_gone: prepare("INSERT INTO gone VALUES (?1, ?2, ?3, NULL)")?,
            gone_by_inode: prepare(
                "SELECT path FROM gone WHERE inode = ?1 AND moved_to IS NULL LIMIT 1",
            )?,
            gone_by_digest: prepare(
                "SELECT path FROM gone WHERE sha256 = ?1 AND moved_to IS NULL LIMIT 1",
            )?,
            set_moved: prepare("UPDATE gone SET moved_to = ?2 WHERE path = ?1")?,
            moved_to: prepare("SELECT moved_to FROM gone WHERE path = ?1")?,
            add_fresh: prepare("INSERT OR REPLACE INTO fresh VALUES (?1, ?2, ?3, NULL)")?,
            is_fresh: prepare("SELECT 1 FROM fresh WHERE path = ?1")?,
            set_copy: prepare(
                "UPDATE fresh SET copy_of = ?2 WHERE sha256 = ?1 AND copy_of IS NULL AND size > 0",
            )?,
        })
    }

    /// Returns a statement for the files to read, in the order of their places. Its rows have a path and a size.
    pub(crate) fn todo(&self) -> Result<Statement<'_>, Reason> {
        let select = "SELECT path, size FROM todo ORDER BY place, path";
        Ok(self.0.prepare(select)?)
    }

    /// Returns the number of bytes of the files to read.
    #[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
    pub(crate) fn todo_bytes(&self) -> Result<u64, Reason> {
        // Not `sum`, which fails if the sizes of sparse files exceed 2^63.
        let select = "SELECT total(size) FROM todo";
        let total: f64 = self.0.query_row(select, [], |row| row.get(0))?;
        Ok(total as u64)
    }

    /// Returns a statement for the files that are gone. Its rows have a path.
    pub(crate) fn gone(&self) -> Result<Statement<'_>, Reason> {
        let select = "SELECT path FROM gone WHERE moved_to IS NULL ORDER BY path";
        Ok(self.0.prepare(select)?)
    }

    /// Returns a statement for the new files. Its rows have a path, a size, and the path of a file with the same content.
    pub(crate) fn fresh(&self) -> Result<Statement<'_>, Reason> {
        let select = "SELECT path, size, copy_of FROM fresh ORDER BY path";
        Ok(self.0.prepare(select)?)
    }

    /// Returns a statement for the digests of new files that have content.
    pub(crate) fn fresh_digests(&self) -> Result<Statement<'_>, Reason> {
        Ok(self.0.prepare("SELECT sha256 FROM fresh WHERE size > 0")?)
    }
}

/// The prepared statements of a run.
#[derive(Debug)]
pub(crate) struct Statements<'s> {
    add_todo: Statement<'s>,
    add_gone: Statement<'s>,
    gone_by_inode: Statement<'s>,
    gone_by_digest: Statement<'s>,
    set_moved: Statement<'s>,
    moved_to: Statement<'s>,
    add_fresh: Statement<'s>,
    is_fresh: Statement<'s>,
    set_copy: Statement<'s>,
}

impl Statements<'_> {
    pub(crate) fn add_todo(&mut self, place: i64, path: &[u8], size: i64) -> Result<(), Reason> {
        self.add_todo.execute((place, path, size))?;
        Ok(())
    }

    pub(crate) fn add_gone(
        &mut self,
        path: &[u8],
        state: &State,
        digest: &[u8],
    ) -> Result<(), Reason> {
        self.add_gone.execute((path, state.inode, digest))?;
        Ok(())
    }

    /// Returns a file that is gone and had this inode.
    pub(crate) fn gone_with_inode(&mut self, inode: i64) -> Result<Option<Vec<u8>>, Reason> {
        let found = self.gone_by_inode.query_row([inode], |row| row.get(0));
        Ok(found.optional()?)
    }

    /// Returns a file that is gone and had this digest.
    pub(crate) fn gone_with_digest(
        &mut self,
        digest: &Sha256Digest,
    ) -> Result<Option<Vec<u8>>, Reason> {
        let found = self
            .gone_by_digest
            .query_row([digest.as_ref()], |row| row.get(0));
        Ok(found.optional()?)
    }

    /// Records that a file that is gone is now elsewhere.
    pub(crate) fn set_moved(&mut self, from: &[u8], to: &[u8]) -> Result<(), Reason> {
        self.set_moved.execute((from, to))?;
        Ok(())
    }

    /// Returns the present path of a file of the catalogue, or `None` if it is missing.
    pub(crate) fn present_path(&mut self, path: &[u8]) -> Result<Option<Vec<u8>>, Reason> {
        let gone = self.moved_to.query_row([path], |row| row.get(0));
        Ok(gone.optional()?.unwrap_or_else(|| Some(path.to_vec())))
    }

    pub(crate) fn add_fresh(
        &mut self,
        path: &[u8],
        size: i64,
        digest: &Sha256Digest,
    ) -> Result<(), Reason> {
        self.add_fresh.execute((path, size, digest.as_ref()))?;
        Ok(())
    }

    pub(crate) fn is_fresh(&mut self, path: &[u8]) -> Result<bool, Reason> {
        Ok(self.is_fresh.exists([path])?)
    }

    /// Records a file that has the content of new files.
    pub(crate) fn set_copy(&mut self, digest: &Sha256Digest, of: &[u8]) -> Result<(), Reason> {
        self.set_copy.execute((digest.as_ref(), of))?;
        Ok(())
    }
}
