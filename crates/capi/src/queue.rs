//! Many messages that arrive one by one, whole or in parts.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, Mutex};

use hashlane_hashes::Algorithm;
use hashlane_sha::{Hashed, Outcome, Sha1, Sha256};

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;
use crate::hasher::Hasher;

/// A function that receives the digest of a message, with the `tag`, the `message` and the
/// `message_len` that were submitted. `digest` has `hashlane_digest_len()` bytes, and
/// is valid until the function returns. `digest` is NULL if the message is a part and not the last
/// one. The library does not use the bytes of the message any more, so the function may free or
/// change them.
///
/// The function must return. It must not throw an exception through the library or leave with
/// `longjmp()`. Calls with the same queue fail inside the function with `HASHLANE_ERROR_BUSY`,
/// except `hashlane_queue_free()`.
pub type DigestCallback = Option<
    unsafe extern "C" fn(
        tag: *mut c_void,
        message: *const c_void,
        message_len: usize,
        digest: *const u8,
    ),
>;

/// A queue that hashes messages as they arrive: SHA-1 and SHA-256 as many at once as there are
/// lanes, other algorithms one by one as soon as they are submitted. One call at a time uses a
/// queue: calls on other threads, and calls in the callback, fail with `HASHLANE_ERROR_BUSY`.
#[derive(Debug)]
pub struct LaneQueue {
    queue: Mutex<AnyQueue>,
    callback: DigestCallback,
    engine: hashlane_sha::Engine,
}

#[derive(Debug)]
enum AnyQueue {
    Sha1(Queue<Sha1>),
    Sha256(Queue<Sha256>),
    /// Messages are hashed when they are submitted.
    OneByOne(Algorithm),
}

type Queue<A> = hashlane_sha::LaneQueue<A, Tag, MessageBytes>;

/// The data that belong to a submitted message.
#[derive(Debug)]
struct Tag {
    /// The tag for the callback.
    tag: *mut c_void,
    /// The hasher for the next part of the message, or `None` for whole messages.
    hasher: Option<Arc<Hasher>>,
}

// SAFETY: the library passes the tag to the callback and never uses it as a pointer.
unsafe impl Send for Tag {}

/// The bytes of a message, which belong to the caller and are unchanged until the callback receives
/// them.
#[derive(Clone, Copy, Debug)]
struct MessageBytes {
    start: *const c_void,
    len: usize,
}

// SAFETY: the bytes do not change until the callback receives them, so any thread may read them.
unsafe impl Send for MessageBytes {}

impl MessageBytes {
    /// # Safety
    /// `start` and `len` meet the conditions of [`border::array`] as long as the message exists.
    unsafe fn new(start: *const c_void, len: usize) -> Result<Self, Error> {
        // SAFETY: `start` points to `len` elements that do not change during the call.
        unsafe { border::array(start.cast::<u8>(), len) }?;
        Ok(Self { start, len })
    }
}

impl AsRef<[u8]> for MessageBytes {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the promise to `MessageBytes::new`, which made this message.
        let bytes = unsafe { border::array(self.start.cast(), self.len) };
        bytes.expect("MessageBytes::new checks the pointer and the length")
    }
}

/// Adds a part of a message to the lanes.
macro_rules! submit_part {
    ($queue:ident, $lanes:ident, $hasher:ident, $tag:ident, $part:ident, $is_last:ident, $wrap:path) => {{
        let done = |hashed| $queue.report(hashed, $wrap);
        if $is_last {
            $lanes.submit_last($tag, $hasher, $part, done);
        } else {
            $lanes.submit_part($tag, $hasher, $part, done);
        }
    }};
}

