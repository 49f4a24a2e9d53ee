//! Many messages that arrive one by one, whole or in parts.
//!
//! A block of unsafe code without a comment relies on the Safety section of its function alone.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::ptr;

use hashlane_sha::{Algorithm, Hashed, Outcome, Sha1, Sha256};

use crate::algorithm::{AlgorithmId, Either, HASHLANE_SHA1, HASHLANE_SHA256, with_either};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;
use crate::hasher::Hasher;

/// A function that receives the digest of a message, with the `tag`, the `message` and the
/// `message_len` that were submitted. `digest` has 20 bytes for SHA-1 and 32 bytes for SHA-256, and
/// is valid until the function returns. `digest` is NULL if the message is a part and not the last
/// one. The library does not use the bytes of the message any more, so the function may free or
/// change them.
///
/// The function must return. It must not throw an exception through the library or leave with
/// `longjmp()`. Calls with the same queue fail inside the function with
/// `HASHLANE_ERROR_IN_CALLBACK`.
pub type DigestCallback = Option<
    unsafe extern "C" fn(
        tag: *mut c_void,
        message: *const c_void,
        message_len: usize,
        digest: *const u8,
    ),
>;

/// A queue that hashes messages as they arrive, as many at once as there are lanes. Only one thread
/// at a time may use a queue.
#[derive(Debug)]
pub struct LaneQueue {
    /// Borrowed while callbacks run, so that a call in a callback is an error.
    lanes: RefCell<Either<Queue<Sha1>, Queue<Sha256>>>,
    callback: DigestCallback,
    engine: hashlane_sha::Engine,
}

type Queue<A> = hashlane_sha::LaneQueue<A, Tag, Message>;

/// The data that belong to a submitted message.
#[derive(Clone, Copy, Debug)]
struct Tag {
    /// The tag for the callback.
    tag: *mut c_void,
    /// The hasher for the next part of the message, or null for whole messages.
    hasher: *mut Hasher,
}

/// The bytes of a message, which belong to the caller and are unchanged until the callback receives
/// them.
#[derive(Clone, Copy, Debug)]
struct Message {
    start: *const c_void,
    len: usize,
}

impl Message {
    /// # Safety
    /// `start` and `len` meet the conditions of [`border::array`] as long as the message exists.
    unsafe fn new(start: *const c_void, len: usize) -> Result<Self, Error> {
        unsafe { border::array(start.cast::<u8>(), len) }?;
        Ok(Self { start, len })
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the promise to `Message::new`, which made this message.
        let bytes = unsafe { border::array(self.start.cast(), self.len) };
        bytes.expect("Message::new checks the pointer and the length")
    }
}

impl LaneQueue {
    fn report<A: Algorithm>(&self, hashed: Hashed<A, Tag, Message>)
    where
        Hasher: From<A>,
    {
        let digest = hashed.digest();
        if !hashed.tag.hasher.is_null() {
            let hasher = match hashed.outcome {
                Outcome::Hasher(hasher) => hasher,
                Outcome::Digest(_) => A::with_engine(self.engine),
            };
            // SAFETY: the caller of `hashlane_queue_submit_part` promises that the hasher exists and
            // that no other thread uses it. No function of this thread holds a reference to it.
            let _ = unsafe { border::put(hashed.tag.hasher, Hasher::from(hasher)) };
        }
        if let Some(callback) = self.callback {
            let Message { start, len } = hashed.bytes;
            let digest = digest
                .as_ref()
                .map_or(ptr::null(), |digest| digest.as_ref().as_ptr());
            // SAFETY: the caller of `hashlane_queue_new` promises that the callback can be called with these arguments.
            unsafe { callback(hashed.tag.tag, start, len, digest) };
        }
    }
}

/// Adds a part of a message to the lanes.
macro_rules! submit_part {
    ($queue:ident, $lanes:ident, $hasher:ident, $tag:ident, $part:ident, $is_last:ident) => {{
        let done = |hashed| $queue.report(hashed);
        if $is_last {
            $lanes.submit_last($tag, $hasher, $part, done);
        } else {
            $lanes.submit_part($tag, $hasher, $part, done);
        }
        Ok(())
    }};
}

/// Writes a new queue to `*queue`, or NULL if the function fails. The queue calls `callback` with each digest. `engine` may be
/// NULL. Free the queue with `hashlane_queue_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `callback` may be called as its type describes as long as the queue exists. `queue` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_new(
    engine: *const Engine,
    algorithm: AlgorithmId,
    callback: DigestCallback,
    queue: *mut *mut LaneQueue,
) -> Error {
    let make = || {
        if callback.is_none() {
            return Err(Error::NullPointer);
        }
        let engine = unsafe { engine_or_detected(engine) };
        let lanes = RefCell::new(match algorithm {
            HASHLANE_SHA1 => Either::Sha1(Queue::with_engine(engine)),
            HASHLANE_SHA256 => Either::Sha256(Queue::with_engine(engine)),
            _ => return Err(Error::UnknownAlgorithm),
        });
        Ok(LaneQueue {
            lanes,
            callback,
            engine,
        })
    };
    unsafe { border::give(queue, make) }
}

