//! Windows of files mapped into memory.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags};

use super::sigbus::Guard;
use crate::SourceFile;

/// The generation of the next arena, or of the next reset of one. No two arenas share a generation, so a window names
/// its arena by its generation alone.
static NEXT_GENERATION: AtomicU64 = AtomicU64::new(0);

/// Length of the aligned part of a map that one page fault fills with cached pages: Linux's default of
/// `fault_around_bytes`. Touching a byte of each part costs less than `MADV_POPULATE_READ`, which
/// visits each page (`bench/README.md`, Maps). Pages that are not cached yet are read later, when they
/// are hashed.
const FAULT_AROUND_LEN: usize = 64 << 10;

/// Largest length of memory that one entry of the page tables can map. The kernel fills the tables in
/// fewer steps if an address has the alignment that its offset in the file has.
const HUGE_PAGE_LEN: usize = 2 << 20;

/// A reserved range of addresses into which windows of files are mapped. The addresses are reused
/// after [`Self::reset`]. The arena belongs to the thread that made it.
///
/// One byte of each part that a page fault fills is read when it is mapped, and errors there are
/// returned. Other pages may be read when their bytes are used. [`Self::is_intact`] detects an error
/// there, and a file that changes later. Call it after the bytes were used and before the result is
/// used.
///
/// One change raises no signal: in the last page of a file, bytes after the end read as zeros. So
/// call [`SourceFile::reaches`] too, with the end of the window.
///
/// The bytes are guarded on the thread that made the arena. Do not pass them to another thread.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use hashlane_files::{MapArena, SourceFile};
/// # let path = tempfile::NamedTempFile::new()?;
/// # std::fs::write(&path, "some bytes")?;
/// let file = SourceFile::open(path.as_ref())?;
/// let mut arena = MapArena::new(1 << 20)?;
/// // SAFETY: the vowels are counted on this thread. Changes of the file make the number wrong, and nothing else.
/// let window = unsafe { arena.map(&file, 5, 5) }?;
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
    /// Number of mapped bytes from the start, in whole pages.
    used: usize,
    /// The generation of the windows mapped since the last reset.
    generation: u64,
    guard: Guard,
}

/// Bytes of a file in a [`MapArena`], returned by [`MapArena::map`].
#[derive(Clone, Copy, Debug)]
pub struct MappedBytes {
    /// Offset of the bytes from the start of the arena.
    start: usize,
    len_bytes: usize,
    /// The generation of the arena when this window was mapped.
    generation: u64,
}

impl MapArena {
    /// Reserves addresses for windows of `len_bytes` bytes in total. A window takes whole pages, so
    /// it needs up to two pages more than its bytes. Nothing is read, and no memory is used yet.
    ///
    /// # Errors
    /// The system's error; `ResourceBusy` if this thread already has an arena, `OutOfMemory` if no address space has so
    /// many pages.
    #[expect(clippy::missing_panics_doc, reason = "mmap(2) never returns null")]
    pub fn new(len_bytes: usize) -> io::Result<Self> {
        let page_len = rustix::param::page_size();
        let len_bytes = len_bytes
            .max(1)
            .checked_next_multiple_of(page_len)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: the kernel chooses addresses that are free.
        let start = unsafe { reserve(ptr::null_mut(), len_bytes, MapFlags::empty())? };
        // SAFETY: no other code knows the range. The arena owns the range until `drop` unmaps it.
        // The guard is dropped after that, and nothing touches the range in between.
        let guard = unsafe { Guard::new(start.cast(), len_bytes) }.inspect_err(|_| {
            // SAFETY: the range was mapped above, and is not used after this.
            let _ = unsafe { rustix::mm::munmap(start, len_bytes) };
        })?;
        let start = NonNull::new(start.cast()).expect("mmap never returns null");
        Ok(Self {
            start,
            len_bytes,
            page_len,
            used: 0,
            generation: next_generation(),
            guard,
        })
    }

    /// Invalidates all windows, so that their addresses can be reused.
    pub fn reset(&mut self) {
        self.used = 0;
        self.generation = next_generation();
        self.guard.reset();
    }

