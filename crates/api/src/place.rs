//! Places of content.

use std::path::{Path, PathBuf};

/// The place of a torrent's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A folder that has the content under the torrent's name. What is missing can be downloaded.
    Folder(PathBuf),
    /// The content itself under any name: a file, or the folder of the files. It is served, and never written.
    Content(PathBuf),
}

impl Place {
    /// Returns the folder, or the content itself.
    pub fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::Content(path) => path,
        }
    }
}
