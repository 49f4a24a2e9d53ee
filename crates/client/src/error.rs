//! Errors of a client and of its torrents.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use hashlane_api::Refusal;
use hashlane_swarm::{SessionError, StorageError};

/// An error that ends a client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// libtorrent reports an error.
    #[error("libtorrent: {0}")]
    Session(#[from] SessionError),
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}; `ulimit -u` and `ulimit -v` limit threads")]
    Thread(io::Error),
    /// The watched folder cannot be read.
    #[error("{}: {error}", folder.display())]
    Folder {
        /// The folder that was to be watched.
        folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Another program uses the port.
    #[error("port {port}: {text}")]
    PortTaken {
        /// The port that was asked for, in TCP and UDP.
        port: u16,
        /// The system's message.
        text: String,
    },
    /// The system does not report its network interfaces.
    #[error("network interfaces: {0}")]
    Network(io::Error),
    /// The session cannot listen at its only address.
    #[error("port {port}: {text}")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// The system's message.
        text: String,
    },
}

/// The reason why the network of a client does not change.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The port cannot be used, for example because another program uses it.
    #[error("port {port}: {error}")]
    Port {
        /// The port that was asked for.
        port: u16,
        /// The error of the system.
        error: io::Error,
    },
    /// The address cannot be used, for example because this machine does not have it.
    #[error("{address}: {error}")]
    Address {
        /// The local address that was requested.
        address: IpAddr,
        /// The error of the system.
        error: io::Error,
    },
    /// The client has ended.
    #[error("the client has ended")]
    Stopped,
}

impl From<NetworkError> for Refusal {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Port { .. } | NetworkError::Address { .. } => {
                Self::Conflict(error.to_string())
            }
            NetworkError::Stopped => Self::Unavailable(error.to_string()),
        }
    }
}

