//! Digests of one message that is available as a whole.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_void;

use hashlane_sha::Algorithm;

use crate::algorithm::{AlgorithmId, with_algorithm};
use crate::border;
use crate::engine::Engine;
use crate::error::Error;

/// Writes the digest of the `message_len` bytes at `message` to `digest`: 20 bytes for SHA-1, 32 bytes for SHA-256. The
/// digest may overwrite the message. `engine` may be NULL.
///
/// Thread-safe.
///
/// # Safety
/// `message` points to `message_len` readable bytes, and `digest` to as many writable bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_digest(
    engine: *const Engine,
    algorithm: AlgorithmId,
    message: *const c_void,
    message_len: usize,
    digest: *mut u8,
) -> Error {
    border::guard(|| {
        if digest.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: the caller's promise.
        let engine = unsafe { engine.as_ref() };
        // SAFETY: the caller's promise.
        let message = unsafe { border::array(message.cast(), message_len) }?;
        with_algorithm!(algorithm, A => {
            let computed = digest_of::<A>(engine, message);
            // SAFETY: the caller promises the bytes of a digest. `computed` is a local variable.
            unsafe { border::write(digest, computed.as_ref()) }
        })
    })
}

fn digest_of<A: Algorithm>(engine: Option<&Engine>, message: &[u8]) -> A::Digest {
    let Some(engine) = engine else {
        return hashlane_sha::digest::<A>(message);
    };
    let mut hasher = A::with_engine(engine.0);
    hasher.update(message);
    hasher.finalize()
}
