//! Digests of one message that is available as a whole, or in a file.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::{c_char, c_void};
use std::fs::File;

use hashlane_hashes::{Algorithm, Digest, Hasher};
use hashlane_sha::{Sha1, Sha256};

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// Writes the digest of the `message_len` bytes at `message` to `digest`, `hashlane_digest_len()`
/// bytes. The digest may overwrite the message. `engine` may be NULL.
///
/// Thread-safe.
///
/// # Safety
/// `message` points to `message_len` readable bytes, and `digest` to as many writable bytes as a
/// digest has. `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_digest(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    message: *const c_void,
    message_len: usize,
    digest: *mut u8,
) -> Error {
    border::guard(|| {
        if digest.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { border::optional(engine) }?;
        // SAFETY: `message` points to `message_len` elements that do not change during the call.
        let message = unsafe { border::array(message.cast(), message_len) }?;
        let computed = digest_of(engine, algorithm(algorithm_id)?, message);
        // SAFETY: the caller promises the bytes of a digest. `computed` is a local variable.
        unsafe { border::write(digest, computed.as_ref()) }
    })
}

/// Writes the digest of the bytes of a file to `digest`, `hashlane_digest_len()` bytes. `engine`
/// may be NULL. The file may be a pipe or a device, which is read to its end.
///
/// Fails with `HASHLANE_ERROR_SYSTEM`, with details, if the file cannot be read. Nothing is written
/// to `digest` then.
///
/// Thread-safe.
///
/// # Safety
/// `path` ends with a NUL. `digest` points to as many writable bytes as a digest has.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_digest_file(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    path: *const c_char,
    digest: *mut u8,
) -> Error {
    border::guard(|| {
        if digest.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `path` ends with a NUL.
        let path = unsafe { border::path(path) }?;
        let mut hasher = Hasher::with_engine(engine, algorithm(algorithm_id)?);
        File::open(path)
            .and_then(|file| hasher.update_reader(file))
            .map_err(|error| {
                Error::System.with_details(format_args!("{}: {error}", path.display()))
            })?;
        let computed = hasher.finalize();
        // SAFETY: the caller promises the bytes of a digest. `computed` is a local variable.
        unsafe { border::write(digest, computed.as_ref()) }
    })
}

fn digest_of(engine: Option<&Engine>, algorithm: Algorithm, message: &[u8]) -> Digest {
    // Without a copy of an engine, which would take as long as a short message.
    match (engine, algorithm) {
        (None, Algorithm::Sha1) => return Digest::new(Sha1::digest(message)),
        (None, Algorithm::Sha256) => return Digest::new(Sha256::digest(message)),
        _ => {}
    }
    let engine = engine.map_or_else(hashlane_sha::Engine::detect, |engine| engine.0);
    let mut hasher = Hasher::with_engine(engine, algorithm);
    hasher.update(message);
    hasher.finalize()
}
