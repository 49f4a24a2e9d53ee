//! Errors that prevent a verification.

use hashlane_metainfo::Version;

/// An error that prevents a verification. Problems with single files and pieces are no errors; the
/// [`Report`](crate::Report) lists them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The torrent has none of the requested hashes.
    #[error("the torrent is {version} and has none of the requested hashes")]
    NoSuchHashes {
        /// The version of the torrent.
        version: Version,
    },
    /// Nothing could be read or hashed.
    #[error(transparent)]
    Pipeline(#[from] hashlane_pipeline::Error),
}