    /// Maps `len_bytes` bytes of `file` from `offset` on.
    ///
    /// # Safety
    /// Other processes can change the file, and the bytes of the window then change too, although a shared reference
    /// to them exists. Until the window is invalidated, the bytes may only be read by code whose memory safety does
    /// not depend on their values, or on two reads of a byte having the same result. A hash function is such code;
    /// `str::from_utf8` is not. They may only be read on the thread that made the arena: on others, a page that the
    /// file has lost ends the process.
    ///
    /// # Errors
    /// - `UnexpectedEof` if the file ends before the window, or a page that is touched cannot be read;
    ///   [`SourceFile::read_at`] reports the reason
    /// - `StorageFull` if the arena has no room for the window
    /// - The system's error if the file system cannot map files. The arena may be smaller
    ///   afterwards.
    pub unsafe fn map(
        &mut self,
        file: &SourceFile,
        offset: u64,
        len_bytes: usize,
    ) -> io::Result<MappedBytes> {
        let into_page = (offset % self.page_len as u64) as usize;
        let page_offset = offset - into_page as u64;
        let (map_start, map_len) = into_page
            .checked_add(len_bytes)
            .and_then(|end| end.checked_next_multiple_of(self.page_len))
            .and_then(|map_len| Some((self.place(page_offset, map_len)?, map_len)))
            .ok_or(io::ErrorKind::StorageFull)?;
        let window = MappedBytes {
            start: map_start + into_page,
            len_bytes,
            generation: self.generation,
        };
        if len_bytes == 0 {
            return Ok(window);
        }
        // SAFETY: `map_start + map_len` is at most the length of the arena's range.
        let address = unsafe { self.start.as_ptr().add(map_start) }.cast();
        // SAFETY: the pages are the arena's, and the exclusive borrow of `self` proves that their
        // bytes are not borrowed.
        let mapped = unsafe { map_file(address, map_len, file, page_offset) };
        if let Err(error) = mapped {
            self.reserve_again(map_start, map_len);
            return Err(error.into());
        }
        self.used = map_start + map_len;
        let was_intact = self.is_intact();
        if !file.reaches(offset.saturating_add(len_bytes as u64)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.touch(map_start..map_start + map_len);
        if was_intact && !self.is_intact() {
            // The zeros of this window are not used, and the windows before it are intact.
            self.guard.reset();
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(window)
    }

    /// Returns the position of a map of `map_len` bytes from `offset` of a file: with the alignment of
    /// the offset if there is room. Returns `None` if there is no room.
    fn place(&self, offset: u64, map_len: usize) -> Option<usize> {
        let alignment = map_len.checked_next_power_of_two()?.min(HUGE_PAGE_LEN);
        let next = self.start.addr().get() + self.used;
        let padding = (offset as usize).wrapping_sub(next) % alignment;
        [padding, 0]
            .into_iter()
            .map(|padding| self.used + padding)
            .find(|start| {
                start
                    .checked_add(map_len)
                    .is_some_and(|end| end <= self.len_bytes)
            })
    }

    /// Reads a byte of each part of a map that one page fault fills. Under the guard, a page that
    /// cannot be read becomes zeros.
    fn touch(&self, map: Range<usize>) {
        let base = self.start.addr().get();
        let mut at = map.start;
        while at < map.end {
            // SAFETY: the byte was mapped just now, and is readable. Another process may change it.
            unsafe { self.start.as_ptr().add(at).read_volatile() };
            at = (base + at + 1).next_multiple_of(FAULT_AROUND_LEN) - base;
        }
    }

    /// Restores the range of a window that could not be mapped.
    ///
    /// The kernel can remove the old pages before it fails to map the new ones, and another thread
    /// can map something in the gap. If the gap is still free, it is reserved again. Otherwise its
    /// pages may belong to other code. The arena then ends before the gap, and does not touch it
    /// again.
    fn reserve_again(&mut self, gap: usize, map_len: usize) {
        let after = gap + map_len;
        // SAFETY: `gap` and `after` are within the range reserved by `new`.
        let [address, rest] = [gap, after].map(|at| unsafe { self.start.as_ptr().add(at) });
        // SAFETY: with FIXED_NOREPLACE, only addresses that are free are mapped.
        let reserved = unsafe { reserve(address.cast(), map_len, MapFlags::FIXED_NOREPLACE) };
        match reserved {
            Ok(start) if start == address.cast() => return,
            // Before Linux 4.17 the flag is only a hint, and the pages can be elsewhere.
            // SAFETY: these pages were mapped just now.
            Ok(elsewhere) => drop(unsafe { rustix::mm::munmap(elsewhere, map_len) }),
            Err(_) => {}
        }
        self.guard.end_at(address);
        if after < self.len_bytes {
            // SAFETY: the pages after the gap are the arena's, and no window was mapped there.
            let _ = unsafe { rustix::mm::munmap(rest.cast(), self.len_bytes - after) };
        }
        self.len_bytes = gap;
    }

    /// Returns the bytes of a window. Bytes that the file has lost since it was mapped are zeros.
    ///
    /// # Panics
    /// If the arena was reset since the window was mapped, or if the window belongs to another
    /// arena.
    pub fn bytes(&self, window: MappedBytes) -> &[u8] {
        assert_eq!(
            window.generation, self.generation,
            "the window belongs to another arena, or was mapped before the last reset"
        );
        if window.len_bytes == 0 {
            return &[];
        }
        // SAFETY: the assertion above proves that this arena has mapped the range since its last
        // reset, and that the range is readable. It stays so while `self` is borrowed. Another process may write to the file
        // meanwhile; the caller of the unsafe `map` has promised that only code reads these bytes
        // whose safety does not depend on their values.
        unsafe { slice::from_raw_parts(self.start.as_ptr().add(window.start), window.len_bytes) }
    }

    /// Returns `true` if all bytes read since the last reset were bytes of the file. Otherwise
    /// discard the results; [`SourceFile::read_at`] reads the file in its current state.
    pub fn is_intact(&self) -> bool {
        self.guard.is_intact()
    }
}

impl Drop for MapArena {
    fn drop(&mut self) {
        if self.len_bytes > 0 {
            // SAFETY: the arena owns the range, and its bytes are not borrowed any more.
            let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len_bytes) };
        }
    }
}

