//! What a run says while it works, and at its end.

use std::io;

use crate::verdict::Verdict;

/// A message of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The verdict about a file.
    File(Finding<'e>),
    /// The path of a file below the folder, for whose bytes the run has waited longer than `Options::patience`. The run waits on.
    Silent(&'e [u8]),
    /// The number of files that the walk has seen so far.
    Walked(u64),
    /// Progress of reading.
    Read {
        /// Number of bytes read so far.
        done_bytes: u64,
        /// Number of bytes to read in all.
        total_bytes: u64,
    },
}

/// A file and its verdict. Paths are below the folder of the archive, with slashes between components.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Finding<'e> {
    /// Path of the file.
    pub path: &'e [u8],
    /// The verdict.
    pub verdict: Verdict,
    /// Length of the file in bytes, if it is known.
    pub size: Option<u64>,
    /// The earlier path of a file that moved, or the path of a file whose content was copied.
    pub from: Option<&'e [u8]>,
    /// The time at which rot was first found, in seconds since 1970.
    pub rot_since: Option<i64>,
    /// The reason why a file or folder is unreadable.
    pub error: Option<&'e io::Error>,
}

impl<'e> Finding<'e> {
    pub(crate) fn new(path: &'e [u8], verdict: Verdict) -> Self {
        Self {
            path,
            verdict,
            size: None,
            from: None,
            rot_since: None,
            error: None,
        }
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    counts: [u64; Verdict::ALL.len()],
    /// Number of bytes that were read, except those of unfinished files.
    pub read_bytes: u64,
    /// Number of files of the catalogue that the limits of a scrub left for the next one.
    pub left_files: u64,
    /// Number of symbolic links, pipes, sockets and devices, which have no place in a catalogue.
    pub left_out: u64,
    /// Whether the run was cancelled, so that files have no verdict.
    pub is_interrupted: bool,
}

impl Summary {
    /// Returns the number of files with a verdict.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.counts[verdict as usize]
    }

    pub(crate) fn add(&mut self, verdict: Verdict) {
        self.counts[verdict as usize] += 1;
    }
}
