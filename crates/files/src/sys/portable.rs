//! Systems without maps and holes: plain reads.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::SourceFile;

/// Opens a file with flags for `open(2)`: named pipes do not wait for their writer.
#[cfg(unix)]
pub(crate) fn open_with_flags<T>(mut open: impl FnMut(i32) -> io::Result<T>) -> io::Result<T> {
    open(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
}

#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Does nothing: this system has no portable interface for it.
#[cfg(unix)]
pub(crate) fn drop_pages(_: &File) {}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail here")]
pub(crate) fn next_data(_: &File, offset: u64) -> io::Result<Option<u64>> {
    Ok(Some(offset))
}

pub(crate) fn next_hole(_: &File, _: u64) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns `false`: this system does not report which disks seek.
pub fn is_rotational(_: &Path) -> bool {
    false
}

/// Windows of files mapped into memory, which this system does not support. [`Self::new`] always
/// fails, so no value exists.
#[derive(Debug)]
pub struct MapArena(Infallible);

/// Bytes of a file in a [`MapArena`]. No value exists.
#[derive(Clone, Copy, Debug)]
pub struct Window(Infallible);

impl MapArena {
    /// Fails.
    ///
    /// # Errors
    /// Always, with `Unsupported`.
    pub fn new(_: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Forgets all windows.
    pub fn reset(&mut self) {
        match self.0 {}
    }

    /// Maps `len_bytes` bytes of `file` from `offset` on.
    ///
    /// # Errors
    /// Never called.
    pub fn map(&mut self, _: &SourceFile, _: u64, _: usize) -> io::Result<Window> {
        match self.0 {}
    }

    /// The bytes of a window.
    pub fn bytes(&self, _: Window) -> &[u8] {
        match self.0 {}
    }

    /// Whether every byte read so far was the file's.
    pub fn is_intact(&self) -> bool {
        match self.0 {}
    }
}
