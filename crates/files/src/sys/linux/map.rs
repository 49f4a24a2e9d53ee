//! Windows of files, mapped.

#![allow(unsafe_code)]

use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::sigbus::Guard;
use crate::SourceFile;

/// A range of addresses of fixed size into which windows of files are mapped, each batch of them in
/// the place of the one before. It belongs to the thread that made it.
///
/// Pages are populated when they are mapped (`MADV_POPULATE_READ`, Linux 5.14), so that one call
/// brings in a whole window and an error comes back as one. What happens to the file afterwards is
/// caught by [`Self::is_intact`]: ask it after the bytes were used, and before the result is. One
/// thing raises no signal: in the page in which a file ends, what follows the end reads as zeros. So
/// ask [`SourceFile::reaches`] too, of the end of what was mapped.
///
/// The bytes are guarded on the thread that made the arena. Do not hand them to another one.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use hashlane_files::{MapArena, SourceFile};
/// # let path = tempfile::NamedTempFile::new()?;
/// # std::fs::write(&path, "some bytes")?;
/// let file = SourceFile::open(path.as_ref())?;
/// let mut arena = MapArena::new(1 << 20)?;
/// let window = arena.map(&file, 5, 5)?;
/// let n_vowels = arena.bytes(window).iter().filter(|byte| b"aeiouy".contains(byte)).count();
/// assert!(arena.is_intact(), "the file was cut off while we read");
/// assert_eq!(n_vowels, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MapArena {
    start: NonNull<u8>,
    len_bytes: usize,
    page_len: usize,
    /// How much is mapped, from the start, in bytes: whole pages.
    used: usize,
    generation: u64,
    guard: Guard,
}

/// Bytes of a file in a [`MapArena`]: what [`MapArena::map`] returns.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Where the bytes begin, from the arena's start.
    start: usize,
    len_bytes: usize,
    /// [`MapArena::reset`]s before this window was mapped.
    generation: u64,
}

impl MapArena {
    /// Reserves addresses for windows of `len_bytes` bytes in all. A window takes whole pages, so
    /// up to two pages more than its bytes. Nothing is read, and no memory is used yet.
    ///
    /// # Errors
    /// The system's error; `ResourceBusy` if this thread has an arena already.
    #[expect(clippy::missing_panics_doc, reason = "mmap(2) never returns null")]
    pub fn new(len_bytes: usize) -> io::Result<Self> {
        let page_len = rustix::param::page_size();
        let len_bytes = len_bytes.max(1).next_multiple_of(page_len);
        // SAFETY: the kernel chooses addresses that nothing else has.
        let start = unsafe {
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
            rustix::mm::mmap_anonymous(ptr::null_mut(), len_bytes, ProtFlags::empty(), flags)?
        };
        // SAFETY: nobody else knows the range, and it stays ours until `drop`, which drops the
        // guard after the range: nothing touches it in between.
        let guard = unsafe { Guard::new(start.cast(), len_bytes) }.inspect_err(|_| {
            // SAFETY: the range was mapped above, and is forgotten here.
            let _ = unsafe { rustix::mm::munmap(start, len_bytes) };
        })?;
        let start = NonNull::new(start.cast()).expect("mmap never returns null");
        Ok(Self {
            start,
            len_bytes,
            page_len,
            used: 0,
            generation: 0,
            guard,
        })
    }

    /// Forgets all windows, so that the room can be used again.
    pub fn reset(&mut self) {
        self.used = 0;
        self.generation += 1;
        self.guard.reset();
    }

    /// Maps `len_bytes` bytes of `file` from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before, or a page of it cannot be read (to read it tells
    /// which, and why); `StorageFull` if the arena has not that much room left; the system's error
    /// if the file system cannot map files.
    pub fn map(&mut self, file: &SourceFile, offset: u64, len_bytes: usize) -> io::Result<Window> {
        let into_page = (offset % self.page_len as u64) as usize;
        let map_len = (into_page + len_bytes).next_multiple_of(self.page_len);
        if map_len > self.len_bytes - self.used {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let window = Window {
            start: self.used + into_page,
            len_bytes,
            generation: self.generation,
        };
        if len_bytes == 0 {
            return Ok(window);
        }
        // SAFETY: `used + map_len` is at most the length of the range, which is ours.
        let address = unsafe { self.start.as_ptr().add(self.used) }.cast();
        // SAFETY: the pages lie in our range, and the borrow of `self` says that nobody holds
        // bytes of them. The mapping is private and read-only: the file cannot be changed by it.
        unsafe {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
            let offset = offset - into_page as u64;
            rustix::mm::mmap(address, map_len, ProtFlags::READ, flags, &file.file, offset)?;
        }
        self.used += map_len;
        // SAFETY: the range was mapped just now; to populate it changes no bytes.
        match unsafe { rustix::mm::madvise(address, map_len, Advice::LinuxPopulateRead) } {
            // Before Linux 5.14 pages come in one by one as they are touched; the guard is there.
            Ok(()) | Err(Errno::INVAL) => Ok(window),
            Err(Errno::FAULT | Errno::HWPOISON) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// The bytes of a window, or zeros in the place of what the file lost since it was mapped.
    ///
    /// # Panics
    /// If the arena was reset since, or the window is not of this arena.
    pub fn bytes(&self, window: Window) -> &[u8] {
        assert_eq!(
            window.generation, self.generation,
            "windows are of before the last reset"
        );
        if window.len_bytes == 0 {
            return &[];
        }
        assert!(
            window.start + window.len_bytes <= self.used,
            "the window is of another arena"
        );
        // SAFETY: the assertions above say that the range is mapped, readable, since the last
        // reset; it stays so while `self` is borrowed. That somebody may write to the file
        // meanwhile is the known hole in any mapping: the bytes then are the old or the new ones.
        // Whoever digests them gets a digest of neither, as with any other way to read a file that
        // changes, and no code here or above acts on a byte twice.
        unsafe { slice::from_raw_parts(self.start.as_ptr().add(window.start), window.len_bytes) }
    }

    /// Whether every byte read since the last reset was the file's. If not, the results must be
    /// thrown away; [`SourceFile::read_at`] tells what is there now.
    pub fn is_intact(&self) -> bool {
        self.guard.is_intact()
    }
}

impl Drop for MapArena {
    fn drop(&mut self) {
        // SAFETY: the range is ours, and no bytes of it are borrowed any more.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len_bytes) };
    }
}
