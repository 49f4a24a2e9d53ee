//! Systems on which this crate uses neither maps nor holes.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(unix)]
use crate::file::Writers;
use crate::{DirectRead, DiskExtent, SourceFile};

/// Opens a file with flags for `open(2)`, so that a named pipe does not wait for its writer.
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

#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}

/// Does nothing: there is no portable interface for this.
#[cfg(unix)]
pub(crate) fn drop_pages(_: &File) {}

/// Returns `Unknown`: this system has no leases.
#[cfg(unix)]
pub(crate) fn writers(_: &File) -> Writers {
    Writers::Unknown
}

/// Returns `Unsupported`: this system cannot compare files and let them share their bytes.
#[cfg(unix)]
pub(crate) fn share_range(_: &File, _: &File, _: u64, _: u64) -> io::Result<Option<u64>> {
    let reason = "bytes cannot be shared between files on this system";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

/// Always fails with `Unsupported`.
pub(crate) fn clone_file(_: &File, _: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail here")]
pub(crate) fn next_data(_: &File, offset: u64) -> io::Result<Option<u64>> {
    Ok(Some(offset))
}

pub(crate) fn next_hole(_: &File, _: u64) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: this system does not report places on disks.
pub(crate) fn disk_extents(_: &File) -> io::Result<Vec<DiskExtent>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: this system does not report places on disks.
pub(crate) fn shared_extents(_: &File) -> io::Result<Option<Vec<DiskExtent>>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: this system does not report what is in memory.
pub(crate) fn cached_bytes(_: &File, _: std::ops::Range<u64>) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns `false`: no file is read past the page cache.
pub(crate) fn is_on_disk(_: &File) -> bool {
    false
}

/// Returns `false`: this system does not report whether a disk is rotational.
pub fn is_rotational(_: &Path) -> bool {
    false
}

/// A queue of reads past the page cache, which this system does not support. No value exists, because [`Self::new`] always
/// fails.
#[derive(Debug)]
pub struct DirectQueue(Infallible);

impl DirectQueue {
    /// Always fails.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Performs reads into parts of `buffer`.
    pub fn read(&mut self, _: &mut [u8], _: &[DirectRead<'_>]) -> Vec<usize> {
        match self.0 {}
    }
}

/// Windows of files mapped into memory, which this system does not support. No value exists,
/// because [`Self::new`] always fails.
#[derive(Debug)]
pub struct MapArena(Infallible);

/// Bytes of a file in a [`MapArena`]. No value exists.
#[derive(Clone, Copy, Debug)]
pub struct MappedBytes(Infallible);

impl MapArena {
    /// Always fails.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn new(_: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Invalidates all windows.
    pub fn reset(&mut self) {
        match self.0 {}
    }

    /// Maps `len_bytes` bytes of `file` from `offset` on.
    ///
    /// # Safety
    /// Never called, because no arena exists.
    ///
    /// # Errors
    /// Never called.
    #[expect(unsafe_code, reason = "the declaration alone: no arena exists")]
    pub unsafe fn map(&mut self, _: &SourceFile, _: u64, _: usize) -> io::Result<MappedBytes> {
        match self.0 {}
    }

    /// Returns the bytes of a window.
    pub fn bytes(&self, _: MappedBytes) -> &[u8] {
        match self.0 {}
    }

    /// Returns `true` if all bytes read so far are bytes of the file.
    pub fn is_intact(&self) -> bool {
        match self.0 {}
    }
}
