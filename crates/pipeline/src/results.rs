//! Results of the workers, sent at intervals.

use std::fmt;
use std::time::{Duration, Instant};

use crate::FileIndex;
use crate::open_files::{Fault, FileFact};

/// Time for which a worker collects results. It is short enough for a progress bar, and long enough
/// that the receiving thread does not wake up for every batch.
const INTERVAL: Duration = Duration::from_millis(20);

/// Maximum number of results that a worker collects. A hole can produce hundreds of thousands of
/// results in [`INTERVAL`].
const MAX_MESSAGES: usize = 4096;

/// The outcome of one message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MessageResult<D> {
    /// Index of the message, from 0.
    pub message: u32,
    /// Length of the message: the number of bytes that were hashed, or should have been.
    pub len_bytes: u64,
    /// The digest, or the reason for which there is none.
    pub digest: Result<D, Fault>,
}

/// Results of a worker since its last report.
#[derive(Debug)]
pub struct Results<D> {
    pub(crate) worker: usize,
    /// Outcomes of messages. Each message occurs once, unless the run is cancelled.
    pub messages: Vec<MessageResult<D>>,
    /// Facts about files. Several workers may report the same fact.
    pub facts: Vec<FileFact>,
    /// Files for whose bytes a worker has waited longer than [`Options::patience`](crate::Options::patience): their disk does not
    /// answer. The worker waits on, because no system lets a thread give up such a read, and the others work on. Each read is
    /// reported once, if several workers run on threads of their own.
    pub silent: Vec<FileIndex>,
    /// Number of bytes of unfinished messages that all workers have hashed.
    pub pending_bytes: u64,
}

/// The receiver of the results of all workers.
pub(crate) struct Receiver<F> {
    receive: F,
    /// Number of pending bytes by worker.
    pending_bytes: Vec<u64>,
}

impl<F> Receiver<F> {
    pub(crate) fn new(receive: F, n_workers: usize) -> Self {
        Self {
            receive,
            pending_bytes: vec![0; n_workers],
        }
    }

    /// Passes on files whose disks do not answer.
    pub(crate) fn receive_silent<D>(&mut self, silent: Vec<FileIndex>)
    where
        F: FnMut(Results<D>),
    {
        (self.receive)(Results {
            worker: 0,
            messages: Vec::new(),
            facts: Vec::new(),
            silent,
            pending_bytes: self.pending_bytes.iter().sum(),
        });
    }

    /// Passes on results of one worker, with the pending bytes of all workers.
    pub(crate) fn receive<D>(&mut self, mut results: Results<D>)
    where
        F: FnMut(Results<D>),
    {
        self.pending_bytes[results.worker] = results.pending_bytes;
        results.pending_bytes = self.pending_bytes.iter().sum();
        (self.receive)(results);
    }
}

/// Collects the results of one worker and sends them to their receiver.
pub(crate) struct Reporter<'r, D> {
    next: Results<D>,
    last_sent: Instant,
    receive: Box<dyn FnMut(Results<D>) + 'r>,
}

impl<'r, D> Reporter<'r, D> {
    pub(crate) fn new(worker: usize, receive: impl FnMut(Results<D>) + 'r) -> Self {
        Self {
            next: Results {
                worker,
                messages: Vec::new(),
                facts: Vec::new(),
                silent: Vec::new(),
                pending_bytes: 0,
            },
            last_sent: Instant::now(),
            receive: Box::new(receive),
        }
    }

    /// Records the outcome of a message.
    pub(crate) fn message(&mut self, message: u32, len_bytes: u64, digest: Result<D, Fault>) {
        self.next.messages.push(MessageResult {
            message,
            len_bytes,
            digest,
        });
    }

    /// Records facts about files.
    pub(crate) fn facts(&mut self, facts: Vec<FileFact>) {
        self.next.facts.extend(facts);
    }

    /// Records that bytes of an unfinished message were hashed.
    pub(crate) fn add_pending(&mut self, n_bytes: u64) {
        self.next.pending_bytes += n_bytes;
    }

    /// Subtracts the pending bytes of a message that is finished or starts again.
    pub(crate) fn remove_pending(&mut self, n_bytes: u64) {
        self.next.pending_bytes -= n_bytes;
    }

    /// Returns `true` if it is time to send.
    pub(crate) fn is_due(&self) -> bool {
        self.next.messages.len() >= MAX_MESSAGES || self.last_sent.elapsed() >= INTERVAL
    }

    /// Sends the results since the last call. Waits while the receiver is busy.
    pub(crate) fn send(&mut self) {
        let next = Results {
            worker: self.next.worker,
            messages: Vec::new(),
            facts: Vec::new(),
            silent: Vec::new(),
            pending_bytes: self.next.pending_bytes,
        };
        (self.receive)(std::mem::replace(&mut self.next, next));
        self.last_sent = Instant::now();
    }
}

impl<D> fmt::Debug for Reporter<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("worker", &self.next.worker)
            .finish_non_exhaustive()
    }
}
