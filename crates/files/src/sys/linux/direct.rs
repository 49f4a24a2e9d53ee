//! Reads past the page cache (`O_DIRECT`), many at once by `io_uring`.

#![allow(unsafe_code)]

use std::os::fd::AsRawFd as _;

use io_uring::{IoUring, opcode, types};
use rustix::fs::OFlags;

use crate::direct::DirectRead;
use crate::file::SourceFile;

/// Number of reads that the system works on at the same time.
const DEPTH: u32 = 32;

/// A queue of reads past the page cache.
pub struct DirectQueue {
    ring: IoUring,
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
    /// The system has no `io_uring`, or does not allow it.
    pub fn new() -> std::io::Result<Self> {
        IoUring::new(DEPTH).map(|ring| Self { ring })
    }

    /// Performs reads into parts of `buffer`. Returns the number of bytes of each: 0 if the read failed, or the file system has
    /// no such reads.
    ///
    /// # Panics
    /// If a part lies outside of the buffer.
    pub fn read(&mut self, buffer: &mut [u8], reads: &[DirectRead<'_>]) -> Vec<usize> {
        let mut lengths = vec![0; reads.len()];
        for (chunk, lengths) in reads
            .chunks(DEPTH as usize)
            .zip(lengths.chunks_mut(DEPTH as usize))
        {
            let mut n_outstanding = 0;
            for (i, read) in chunk.iter().enumerate() {
                if !set_direct(read.file, true) {
                    continue;
                }
                let part = &mut buffer[read.part.clone()];
                let file = types::Fd(read.file.file.as_raw_fd());
                // At most the length of a batch.
                let entry = opcode::Read::new(file, part.as_mut_ptr(), part.len() as u32);
                let entry = entry.offset(read.offset).build().user_data(i as u64);
                // SAFETY: this function does not return before the system has completed all reads, so the part and the file
                // outlive the read. Nothing else uses the buffer meanwhile.
                if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                    n_outstanding += 1;
                }
            }
            while n_outstanding > 0 {
                // For a valid queue, all errors are temporary (io_uring_enter(2)): a signal, or a lack of memory. Reads that
                // have been submitted still write to the buffer.
                if self.ring.submit_and_wait(1).is_err() {
                    std::thread::yield_now();
                }
                for completion in self.ring.completion() {
                    n_outstanding -= 1;
                    let length = usize::try_from(completion.result()).unwrap_or(0);
                    if let Some(known) = lengths.get_mut(completion.user_data() as usize) {
                        *known = length;
                    }
                }
            }
            for read in chunk {
                set_direct(read.file, false);
            }
        }
        lengths
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
