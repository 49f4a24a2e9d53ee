//! Reasons why a bag cannot be made or read at all.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why a bag cannot be made, read or updated. Problems of single files are [`Problem`](crate::Problem)s.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system's error for a file or folder.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The folder has no `bagit.txt`.
    #[error("{}: has no bagit.txt: not a bag", .0.display())]
    NotABag(PathBuf),
    /// The folder has a `bagit.txt` already.
    #[error("{}: is a bag already: use `update` to renew its manifests", .0.display())]
    AlreadyABag(PathBuf),
    /// The place of a new bag exists.
    #[error("{}: exists: choose a new name", .0.display())]
    Exists(PathBuf),
    /// A tag file cannot be used.
    #[error("{}: {reason}", .path.display())]
    Improper {
        /// The tag file.
        path: PathBuf,
        /// The problem, with the line if there is one.
        reason: String,
    },
    /// A file that a bag cannot contain.
    #[error("{}: {reason}", .path.display())]
    NotBaggable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// A file changed while it was hashed.
    #[error("{}: changed while it was read: run the command again", .0.display())]
    Changed(PathBuf),
    /// The fast check needs a length and a number of files.
    #[error("{}: has no Payload-Oxum in bag-info.txt: validate it without the fast check", .0.display())]
    NoOxum(PathBuf),
    /// A manifest with a new algorithm would lack files that are not fetched.
    #[error("{}: is in fetch.txt and not in the bag, so it has no digest of another algorithm", .0.display())]
    NotFetched(PathBuf),
    /// The token was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// Nothing can be hashed at all.
    #[error(transparent)]
    Hashing(#[from] hashlane_sums::Error),
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io {
            path: path.clone(),
            error,
        }
    }

    pub(crate) fn improper(path: &Path, reason: impl Into<String>) -> Self {
        Self::Improper {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}
