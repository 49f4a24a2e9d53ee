//! What ends a session, and what a person should know.

use std::io;
use std::path::PathBuf;

use hashlane_client::AddError;
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
    /// What another process left cannot be read.
    #[error("the state of the other process: {0}")]
    Memory(String),
    /// A path or a file of a torrent cannot be passed on to another process.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The client takes no more torrents.
    #[error(transparent)]
    Add(#[from] AddError),
    /// Another thread uses the torrents.
    #[error("the torrents are in use")]
    Busy,
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
