//! Many messages that come one by one.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::cell::RefCell;
use std::ffi::c_void;

use hashlane_sha::{Algorithm, Hashed, Sha1, Sha256};

use crate::algorithm::{AlgorithmId, Either, HASHLANE_SHA1, HASHLANE_SHA256, with_either};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// A function that gets the digest of a message: the `tag` and the `message` with its `message_len` bytes, as they were
/// submitted, and the `digest`. The digest has 20 bytes for SHA-1 and 32 bytes for SHA-256, and is valid until the function
/// returns. The message is not used any more: the function may free or change it.
///
/// The function must return. It must not throw an exception through the library or leave by `longjmp()`. Calls with the
/// same queue fail in it with `HASHLANE_ERROR_IN_CALLBACK`.
pub type DigestCallback = Option<
    unsafe extern "C" fn(
        tag: *mut c_void,
        message: *const c_void,
        message_len: usize,
        digest: *const u8,
    ),
>;

/// A queue that hashes messages as they come, as many at once as there are lanes. One thread at a time uses it.
#[derive(Debug)]
pub struct LaneQueue {
    /// Borrowed while callbacks run, so that a call in a callback is an error.
    lanes: RefCell<Either<Lanes<Sha1>, Lanes<Sha256>>>,
    callback: DigestCallback,
}

type Lanes<A> = hashlane_sha::LaneQueue<A, *mut c_void, Message>;

/// The bytes of a message that belong to the caller until the callback gets them.
#[derive(Clone, Copy, Debug)]
struct Message {
    start: *const c_void,
    len: usize,
}

impl Message {
    /// # Safety
    /// `start` and `len` meet the conditions of [`border::array`] as long as the message exists.
    unsafe fn new(start: *const c_void, len: usize) -> Result<Self, Error> {
        // SAFETY: the caller's promise.
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
    fn report<A: Algorithm>(&self, hashed: &Hashed<A, *mut c_void, Message>) {
        if let (Some(callback), Some(digest)) = (self.callback, hashed.digest()) {
            let Message { start, len } = hashed.bytes;
            // SAFETY: the caller of `hashlane_queue_new` promises that the callback can be called with these arguments.
            unsafe { callback(hashed.tag, start, len, digest.as_ref().as_ptr()) };
        }
    }
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
        // SAFETY: the caller's promise.
        let engine = unsafe { engine_or_detected(engine) };
        let lanes = RefCell::new(match algorithm {
            HASHLANE_SHA1 => Either::Sha1(Lanes::with_engine(engine)),
            HASHLANE_SHA256 => Either::Sha256(Lanes::with_engine(engine)),
            _ => return Err(Error::UnknownAlgorithm),
        });
        Ok(LaneQueue { lanes, callback })
    };
    // SAFETY: the caller's promise.
    unsafe { border::give(queue, make) }
}

/// Adds the `message_len` bytes at `message`, which are not copied: keep them unchanged until the callback gets them. `tag` is
/// passed to the callback, and may be NULL. If the message fills the last lane, all lanes run until at least one message
/// ends, and the callback gets each of these. Messages end in no particular order.
///
/// One thread at a time for each queue.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`. `message` points to `message_len` readable bytes, until the callback gets them
/// or the queue is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_submit(
    queue: *mut LaneQueue,
    message: *const c_void,
    message_len: usize,
    tag: *mut c_void,
) -> Error {
    border::guard(|| {
        // SAFETY: the caller's promise. References are shared, so a call in a callback is sound.
        let queue = unsafe { border::shared(queue) }?;
        // SAFETY: the caller's promise.
        let message = unsafe { Message::new(message, message_len) }?;
        let mut lanes = queue
            .lanes
            .try_borrow_mut()
            .map_err(|_| Error::InCallback)?;
        with_either!(&mut *lanes, lanes => lanes.submit(tag, message, |hashed| queue.report(&hashed)));
        Ok(())
    })
}

/// Runs all lanes until every message has ended and the callback has its digest. The queue is then empty and can be used
/// again.
///
/// One thread at a time for each queue.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_flush(queue: *mut LaneQueue) -> Error {
    border::guard(|| {
        // SAFETY: the caller's promise. References are shared, so a call in a callback is sound.
        let queue = unsafe { border::shared(queue) }?;
        let mut lanes = queue
            .lanes
            .try_borrow_mut()
            .map_err(|_| Error::InCallback)?;
        with_either!(&mut *lanes, lanes => lanes.flush(|hashed| queue.report(&hashed)));
        Ok(())
    })
}

/// Frees a queue. The callback does not get the messages that are still in it: call `hashlane_queue_flush()` before. NULL is
/// ignored.
///
/// # Safety
/// `queue` comes from `hashlane_queue_new()`, is freed once, is not used afterwards, and is not freed in its callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_queue_free(queue: *mut LaneQueue) {
    // SAFETY: the caller's promise.
    unsafe { border::free(queue) }
}
