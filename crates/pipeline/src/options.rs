//! Threads, input mode and kernels.

use std::num::NonZeroUsize;

use hashlane_sha::Engine;

/// Settings for reading and hashing. The defaults suit most machines.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of threads that read and hash, or `None` for all CPUs available to the process.
    pub threads: Option<NonZeroUsize>,
    /// Method of reading files.
    pub io: IoMode,
    /// Engine that hashes.
    pub engine: Engine,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: None,
            io: IoMode::Auto,
            engine: Engine::detect(),
        }
    }
}

/// Method of reading files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// Maps large files and reads small ones. Reads files on a rotational disk in order, unless the
    /// bytes arrive faster than such a disk can deliver them.
    #[default]
    Auto,
    /// Maps every message that lies in one large file, and reads all other messages.
    Mmap,
    /// Reads everything with positioned reads.
    Pread,
}
