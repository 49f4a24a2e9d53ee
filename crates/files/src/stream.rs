//! Files that are read once, from the first byte to the end.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::SourceFile;
use crate::budget::{Budget, Slot};

/// A file of any kind that is read from its first byte to its end: a regular file, a pipe, a device
/// or standard input.
#[derive(Debug)]
pub struct ByteStream {
    file: File,
    /// Length when the file was opened, if the system knows it.
    len_bytes: Option<u64>,
    position: u64,
    /// Dropped after the file is closed.
    _slot: Slot,
}

impl ByteStream {
    /// Opens the file at `path` for reading, following symbolic links. Waits for a writer if the
    /// file is a named pipe.
    ///
    /// # Errors
    /// The system's error. On most systems a directory opens, but reading it fails.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(open(path)?)
    }

    /// Opens the file at `path` as [`Self::open`] does if it is a regular file or a folder. Returns
    /// `None` for other files without opening them, because the writer of a named pipe would
    /// notice.
    ///
    /// # Errors
    /// The system's error.
    pub fn open_regular(path: &Path) -> io::Result<Option<Self>> {
        let metadata = path.metadata()?;
        if !(metadata.is_file() || metadata.is_dir()) {
            return Ok(None);
        }
        Ok(Some(Self::new(open(path)?, &metadata)))
    }

    /// Wraps an open file, which is read from its current position on.
    ///
    /// # Errors
    /// The system's error if the file's metadata cannot be read.
    pub fn from_file(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self::new(file, &metadata))
    }

    /// Reads an open regular file from its first byte.
    ///
    /// # Errors
    /// The system's error if the file's metadata cannot be read.
    pub fn of_source(source: SourceFile) -> io::Result<Self> {
        Self::from_file(source.file)
    }

    fn new(file: File, metadata: &Metadata) -> Self {
        // Regular files in /proc have length 0 but are not empty.
        let len_bytes = Some(metadata.len()).filter(|len| metadata.is_file() && *len > 0);
        Self {
            file,
            len_bytes,
            position: 0,
            _slot: Budget::of_process().take_slot(),
        }
    }

    /// Returns the length in bytes when the file was opened, or `None` if the system does not know
    /// it, as for a pipe. The current length may differ.
    pub fn len_bytes(&self) -> Option<u64> {
        self.len_bytes
    }

    /// Returns the number of bytes read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Fills `buffer` with the next bytes and returns their number, which is less than the length
    /// of `buffer` only at the end of the file.
    ///
    /// # Errors
    /// The system's error. [`Self::position`] is then the offset of the first byte not read.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => {
                    filled += n;
                    self.position += n as u64;
                    // After a short read that reaches the known end, no second read is needed to
                    // find the end.
                    if filled < buffer.len() && Some(self.position) == self.len_bytes {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Appends the rest of a stream to `bytes`. Returns `false` if it has more than `max_len` bytes with
/// those that `bytes` had already. The rest is then not read.
///
/// # Errors
/// The error of the stream.
pub fn read_limited(stream: impl Read, max_len: u64, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let room = max_len.saturating_sub(bytes.len() as u64);
    stream.take(room.saturating_add(1)).read_to_end(bytes)?;
    Ok(bytes.len() as u64 <= max_len)
}

/// Appends the bytes of a regular file to `bytes`, as [`read_limited`] does. Does not wait for the writer of a named pipe.
///
/// # Errors
/// The errors of [`SourceFile::open`], and the system's error.
pub fn read_regular(path: &Path, max_len: u64, bytes: &mut Vec<u8>) -> io::Result<bool> {
    read_limited(&SourceFile::open(path)?.file, max_len, bytes)
}

/// Opens a file for reading. Closes cached files first if there is no room for one more.
fn open(path: &Path) -> io::Result<File> {
    let budget = Budget::of_process();
    budget.make_room();
    budget.retry(|| File::open(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_more_than_the_limit_is_read() {
        for (limit, is_whole, n_read) in [(6, true, 5), (5, true, 5), (4, false, 5), (0, false, 2)]
        {
            let mut bytes = b"a".to_vec();
            let found = read_limited(&b"bcde"[..], limit, &mut bytes).unwrap();
            assert_eq!((found, bytes.len()), (is_whole, n_read), "{limit}");
        }
    }
}