/// An error that ends one torrent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TorrentError {
    /// The .torrent file cannot be read.
    #[error("{0}")]
    Source(Box<dyn std::error::Error + Send + Sync>),
    /// No thread can be started to fetch the .torrent file.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// The .torrent file is malformed.
    #[error(transparent)]
    Metainfo(#[from] hashlane_metainfo::Error),
    /// The .torrent file cannot be fetched, for this reason. The text has no secrets of the URL.
    #[error("{0}")]
    Fetch(String),
    /// The .torrent file is too long.
    #[error("longer than the limit of {} MiB for a .torrent file", .0 >> 20)]
    TooLong(u64),
    /// The info-hash of the metadata from peers differs from the magnet link's.
    #[error("the metadata from peers does not match the info-hash of the link")]
    OtherMetadata,
    /// Only the metadata of a magnet link can be fetched from peers.
    #[error("not a magnet link")]
    NotMagnet,
    /// The metadata cannot be completed to a .torrent file.
    #[error(transparent)]
    Edit(#[from] hashlane_metainfo::EditError),
    /// No file is selected.
    #[error("the selection matches no file of the torrent")]
    NothingSelected,
    /// The content cannot be located, or the metadata not be kept.
    #[error("{}: {error}", path.display())]
    Path {
        /// The folder, or the file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file cannot be opened, read or written.
    #[error(transparent)]
    Storage(StorageError),
    /// A file exists, and could not be opened or read when the content was verified.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The offset of the failed read, if the file could be opened, and the system's message.
        reason: String,
    },
    /// The content cannot be verified.
    #[error(transparent)]
    Verify(#[from] hashlane_verify::Error),
    /// Another torrent has the same file, and one of the two is not complete or is to be moved.
    #[error("{}: {other} has the same file", path.display())]
    SameFile {
        /// The other torrent, as the user named it.
        other: String,
        /// The path of the file.
        path: PathBuf,
    },
    /// A file exists, has content, and is not proven to belong to the torrent.
    #[error("{}: {}{}; not overwritten", path.display(), unproven(*right, *pieces), more(*others))]
    Unrelated {
        /// The first such file.
        path: PathBuf,
        /// Number of right pieces of the file. They do not prove that the file belongs to the torrent.
        right: u32,
        /// Number of pieces of the file.
        pieces: u32,
        /// Number of further files.
        others: usize,
    },
    /// A file has several names (hard links), and would change under all of them.
    #[error("{}: has several names (hard links), and would change under all of them; not written to{}", path.display(), more(*others))]
    Linked {
        /// The first such file.
        path: PathBuf,
        /// Number of further files.
        others: usize,
    },
    /// A file of a content map lacks bytes, and is not written to.
    #[error("{}: is incomplete or damaged, and is not written to: a content map has the file{}", path.display(), more(*others))]
    Mapped {
        /// The first such file.
        path: PathBuf,
        /// Number of further files.
        others: usize,
    },
    /// The files were not changed: the user declined, or there was no terminal to ask on.
    #[error("{0}")]
    Kept(String),
    /// No piece of the content is present.
    #[error(transparent)]
    NothingPresent(Absence),
    /// The download finished, but verification failed.
    #[error(
        "the download finished, but verification failed: another program is modifying the files"
    )]
    Modified,
    /// The content cannot be moved.
    #[error("not moved to {}: {error}", to.display())]
    Move {
        /// The new path.
        to: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file cannot get its new name. All files keep their names.
    #[error("{}: not renamed: {error}", to.display())]
    Rename {
        /// The new path.
        to: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The content cannot have these names.
    #[error("{0}")]
    Names(#[from] hashlane_metainfo::NamesError),
    /// The content map does not fit the torrent.
    #[error("content map: {0}")]
    Map(#[from] hashlane_metainfo::MapError),
    /// No peer sent the metadata in time.
    #[error("no metadata received for the magnet link: {0}")]
    NoMetadata(String),
    /// Nothing arrived in time.
    #[error("no data received for {seconds} s: {reason}")]
    Timeout {
        /// The limit.
        seconds: f64,
        /// The last problem, or the number of peers.
        reason: String,
    },
    /// The client was interrupted.
    #[error("interrupted; the next download continues from the content on disk")]
    Interrupted,
    /// A command ended the torrent.
    #[error("ended by request")]
    Ended,
    /// libtorrent reports an error.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// libtorrent stopped the torrent.
    #[error("{0}")]
    Stopped(String),
}

/// The reason why no piece of content is present that shall be served, or that a download has lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absence {
    /// The folder of the content does not exist.
    #[error("{}: the folder does not exist; its file system may not be mounted", .0.display())]
    NoFolder(PathBuf),
    /// The folder of the content is empty.
    #[error("{}: the folder is empty; its file system may not be mounted", .0.display())]
    EmptyFolder(PathBuf),
    /// The folder is on another file system than before.
    #[error("{}: the file system of the folder was unmounted or replaced", .0.display())]
    Unmounted(PathBuf),
    /// The folder exists, and the files of the content at this path are missing or wrong.
    #[error("{}: no piece of the content is present", .0.display())]
    NoPiece(PathBuf),
}

impl From<StorageError> for TorrentError {
    fn from(error: StorageError) -> Self {
        if error.is_unrelated() {
            Self::Unrelated {
                path: error.path,
                right: 0,
                pieces: 0,
                others: 0,
            }
        } else if error.is_linked() {
            Self::Linked {
                path: error.path,
                others: 0,
            }
        } else {
            Self::Storage(error)
        }
    }
}

impl Absence {
    /// Returns the name of the reason, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoFolder(_) => "no_folder",
            Self::EmptyFolder(_) => "empty_folder",
            Self::Unmounted(_) => "unmounted",
            Self::NoPiece(_) => "no_piece",
        }
    }
}

/// Describes a file that is not proven to belong to the torrent.
fn unproven(right: u32, pieces: u32) -> String {
    match right {
        0 => "exists and does not belong to this torrent".to_owned(),
        _ => format!(
            "exists and does not belong to this torrent, or differs too much: {right} of {pieces} pieces are right"
        ),
    }
}

fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        _ => format!(" (and {others} more)"),
    }
}
