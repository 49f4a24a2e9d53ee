//! Reasons why a session or a torrent cannot be read.

use std::io;
use std::path::PathBuf;

use hashlane_metainfo::bencode::{Kind, SyntaxError};
use hashlane_metainfo::{ComponentError, EditError, MagnetError};

/// The reason why a session as a whole cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
#[non_exhaustive]
pub struct SessionError {
    /// The file or folder that the error is about.
    pub path: PathBuf,
    /// The problem of the file or folder.
    pub reason: Reason,
}

/// The reason why one torrent of a session cannot be read. The others are not affected.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", file.display())]
#[non_exhaustive]
pub struct Failure {
    /// The file that the error is about. For a row of a database, the name of the database with the row's number.
    pub file: PathBuf,
    /// The problem of the file.
    pub reason: Reason,
}

/// The reason for a [`SessionError`] or a [`Failure`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The file or folder cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A file is too long to be what it should be.
    #[error("has more than {max_bytes} bytes")]
    TooLong {
        /// The limit in bytes.
        max_bytes: u64,
    },
    /// A session has too many torrents.
    #[error("has more than {max} torrents")]
    TooMany {
        /// The limit.
        max: usize,
    },
    /// A file is a symbolic link, which could lead anywhere.
    #[error("is a symbolic link, which is not followed")]
    Link,
    /// A folder has nothing of a session.
    #[error("is no session: expected {expected}")]
    NoSession {
        /// The expected files, in words.
        expected: &'static str,
    },
    /// A file is not bencode.
    #[error(transparent)]
    Bencode(#[from] SyntaxError),
    /// A file is bencode, but no dictionary.
    #[error("is {found}, expected a dictionary")]
    NoDictionary {
        /// The type that was found.
        found: Kind,
    },
    /// A key has a value of another type than expected.
    #[error("the key {key:?} is {found}, expected {expected}")]
    WrongType {
        /// Name of the key in the file of the other program.
        key: &'static str,
        /// The expected type.
        expected: Kind,
        /// The type that was found.
        found: Kind,
    },
    /// A dictionary has too many keys to be what it should be.
    #[error("byte {offset}: the dictionary has more than {max} keys")]
    TooManyKeys {
        /// Offset of the dictionary in the file, in bytes.
        offset: usize,
        /// The limit.
        max: usize,
    },
    /// The .torrent file is invalid.
    #[error("the torrent is refused: {0}")]
    Torrent(#[from] hashlane_metainfo::Error),
    /// The trackers in use cannot be written into the .torrent file.
    #[error("the trackers of the session are refused: {0}")]
    Trackers(#[from] EditError),
    /// A magnet link is invalid.
    #[error("the magnet link is refused: {0}")]
    Magnet(#[from] MagnetError),
    /// A torrent is not named by its info-hash.
    #[error("is not named by the 40 digits of an info-hash")]
    NoInfoHash,
    /// There is neither metainfo nor an info-hash.
    #[error("has neither a .torrent file nor an info-hash")]
    NoSource,
    /// The .torrent file belongs to another torrent than the file with its state.
    #[error("the .torrent file has the info-hash {found}, expected {expected}")]
    OtherTorrent {
        /// The expected info-hash.
        expected: String,
        /// The info-hash of the .torrent file.
        found: String,
    },
    /// A path is not absolute on this machine: a portable installation, or that of another system.
    #[error("{} is no absolute path on this machine: map it with --map OLD=NEW", path.display())]
    RelativeFolder {
        /// The path as the other program stored it.
        path: PathBuf,
    },
    /// A path contains `..`.
    #[error("{} contains \"..\"", path.display())]
    ParentFolder {
        /// The path as the other program stored it.
        path: PathBuf,
    },
    /// The folder of the content is unknown.
    #[error("the folder of the content is unknown")]
    NoFolder,
    /// A path is not Unicode, which this system requires.
    #[error("a path is not Unicode, which this system requires")]
    NotUnicode,
    /// A renamed file has a path that leaves the folder of the content.
    #[error("file {number} is renamed to a path that is refused: {source}")]
    Renamed {
        /// Number of the file in the session, counted from zero.
        number: usize,
        /// The reason.
        source: ComponentError,
    },
    /// A settings file is not JSON.
    #[error("is not valid JSON: {0}")]
    Json(serde_json::Error),
    /// A database cannot be read.
    #[error("the database cannot be read: {0}")]
    Database(String),
}
