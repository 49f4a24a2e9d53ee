//! Digests of a message that arrives in parts.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use hashlane_hashes::{Algorithm, Hasher as MessageInProgress};

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// The state of one message that arrives in parts. One call at a time uses a hasher.
///
/// While another thread uses the hasher, and while a part of the message is in a queue, all
/// functions but `hashlane_hasher_free()` fail with `HASHLANE_ERROR_BUSY`: see
/// `hashlane_queue_submit_part()`.
#[derive(Debug)]
pub struct Hasher(
    /// `None` while a part of the message is in a queue.
    Mutex<Option<MessageInProgress>>,
);

impl Hasher {
    fn new(message: MessageInProgress) -> Self {
        Self(Mutex::new(Some(message)))
    }

    /// Calls `body` with the message.
    fn with<T>(
        &self,
        body: impl FnOnce(&mut MessageInProgress) -> Result<T, Error>,
    ) -> Result<T, Error> {
        body(border::lock(&self.0)?.as_mut().ok_or(Error::Busy)?)
    }

    /// Moves the message to a queue of this algorithm.
    pub(crate) fn take(&self, algorithm: Algorithm) -> Result<MessageInProgress, Error> {
        let mut message = border::lock(&self.0)?;
        match &*message {
            Some(hasher) if hasher.algorithm() != algorithm => Err(Error::WrongAlgorithm),
            _ => message.take().ok_or(Error::Busy),
        }
    }

    /// Takes the message back from a queue. Waits for a call on another thread, which ends soon,
    /// because it fails.
    pub(crate) fn give_back(&self, message: MessageInProgress) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }
}

/// Writes a new hasher with an empty message to `*hasher`, or NULL if the function fails. `engine`
/// may be NULL. Free the hasher with `hashlane_hasher_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `hasher` points to a writable pointer.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_new(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    hasher: *mut *mut Hasher,
) -> Error {
    let make = || {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        let algorithm = algorithm(algorithm_id)?;
        Ok(Hasher::new(MessageInProgress::with_engine(
            engine, algorithm,
        )))
    };
    // SAFETY: `hasher` points to a writable pointer.
    unsafe { border::give(hasher, make) }
}

/// Appends the `part_len` bytes at `part` to the message.
///
/// # Safety
/// `hasher` comes from this library. `part` points to `part_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_update(
    hasher: *mut Hasher,
    part: *const c_void,
    part_len: usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `hasher` is a handle that is not freed during the call.
        let hasher = unsafe { border::shared(hasher) }?;
        // SAFETY: `part` points to `part_len` elements that do not change during the call.
        let part = unsafe { border::array(part.cast(), part_len) }?;
        hasher.with(|message| {
            message.update(part);
            Ok(())
        })
    })
}

/// Writes the digest of the message to `digest`, `hashlane_digest_len()` bytes. The
/// message of the hasher is empty afterwards. If the function fails, the hasher keeps its message.
///
/// # Safety
/// `hasher` comes from this library. `digest` points to as many writable bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_finish(hasher: *mut Hasher, digest: *mut u8) -> Error {
    border::guard(|| {
        // SAFETY: `hasher` is a handle that is not freed during the call.
        let hasher = unsafe { border::shared(hasher) }?;
        hasher.with(|message| {
            let computed = message.clone().finalize();
            // SAFETY: the caller promises the bytes of a digest. `computed` is a local variable.
            unsafe { border::write(digest, computed.as_ref()) }?;
            message.reset();
            Ok(())
        })
    })
}

/// Makes the message of the hasher empty.
///
/// # Safety
/// `hasher` comes from this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_reset(hasher: *mut Hasher) -> Error {
    border::guard(|| {
        // SAFETY: `hasher` is a handle that is not freed during the call.
        let hasher = unsafe { border::shared(hasher) }?;
        hasher.with(|message| {
            message.reset();
            Ok(())
        })
    })
}

/// Writes a copy of the hasher with its message to `*copy`, or NULL if the function fails. Free the
/// copy with `hashlane_hasher_free()`.
///
/// # Safety
/// `hasher` comes from this library. `copy` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_clone(
    hasher: *const Hasher,
    copy: *mut *mut Hasher,
) -> Error {
    let make = || {
        // SAFETY: `hasher` is a handle that is not freed during the call.
        let hasher = unsafe { border::shared(hasher) }?;
        hasher.with(|message| Ok(Hasher::new(message.clone())))
    };
    // SAFETY: `copy` points to a writable pointer.
    unsafe { border::give(copy, make) }
}

/// Frees a hasher. If a queue has a part of its message, the part stays in the queue, and the
/// callback receives it. NULL is ignored.
///
/// # Safety
/// `hasher` comes from this library, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_free(hasher: *mut Hasher) {
    // SAFETY: `hasher` is null or a handle that is not used again.
    unsafe { border::free(hasher) }
}