impl LaneQueue {
    /// Passes a message to the callback, after its hasher if it has one. `wrap` makes a message in
    /// progress of a hasher.
    fn report<A: hashlane_sha::Algorithm>(
        &self,
        hashed: Hashed<A, Tag, MessageBytes>,
        wrap: fn(A) -> hashlane_hashes::Hasher,
    ) {
        let digest = hashed.digest();
        if let Some(hasher) = &hashed.tag.hasher {
            hasher.give_back(wrap(match hashed.outcome {
                Outcome::Hasher(hasher) => hasher,
                Outcome::Digest(_) => A::with_engine(self.engine),
            }));
        }
        self.call_back(
            &hashed.tag,
            hashed.bytes,
            digest.as_ref().map(AsRef::as_ref),
        );
    }

    fn call_back(&self, tag: &Tag, message: MessageBytes, digest: Option<&[u8]>) {
        if let Some(callback) = self.callback {
            let digest = digest.map_or(ptr::null(), <[u8]>::as_ptr);
            // SAFETY: the caller of `hashlane_queue_new` promises that the callback can be called
            // with these arguments.
            unsafe { callback(tag.tag, message.start, message.len, digest) };
        }
    }

    /// Adds a part of a message to the lanes, or hashes it. `hasher` is the message of the hasher
    /// in `tag`.
    fn submit_part(
        &self,
        lanes: &mut AnyQueue,
        tag: Tag,
        hasher: hashlane_hashes::Hasher,
        part: MessageBytes,
        is_last: bool,
    ) {
        use hashlane_hashes::Hasher::{Sha1, Sha256};
        match (lanes, hasher) {
            (AnyQueue::Sha1(lanes), Sha1(hasher)) => {
                submit_part!(self, lanes, hasher, tag, part, is_last, Sha1);
            }
            (AnyQueue::Sha256(lanes), Sha256(hasher)) => {
                submit_part!(self, lanes, hasher, tag, part, is_last, Sha256);
            }
            (_, mut hasher) => {
                hasher.update(part.as_ref());
                let digest = is_last.then(|| hasher.clone().finalize());
                if is_last {
                    hasher.reset();
                }
                if let Some(owner) = &tag.hasher {
                    owner.give_back(hasher);
                }
                self.call_back(&tag, part, digest.as_ref().map(AsRef::as_ref));
            }
        }
    }
}

impl AnyQueue {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Sha1(_) => Algorithm::Sha1,
            Self::Sha256(_) => Algorithm::Sha256,
            Self::OneByOne(algorithm) => *algorithm,
        }
    }
}

/// Writes a new queue to `*queue`, or NULL if the function fails. The queue calls `callback` with
/// each digest. `engine` may be NULL. Free the queue with `hashlane_queue_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `callback` may be called as its type describes as long as the queue exists. `queue` points to a
/// writable pointer. `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_new(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    callback: DigestCallback,
    queue: *mut *mut LaneQueue,
) -> Error {
    let make = || {
        if callback.is_none() {
            return Err(Error::NullPointer);
        }
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        let inner = Mutex::new(match algorithm(algorithm_id)? {
            Algorithm::Sha1 => AnyQueue::Sha1(Queue::with_engine(engine)),
            Algorithm::Sha256 => AnyQueue::Sha256(Queue::with_engine(engine)),
            other => AnyQueue::OneByOne(other),
        });
        Ok(LaneQueue {
            queue: inner,
            callback,
            engine,
        })
    };
    // SAFETY: `queue` points to a writable pointer.
    unsafe { border::give(queue, make) }
}

