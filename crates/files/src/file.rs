//! Regular files, read at given positions.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::budget::Budget;
use crate::sys;

/// A regular file, open for reading only.
#[derive(Debug)]
pub struct SourceFile {
    pub(crate) file: File,
    len_bytes: u64,
}

impl SourceFile {
    /// Opens the file at `path`, following symbolic links. Where the system allows it the access
    /// time stays as it is.
    ///
    /// # Errors
    /// The system's error; `IsADirectory` for a directory; `InvalidInput` for anything else that
    /// is not a regular file. Opening a named pipe does not block. If the system has no descriptor
    /// left, files of a [`crate::FileCache`] are closed first.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(Budget::of_process().retry(|| sys::open(path))?)
    }

    /// Returns the source of an open file, if it is a regular one.
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

    /// Length in bytes when the file was opened.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Whether the file is at least `end` bytes long by now.
    pub fn reaches(&self, end: u64) -> bool {
        self.file
            .metadata()
            .is_ok_and(|metadata| metadata.len() >= end)
    }

    /// Fills `buffer` with the bytes from `offset` on, and returns how many there were: fewer than
    /// asked only where the file ends.
    ///
    /// # Errors
    /// The system's error. `buffer` may have been written to.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match sys::read_at(&self.file, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// The system's error; `UnexpectedEof` if the file ends before. `buffer` may have been written to.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if self.read_at(buffer, offset)? < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// Makes the file `len_bytes` long if it is shorter. Fails if it is open for reading only.
    #[cfg(unix)]
    pub(crate) fn extend_to(&mut self, len_bytes: u64) -> io::Result<()> {
        if self.len_bytes < len_bytes {
            self.file.set_len(len_bytes)?;
            self.len_bytes = len_bytes;
        }
        Ok(())
    }

    /// The stretch of data, or the hole, that `offset` lies in, from there to its end: what a
    /// caller may keep until it comes to that end.
    ///
    /// A hole reads as zeros and has no place on the disk. Where the system cannot tell, and where
    /// the file ends before `offset`, all is data.
    pub fn region_at(&self, offset: u64) -> Region {
        let next_data = match sys::next_data(&self.file, offset) {
            Ok(Some(next_data)) => next_data,
            Ok(None) if self.ends_in_hole(offset) => self.len_bytes,
            // Holes are a short cut. Whatever is wrong shows when the bytes are read.
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

    /// Whether there is a hole from `offset` to the end of a file that is as long as it was.
    ///
    /// That no data follow is also what is heard of a place beyond the end, where somebody has cut
    /// the file off. There is no hole there: so to see one in between is what tells the two apart,
    /// also when the file is written again at once.
    fn ends_in_hole(&self, offset: u64) -> bool {
        sys::next_hole(&self.file, offset).is_ok_and(|next_hole| next_hole == offset)
            && matches!(sys::next_data(&self.file, offset), Ok(None))
            && self.reaches(self.len_bytes)
    }
}

/// A part of a file that is all hole or all data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Which bytes of the file.
    pub range: Range<u64>,
    /// Whether they read as zeros because nothing was ever written there.
    pub is_hole: bool,
}
