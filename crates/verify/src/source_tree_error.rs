//! Reasons why no torrent can be created from files.

use std::path::PathBuf;

use hashlane_files::{LeftOut, WalkError};

/// A reason why no torrent can be created from files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceTreeError {
    /// The files could not be found.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A symbolic link to the content as a whole. No torrent can contain such a link.
    #[error("{}: is a link to the content as a whole, which no torrent can contain", path.display())]
    LinkToRoot {
        /// Path of the entry.
        path: PathBuf,
    },
    /// A name that is not Unicode, on a system whose names are Unicode.
    #[error("{}: the name is not Unicode", path.display())]
    NotUnicode {
        /// Path of the entry.
        path: PathBuf,
    },
    /// A folder without files.
    #[error("{}: contains no files{}", path.display(), but(*left_out))]
    Empty {
        /// The folder.
        path: PathBuf,
        /// Entries that were left out.
        left_out: LeftOut,
    },
}

/// Returns the end of the message about a folder without files.
fn but(left_out: LeftOut) -> &'static str {
    if left_out == LeftOut::default() {
        ""
    } else {
        " except those that are left out"
    }
}