fn next_generation() -> u64 {
    NEXT_GENERATION.fetch_add(1, Ordering::Relaxed)
}

/// Reserves addresses without memory or access rights.
///
/// # Safety
/// As for mmap(2): with `MapFlags::FIXED`, the caller must own the pages.
unsafe fn reserve(
    address: *mut c_void,
    len_bytes: usize,
    flags: MapFlags,
) -> rustix::io::Result<*mut c_void> {
    let flags = flags | MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: by this function's contract.
    unsafe { rustix::mm::mmap_anonymous(address, len_bytes, ProtFlags::empty(), flags) }
}

/// Maps a part of a file at `address`, replacing earlier mappings. The mapping is private and
/// read-only, so it cannot change the file.
///
/// # Safety
/// The caller must own the pages, and their bytes must not be borrowed.
unsafe fn map_file(
    address: *mut c_void,
    len_bytes: usize,
    file: &SourceFile,
    offset: u64,
) -> rustix::io::Result<()> {
    #[cfg(test)]
    if let Some(fault) = tests::FAULT.take() {
        // SAFETY: by this function's contract.
        return unsafe { fault(address, len_bytes) };
    }
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    // SAFETY: by this function's contract.
    unsafe {
        rustix::mm::mmap(
            address,
            len_bytes,
            ProtFlags::READ,
            flags,
            &file.file,
            offset,
        )?
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::{self, File};
    use std::path::Path;

    use rustix::io::Errno;

    use super::*;

    const PAGE: usize = 4096;

    type Fault = unsafe fn(*mut c_void, usize) -> rustix::io::Result<()>;

    thread_local! {
        /// Replaces the next mapping of this thread.
        pub(super) static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
        static FOREIGN: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
    }

    /// Fails as the kernel can: after the old pages were removed.
    unsafe fn leave_gap(address: *mut c_void, len_bytes: usize) -> rustix::io::Result<()> {
        // SAFETY: the caller owns the pages.
        unsafe { rustix::mm::munmap(address, len_bytes)? };
        Err(Errno::NOMEM)
    }

    /// Fails in the same way after another mapping has taken a page in the gap, as another thread's
    /// can.
    unsafe fn fill_gap(address: *mut c_void, len_bytes: usize) -> rustix::io::Result<()> {
        // SAFETY: the caller owns the pages, and the second page is free by then.
        unsafe {
            assert!(leave_gap(address, len_bytes).is_err());
            let page = address.cast::<u8>().add(PAGE).cast();
            let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let foreign = rustix::mm::mmap_anonymous(page, PAGE, access, flags)?;
            foreign.cast::<u8>().write_bytes(7, PAGE);
            FOREIGN.set(foreign);
        }
        Err(Errno::NOMEM)
    }

    /// Maps bytes that only this test changes, on its own thread.
    fn map(
        arena: &mut MapArena,
        file: &SourceFile,
        offset: u64,
        len_bytes: usize,
    ) -> io::Result<MappedBytes> {
        // SAFETY: the tests compare bytes on this thread.
        unsafe { arena.map(file, offset, len_bytes) }
    }

    fn file_of(n_pages: usize) -> (tempfile::TempDir, SourceFile) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, vec![1; n_pages * PAGE]).unwrap();
        let file = SourceFile::open(&path).unwrap();
        (dir, file)
    }

    fn truncate(dir: &Path) {
        let file = File::options().write(true).open(dir.join("file"));
        file.unwrap().set_len(0).unwrap();
    }

    /// Maps a file of one page, so that its other pages cannot be read.
    unsafe fn map_one_page(address: *mut c_void, len_bytes: usize) -> rustix::io::Result<()> {
        let (_dir, file) = file_of(1);
        // SAFETY: the caller owns the pages.
        unsafe { map_file(address, len_bytes, &file, 0) }
    }

    #[test]
    fn a_page_that_cannot_be_read_loses_its_window_alone() {
        let (_dir, file) = file_of(64);
        let mut arena = MapArena::new(256 * PAGE).unwrap();
        let before = map(&mut arena, &file, 0, 40 * PAGE).unwrap();
        FAULT.set(Some(map_one_page));
        let error = map(&mut arena, &file, 0, 40 * PAGE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(arena.is_intact());
        assert!(arena.bytes(before).iter().all(|byte| *byte == 1));
        let after = map(&mut arena, &file, 0, 40 * PAGE).unwrap();
        assert!(arena.bytes(after).iter().all(|byte| *byte == 1));
    }

    #[test]
    fn maps_have_the_alignment_of_their_offsets() {
        let (_dir, file) = file_of(64);
        let mut arena = MapArena::new(256 * PAGE).unwrap();
        for page in [0, 5, 31] {
            let window = map(&mut arena, &file, (page * PAGE) as u64, 32 * PAGE).unwrap();
            let address = arena.bytes(window).as_ptr().addr();
            assert_eq!(
                (address - page * PAGE) % (32 * PAGE),
                0,
                "from page {page} on"
            );
        }
    }

    #[test]
    fn a_gap_is_reserved_again() {
        let (_dir, file) = file_of(8);
        let mut arena = MapArena::new(16 * PAGE).unwrap();
        let before = map(&mut arena, &file, 0, PAGE).unwrap();
        FAULT.set(Some(leave_gap));
        assert!(map(&mut arena, &file, 0, 4 * PAGE).is_err());
        for page in 0..16 {
            // SAFETY: the arena has 16 pages.
            let address = unsafe { arena.start.as_ptr().add(page * PAGE) };
            // SAFETY: existing mappings are not replaced.
            let taken = unsafe { reserve(address.cast(), PAGE, MapFlags::FIXED_NOREPLACE) };
            assert_eq!(taken, Err(Errno::EXIST), "page {page} is free");
        }
        let after = map(&mut arena, &file, 0, 8 * PAGE).unwrap();
        assert!(arena.bytes(before).iter().all(|byte| *byte == 1));
        assert!(arena.bytes(after).iter().all(|byte| *byte == 1));
        assert!(arena.is_intact());
    }

    #[test]
    fn a_gap_that_another_mapping_took_is_left_alone() {
        let (dir, file) = file_of(8);
        let mut arena = MapArena::new(16 * PAGE).unwrap();
        let before = map(&mut arena, &file, 0, PAGE).unwrap();
        FAULT.set(Some(fill_gap));
        assert!(map(&mut arena, &file, 0, 4 * PAGE).is_err());
        // SAFETY: the page was mapped above, and is unmapped at the end of this test.
        let foreign = unsafe { slice::from_raw_parts(FOREIGN.get().cast::<u8>(), PAGE) };
        let is_untouched = || foreign.iter().all(|byte| *byte == 7);
        let full = map(&mut arena, &file, 0, 4 * PAGE).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        assert!(is_untouched());
        // The handler maps zeros from the lost page to the end of the arena.
        truncate(dir.path());
        assert!(arena.bytes(before).iter().all(|byte| *byte == 0));
        assert!(!arena.is_intact() && is_untouched());
        arena.reset();
        fs::write(dir.path().join("file"), vec![2; PAGE]).unwrap();
        let again = map(&mut arena, &file, 0, PAGE).unwrap();
        assert!(arena.bytes(again).iter().all(|byte| *byte == 2));
        drop(arena);
        assert!(is_untouched());
        // SAFETY: the page is this test's, and `foreign` is not used any more.
        unsafe { rustix::mm::munmap(FOREIGN.get(), PAGE).unwrap() };
    }
}
