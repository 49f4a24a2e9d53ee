//! The state of one file of a torrent.

use std::io;
use std::ops::Range;
use std::path::Path;

use hashlane_pipeline::FileIndex;

use crate::piece::PieceCounts;

/// The state of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileReport {
    /// The index of the file in the torrent.
    pub index: FileIndex,
    /// The state of the file as a whole.
    pub state: FileState,
    /// The length in bytes according to the torrent.
    pub length: u64,
    /// The length in bytes on the disk; `None` if the file is absent or was not opened.
    pub length_on_disk: Option<u64>,
    /// The indexes of the pieces that contain bytes of the file. Neighbouring files can share the first and the last
    /// piece.
    pub pieces: Range<u32>,
    /// The number of these pieces in each state.
    pub counts: PieceCounts,
    /// The number of the missing pieces that are all zeros on the disk. Zero if the file is shorter than expected.
    ///
    /// A download leaves such pieces as holes. A file of full length can also have lost them: a zeroed sector of a disk
    /// looks the same.
    pub zero_pieces: u32,
    /// The target of the symbolic link that was found, if the torrent specifies another target.
    pub found_target: Option<Box<Path>>,
    /// The error of the system at the lowest offset.
    pub error: Option<Box<FileError>>,
}

impl FileReport {
    /// Returns the number of bytes that the file on the disk has after its end in the torrent. They
    /// belong to no piece and have no effect on any.
    pub fn extra_bytes(&self) -> u64 {
        self.length_on_disk
            .map_or(0, |on_disk| on_disk.saturating_sub(self.length))
    }
}

/// The state of a file as a whole. A program must decide for each state whether the file can be used, so a new state is a
/// breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileState {
    /// The file exists, and all of its pieces are present and correct.
    Whole,
    /// The file exists, and some of its pieces are absent or wrong.
    Partial,
    /// The file does not exist.
    Missing,
    /// The file exists, and cannot be opened or read.
    Unreadable,
    /// The file was not checked: the verification was cancelled, or its pieces were left out.
    Unchecked,
    /// The symbolic link is correct (BEP 47).
    Link,
    /// Another entry exists in place of a symbolic link (BEP 47).
    WrongLink,
}

impl FileState {
    /// Returns `true` if all of the file, or the symbolic link, is present and correct.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::Link)
    }

    /// Returns the name in lower case, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Partial => "incomplete",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Unchecked => "unchecked",
            Self::Link => "link",
            Self::WrongLink => "wrong link",
        }
    }
}

/// The error of the system when it opened or read a file.
#[derive(Debug, thiserror::Error)]
#[error("{}{error}", .offset.map_or_else(String::new, |offset| format!("at byte {offset}: ")))]
#[non_exhaustive]
pub struct FileError {
    /// Offset of the first byte that could not be read; `None` if the file could not be opened.
    pub offset: Option<u64>,
    /// The system's error.
    #[source]
    pub error: io::Error,
}
