//! HMAC of one message, whole or in parts.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_void;
use std::sync::Mutex;

use hashlane_hashes::Mac;
use hashlane_sha::TagError;

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// A key for any number of messages. It never changes, and threads may share it.
#[derive(Clone, Debug)]
pub struct HmacKey(pub(crate) hashlane_hashes::HmacKey);

impl HmacKey {
    /// Returns the MAC of a message.
    pub(crate) fn mac(&self, message: &[u8]) -> Mac {
        let mut hmac = self.0.start();
        hmac.update(message);
        hmac.finalize()
    }
}

/// The MAC of one message that arrives in parts. One call at a time uses it: other calls fail with
/// `HASHLANE_ERROR_BUSY`.
#[derive(Debug)]
pub struct MacInProgress(Mutex<InProgress>);

/// A MAC in progress, with the key for the next message.
#[derive(Debug)]
struct InProgress {
    key: HmacKey,
    hmac: hashlane_hashes::Hmac,
}

impl InProgress {
    /// Returns the MAC of the message, and starts an empty message.
    fn finish(&mut self) -> Mac {
        std::mem::replace(&mut self.hmac, self.key.0.start()).finalize()
    }
}

/// Compares a tag with the first `truncated_len` bytes of a MAC, or with all of them.
fn verify(mac: &Mac, tag: &[u8], truncated_len: Option<usize>) -> Result<(), Error> {
    mac.verify(tag, truncated_len).map_err(|error| match error {
        TagError::Mismatch => Error::TagMismatch,
        TagError::Refused { .. } => Error::TruncatedLength,
        _ => Error::TagLength,
    })
}

/// Writes the MAC of the `message_len` bytes at `message` under the `key_len` bytes at `key` to
/// `mac`, `hashlane_digest_len()` bytes. `engine` may be NULL. For a key that is used more than
/// once, `hashlane_hmac_key_new()` is faster.
///
/// Thread-safe.
///
/// # Safety
/// `key` points to `key_len` readable bytes, `message` to `message_len` readable bytes, and `mac`
/// to as many writable bytes as a digest has. `engine` is NULL or comes from
/// `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    key: *const c_void,
    key_len: usize,
    message: *const c_void,
    message_len: usize,
    mac: *mut u8,
) -> Error {
    border::guard(|| {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `key` points to `key_len` elements that do not change during the call.
        let key = unsafe { border::array(key.cast(), key_len) }?;
        // SAFETY: `message` points to `message_len` elements that do not change during the call.
        let message = unsafe { border::array(message.cast(), message_len) }?;
        let algorithm = algorithm(algorithm_id)?;
        let key = hashlane_hashes::HmacKey::with_engine(engine, algorithm, key);
        let key = key.ok_or(Error::UnknownAlgorithm)?;
        // SAFETY: the caller promises the bytes of a MAC. The bytes of the source are a temporary.
        unsafe { border::write(mac, HmacKey(key).mac(message).as_bytes()) }
    })
}

/// Writes a new key of the `key_len` bytes at `key` to `*hmac_key`, or NULL if the function fails.
/// The bytes are not needed afterwards. FIPS 198-1 requires at least half as many bytes as a digest
/// has; this function accepts any length. `engine` may be NULL. Free the key with
/// `hashlane_hmac_key_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `key` points to `key_len` readable bytes, and `hmac_key` to a writable pointer.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_new(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    key: *const c_void,
    key_len: usize,
    hmac_key: *mut *mut HmacKey,
) -> Error {
    let make = || {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `key` points to `key_len` elements that do not change during the call.
        let key = unsafe { border::array(key.cast(), key_len) }?;
        let algorithm = algorithm(algorithm_id)?;
        let key = hashlane_hashes::HmacKey::with_engine(engine, algorithm, key);
        Ok(HmacKey(key.ok_or(Error::UnknownAlgorithm)?))
    };
    // SAFETY: `hmac_key` points to a writable pointer.
    unsafe { border::give(hmac_key, make) }
}

/// Wipes a key from memory and frees it. A MAC in progress has a copy of the key and stays usable.
/// NULL is ignored.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_free(key: *mut HmacKey) {
    // SAFETY: `key` is null or a handle that is not used again.
    unsafe { border::free(key) }
}

/// Writes the MAC of the `message_len` bytes at `message` to `mac`, `hashlane_digest_len()` bytes.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` readable bytes,
/// and `mac` to as many writable bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_mac(
    key: *const HmacKey,
    message: *const c_void,
    message_len: usize,
    mac: *mut u8,
) -> Error {
    border::guard(|| {
        // SAFETY: `key` is a handle that is not freed during the call.
        let key = unsafe { border::shared(key) }?;
        // SAFETY: `message` points to `message_len` elements that do not change during the call.
        let message = unsafe { border::array(message.cast(), message_len) }?;
        // SAFETY: the caller promises the bytes of a MAC. The bytes of the source are a temporary.
        unsafe { border::write(mac, key.mac(message).as_bytes()) }
    })
}

