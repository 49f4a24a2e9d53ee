//! The reasons why a file or folder has no tree hash.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_pipeline::{Error, Failure};

use crate::outputs::OutputError;
use crate::parameters::ParameterError;

/// The reason why a file or folder has no tree hash. A program must decide about each, so a new variant is a breaking
/// change.
#[derive(Debug)]
pub enum TreeError {
    /// The tree hash does not have such parameters.
    Parameters(ParameterError),
    /// A file or folder cannot be read, or is neither a regular file nor a folder.
    Read {
        /// The path of the file or folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file has another length than the tree hash allows, or changed while it was read, or a folder has no result.
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// An entry cannot be part of the result of a folder.
    Entry {
        /// The path of the entry.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A file besides the result cannot be written, or exists and may not be replaced.
    Write(OutputError),
    /// Nothing can be hashed, for example without memory for threads.
    Run(Error),
    /// The run was cancelled.
    Cancelled,
}

impl TreeError {
    /// Returns the error of a file that has no hash.
    pub(crate) fn of_failure(path: &Path, failure: Failure) -> Self {
        let path = path.to_owned();
        match failure {
            Failure::NotOpened(error) | Failure::NotRead(error) => Self::Read { path, error },
            failure => Self::File {
                path,
                reason: failure.to_string(),
            },
        }
    }

    /// Returns a function that makes an [`io::Error`] an error of the file or folder at `path`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self::Read {
            path: path.to_owned(),
            error,
        }
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(error) => error.fmt(f),
            Self::Read { path, error } => write!(f, "{}: {error}", path.display()),
            Self::File { path, reason } | Self::Entry { path, reason } => {
                write!(f, "{}: {reason}", path.display())
            }
            Self::Write(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for TreeError {}

impl From<Error> for TreeError {
    fn from(error: Error) -> Self {
        Self::Run(error)
    }
}

impl From<OutputError> for TreeError {
    fn from(error: OutputError) -> Self {
        Self::Write(error)
    }
}

impl From<ParameterError> for TreeError {
    fn from(error: ParameterError) -> Self {
        Self::Parameters(error)
    }
}
