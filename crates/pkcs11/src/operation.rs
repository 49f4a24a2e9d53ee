//! The active operation of a session, and its end.
//!
//! A session has one operation at a time: a digest, a signature, a verification or a search. An
//! operation ends with its result or with an error. It continues after a call that queries the
//! length of the output, and after `CKR_BUFFER_TOO_SMALL`.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard};

use cryptoki_sys::{
    CK_OBJECT_HANDLE, CKR_BUFFER_TOO_SMALL, CKR_OPERATION_ACTIVE, CKR_OPERATION_NOT_INITIALIZED,
    CKR_SIGNATURE_INVALID, CKR_SIGNATURE_LEN_RANGE,
};
use hashlane_hashes::Message;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

use crate::border::{Output, Result};

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Digest,
    Sign,
    Verify,
}

/// A message in progress.
#[derive(Debug)]
pub(crate) struct Hashing {
    purpose: Purpose,
    message: Message,
    /// Length of the output in bytes. A MAC may be truncated.
    tag_len: usize,
    /// Whether the message has a part already. It can then no longer be passed as a whole.
    has_parts: bool,
    /// Whether the message contains a key.
    has_key: bool,
}

impl Drop for Hashing {
    fn drop(&mut self) {
        if self.has_key {
            self.message.zeroize();
            // Without a use of the message, the compiler could leave out the writes.
            black_box(&mut self.message);
        }
    }
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most operations hash")]
enum Operation {
    Hashing(Hashing),
    /// The objects that were not returned yet, in reverse order.
    Search(Vec<CK_OBJECT_HANDLE>),
}

/// The active operation of a session, if any. Hashing holds the lock, so calls for one session wait
/// for each other, while calls for different sessions do not.
#[derive(Debug, Default)]
pub(crate) struct ActiveOperation(Mutex<Option<Operation>>);

/// The state of an operation after a successful call.
enum Then {
    Continue,
    End,
}

impl ActiveOperation {
    /// Starts a message. `make` returns the message and the length of its output.
    pub(crate) fn begin(
        &self,
        purpose: Purpose,
        make: impl FnOnce() -> Result<(Message, usize)>,
    ) -> Result {
        self.start(|| {
            let (message, tag_len) = make()?;
            Ok(Operation::Hashing(Hashing {
                purpose,
                message,
                tag_len,
                has_parts: false,
                has_key: false,
            }))
        })
    }

    /// Starts a search with its results.
    pub(crate) fn begin_search(&self, mut found: Vec<CK_OBJECT_HANDLE>) -> Result {
        found.reverse();
        self.start(|| Ok(Operation::Search(found)))
    }

    fn start(&self, make: impl FnOnce() -> Result<Operation>) -> Result {
        let mut operation = self.lock();
        if operation.is_some() {
            return Err(CKR_OPERATION_ACTIVE);
        }
        *operation = Some(make()?);
        Ok(())
    }

    /// Ends the operation if it is a message with this purpose. Returns `false` otherwise.
    pub(crate) fn cancel(&self, purpose: Purpose) -> bool {
        self.end_if(
            |active| matches!(active, Operation::Hashing(hashing) if hashing.purpose == purpose),
        )
    }

    /// Ends the operation if it is a search. Returns `false` otherwise.
    pub(crate) fn end_search(&self) -> bool {
        self.end_if(|active| matches!(active, Operation::Search(_)))
    }

    fn end_if(&self, condition: impl FnOnce(&Operation) -> bool) -> bool {
        let mut operation = self.lock();
        let is_met = operation.as_ref().is_some_and(condition);
        if is_met {
            *operation = None;
        }
        is_met
    }

    pub(crate) fn is_active(&self) -> bool {
        self.lock().is_some()
    }

    /// Appends bytes to the message.
    pub(crate) fn update(&self, purpose: Purpose, part: Result<&[u8]>) -> Result {
        self.hash(purpose, |hashing| {
            hashing.message.update(part?);
            hashing.has_parts = true;
            Ok(Then::Continue)
        })
    }

