//! What ends a session, and what a person should know.

use std::io;
use std::path::PathBuf;

use hashlane_store::StoreError;

/// An error that ends a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The client has failed.
    #[error(transparent)]
    Client(#[from] hashlane_client::Error),
    /// The state folder cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Commands that an earlier session recorded cannot be read.
    #[error("{}: hooks: {error}", folder.display())]
    Hooks {
        /// The state folder.
        folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// Something that a person should know, and that ends nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something was not kept.
    Error(String),
    /// A command of a person failed, or a file that should be added cannot be.
    Warning(String),
}
