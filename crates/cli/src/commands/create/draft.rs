//! A torrent before its files are hashed.

use std::path::PathBuf;

use hashlane_metainfo::NewContent;

use super::selection::Found;

/// A torrent before its files are hashed.
pub(super) struct Draft {
    /// The file or folder, as given.
    pub(super) path: PathBuf,
    pub(super) name: Vec<u8>,
    pub(super) target: Target,
    pub(super) found: Found,
    pub(super) content: NewContent,
    /// The reason why the torrent is not a hybrid, if no format was requested.
    pub(super) note: Option<String>,
}

/// The place of a new .torrent.
pub(super) struct Target {
    /// The path for messages.
    pub(super) shown: PathBuf,
    /// The file, or `None` for standard output.
    pub(super) place: Option<PathBuf>,
}

/// Numbers of URLs that are not written because the torrent is private.
#[derive(Clone, Copy, Default)]
pub(super) struct NotWritten {
    pub(super) nodes: usize,
    pub(super) web_seeds: usize,
}
