//! HMAC of one message, whole or in parts.
//!
//! A block of unsafe code without a comment relies on the Safety section of its function alone.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;

use hashlane_sha::{Algorithm, Mac, Sha1, Sha256, TagError};

use crate::algorithm::{
    AlgorithmId, Either, HASHLANE_SHA1, HASHLANE_SHA256, with_algorithm, with_either,
};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// A key for any number of messages. It never changes, and threads may share it.
#[derive(Clone, Debug)]
pub struct HmacKey(pub(crate) Either<hashlane_sha::HmacKey<Sha1>, hashlane_sha::HmacKey<Sha256>>);

/// The MAC of one message that arrives in parts. Only one thread at a time may use it.
#[derive(Debug)]
pub struct MacInProgress(Either<InProgress<Sha1>, InProgress<Sha256>>);

/// A MAC in progress, with the key for the next message.
#[derive(Debug)]
struct InProgress<A: Algorithm> {
    key: hashlane_sha::HmacKey<A>,
    hmac: hashlane_sha::Hmac<A>,
}

impl<A: Algorithm> InProgress<A> {
    fn new(key: &hashlane_sha::HmacKey<A>) -> Self {
        let (key, hmac) = (key.clone(), key.start());
        Self { key, hmac }
    }

    /// Returns the MAC of the message, and starts an empty message.
    fn finish(&mut self) -> Mac<A> {
        std::mem::replace(&mut self.hmac, self.key.start()).finalize()
    }
}

/// Compares a tag with the first `truncated_len` bytes of a MAC, or with all of them.
fn verify<A: Algorithm>(
    mac: &Mac<A>,
    tag: &[u8],
    truncated_len: Option<usize>,
) -> Result<(), Error> {
    let len = truncated_len.unwrap_or(A::DIGEST_LEN);
    mac.verify_truncated(tag, len).map_err(|error| match error {
        TagError::Mismatch => Error::TagMismatch,
        TagError::Refused { .. } => Error::TruncatedLength,
        _ => Error::TagLength,
    })
}

/// Writes the MAC of the `message_len` bytes at `message` under the `key_len` bytes at `key` to `mac`: 20 bytes for SHA-1, 32
/// bytes for SHA-256. `engine` may be NULL. For a key that is used more than once, `hashlane_hmac_key_new()` is faster.
///
/// Thread-safe.
///
/// # Safety
/// `key` points to `key_len` readable bytes, `message` to `message_len` readable bytes, and `mac` to as many writable bytes
/// as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac(
    engine: *const Engine,
    algorithm: AlgorithmId,
    key: *const c_void,
    key_len: usize,
    message: *const c_void,
    message_len: usize,
    mac: *mut u8,
) -> Error {
    border::guard(|| {
        let engine = unsafe { engine_or_detected(engine) };
        let key = unsafe { border::array(key.cast(), key_len) }?;
        let message = unsafe { border::array(message.cast(), message_len) }?;
        with_algorithm!(algorithm, A => {
            let mut hmac = hashlane_sha::HmacKey::<A>::with_engine(engine, key).start();
            hmac.update(message);
            // SAFETY: the caller promises the bytes of a MAC. The bytes of the source are a temporary.
            unsafe { border::write(mac, hmac.finalize().as_bytes()) }
        })
    })
}

/// Writes a new key of the `key_len` bytes at `key` to `*hmac_key`, or NULL if the function fails. The bytes are not needed
/// afterwards. FIPS 198-1 requires at least half as many bytes as a digest has; this function accepts any length. `engine`
/// may be NULL. Free the key with `hashlane_hmac_key_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `key` points to `key_len` readable bytes, and `hmac_key` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_new(
    engine: *const Engine,
    algorithm: AlgorithmId,
    key: *const c_void,
    key_len: usize,
    hmac_key: *mut *mut HmacKey,
) -> Error {
    let make = || {
        let engine = unsafe { engine_or_detected(engine) };
        let key = unsafe { border::array(key.cast(), key_len) }?;
        Ok(HmacKey(match algorithm {
            HASHLANE_SHA1 => Either::Sha1(hashlane_sha::HmacKey::with_engine(engine, key)),
            HASHLANE_SHA256 => Either::Sha256(hashlane_sha::HmacKey::with_engine(engine, key)),
            _ => return Err(Error::UnknownAlgorithm),
        }))
    };
    unsafe { border::give(hmac_key, make) }
}

/// Wipes a key from memory and frees it. A MAC in progress has a copy of the key and stays usable. NULL is ignored.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_free(key: *mut HmacKey) {
    unsafe { border::free(key) }
}

/// Writes the MAC of the `message_len` bytes at `message` to `mac`: 20 bytes for SHA-1, 32 bytes for SHA-256.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` readable bytes, and `mac` to as many writable
/// bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_mac(
    key: *const HmacKey,
    message: *const c_void,
    message_len: usize,
    mac: *mut u8,
) -> Error {
    border::guard(|| {
        let key = unsafe { border::shared(key) }?;
        let message = unsafe { border::array(message.cast(), message_len) }?;
        with_either!(&key.0, key => {
            let mut hmac = key.start();
            hmac.update(message);
            // SAFETY: the caller promises the bytes of a MAC. The bytes of the source are a temporary.
            unsafe { border::write(mac, hmac.finalize().as_bytes()) }
        })
    })
}

/// Checks that the `tag_len` bytes at `tag` are the whole MAC of the `message_len` bytes at
/// `message`. The comparison takes constant time. Fails with `HASHLANE_ERROR_TAG_MISMATCH` or
/// `HASHLANE_ERROR_TAG_LENGTH`.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` and `tag` to `tag_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_verify(
    key: *const HmacKey,
    message: *const c_void,
    message_len: usize,
    tag: *const u8,
    tag_len: usize,
) -> Error {
    border::guard(|| unsafe { verify_message(key, message, message_len, tag, tag_len, None) })
}

