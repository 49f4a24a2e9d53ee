//! Digests of a message that arrives in parts.
//!
//! A block of unsafe code without a comment relies on the Safety section of its function alone.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;

use hashlane_sha::{Sha1, Sha256};

use crate::algorithm::{AlgorithmId, Either, HASHLANE_SHA1, HASHLANE_SHA256, with_either};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// The state of one message that arrives in parts. Only one thread at a time may use a hasher.
///
/// While a part of the message is in a queue, all functions but `hashlane_hasher_free()` fail with
/// `HASHLANE_ERROR_IN_QUEUE`: see `hashlane_queue_submit_part()`.
#[derive(Debug)]
pub struct Hasher(
    /// `None` while a part of the message is in a queue.
    pub(crate) Option<Either<Sha1, Sha256>>,
);

impl Hasher {
    fn usable(&mut self) -> Result<&mut Either<Sha1, Sha256>, Error> {
        self.0.as_mut().ok_or(Error::InQueue)
    }
}

impl From<Sha1> for Hasher {
    fn from(hasher: Sha1) -> Self {
        Self(Some(Either::Sha1(hasher)))
    }
}

impl From<Sha256> for Hasher {
    fn from(hasher: Sha256) -> Self {
        Self(Some(Either::Sha256(hasher)))
    }
}

/// Writes a new hasher with an empty message to `*hasher`, or NULL if the function fails. `engine` may be NULL. Free the
/// hasher with `hashlane_hasher_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `hasher` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_new(
    engine: *const Engine,
    algorithm: AlgorithmId,
    hasher: *mut *mut Hasher,
) -> Error {
    let make = || {
        let engine = unsafe { engine_or_detected(engine) };
        match algorithm {
            HASHLANE_SHA1 => Ok(Sha1::with_engine(engine).into()),
            HASHLANE_SHA256 => Ok(Sha256::with_engine(engine).into()),
            _ => Err(Error::UnknownAlgorithm),
        }
    };
    unsafe { border::give(hasher, make) }
}

/// Appends the `part_len` bytes at `part` to the message.
///
/// One thread at a time for each hasher.
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
        let hasher = unsafe { border::exclusive(hasher) }?;
        let part = unsafe { border::array(part.cast(), part_len) }?;
        with_either!(hasher.usable()?, hasher => { hasher.update(part); });
        Ok(())
    })
}

/// Writes the digest of the message to `digest`: 20 bytes for SHA-1, 32 bytes for SHA-256. The
/// message of the hasher is empty afterwards. If the function fails, the hasher keeps its message.
///
/// One thread at a time for each hasher.
///
/// # Safety
/// `hasher` comes from this library. `digest` points to as many writable bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_finish(hasher: *mut Hasher, digest: *mut u8) -> Error {
    border::guard(|| {
        let hasher = unsafe { border::exclusive(hasher) }?;
        with_either!(hasher.usable()?, hasher => {
            let computed = hasher.clone().finalize();
            // SAFETY: the caller promises the bytes of a digest. `computed` is a local variable.
            unsafe { border::write(digest, computed.as_ref()) }?;
            hasher.reset();
        });
        Ok(())
    })
}

/// Makes the message of the hasher empty.
///
/// One thread at a time for each hasher.
///
/// # Safety
/// `hasher` comes from this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_reset(hasher: *mut Hasher) -> Error {
    border::guard(|| {
        let hasher = unsafe { border::exclusive(hasher) }?;
        with_either!(hasher.usable()?, hasher => hasher.reset());
        Ok(())
    })
}

/// Writes a copy of the hasher with its message to `*copy`, or NULL if the function fails. Free the copy with
/// `hashlane_hasher_free()`.
///
/// One thread at a time for each hasher.
///
/// # Safety
/// `hasher` comes from this library. `copy` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_clone(
    hasher: *const Hasher,
    copy: *mut *mut Hasher,
) -> Error {
    let make = || {
        let hasher = unsafe { border::shared(hasher) }?;
        let message = hasher.0.clone().ok_or(Error::InQueue)?;
        Ok(Hasher(Some(message)))
    };
    unsafe { border::give(copy, make) }
}

/// Frees a hasher. NULL is ignored.
///
/// # Safety
/// `hasher` comes from this library, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hasher_free(hasher: *mut Hasher) {
    unsafe { border::free(hasher) }
}
