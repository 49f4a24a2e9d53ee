//! Outcomes of items in the order of the items, from results of messages in any order.

use std::collections::HashMap;
use std::io;

use crate::messages::FileIndex;
use crate::open_files::{FileFact, Found};
use crate::results::{MessageResult, Results};
use hashlane_files::CancelToken;

/// The outcome of an item: its result and the number of bytes that were read, or the reason why it has none.
pub type Outcome<R> = Result<(R, u64), Failure>;

/// The reason why a file or stream has no result. A program must not take a reason that it does not know for a success, so a new
/// reason is a breaking change.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It could not be opened, or is not a regular file where one is needed.
    #[error("{0}")]
    NotOpened(io::Error),
    /// It could not be read to its end.
    #[error("{0}")]
    NotRead(io::Error),
    /// The file changed while it was read.
    #[error("changed while it was read: hash it again")]
    Changed,
    /// The file is shorter than this number of bytes, the minimum of the format.
    #[error("{}", too_short(*.0))]
    TooShort(u64),
    /// The file is longer than this number of bytes, the limit of the format.
    #[error("is longer than {0} bytes: choose longer blocks or parts")]
    TooLong(u64),
    /// The length of the file is no multiple of this number of bytes, so that the format would leave its last bytes out.
    #[error(
        "its length is no multiple of {0} bytes: fill it with zeros, or choose the number of blocks to hash"
    )]
    NotMultiple(u64),
    /// A file that the result is written to could not be written.
    #[error("the tree cannot be written: {0}")]
    NotWritten(io::Error),
}

fn too_short(min: u64) -> String {
    match min {
        1 => "is empty: this tree hash needs at least one byte".into(),
        min => format!("has fewer than {min} bytes, the minimum of this tree hash"),
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotOpened(error) | Failure::NotRead(error) | Failure::NotWritten(error) => {
                error
            }
            failure => Self::other(failure),
        }
    }
}

/// An event of a run. A new event is a breaking change, as for [`Failure`].
#[derive(Debug)]
pub enum Event<'e, T, R> {
    /// The outcome of an item, in the order of the items.
    Outcome(&'e T, Outcome<R>),
    /// All known outcomes were delivered, and the next one may take long, so output should be flushed.
    Pause {
        /// Number of bytes hashed so far, including those of unfinished items.
        hashed_bytes: u64,
        /// The first item without an outcome, if it was started: one of those that are being hashed.
        current: Option<&'e T>,
    },
}

/// The progress of work on files. Each work makes it, so a new field is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of bytes that were hashed.
    pub hashed_bytes: u64,
    /// Number of bytes to hash. If the work has rounds, those of this round: later ones depend on its result.
    pub total_bytes: u64,
}

/// The receiver of events. Its first error cancels the run, and it receives no more.
#[derive(Debug)]
pub struct Events<F, E> {
    receive: F,
    cancel: CancelToken,
    failure: Option<E>,
}

impl<F, E> Events<F, E> {
    /// Returns the receiver of a run that `cancel` ends, and a token that the run must obey.
    pub fn new(receive: F, cancel: &CancelToken) -> (Self, CancelToken) {
        let cancel = cancel.child();
        let events = Self {
            receive,
            cancel: cancel.clone(),
            failure: None,
        };
        (events, cancel)
    }

