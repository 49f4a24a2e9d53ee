//! What a run says while it works, and at its end.

use std::io;
use std::path::Path;

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
    /// Progress of protection and repair.
    Protecting {
        /// Number of bytes of files that were read.
        done_bytes: u64,
        /// Number of bytes to read in all.
        total_bytes: u64,
    },
    /// A file that has no recovery data.
    Unprotected {
        /// Path of the file.
        path: &'e [u8],
        /// The reason.
        reason: &'e str,
    },
    /// Recovery files that are damaged or incomplete.
    DamagedRecovery {
        /// The first of them.
        set: &'e Path,
        /// Number of recovery slices that are intact, if they were read.
        n_intact: Option<usize>,
        /// Number of recovery slices that there should be.
        n_slices: usize,
    },
    /// What became of a damaged file.
    Repair(Repair<'e>),
}

/// What became of a damaged file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Repair<'e> {
    /// Path of the file.
    pub path: &'e [u8],
    /// The outcome.
    pub outcome: Outcome<'e>,
}

/// The outcome of a repair. A program must decide about each, so a new one is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'e> {
    /// The file has its content again.
    Repaired {
        /// Where the content is from.
        from: Origin<'e>,
        /// The path under which the damaged file is kept.
        damaged: Option<&'e Path>,
    },
    /// A program may have written the content on purpose: time of the last change or inode are not those of the catalogue.
    /// Nothing was done.
    Doubtful,
    /// The file is being changed. Nothing was done.
    Changed,
    /// The content cannot be restored.
    NotRepairable {
        /// Number of bytes for which recovery data is missing. `None` if there is none for the file.
        missing_bytes: Option<u64>,
    },
}

/// Where the content of a repaired file is from. A program must decide about each, so a new one is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'e> {
    /// A set of recovery files, by one of them.
    Recovery(&'e Path),
    /// Another file.
    Copy(&'e Path),
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

    /// Returns `true` if a repair can help: for a rotten file, and for one with sectors that the disk cannot read.
    pub fn is_damaged(&self) -> bool {
        let is_of_disk =
            |error: &io::Error| error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
        match self.verdict {
            Verdict::Rot => true,
            Verdict::Unreadable => self.error.is_some_and(is_of_disk),
            _ => false,
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