/// Adds the `message_len` bytes at `message`. The bytes are not copied: keep them unchanged until
/// the callback receives them. `tag` is passed to the callback, and may be NULL. If the message
/// fills the last lane, all lanes run until at least one message ends. The callback then gets every
/// message that has ended, in unspecified order.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`. `message` points to `message_len` readable bytes
/// until the callback receives them or the queue is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_submit(
    queue: *mut LaneQueue,
    tag: *mut c_void,
    message: *const c_void,
    message_len: usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `queue` is a handle that is not freed during the call.
        let queue = unsafe { border::keep(queue) }?;
        // SAFETY: `message` points to `message_len` bytes that do not change until the callback
        // receives them.
        let message = unsafe { MessageBytes::new(message, message_len) }?;
        let mut inner = border::lock(&queue.queue)?;
        let tag = Tag { tag, hasher: None };
        match &mut *inner {
            AnyQueue::Sha1(lanes) => lanes.submit(tag, message, |hashed| {
                queue.report(hashed, hashlane_hashes::Hasher::Sha1);
            }),
            AnyQueue::Sha256(lanes) => lanes.submit(tag, message, |hashed| {
                queue.report(hashed, hashlane_hashes::Hasher::Sha256);
            }),
            AnyQueue::OneByOne(algorithm) => {
                let hasher = hashlane_hashes::Hasher::with_engine(queue.engine, *algorithm);
                queue.submit_part(&mut inner, tag, hasher, message, true);
            }
        }
        Ok(())
    })
}

/// Adds the `part_len` bytes at `part` to the message of `hasher`, after the earlier parts.
/// `is_last` is not 0 for the last part, which may be empty. The bytes are not copied: keep them
/// unchanged until the callback receives them. Until then, other calls with the hasher fail with
/// `HASHLANE_ERROR_BUSY`. Afterwards the hasher can take the next part, or the first part of
/// another message if this was the last part. `tag` is passed to the callback, and may be NULL.
/// Parts whose lengths are multiples of 64 are fastest.
///
/// Fails with `HASHLANE_ERROR_WRONG_ALGORITHM` if the hasher belongs to another algorithm than the
/// queue, and with `HASHLANE_ERROR_BUSY` if an earlier part of the hasher is still in a queue.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`, and `hasher` from `hashlane_hasher_new()`. Until the
/// callback receives the part or the queue is freed, `part` points to `part_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_submit_part(
    queue: *mut LaneQueue,
    tag: *mut c_void,
    hasher: *mut Hasher,
    part: *const c_void,
    part_len: usize,
    is_last: c_int,
) -> Error {
    border::guard(|| {
        // SAFETY: `queue` is a handle that is not freed during the call.
        let queue = unsafe { border::keep(queue) }?;
        // SAFETY: `part` points to `part_len` bytes that do not change until the callback receives
        // them.
        let part = unsafe { MessageBytes::new(part, part_len) }?;
        let mut inner = border::lock(&queue.queue)?;
        // SAFETY: `hasher` is a handle that is not freed during the call.
        let hasher = unsafe { border::keep(hasher) }?;
        let message = hasher.take(inner.algorithm())?;
        let hasher = Some(hasher);
        queue.submit_part(&mut inner, Tag { tag, hasher }, message, part, is_last != 0);
        Ok(())
    })
}

/// Runs all lanes until every message has ended and the callback has received its digest. The queue
/// is then empty and can be used again.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_flush(queue: *mut LaneQueue) -> Error {
    border::guard(|| {
        // SAFETY: `queue` is a handle that is not freed during the call.
        let queue = unsafe { border::keep(queue) }?;
        match &mut *border::lock(&queue.queue)? {
            AnyQueue::Sha1(lanes) => {
                lanes.flush(|hashed| queue.report(hashed, hashlane_hashes::Hasher::Sha1));
            }
            AnyQueue::Sha256(lanes) => {
                lanes.flush(|hashed| queue.report(hashed, hashlane_hashes::Hasher::Sha256));
            }
            AnyQueue::OneByOne(_) => {}
        }
        Ok(())
    })
}

/// Frees a queue. The callback does not receive the messages that are still in the queue: call
/// `hashlane_queue_flush()` first. The hashers of parts that are still in the queue lose their
/// messages and stay busy: they can only be freed. If the queue is freed in its callback, the call
/// that runs the callback still completes. NULL is ignored.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_free(queue: *mut LaneQueue) {
    // SAFETY: `queue` is null or a handle that is not used again.
    unsafe { border::free(queue) }
}
