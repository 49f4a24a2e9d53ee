//! Digests and MACs of many messages that are all available.
//!
//! A block of unsafe code without a comment relies on the Safety section of its function alone.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;

use hashlane_sha::Mac;

use crate::algorithm::{AlgorithmId, with_algorithm, with_either};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;
use crate::hmac::HmacKey;

/// Writes the digests of many messages, in the order of the messages. Message `i` has the
/// `message_lens[i]` bytes at `messages[i]`. Its digest starts at `digests + i * n`, where `n` is
/// 20 for SHA-1 and 32 for SHA-256. The function is fastest with at least `hashlane_engine_lanes()`
/// messages, the longest first. `engine` may be NULL.
///
/// The function allocates 36 or 48 bytes of work space per message on 64-bit systems. If it fails,
/// no digest is written.
///
/// Thread-safe.
///
/// # Safety
/// `messages` and `message_lens` point to `n_messages` elements, and each message to as many readable bytes as its length
/// states. `digests` points to `n_messages * n` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_digest_many(
    engine: *const Engine,
    algorithm: AlgorithmId,
    messages: *const *const c_void,
    message_lens: *const usize,
    n_messages: usize,
    digests: *mut u8,
) -> Error {
    border::guard(|| {
        let engine = unsafe { engine_or_detected(engine) };
        with_algorithm!(algorithm, A => {
            let messages = unsafe { border::messages(messages, message_lens, n_messages) }?;
            let mut computed = border::defaults(n_messages)?;
            engine.digest_many::<A>(&messages, &mut computed);
            // SAFETY: the caller promises space for the digests. `computed` is memory of this call.
            unsafe { border::write_all(digests, computed.iter().map(AsRef::as_ref)) }
        })
    })
}

/// Writes the digests of consecutive messages of `message_len` bytes in the `len` bytes at `bytes`.
/// The last message may be shorter. `n_digests` must be `len / message_len`, rounded up. Digest `i`
/// starts at `digests + i * n`, where `n` is 20 for SHA-1 and 32 for SHA-256. Lengths that are
/// multiples of 64 are fastest. `engine` may be NULL.
///
/// The function allocates `n_digests * n` bytes of work space. If it fails, no digest is written.
///
/// Thread-safe.
///
/// # Safety
/// `bytes` points to `len` readable bytes, and `digests` to `n_digests * n` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_digest_chunks(
    engine: *const Engine,
    algorithm: AlgorithmId,
    bytes: *const c_void,
    len: usize,
    message_len: usize,
    digests: *mut u8,
    n_digests: usize,
) -> Error {
    border::guard(|| {
        if message_len == 0 {
            return Err(Error::ZeroMessageLength);
        }
        if n_digests != len.div_ceil(message_len) {
            return Err(Error::WrongCount);
        }
        let engine = unsafe { engine_or_detected(engine) };
        let bytes = unsafe { border::array(bytes.cast(), len) }?;
        with_algorithm!(algorithm, A => {
            let mut computed = border::defaults(n_digests)?;
            engine.digest_chunks::<A>(bytes, message_len, &mut computed);
            // SAFETY: the caller promises space for the digests. `computed` is memory of this call.
            unsafe { border::write_all(digests, computed.iter().map(AsRef::as_ref)) }
        })
    })
}

/// Writes the MACs of many messages under one key, in the order of the messages. The arguments are
/// the same as for `hashlane_digest_many()`, with a key instead of an algorithm. The engine of this
/// call is used, not the engine of the key.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. The other arguments meet the conditions of `hashlane_digest_many()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_many(
    engine: *const Engine,
    key: *const HmacKey,
    messages: *const *const c_void,
    message_lens: *const usize,
    n_messages: usize,
    macs: *mut u8,
) -> Error {
    border::guard(|| {
        let engine = unsafe { engine_or_detected(engine) };
        let key = unsafe { border::shared(key) }?;
        let messages = unsafe { border::messages(messages, message_lens, n_messages) }?;
        with_either!(&key.0, key => {
            let mut computed = border::defaults(n_messages)?;
            engine.hmac_many(key, &messages, &mut computed);
            // SAFETY: the caller promises space for the MACs. `computed` is memory of this call.
            unsafe { border::write_all(macs, computed.iter().map(Mac::as_bytes)) }
        })
    })
}
