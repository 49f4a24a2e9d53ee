//! Digests and MACs of many messages that are all available.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_void;

use hashlane_hashes::{Algorithm, Mac};
use hashlane_sha::{LaneHash, Md5, Sha1, Sha224, Sha256, Sha384, Sha512};

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;
use crate::hmac::HmacKey;

/// Evaluates an expression with the type of an algorithm whose messages have [`hashlane_sha::Algorithm`], or one with the type of
/// an algorithm that has [`LaneHash`].
macro_rules! with_lanes {
    ($algorithm:expr, $name:ident => $result:expr, $hash:ident => $other:expr) => {
        match $algorithm {
            Algorithm::Sha1 => {
                type $name = Sha1;
                $result
            }
            Algorithm::Sha256 => {
                type $name = Sha256;
                $result
            }
            Algorithm::Md5 => {
                type $hash = Md5;
                $other
            }
            Algorithm::Sha224 => {
                type $hash = Sha224;
                $other
            }
            Algorithm::Sha384 => {
                type $hash = Sha384;
                $other
            }
            Algorithm::Sha512 => {
                type $hash = Sha512;
                $other
            }
            _ => Err(Error::UnknownAlgorithm),
        }
    };
}

/// Number of messages whose places are collected at a time, for the algorithms with the trait [`LaneHash`].
const SET: usize = 64;

/// Writes the digests of messages of an algorithm with the trait [`LaneHash`].
///
/// # Safety
/// `digests` points to as many writable bytes as all digests have.
unsafe fn by_lane_hash<'a, H: LaneHash>(
    engine: hashlane_sha::Engine,
    mut messages: impl ExactSizeIterator<Item = &'a [u8]>,
    digests: *mut u8,
) -> Result<(), Error> {
    let kernel = H::kernel(&engine);
    let mut computed = border::filled(messages.len(), H::ZERO)?;
    for digests in computed.chunks_mut(SET) {
        let mut set = [&[][..]; SET];
        for (place, message) in set.iter_mut().zip(messages.by_ref().take(SET)) {
            *place = message;
        }
        H::digest_many(kernel, &set[..digests.len()], digests);
    }
    // SAFETY: `digests` points to as many writable bytes, outside of the source.
    unsafe { border::write_all(digests, computed.iter().map(AsRef::as_ref)) }
}

/// Writes the digests of many messages, in the order of the messages. Message `i` has the
/// `message_lens[i]` bytes at `messages[i]`. Its digest starts at `digests + i * n`, where `n` is
/// `hashlane_digest_len()`. Messages are hashed in lanes, many at once: the function is fastest
/// with at least `hashlane_engine_lanes()` messages, the longest first. `engine` may be NULL.
///
/// The function allocates at most 88 bytes of work space per message on 64-bit systems. If it
/// fails, no digest is written.
///
/// Thread-safe.
///
/// # Safety
/// `messages` and `message_lens` point to `n_messages` elements, and each message to as many
/// readable bytes as its length states. `digests` points to `n_messages * n` writable bytes.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_digest_many(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    messages: *const *const c_void,
    message_lens: *const usize,
    n_messages: usize,
    digests: *mut u8,
) -> Error {
    border::guard(|| {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        let algorithm = algorithm(algorithm_id)?;
        // SAFETY: both arrays have `n_messages` elements, and each message as many bytes as its
        // length says.
        let messages = unsafe { border::messages(messages, message_lens, n_messages) }?;
        with_lanes!(algorithm, A => {
            let mut computed = border::filled(n_messages, <A as hashlane_sha::Algorithm>::Digest::default())?;
            engine.digest_many::<A>(&messages, &mut computed);
            // SAFETY: the caller promises space for the digests. `computed` is memory of this call.
            unsafe { border::write_all(digests, computed.iter().map(AsRef::as_ref)) }
        }, H => {
            // SAFETY: `digests` points to as many writable bytes as all digests have.
            unsafe { by_lane_hash::<H>(engine, messages.into_iter(), digests) }
        })
    })
}

/// Writes the digests of consecutive messages of `message_len` bytes in the `len` bytes at `bytes`.
/// The last message may be shorter. `n_digests` must be `len / message_len`, rounded up. Digest `i`
/// starts at `digests + i * n`, where `n` is `hashlane_digest_len()`. Messages are hashed in lanes,
/// many at once. Lengths that are multiples of 64 are fastest. `engine` may be NULL.
///
/// The function allocates at most 72 bytes of work space per message. If it fails, no digest is
/// written.
///
/// Thread-safe.
///
/// # Safety
/// `bytes` points to `len` readable bytes, and `digests` to `n_digests * n` writable bytes.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_digest_chunks(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
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
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `bytes` points to `len` elements that do not change during the call.
        let bytes = unsafe { border::array(bytes.cast(), len) }?;
        let algorithm = algorithm(algorithm_id)?;
        with_lanes!(algorithm, A => {
            let mut computed = border::filled(n_digests, <A as hashlane_sha::Algorithm>::Digest::default())?;
            engine.digest_chunks::<A>(bytes, message_len, &mut computed);
            // SAFETY: the caller promises space for the digests. `computed` is memory of this call.
            unsafe { border::write_all(digests, computed.iter().map(AsRef::as_ref)) }
        }, H => {
            // SAFETY: `digests` points to as many writable bytes as all digests have.
            unsafe { by_lane_hash::<H>(engine, bytes.chunks(message_len), digests) }
        })
    })
}

/// Writes the MACs of many messages under one key, in the order of the messages. The arguments and
/// the use of lanes are the same as for `hashlane_digest_many()`, with a key instead of an
/// algorithm. The engine of this call is used, not the engine of the key.
///
/// Thread-safe.
///
/// # Safety
/// `key` comes from `hashlane_hmac_key_new()`. `messages` and `message_lens` meet the conditions of
/// `hashlane_digest_many()`, and `macs` those of its `digests`.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
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
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `key` is a handle that is not freed during the call.
        let key = unsafe { border::shared(key) }?;
        // SAFETY: both arrays have `n_messages` elements, and each message as many bytes as its
        // length says.
        let messages = unsafe { border::messages(messages, message_lens, n_messages) }?;
        let mut computed = border::filled(n_messages, Mac::placeholder())?;
        key.0.mac_many(engine, &messages, &mut computed);
        // SAFETY: the caller promises space for the MACs. `computed` is memory of this call.
        unsafe { border::write_all(macs, computed.iter().map(Mac::as_bytes)) }
    })
}
