//! Reasons that no torrent can be created from files.

use std::io;
use std::path::PathBuf;

/// Numbers of entries of a folder that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files and folders that are excluded.
    pub excluded: usize,
    /// Hidden files and folders.
    pub hidden: usize,
    /// Symbolic links.
    pub links: usize,
}

/// A reason that no torrent can be created from files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceTreeError {
    /// The system could not read a file or folder.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// An entry that is not a file, folder or link, such as a pipe.
    #[error("{}: not a regular file", path.display())]
    NotRegular {
        /// Path of the entry.
        path: PathBuf,
    },
    /// A symbolic link that leads out of the content.
    #[error("{}: links to {}, which is not in the content", path.display(), target.display())]
    LinkOutside {
        /// Path of the entry.
        path: PathBuf,
        /// Target of the link.
        target: PathBuf,
    },
    /// A symbolic link to the content as a whole, which no torrent can express.
    #[error("{}: links to the content as a whole, which no torrent can say", path.display())]
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
    #[error("{}: no files in there{}", path.display(), but(*left_out))]
    Empty {
        /// The folder.
        path: PathBuf,
        /// Entries that were left out.
        left_out: LeftOut,
    },
}

/// Returns the end of the message about a folder without files.
fn but(left_out: LeftOut) -> &'static str {
    let LeftOut {
        excluded,
        hidden,
        links,
    } = left_out;
    if excluded + hidden + links > 0 {
        " but what is left out"
    } else {
        ""
    }
}