/// Checks that the `tag_len` bytes at `tag` are the whole MAC of the `message_len` bytes at
/// `message`. The comparison takes constant time. Fails with `HASHLANE_ERROR_TAG_MISMATCH` or
/// `HASHLANE_ERROR_TAG_LENGTH`.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` and `tag` to
/// `tag_len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_hmac_key_verify(
    key: *const HmacKey,
    message: *const c_void,
    message_len: usize,
    tag: *const u8,
    tag_len: usize,
) -> Error {
    // SAFETY: `key`, `message` and `tag` are as `verify_message` requires.
    border::guard(|| unsafe { verify_message(key, message, message_len, tag, tag_len, None) })
}

/// Checks that the `tag_len` bytes at `tag` are the first `truncated_len` bytes of the MAC of a
/// message, for protocols that truncate MACs. The comparison takes constant time. `truncated_len`
/// comes from the protocol, not from the sender, who chooses `tag_len`.
///
/// Fails with `HASHLANE_ERROR_TRUNCATED_LENGTH` if `truncated_len` is less than 10 bytes or than
/// half of a MAC (RFC 2104, section 5), or more than the length of a MAC. Otherwise it fails like
/// `hashlane_hmac_key_verify()`.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` and `tag` to
/// `tag_len` readable bytes.
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
    // SAFETY: `key`, `message` and `tag` are as `verify_message` requires.
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
    // SAFETY: `key` is a handle that is not freed during the call.
    let key = unsafe { border::shared(key) }?;
    // SAFETY: `message` points to `message_len` elements that do not change during the call.
    let message = unsafe { border::array(message.cast(), message_len) }?;
    // SAFETY: `tag` points to `tag_len` elements that do not change during the call.
    let tag = unsafe { border::array(tag, tag_len) }?;
    verify(&key.mac(message), tag, truncated_len)
}

/// Writes a new MAC in progress with an empty message to `*hmac`, or NULL if the function fails.
/// Free it with `hashlane_mac_free()`.
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
        // SAFETY: `key` is a handle that is not freed during the call.
        let key = unsafe { border::shared(key) }?;
        let (key, hmac) = (key.clone(), key.0.start());
        Ok(MacInProgress(Mutex::new(InProgress { key, hmac })))
    };
    // SAFETY: `hmac` points to a writable pointer.
    unsafe { border::give(hmac, make) }
}

/// Appends the `part_len` bytes at `part` to the message.
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
        // SAFETY: `hmac` is a handle that is not freed during the call.
        let hmac = unsafe { border::shared(hmac) }?;
        // SAFETY: `part` points to `part_len` elements that do not change during the call.
        let part = unsafe { border::array(part.cast(), part_len) }?;
        border::lock(&hmac.0)?.hmac.update(part);
        Ok(())
    })
}

/// Writes the MAC of the message to `mac`, `hashlane_digest_len()` bytes. The message is
/// empty afterwards. If the function fails, the message is kept.
///
/// # Safety
/// `hmac` comes from `hashlane_mac_new()`. `mac` points to as many writable bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_finish(hmac: *mut MacInProgress, mac: *mut u8) -> Error {
    border::guard(|| {
        if mac.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: `hmac` is a handle that is not freed during the call.
        let hmac = unsafe { border::shared(hmac) }?;
        let computed = border::lock(&hmac.0)?.finish();
        // SAFETY: the caller promises the bytes of a MAC. The source is a local variable.
        unsafe { border::write(mac, computed.as_bytes()) }
    })
}

/// Checks that the `tag_len` bytes at `tag` are the whole MAC of the message. The comparison takes
/// constant time. Fails like `hashlane_hmac_key_verify()`. The message is empty afterwards.
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
        // SAFETY: `hmac` is a handle that is not freed during the call.
        let hmac = unsafe { border::shared(hmac) }?;
        // SAFETY: `tag` points to `tag_len` elements that do not change during the call.
        let tag = unsafe { border::array(tag, tag_len) }?;
        verify(&border::lock(&hmac.0)?.finish(), tag, None)
    })
}

/// Checks that the `tag_len` bytes at `tag` are the first `truncated_len` bytes of the MAC of the
/// message. Fails like `hashlane_hmac_key_verify_truncated()`. The message is empty afterwards.
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
        // SAFETY: `hmac` is a handle that is not freed during the call.
        let hmac = unsafe { border::shared(hmac) }?;
        // SAFETY: `tag` points to `tag_len` elements that do not change during the call.
        let tag = unsafe { border::array(tag, tag_len) }?;
        verify(&border::lock(&hmac.0)?.finish(), tag, Some(truncated_len))
    })
}

/// Wipes a MAC in progress from memory and frees it. NULL is ignored.
///
/// # Safety
/// `hmac` comes from `hashlane_mac_new()`, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_mac_free(hmac: *mut MacInProgress) {
    // SAFETY: `hmac` is null or a handle that is not used again.
    unsafe { border::free(hmac) }
}
