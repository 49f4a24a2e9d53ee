//! Reasons why a set cannot be made, read or repaired.

use std::io;
use std::path::PathBuf;

/// The reason why a job failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The job was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// The options of a new set contradict each other.
    #[error("{0}")]
    Options(String),
    /// A file cannot be in the set.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// A file was changed while it was read.
    #[error("{}: another program is changing the file", .0.display())]
    Changed(PathBuf),
    /// No file has a packet of PAR2.
    #[error("{}: no packet of PAR2 is intact", .0.display())]
    NoPackets(PathBuf),
    /// The intact packets do not describe the set.
    #[error("the recovery files lack {0}")]
    Incomplete(&'static str),
    /// A set is impossible, or exceeds a limit.
    #[error("the recovery files are wrong: {0}")]
    Impossible(String),
    /// There are fewer recovery slices than missing slices.
    #[error("{missing} slices are missing, and {available} recovery slices are intact")]
    NotEnough {
        /// Number of missing slices.
        missing: usize,
        /// Number of recovery slices.
        available: usize,
    },
    /// No combination of the recovery slices restores the missing ones.
    #[error("no combination of the recovery slices restores the missing slices")]
    NoSolution,
    /// The equations for the missing slices do not fit into the memory.
    #[error("{missing} missing slices need {needed} bytes of memory")]
    Memory {
        /// Number of missing slices.
        missing: usize,
        /// Bytes that are needed.
        needed: u64,
    },
    /// The disk has no space for the new files.
    #[error("{}: the new files need {needed} bytes, and {available} are free", folder.display())]
    Space {
        /// A folder on the disk.
        folder: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// A repaired file does not have its digest. Nothing was changed.
    #[error("{}: the repaired file is wrong; nothing was changed", .0.display())]
    Wrong(PathBuf),
}

impl Error {
    /// Returns the error of a file.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.kind() {
            io::ErrorKind::Interrupted => Self::Cancelled,
            _ => Self::Io { path, error },
        }
    }
}
