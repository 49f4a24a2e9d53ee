//! Threads, input mode and kernels, and the errors of a choice that the system refuses.

use std::io;
use std::num::NonZeroUsize;
use std::time::Duration;

use hashlane_sha::Engine;

use crate::read_speed::ReadSpeed;

/// Settings for reading and hashing. The defaults suit most machines.
///
/// ```
/// use std::num::NonZeroUsize;
/// use hashlane_pipeline::{IoMode, Options};
///
/// let options = Options::default().threads(NonZeroUsize::new(2)).io(IoMode::Pread);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Number of threads that read and hash, or `None` for all CPUs available to the process.
    pub threads: Option<NonZeroUsize>,
    /// Method of reading files.
    pub io: IoMode,
    /// Engine that hashes.
    pub engine: Engine,
    /// Number of threads that read from a rotational disk at the same time. More than one makes the disk seek. With direct reads, 1
    /// stands for 8, whose requests the disk orders.
    pub disk_threads: NonZeroUsize,
    /// Time for which a thread waits for bytes of a file before the file is reported as
    /// [`Results::silent`](crate::Results::silent).
    pub patience: Duration,
    /// Whether a handler of SIGBUS may be installed.
    pub(crate) allows_signal_handler: bool,
    /// Knowledge about the disk, instead of a question to the system.
    pub(crate) speed: Option<ReadSpeed>,
}

impl Options {
    /// Sets the number of threads; `None` for all CPUs available to the process.
    #[must_use]
    pub fn threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads = threads.into();
        self
    }

    /// Sets the method of reading files.
    #[must_use]
    pub fn io(mut self, io: IoMode) -> Self {
        self.io = io;
        self
    }

    /// Sets the engine that hashes.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Sets the number of threads that read from a rotational disk at the same time, which is 1 by default. More readers
    /// help only an array of disks.
    #[must_use]
    pub fn disk_threads(mut self, disk_threads: NonZeroUsize) -> Self {
        self.disk_threads = disk_threads;
        self
    }

    /// Sets the time for which a thread waits for bytes of a file before the file is reported as
    /// [`Results::silent`](crate::Results::silent): 30 seconds by default, after which Linux resets a disk.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Allows a handler of SIGBUS, and with it memory maps, on Linux.
    ///
    /// A process that touches a page of a mapped file receives SIGBUS if the file was truncated or its disk failed.
    /// The handler shows zeros in place of the page, and the message is read again. It is installed once per process,
    /// stays installed, and passes all other signals on to the handler that was there before. Signal handlers belong
    /// to the program, so a library should leave this choice to its user. A program that installs a handler of SIGBUS
    /// later must call the handler that it replaces.
    ///
    /// Without this call, files are read and never mapped, and no signal handler is installed. Maps gain most where the
    /// bytes are in the page cache already: they save one copy of each byte.
    #[must_use]
    pub fn allow_signal_handler(mut self) -> Self {
        self.allows_signal_handler = true;
        self
    }

    /// Lets [`IoMode::Auto`] map nothing, also after [`Self::allow_signal_handler`]. For messages that are short parts of many
    /// files, a map of each costs more than the copy that it saves.
    #[must_use]
    pub fn for_short_reads(mut self) -> Self {
        self.allows_signal_handler &= self.io != IoMode::Auto;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: None,
            io: IoMode::Auto,
            engine: Engine::detect(),
            disk_threads: NonZeroUsize::MIN,
            patience: Duration::from_secs(30),
            allows_signal_handler: false,
            speed: None,
        }
    }
}

/// Method of reading files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IoMode {
    /// Maps large files, if [`Options::allow_signal_handler`] was called, and reads all others. Reads files on a
    /// rotational disk in order, unless the bytes arrive faster than such a disk can deliver them. Long content on local
    /// disks (256 MiB or more in pieces of at least 128 KiB) that is not in the page cache is read as by [`Self::Direct`].
    #[default]
    Auto,
    /// Maps every message that lies in one large file, and reads all other messages. An error without
    /// [`Options::allow_signal_handler`].
    Mmap,
    /// Reads everything with positioned reads.
    Pread,
    /// Reads past the page cache (`O_DIRECT`) and lets the disk work on several reads at the same time (`io_uring`), on Linux.
    /// The bytes do not replace others in the page cache. At least eight threads read, unless [`Options::threads`] is set, also
    /// from a rotational disk. Their buffers take at most 64 MiB, or 1 MiB per thread if that is more. Messages that span several files, and files on file systems without
    /// such reads, are read with positioned reads.
    Direct,
}

/// An error that stops the whole run. A file that cannot be read does not stop the run: see
/// [`Fault`](crate::Fault).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// [`IoMode::Mmap`] was requested on a system without memory maps.
    #[error("this system cannot map files into memory")]
    MapsUnsupported(#[source] io::Error),
    /// [`IoMode::Mmap`] was requested without
    /// [`Options::allow_signal_handler`](crate::Options::allow_signal_handler).
    #[error("memory maps need a handler of SIGBUS, which the program does not allow")]
    SignalHandlerNotAllowed,
    /// [`IoMode::Mmap`] was requested for a hasher that needs bytes that do not change: see
    /// [`MessageHasher::MAPS`](crate::MessageHasher::MAPS).
    #[error("this hasher cannot read mapped files")]
    HasherNeedsReads,
}