    /// Passes on an event.
    pub fn send<T, R>(&mut self, event: Event<'_, T, R>)
    where
        F: FnMut(Event<'_, T, R>) -> Result<(), E>,
    {
        if self.failure.is_none()
            && let Err(failure) = (self.receive)(event)
        {
            self.failure = Some(failure);
            self.cancel.cancel();
        }
    }

    /// Checks that the run was not ended.
    ///
    /// # Errors
    /// The error that ended it.
    pub fn check(&mut self) -> Result<(), E> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

/// The result of a message, at its turn.
#[derive(Debug)]
pub enum Turn<D> {
    /// The digest, and the length of the message in bytes.
    Digest(D, u64),
    /// The file is none that the run reads: see [`Found::Skipped`].
    Skipped,
    /// The file cannot be read.
    Failed(Failure),
}

/// Puts the results of messages in the order of their numbers. Each message lies in one file.
#[derive(Debug)]
pub struct Ordered<D> {
    /// Results by message, until it is their turn.
    results: Vec<Option<MessageResult<D>>>,
    next: usize,
    /// Why files cannot be read: the first reason of each. Skipped files have none.
    reasons: HashMap<FileIndex, Option<Failure>>,
    /// Whether all results have come.
    is_complete: bool,
}

impl<D> Ordered<D> {
    /// Returns the order of this number of messages.
    pub fn new(n_messages: u32) -> Self {
        let mut results = Vec::new();
        results.resize_with(n_messages as usize, || None);
        Self {
            results,
            next: 0,
            reasons: HashMap::new(),
            is_complete: n_messages == 0,
        }
    }

    /// Takes results of a run, whose digests `digest` converts. Returns the number of bytes of the messages that have ended.
    pub fn take<S>(&mut self, results: Results<S>, digest: impl Fn(S) -> D) -> u64 {
        for FileFact { file, found, .. } in results.facts {
            let reason = match found {
                Found::Present(_) => continue,
                Found::Skipped => None,
                Found::Absent(error)
                | Found::Failed {
                    offset: None,
                    error,
                } => Some(Failure::NotOpened(error)),
                Found::Failed { error, .. } => Some(Failure::NotRead(error)),
            };
            self.reasons.entry(file).or_insert(reason);
        }
        let mut len_bytes = 0;
        for result in results.messages {
            len_bytes += result.len_bytes;
            self.results[result.message as usize] = Some(MessageResult {
                message: result.message,
                len_bytes: result.len_bytes,
                digest: result.digest.map(&digest),
            });
        }
        len_bytes
    }

    /// Notes that the run has ended.
    pub fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Returns the number of the next message.
    pub fn next_message(&self) -> u32 {
        self.next as u32
    }

    /// Leaves out the messages before this one.
    pub fn skip_to(&mut self, message: u32) {
        self.next = self.next.max(message as usize);
    }

    /// Returns the result of the next message, which lies in this file, or `None` if it is not known yet.
    pub fn next(&mut self, file: FileIndex) -> Option<Turn<D>> {
        let result = self.results.get_mut(self.next)?;
        let turn = match result.take()? {
            MessageResult {
                digest: Ok(digest),
                len_bytes,
                ..
            } => Turn::Digest(digest, len_bytes),
            fault => match self.reasons.remove(&file) {
                Some(None) => Turn::Skipped,
                Some(Some(failure)) => Turn::Failed(failure),
                // The file was long enough when it was opened.
                None if self.is_complete => Turn::Failed(Failure::Changed),
                // The reason may come later than the fault.
                None => {
                    *result = Some(fault);
                    return None;
                }
            },
        };
        self.next += 1;
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_files::Fault;

    fn results(messages: &[(u32, Result<u8, Fault>)], facts: Vec<FileFact>) -> Results<u8> {
        let messages = messages.iter().map(|(message, digest)| MessageResult {
            message: *message,
            len_bytes: 10,
            digest: *digest,
        });
        Results {
            worker: 0,
            messages: messages.collect(),
            facts,
            silent: Vec::new(),
            pending_bytes: 0,
        }
    }

    #[test]
    fn digests_come_in_order_and_faults_wait_for_their_reasons() {
        let file = FileIndex::new(7);
        let mut ordered = Ordered::new(5);
        let fault = Err(Fault::Unreadable);
        let later = results(&[(1, Ok(1)), (2, fault)], Vec::new());
        assert_eq!(ordered.take(later, |digest| digest), 20);
        assert!(ordered.next(file).is_none(), "message 0 is not known");
        ordered.take(results(&[(0, Ok(0))], Vec::new()), |digest| digest);
        assert!(matches!(ordered.next(file), Some(Turn::Digest(0, 10))));
        assert!(matches!(ordered.next(file), Some(Turn::Digest(1, 10))));
        assert!(ordered.next(file).is_none(), "the reason is not known");
        assert_eq!(ordered.next_message(), 2);

        let facts = [Some(3), None].map(|offset| {
            let error = io::Error::from(io::ErrorKind::NotFound);
            let found = Found::Failed { offset, error };
            FileFact { file, found }
        });
        ordered.take(results(&[(4, fault)], facts.into()), |digest| digest);
        let turn = ordered.next(file);
        assert!(
            matches!(turn, Some(Turn::Failed(Failure::NotRead(_)))),
            "the first reason: {turn:?}"
        );
        ordered.skip_to(4);
        assert!(ordered.next(file).is_none(), "a fault without a reason");
        ordered.complete();
        let turn = ordered.next(file);
        assert!(matches!(turn, Some(Turn::Failed(Failure::Changed))));
        assert!(ordered.next(file).is_none(), "no message is left");
    }
}