/// Adds the `message_len` bytes at `message`. The bytes are not copied: keep them unchanged until
/// the callback receives them. `tag` is passed to the callback, and may be NULL. If the message
/// fills the last lane, all lanes run until at least one message ends. The callback receives every
/// message that has ended, in unspecified order.
///
/// One thread at a time for each queue.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`. `message` points to `message_len` readable bytes
/// until the callback receives them or the queue is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_submit(
    queue: *mut LaneQueue,
    message: *const c_void,
    message_len: usize,
    tag: *mut c_void,
) -> Error {
    border::guard(|| {
        // SAFETY: References are shared, so a call in a callback is sound.
        let queue = unsafe { border::shared(queue) }?;
        let message = unsafe { Message::new(message, message_len) }?;
        let mut lanes = queue
            .lanes
            .try_borrow_mut()
            .map_err(|_| Error::InCallback)?;
        let tag = Tag {
            tag,
            hasher: ptr::null_mut(),
        };
        with_either!(&mut *lanes, lanes => lanes.submit(tag, message, |hashed| queue.report(hashed)));
        Ok(())
    })
}

/// Adds the `part_len` bytes at `part` to the message of `hasher`, after the earlier parts.
/// `is_last` is not 0 for the last part, which may be empty. The bytes are not copied: keep them
/// unchanged until the callback receives them, and do not free the hasher until then. Afterwards
/// the hasher can take the next part, or the first part of another message if this was the last
/// part. `tag` is passed to the callback, and may be NULL. Parts whose lengths are multiples of 64
/// are fastest.
///
/// Fails with `HASHLANE_ERROR_WRONG_ALGORITHM` if the hasher belongs to another algorithm than the
/// queue, and with `HASHLANE_ERROR_IN_QUEUE` if an earlier part of the hasher is still in a queue.
///
/// One thread at a time for each queue.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`, and `hasher` from `hashlane_hasher_new()`. Until the
/// callback receives the part or the queue is freed, no other thread uses the hasher, the hasher is
/// not freed, and `part` points to `part_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_submit_part(
    queue: *mut LaneQueue,
    hasher: *mut Hasher,
    part: *const c_void,
    part_len: usize,
    is_last: c_int,
    tag: *mut c_void,
) -> Error {
    border::guard(|| {
        // SAFETY: References are shared, so a call in a callback is sound.
        let queue = unsafe { border::shared(queue) }?;
        let part = unsafe { Message::new(part, part_len) }?;
        let mut lanes = queue
            .lanes
            .try_borrow_mut()
            .map_err(|_| Error::InCallback)?;
        let tag = Tag { tag, hasher };
        let is_last = is_last != 0;
        let hasher = unsafe { border::exclusive(hasher) }?;
        match (&mut *lanes, hasher.0.take().ok_or(Error::InQueue)?) {
            (Either::Sha1(lanes), Either::Sha1(hasher)) => {
                submit_part!(queue, lanes, hasher, tag, part, is_last)
            }
            (Either::Sha256(lanes), Either::Sha256(hasher)) => {
                submit_part!(queue, lanes, hasher, tag, part, is_last)
            }
            (_, other) => {
                hasher.0 = Some(other);
                Err(Error::WrongAlgorithm)
            }
        }
    })
}

/// Runs all lanes until every message has ended and the callback has received its digest. The queue
/// is then empty and can be used again.
///
/// One thread at a time for each queue.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_flush(queue: *mut LaneQueue) -> Error {
    border::guard(|| {
        // SAFETY: References are shared, so a call in a callback is sound.
        let queue = unsafe { border::shared(queue) }?;
        let mut lanes = queue
            .lanes
            .try_borrow_mut()
            .map_err(|_| Error::InCallback)?;
        with_either!(&mut *lanes, lanes => lanes.flush(|hashed| queue.report(hashed)));
        Ok(())
    })
}

/// Frees a queue. The callback does not receive the messages that are still in the queue: call
/// `hashlane_queue_flush()` first. The hashers of parts that are still in the queue lose their
/// messages and can only be freed. NULL is ignored.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`, is freed once, is not used afterwards, and is not freed in its callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_free(queue: *mut LaneQueue) {
    unsafe { border::free(queue) }
}
