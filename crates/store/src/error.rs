//! Errors of the state folder.

use std::io;
use std::path::{Path, PathBuf};

use crate::name::Name;

/// An error of a state folder. Its text names the file, the place and the reason, and has no secrets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another program uses the folder.
    #[error("{}: in use by {}", folder.display(), process.map_or("another process".to_owned(), |process| format!("process {process}")))]
    InUse {
        /// Path of the state folder.
        folder: PathBuf,
        /// The number of the process, if it is known.
        process: Option<u32>,
    },
    /// A newer program wrote the folder.
    #[error(
        "{}: format {found} of a newer version of Hashlane; this version reads formats up to {newest}",
        folder.display()
    )]
    Newer {
        /// Path of the state folder.
        folder: PathBuf,
        /// The format of the folder.
        found: u32,
        /// The newest format that this program reads.
        newest: u32,
    },
    /// The folder has files, but none that says that it is a state folder.
    #[error("{}: not a state folder of Hashlane: it contains {found:?} and has no file \"format\"", folder.display())]
    Foreign {
        /// Path of the folder, in which nothing was changed.
        folder: PathBuf,
        /// A name in the folder.
        found: String,
    },
    /// The folder belongs to another user.
    #[error("{}: belongs to user {owner}, not to user {user}", folder.display())]
    Owner {
        /// Path of the state folder.
        folder: PathBuf,
        /// The number of the user that owns it.
        owner: u32,
        /// The number of the user of this process.
        user: u32,
    },
    /// The system reports an error.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error, with its number.
        error: io::Error,
    },
    /// A file is not what a program like this one writes. It stays as it is.
    #[error("{}{}: {reason}", path.display(), line.map_or(String::new(), |line| format!(":{line}")))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1, if the file is text.
        line: Option<usize>,
        /// The rule of the format that the file breaks.
        reason: String,
    },
    /// The folder already has the torrent.
    #[error("{0}: already present")]
    Exists(Name),
    /// The folder does not have the torrent.
    #[error("{0}: no such torrent")]
    Absent(Name),
    /// A value cannot be stored.
    #[error("{name}: {reason}")]
    Value {
        /// The torrent.
        name: Name,
        /// The rule of the format that the value breaks.
        reason: String,
    },
}

impl StoreError {
    /// Returns a function that adds the path to an error of the system.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io {
            path: path.to_owned(),
            error,
        }
    }

    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            line: None,
            reason: reason.into(),
        }
    }
}