    /// Appends a key to the message of a digest.
    pub(crate) fn update_with_key(&self, key: Result<&[u8]>) -> Result {
        self.hash(Purpose::Digest, |hashing| {
            hashing.has_key = true;
            hashing.message.update(key?);
            hashing.has_parts = true;
            Ok(Then::Continue)
        })
    }

    /// Writes the digest or the MAC of a message that is passed as a whole.
    pub(crate) fn whole(
        &self,
        purpose: Purpose,
        bytes: Result<&[u8]>,
        output: Result<Output<u8>>,
    ) -> Result {
        self.hash(purpose, |hashing| {
            hashing.must_be_empty()?;
            let (bytes, output) = (bytes?, output?);
            hashing.write(&output, |message| message.update(bytes))
        })
    }

    /// Writes the digest or the MAC of a message that has arrived in parts.
    pub(crate) fn finish(&self, purpose: Purpose, output: Result<Output<u8>>) -> Result {
        self.hash(purpose, |hashing| hashing.write(&output?, |_| ()))
    }

    /// Compares the MAC of a message that is passed as a whole.
    pub(crate) fn verify_whole(&self, bytes: Result<&[u8]>, tag: Result<&[u8]>) -> Result {
        self.hash(Purpose::Verify, |hashing| {
            hashing.must_be_empty()?;
            hashing.message.update(bytes?);
            hashing.verify(tag?)
        })
    }

    /// Compares the MAC of a message that has arrived in parts.
    pub(crate) fn verify_finish(&self, tag: Result<&[u8]>) -> Result {
        self.hash(Purpose::Verify, |hashing| hashing.verify(tag?))
    }

    /// Returns the next objects of the search, at most `max`.
    pub(crate) fn next_found(&self, max: usize) -> Result<Vec<CK_OBJECT_HANDLE>> {
        match &mut *self.lock() {
            Some(Operation::Search(found)) => {
                let first = found.len().saturating_sub(max);
                Ok(found.drain(first..).rev().collect())
            }
            _ => Err(CKR_OPERATION_NOT_INITIALIZED),
        }
    }

    /// Continues a message, and ends the operation depending on the outcome.
    fn hash(&self, purpose: Purpose, body: impl FnOnce(&mut Hashing) -> Result<Then>) -> Result {
        let mut operation = self.lock();
        let outcome = match &mut *operation {
            Some(Operation::Hashing(hashing)) if hashing.purpose == purpose => body(hashing),
            _ => return Err(CKR_OPERATION_NOT_INITIALIZED),
        };
        if !matches!(outcome, Ok(Then::Continue) | Err(CKR_BUFFER_TOO_SMALL)) {
            *operation = None;
        }
        outcome.map(|_| ())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Operation>> {
        self.0.lock().unwrap_or_else(|poisoned| {
            // A panic has interrupted the operation, so discard it.
            self.0.clear_poison();
            let mut operation = poisoned.into_inner();
            *operation = None;
            operation
        })
    }
}

impl Hashing {
    fn must_be_empty(&self) -> Result {
        if self.has_parts {
            return Err(CKR_OPERATION_ACTIVE);
        }
        Ok(())
    }

    /// Writes the output if the caller has room for it. `complete` appends the rest of the message
    /// first.
    fn write(&mut self, output: &Output<u8>, complete: impl FnOnce(&mut Message)) -> Result<Then> {
        if !output.has_room(self.tag_len)? {
            return Ok(Then::Continue);
        }
        complete(&mut self.message);
        output.write(&self.message.clone().finalize().as_ref()[..self.tag_len])?;
        Ok(Then::End)
    }

    /// Compares the tag with the MAC in constant time.
    fn verify(&self, tag: &[u8]) -> Result<Then> {
        if tag.len() != self.tag_len {
            return Err(CKR_SIGNATURE_LEN_RANGE);
        }
        let computed = self.message.clone().finalize();
        if bool::from(computed.as_ref()[..self.tag_len].ct_eq(tag)) {
            Ok(Then::End)
        } else {
            Err(CKR_SIGNATURE_INVALID)
        }
    }
}
