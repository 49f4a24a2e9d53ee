//! The entry of a file in the catalogue.

use hashlane_files::Stamp;
use hashlane_sha::{Sha256, Sha256Digest};
use rusqlite::Row;

use crate::error::Reason;

/// The state of a file that a writer changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) size: i64,
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
    pub(crate) inode: i64,
}

impl From<Stamp> for State {
    /// SQLite has no unsigned numbers: an inode above 2^63 is stored as a negative number.
    fn from(stamp: Stamp) -> Self {
        Self {
            size: i64::try_from(stamp.length()).unwrap_or(i64::MAX),
            mtime_ns: stamp.modified_ns().unwrap_or_default(),
            ctime_ns: stamp.changed_ns().unwrap_or_default(),
            inode: stamp.inode().unwrap_or_default().cast_signed(),
        }
    }
}

/// What the catalogue has of a file, except its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) state: State,
    pub(crate) digest: Sha256Digest,
    pub(crate) first_checked: i64,
    pub(crate) last_checked: i64,
    pub(crate) rot_since: Option<i64>,
}

/// The columns of [`Record::of`], in their order.
pub(crate) const COLUMNS: &str = "path, size, mtime_ns, ctime_ns, inode, sha256, first_checked, last_checked, rot_since, row_check";

impl Record {
    /// Reads a row with [`COLUMNS`]. A row whose numbers or bytes are not those that were written is damage of the catalogue, not
    /// of a file.
    pub(crate) fn of(row: &Row<'_>) -> Result<Self, Reason> {
        let number = |column| {
            let value = row.get_ref(column)?;
            value.as_i64().map_err(Reason::damaged)
        };
        let digest = row.get_ref(5)?.as_blob().map_err(Reason::damaged)?;
        let digest: [u8; 32] = digest.try_into().map_err(Reason::damaged)?;
        let record = Self {
            state: State {
                size: number(1)?,
                mtime_ns: number(2)?,
                ctime_ns: number(3)?,
                inode: number(4)?,
            },
            digest: Sha256Digest::from(digest),
            first_checked: number(6)?,
            last_checked: number(7)?,
            rot_since: row.get_ref(8)?.as_i64_or_null().map_err(Reason::damaged)?,
        };
        let path = Self::path(row)?;
        let is_valid = record.state.size >= 0 && is_below(path);
        if !is_valid || record.check(path) != number(9)? {
            let path = String::from_utf8_lossy(path);
            return Err(Reason::damaged(format!(
                "its row of {path:?} is not as it was written"
            )));
        }
        Ok(record)
    }

    /// Returns the value of the column `row_check`: the first 8 bytes of the SHA-256 of all other columns, which
    /// docs/reference/archive.md describes.
    pub(crate) fn check(&self, path: &[u8]) -> i64 {
        let State {
            size,
            mtime_ns,
            ctime_ns,
            inode,
        } = self.state;
        let mut bytes = Vec::with_capacity(path.len() + 112);
        let path_len = i64::try_from(path.len()).unwrap_or(i64::MAX);
        for number in [path_len, size, mtime_ns, ctime_ns, inode] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(path);
        bytes.extend(self.digest.as_ref());
        let is_rotten = i64::from(self.rot_since.is_some());
        let rot_since = self.rot_since.unwrap_or_default();
        for number in [self.first_checked, self.last_checked, is_rotten, rot_since] {
            bytes.extend(number.to_be_bytes());
        }
        let digest = hashlane_sha::digest::<Sha256>(&bytes);
        digest
            .as_ref()
            .first_chunk()
            .map_or(0, |first| i64::from_be_bytes(*first))
    }

    /// Returns the path of a row with [`COLUMNS`].
    pub(crate) fn path<'r>(row: &'r Row<'_>) -> Result<&'r [u8], Reason> {
        row.get_ref(0)?.as_blob().map_err(Reason::damaged)
    }
}

/// Returns `true` for a path that stays below its folder.
fn is_below(path: &[u8]) -> bool {
    let mut parts = path.split(|byte| *byte == b'/');
    !path.contains(&0) && parts.all(|part| !matches!(part, b"" | b"." | b".."))
}