/// Checks that the `tag_len` bytes at `tag` are the first `truncated_len` bytes of the MAC of a message, for protocols that
/// truncate MACs. The comparison takes constant time. `truncated_len` comes from the protocol, not from the sender, who
/// chooses `tag_len`.
///
/// Fails with `HASHLANE_ERROR_TRUNCATED_LENGTH` if `truncated_len` is less than 10 for SHA-1 or 16 for SHA-256 (RFC 2104,
/// section 5), or more than the length of a MAC. Otherwise it fails like `hashlane_hmac_key_verify()`.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` and `tag` to `tag_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_verify_truncated(
    key: *const HmacKey,
    message: *const c_void,
    message_len: usize,
    tag: *const u8,
    tag_len: usize,
    truncated_len: usize,
) -> Error {
    let len = Some(truncated_len);
    border::guard(|| unsafe { verify_message(key, message, message_len, tag, tag_len, len) })
}

/// Compares a tag with the MAC of a message.
///
/// # Safety
/// The same as for [`hashlane_hmac_key_verify`].
unsafe fn verify_message(
    key: *const HmacKey,
    message: *const c_void,
    message_len: usize,
    tag: *const u8,
    tag_len: usize,
    truncated_len: Option<usize>,
) -> Result<(), Error> {
    let key = unsafe { border::shared(key) }?;
    let message = unsafe { border::array(message.cast(), message_len) }?;
    let tag = unsafe { border::array(tag, tag_len) }?;
    with_either!(&key.0, key => {
        let mut hmac = key.start();
        hmac.update(message);
        verify(&hmac.finalize(), tag, truncated_len)
    })
}

/// Writes a new MAC in progress with an empty message to `*hmac`, or NULL if the function fails. Free it with
/// `hashlane_mac_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `hmac` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_new(
    key: *const HmacKey,
    hmac: *mut *mut MacInProgress,
) -> Error {
    let make = || {
        let key = unsafe { border::shared(key) }?;
        Ok(MacInProgress(match &key.0 {
            Either::Sha1(key) => Either::Sha1(InProgress::new(key)),
            Either::Sha256(key) => Either::Sha256(InProgress::new(key)),
        }))
    };
    unsafe { border::give(hmac, make) }
}

/// Appends the `part_len` bytes at `part` to the message.
///
/// One thread at a time for each MAC in progress.
///
/// # Safety
/// `hmac` comes from `hashlane_mac_new()`. `part` points to `part_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_update(
    hmac: *mut MacInProgress,
    part: *const c_void,
    part_len: usize,
) -> Error {
    border::guard(|| {
        let hmac = unsafe { border::exclusive(hmac) }?;
        let part = unsafe { border::array(part.cast(), part_len) }?;
        with_either!(&mut hmac.0, state => { state.hmac.update(part); });
        Ok(())
    })
}

/// Writes the MAC of the message to `mac`: 20 bytes for SHA-1, 32 bytes for SHA-256. The message is
/// empty afterwards. If the function fails, the message is kept.
///
/// One thread at a time for each MAC in progress.
///
/// # Safety
/// `hmac` comes from `hashlane_mac_new()`. `mac` points to as many writable bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_finish(hmac: *mut MacInProgress, mac: *mut u8) -> Error {
    border::guard(|| {
        if mac.is_null() {
            return Err(Error::NullPointer);
        }
        let hmac = unsafe { border::exclusive(hmac) }?;
        // SAFETY: the caller promises the bytes of a MAC. The bytes of the source are a temporary.
        with_either!(&mut hmac.0, state => unsafe { border::write(mac, state.finish().as_bytes()) })
    })
}

/// Checks that the `tag_len` bytes at `tag` are the whole MAC of the message. The comparison takes
/// constant time. Fails like `hashlane_hmac_key_verify()`. The message is empty afterwards.
///
/// One thread at a time for each MAC in progress.
///
/// # Safety
/// `hmac` comes from `hashlane_mac_new()`. `tag` points to `tag_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_verify(
    hmac: *mut MacInProgress,
    tag: *const u8,
    tag_len: usize,
) -> Error {
    border::guard(|| {
        let hmac = unsafe { border::exclusive(hmac) }?;
        let tag = unsafe { border::array(tag, tag_len) }?;
        with_either!(&mut hmac.0, state => verify(&state.finish(), tag, None))
    })
}

/// Checks that the `tag_len` bytes at `tag` are the first `truncated_len` bytes of the MAC of the message. Fails like
/// `hashlane_hmac_key_verify_truncated()`. The message is empty afterwards.
///
/// One thread at a time for each MAC in progress.
///
/// # Safety
/// `hmac` comes from `hashlane_mac_new()`. `tag` points to `tag_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_verify_truncated(
    hmac: *mut MacInProgress,
    tag: *const u8,
    tag_len: usize,
    truncated_len: usize,
) -> Error {
    border::guard(|| {
        let hmac = unsafe { border::exclusive(hmac) }?;
        let tag = unsafe { border::array(tag, tag_len) }?;
        with_either!(&mut hmac.0, state => verify(&state.finish(), tag, Some(truncated_len)))
    })
}

/// Wipes a MAC in progress from memory and frees it. NULL is ignored.
///
/// # Safety
/// `hmac` comes from `hashlane_mac_new()`, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_free(hmac: *mut MacInProgress) {
    unsafe { border::free(hmac) }
}
