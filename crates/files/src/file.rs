//! Regular files, read at given positions.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::budget::Budget;
use crate::positioned;
use crate::stamp::Stamp;
use crate::sys;

/// A regular file, open for reading only.
#[derive(Debug)]
pub struct SourceFile {
    pub(crate) file: File,
    len_bytes: u64,
}

impl SourceFile {
    /// Opens the file at `path`, following symbolic links. Does not change the access time if the
    /// system allows it.
    ///
    /// # Errors
    /// The system's error; `IsADirectory` for a directory; `InvalidInput` for anything else that is
    /// not a regular file. Opening a named pipe does not block. If the system has no descriptor
    /// left, files of a [`crate::FileCache`] are closed first.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(Budget::of_process().retry(|| sys::open(path))?)
    }

    /// Wraps an open file, which must be a regular one.
    pub(crate) fn from_file(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(Self {
            file,
            len_bytes: metadata.len(),
        })
    }

    /// Returns the length in bytes at the time when the file was opened.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Returns the properties of the file that change when it is written to or replaced.
    ///
    /// # Errors
    /// The system's error.
    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&self.file.metadata()?))
    }

    /// Returns `true` if the file is now at least `end` bytes long.
    pub fn reaches(&self, end: u64) -> bool {
        self.file
            .metadata()
            .is_ok_and(|metadata| metadata.len() >= end)
    }

    /// Fills `buffer` with the bytes from `offset` on. Returns the number of bytes, which is less
    /// than the length of `buffer` only at the end of the file.
    ///
    /// # Errors
    /// The system's error. `buffer` may have been written to.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        positioned::read_at(&self.file, buffer, offset)
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// The system's error; `UnexpectedEof` if the file ends before the buffer is full. `buffer` may
    /// have been written to.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        positioned::read_exact_at(&self.file, buffer, offset)
    }

    /// Extends the file to `len_bytes` if it is shorter. Fails if the file is open for reading
    /// only.
    #[cfg(unix)]
    pub(crate) fn extend_to(&mut self, len_bytes: u64) -> io::Result<()> {
        if self.len_bytes < len_bytes {
            self.file.set_len(len_bytes)?;
            self.len_bytes = len_bytes;
        }
        Ok(())
    }

    /// Returns the places of the file on its disk, in the order of their offsets in the file. Holes have no place, and neither
    /// have bytes that are not written yet. A file in more than 4,096 parts is described as far as these reach.
    ///
    /// # Errors
    /// `Unsupported` if the file system or the system does not report places; other errors of the system.
    pub fn disk_extents(&self) -> io::Result<Vec<DiskExtent>> {
        sys::disk_extents(&self.file)
    }

    /// Returns the number of bytes of a range that are in the page cache, rounded up to pages.
    ///
    /// # Errors
    /// The system does not report it, for example because the user may not write to the file.
    pub fn cached_bytes(&self, range: Range<u64>) -> io::Result<u64> {
        sys::cached_bytes(&self.file, range)
    }

    /// Returns `true` if the file lies on a local file system of a disk, on which reads past the page cache are fast. Returns
    /// `false` for files on network file systems, in memory and on FUSE.
    pub fn is_on_disk(&self) -> bool {
        sys::is_on_disk(&self.file)
    }

    /// Returns the places of a file all of whose bytes are shared with other files on the disk (reflinks), and `None` for
    /// other files. Files of equal length on one file system with equal places have equal bytes, until one of them is written
    /// to. Bytes that are only in memory are written to the disk first.
    ///
    /// # Errors
    /// As for [`Self::disk_extents`].
    pub fn shared_extents(&self) -> io::Result<Option<Vec<DiskExtent>>> {
        sys::shared_extents(&self.file)
    }

    /// Notes the length of a file that was written to through [`Self::file`].
    #[cfg(unix)]
    pub(crate) fn set_len_bytes(&mut self, len_bytes: u64) {
        self.len_bytes = len_bytes;
    }

    /// Returns the rest of the data or hole that contains `offset`.
    ///
    /// A hole reads as zeros and occupies no space on the disk. If the system does not report
    /// holes, or the file ends before `offset`, everything is data.
    pub fn region_at(&self, offset: u64) -> Region {
        let next_data = match sys::next_data(&self.file, offset) {
            Ok(Some(next_data)) => next_data,
            Ok(None) if self.ends_in_hole(offset) => self.len_bytes,
            // Holes only save work. The error occurs again when the bytes are read.
            Ok(None) | Err(_) => offset,
        };
        if next_data > offset {
            return Region {
                range: offset..next_data,
                is_hole: true,
            };
        }
        let next_hole = sys::next_hole(&self.file, offset).unwrap_or(u64::MAX);
        Region {
            range: offset..next_hole.max(offset),
            is_hole: false,
        }
    }

    /// Returns `true` if a hole reaches from `offset` to the end of a file of unchanged length.
    ///
    /// The system also reports no data after `offset` if the file was truncated before `offset`,
    /// but then it reports no hole either. One query for a hole between two queries for data
    /// distinguishes the cases, even if the file is written again at once.
    fn ends_in_hole(&self, offset: u64) -> bool {
        sys::next_hole(&self.file, offset).is_ok_and(|next_hole| next_hole == offset)
            && matches!(sys::next_data(&self.file, offset), Ok(None))
            && self.reaches(self.len_bytes)
    }
}

/// Whether a program can write to a file at one moment: it has the file open for writing, or maps it for writing.
/// A program must decide about each answer, so a new one is a breaking change.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// No program can.
    None,
    /// A program can.
    Some,
    /// The system does not report it: the file belongs to another user, is absent, or lies on a network file system.
    Unknown,
}

/// Consecutive bytes of a file that are consecutive on its disk. There is nothing else to say about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiskExtent {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Offset of the first byte on the disk, or in the address space of a file system that spans several disks.
    pub on_disk: u64,
    /// Number of bytes.
    pub len_bytes: u64,
}

/// A part of a file that is entirely hole or entirely data. There is no third kind of part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The bytes of the file.
    pub range: Range<u64>,
    /// Whether the bytes are a hole: zeros that were never written.
    pub is_hole: bool,
}

/// Returns `true` if the file, or a folder in its path, does not exist.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
