//! Reads past the page cache (`O_DIRECT`), many at once by `io_uring`.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::Duration;

use io_uring::{IoUring, opcode, types};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::direct::DirectRead;
use crate::file::SourceFile;

/// Number of reads that the system works on at the same time.
const DEPTH: usize = 32;

/// Number of temporary errors in a row after which an error is permanent: several seconds without memory.
const MAX_TEMPORARY: u32 = 2000;

/// Pause after a temporary error, and between looks for reads of a queue that the system does not wait for.
const PAUSE: Duration = Duration::from_millis(1);

/// A queue of reads past the page cache.
pub struct DirectQueue {
    /// `None` after an error that is permanent.
    ring: Option<IoUring>,
}

impl std::fmt::Debug for DirectQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirectQueue").finish_non_exhaustive()
    }
}

impl DirectQueue {
    /// Returns a queue.
    ///
    /// # Errors
    /// The system has no `io_uring`, or does not allow it. Some containers allow queues, but not their use.
    pub fn new() -> io::Result<Self> {
        let mut queue = Self {
            ring: Some(IoUring::new(DEPTH as u32)?),
        };
        let mut flight = Flight::new(&mut queue.ring);
        // SAFETY: this operation has no buffer.
        unsafe { flight.push(&opcode::Nop::new().build()) };
        while flight.n_pushed > 0 {
            flight.wait(|_, _| ())?;
        }
        drop(flight);
        Ok(queue)
    }

    /// Performs reads into parts of `buffer`. Returns the number of bytes of each: 0 if the read failed, the file system has no
    /// such reads, or the system does not allow them any more.
    ///
    /// # Panics
    /// If a part lies outside of the buffer. Nothing has been read then.
    pub fn read(&mut self, buffer: &mut [u8], reads: &[DirectRead<'_>]) -> Vec<usize> {
        for read in reads {
            let part = &read.part;
            assert!(
                part.start <= part.end && part.end <= buffer.len(),
                "the part {part:?} lies outside of a buffer of {} bytes",
                buffer.len()
            );
        }
        let mut lengths = vec![0; reads.len()];
        // Taken once: a new reference to the buffer would end the permission of the pointers that the system has.
        let base = buffer.as_mut_ptr();
        for (reads, lengths) in reads.chunks(DEPTH).zip(lengths.chunks_mut(DEPTH)) {
            let direct: Vec<_> = reads.iter().map(|read| Direct::set(read.file)).collect();
            let mut flight = Flight::new(&mut self.ring);
            for (i, (read, _)) in reads
                .iter()
                .zip(&direct)
                .enumerate()
                .filter(|(_, (_, direct))| direct.is_some())
            {
                let file = types::Fd(read.file.file.as_raw_fd());
                let len = u32::try_from(read.part.len()).unwrap_or(0);
                // SAFETY: the part lies in the buffer, as checked above.
                let part = unsafe { base.add(read.part.start) };
                let entry = opcode::Read::new(file, part, len).offset(read.offset);
                // SAFETY: `flight` is dropped before this function returns or unwinds, and waits for all reads. So the part
                // and the file outlive the read. Nothing else uses the buffer meanwhile.
                unsafe { flight.push(&entry.build().user_data(i as u64)) };
            }
            let mut complete = |i, length| {
                if let Some(known) = lengths.get_mut(i) {
                    *known = length;
                }
            };
            // The reads after a permanent error have a length of 0.
            while flight.n_pushed > 0 && flight.wait(&mut complete).is_ok() {}
        }
        lengths
    }
}

/// Operations that the system works on, or is to work on.
struct Flight<'q> {
    ring: &'q mut Option<IoUring>,
    /// Operations that have not completed.
    n_pushed: usize,
    /// The temporary errors since the last call that succeeded.
    n_temporary: u32,
}

impl<'q> Flight<'q> {
    fn new(ring: &'q mut Option<IoUring>) -> Self {
        Self {
            ring,
            n_pushed: 0,
            n_temporary: 0,
        }
    }

    /// Adds an operation, unless the ring is full or gone.
    ///
    /// # Safety
    /// Its file and buffer must be valid until this value is dropped.
    unsafe fn push(&mut self, entry: &io_uring::squeue::Entry) {
        let Some(ring) = self.ring else { return };
        // SAFETY: as the caller promises. The destructor waits for the end of the operation.
        if unsafe { ring.submission().push(entry) }.is_ok() {
            self.n_pushed += 1;
        }
    }

    /// Submits what has been added, and waits until an operation has completed, or a moment after a temporary error. Calls
    /// `complete` with the number of each completed operation, and the number of bytes that it has read.
    ///
    /// # Errors
    /// The system does not allow it, or lacks memory for long. This error is permanent.
    fn wait(&mut self, complete: impl FnMut(usize, usize)) -> io::Result<()> {
        let ring = self.ring.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        match ring.submit_and_wait(1) {
            Ok(_) => self.n_temporary = 0,
            Err(error) if is_temporary(&error) && self.n_temporary < MAX_TEMPORARY => {
                self.n_temporary += 1;
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
        self.complete(complete);
        Ok(())
    }

    fn complete(&mut self, mut complete: impl FnMut(usize, usize)) {
        for completion in self.ring.iter_mut().flat_map(IoUring::completion) {
            self.n_pushed -= 1;
            let length = usize::try_from(completion.result()).unwrap_or(0);
            complete(completion.user_data() as usize, length);
        }
    }
}

impl Drop for Flight<'_> {
    /// Waits until the system has completed all that it has taken: it still writes to the buffers of these reads. Entries that it
    /// has not taken go with the ring, so that no later call submits them.
    fn drop(&mut self) {
        let n_left = match self.ring {
            Some(ring) => ring.submission().len(),
            None => 0,
        };
        // The system completes what it has without another call.
        while self.n_pushed > n_left {
            thread::sleep(PAUSE);
            self.complete(|_, _| ());
        }
        if n_left > 0 {
            *self.ring = None;
        }
    }
}

/// A signal, or a lack of memory (`io_uring_enter(2)`).
fn is_temporary(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::INTR | Errno::AGAIN | Errno::BUSY))
}

/// A file whose reads pass the page cache until this value is dropped.
struct Direct<'f> {
    file: &'f SourceFile,
}

impl<'f> Direct<'f> {
    /// Returns `None` if the file system has no such reads.
    fn set(file: &'f SourceFile) -> Option<Self> {
        set_direct(file, true).then_some(Self { file })
    }
}

impl Drop for Direct<'_> {
    fn drop(&mut self) {
        set_direct(self.file, false);
    }
}

/// Sets whether reads of a file pass the page cache. Returns `false` if the file system has no such reads.
fn set_direct(file: &SourceFile, is_direct: bool) -> bool {
    let flags = rustix::fs::fcntl_getfl(&file.file);
    let set = flags.and_then(|flags| {
        let mut flags = flags;
        flags.set(OFlags::DIRECT, is_direct);
        rustix::fs::fcntl_setfl(&file.file, flags)
    });
    set.is_ok()
}
