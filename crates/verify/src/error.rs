//! Why nothing could be verified at all.

use std::io;

use hashlane_metainfo::Version;

/// Why nothing could be verified. What is wrong with single files or pieces is no error: it is in
/// the [`Report`](crate::Report).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Hashes were asked for that the torrent does not have.
    #[error("the torrent is {version}, and has no such hashes")]
    NoSuchHashes {
        /// What it is.
        version: Version,
    },
    /// Memory maps were asked for, and this system has none.
    #[error("files cannot be mapped into memory on this system")]
    MapsUnsupported(#[source] io::Error),
    /// No thread could be started.
    #[error("no thread could be started")]
    Thread(#[source] io::Error),
}
