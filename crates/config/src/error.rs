//! Errors. Each names the file or variable, the place in the file, and the reason.

use std::io;
use std::path::PathBuf;

use crate::Origin;

/// An error of the configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened or read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A file as a whole is invalid.
    #[error("{}: {reason}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The problem, and the remedy if there is one.
        reason: String,
    },
    /// A key or value is invalid.
    #[error("{origin}: {reason}")]
    Value {
        /// The place of the key.
        origin: Origin,
        /// The problem, and the remedy if there is one.
        reason: String,
    },
    /// A table lacks a key, and no file has the table.
    #[error("[{table}]: {reason}")]
    Table {
        /// The name of the table.
        table: String,
        /// The problem.
        reason: String,
    },
}
