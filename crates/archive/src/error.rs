//! Errors that end a run. A file that cannot be read does not end one.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// An error that ends a run, and the file or folder that it is about.
#[derive(Debug, thiserror::Error)]
#[error("{}", path.display())]
pub struct Error {
    /// The catalogue, or the folder of the archive.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub reason: Reason,
}

/// The reason of an [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// There is no catalogue.
    #[error("no catalogue: make it with `hashlane archive update`")]
    Absent,
    /// The path is a link to a file that does not exist, which is not made.
    #[error("is a symbolic link to a file that does not exist")]
    Dangling,
    /// The file is no catalogue of this crate.
    #[error("is no catalogue of `hashlane archive`: name another file with --catalogue")]
    Foreign,
    /// The catalogue was made by a newer version.
    #[error(
        "has schema version {found}, but this program knows only {known}: use a newer version of hashlane"
    )]
    Newer {
        /// Its schema version.
        found: i64,
        /// [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).
        known: i64,
    },
    /// The catalogue is damaged.
    #[error(
        "is damaged ({0}): restore it from a backup, or remove it and make a new one with `hashlane archive update`"
    )]
    Damaged(String),
    /// Another run uses the catalogue.
    #[error("is in use by another run of `hashlane archive`: try again when that has ended")]
    InUse,
    /// The folder has no files, so that all entries of the catalogue would be forgotten.
    #[error("has no files, but its catalogue has: is the disk mounted? Nothing was forgotten")]
    NoFiles,
    /// The system's error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another error of SQLite.
    #[error("the catalogue cannot be used")]
    Database(#[source] rusqlite::Error),
    /// Recovery files cannot be made or used.
    #[error(transparent)]
    Recovery(#[from] hashlane_par2::Error),
    /// Nothing can be hashed.
    #[error(transparent)]
    Hashing(#[from] hashlane_pipeline::Error),
}

impl Reason {
    /// Returns the error with this reason.
    pub(crate) fn at(self, path: &Path) -> Error {
        Error {
            path: path.to_owned(),
            reason: self,
        }
    }

    /// Returns the reason for a value of the catalogue that its schema excludes.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "`map_err` passes errors by value"
    )]
    pub(crate) fn damaged(problem: impl ToString) -> Self {
        Self::Damaged(problem.to_string())
    }
}

impl From<rusqlite::Error> for Reason {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign,
            Some(ErrorCode::DatabaseCorrupt) => Self::damaged(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse,
            _ => Self::Database(error),
        }
    }
}
