//! Functions for messages: digests, signatures and verifications.
//!
//! A SAFETY comment names what the contract of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use cryptoki_sys::{
    CK_ATTRIBUTE_TYPE, CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE, CK_ULONG,
    CKA_SIGN, CKA_VERIFY, CKR_ARGUMENTS_BAD, CKR_KEY_FUNCTION_NOT_PERMITTED, CKR_KEY_INDIGESTIBLE,
    CKR_KEY_TYPE_INCONSISTENT, CKR_MECHANISM_INVALID,
};
use hashlane_hashes::{Hasher, HmacKey, Message};
use hashlane_sha::Engine;

use super::{session, session_and_key};
use crate::border::{Output, Request, Result, array, guard, request};
use crate::mechanism;
use crate::operation::Purpose;
use crate::token::Session;

/// Starts the operation that `make` returns for the mechanism. A null pointer cancels the
/// operation.
///
/// # Safety
/// `mechanism` is null or points to a mechanism with a readable parameter.
unsafe fn begin(
    session: &Session,
    purpose: Purpose,
    mechanism: *mut CK_MECHANISM,
    make: impl FnOnce(Request<'_>) -> Result<(Message, usize)>,
) -> Result {
    // SAFETY: `mechanism` is null or a mechanism with a parameter of the length that it states.
    match unsafe { request(mechanism) }? {
        Some(request) => session.operation.begin(purpose, || make(request)),
        None if session.operation.cancel(purpose) => Ok(()),
        None => Err(CKR_ARGUMENTS_BAD),
    }
}

pub(crate) unsafe extern "C" fn digest_init(
    handle: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
) -> CK_RV {
    guard(|| {
        let make = |request: Request<'_>| {
            let hash = mechanism::digest(request)?;
            let hasher = Hasher::with_engine(Engine::detect(), hash);
            Ok((Message::Digest(hasher), hash.digest_len()))
        };
        // SAFETY: `mechanism` is null or a mechanism with a parameter of the length that it states.
        unsafe { begin(&*session(handle)?, Purpose::Digest, mechanism, make) }
    })
}

pub(crate) unsafe extern "C" fn digest_key(
    handle: CK_SESSION_HANDLE,
    key: CK_OBJECT_HANDLE,
) -> CK_RV {
    guard(|| {
        let (session, key) = session_and_key(handle, key)?;
        let bytes = key.as_deref().map_err(|error| *error).and_then(|key| {
            if key.is_restricted() {
                return Err(CKR_KEY_INDIGESTIBLE);
            }
            Ok(key.value())
        });
        session.operation.update_with_key(bytes)
    })
}

/// Starts an HMAC if the key permits it.
///
/// # Safety
/// `mechanism` is null or points to a mechanism with a readable parameter.
unsafe fn hmac_init(
    handle: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    (purpose, permission): (Purpose, CK_ATTRIBUTE_TYPE),
) -> CK_RV {
    guard(|| {
        let (session, key) = session_and_key(handle, key)?;
        let make = |request: Request<'_>| {
            let (hash, mac_len) = mechanism::hmac(request)?;
            let key = key?;
            if !key
                .key_type()
                .is_some_and(|kind| mechanism::accepts(hash, kind))
            {
                return Err(CKR_KEY_TYPE_INCONSISTENT);
            }
            if !key.allows(request.mechanism) {
                return Err(CKR_MECHANISM_INVALID);
            }
            if !key.flag(permission) {
                return Err(CKR_KEY_FUNCTION_NOT_PERMITTED);
            }
            let key = HmacKey::with_engine(Engine::detect(), hash, key.value());
            Ok((
                Message::Hmac(key.ok_or(CKR_MECHANISM_INVALID)?.start()),
                mac_len,
            ))
        };
        // SAFETY: `mechanism` is null or a mechanism with a parameter of the length that it states.
        unsafe { begin(&session, purpose, mechanism, make) }
    })
}

pub(crate) unsafe extern "C" fn sign_init(
    handle: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
) -> CK_RV {
    // SAFETY: `mechanism` is null or a mechanism with a parameter of the length that it states.
    unsafe { hmac_init(handle, mechanism, key, (Purpose::Sign, CKA_SIGN)) }
}

pub(crate) unsafe extern "C" fn verify_init(
    handle: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
) -> CK_RV {
    // SAFETY: `mechanism` is null or a mechanism with a parameter of the length that it states.
    unsafe { hmac_init(handle, mechanism, key, (Purpose::Verify, CKA_VERIFY)) }
}

/// # Safety
/// `part` is null or points to `len` readable bytes.
unsafe fn update(
    handle: CK_SESSION_HANDLE,
    purpose: Purpose,
    part: *mut CK_BYTE,
    len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        // SAFETY: `part` is null or points to `len` readable bytes.
        let part = unsafe { array(part.cast_const(), len) };
        session(handle)?.operation.update(purpose, part)
    })
}

pub(crate) unsafe extern "C" fn digest_update(
    handle: CK_SESSION_HANDLE,
    part: *mut CK_BYTE,
    len: CK_ULONG,
) -> CK_RV {
    // SAFETY: `part` is null or points to `len` readable bytes.
    unsafe { update(handle, Purpose::Digest, part, len) }
}

pub(crate) unsafe extern "C" fn sign_update(
    handle: CK_SESSION_HANDLE,
    part: *mut CK_BYTE,
    len: CK_ULONG,
) -> CK_RV {
    // SAFETY: `part` is null or points to `len` readable bytes.
    unsafe { update(handle, Purpose::Sign, part, len) }
}

pub(crate) unsafe extern "C" fn verify_update(
    handle: CK_SESSION_HANDLE,
    part: *mut CK_BYTE,
    len: CK_ULONG,
) -> CK_RV {
    // SAFETY: `part` is null or points to `len` readable bytes.
    unsafe { update(handle, Purpose::Verify, part, len) }
}

/// # Safety
/// `data` is null or points to `len` readable bytes. `tag` and `tag_len` are valid for
/// [`Output::new`].
unsafe fn whole(
    handle: CK_SESSION_HANDLE,
    purpose: Purpose,
    (data, len): (*mut CK_BYTE, CK_ULONG),
    (tag, tag_len): (*mut CK_BYTE, *mut CK_ULONG),
) -> CK_RV {
    guard(|| {
        // SAFETY: `data` is null or points to `len` readable bytes.
        let data = unsafe { array(data.cast_const(), len) };
        // SAFETY: `tag_len` points to a number, and `tag` is null or has as many writable elements.
        let output = unsafe { Output::new(tag, tag_len) };
        session(handle)?.operation.whole(purpose, data, output)
    })
}

pub(crate) unsafe extern "C" fn digest(
    handle: CK_SESSION_HANDLE,
    data: *mut CK_BYTE,
    len: CK_ULONG,
    digest: *mut CK_BYTE,
    digest_len: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: `data` points to `len` readable bytes, and `digest` is null or has `*digest_len`
    // writable ones.
    unsafe { whole(handle, Purpose::Digest, (data, len), (digest, digest_len)) }
}

pub(crate) unsafe extern "C" fn sign(
    handle: CK_SESSION_HANDLE,
    data: *mut CK_BYTE,
    len: CK_ULONG,
    mac: *mut CK_BYTE,
    mac_len: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: `data` points to `len` readable bytes, and `mac` is null or has `*mac_len` writable
    // ones.
    unsafe { whole(handle, Purpose::Sign, (data, len), (mac, mac_len)) }
}

/// # Safety
/// `tag` and `tag_len` are valid for [`Output::new`].
unsafe fn finish(
    handle: CK_SESSION_HANDLE,
    purpose: Purpose,
    tag: *mut CK_BYTE,
    tag_len: *mut CK_ULONG,
) -> CK_RV {
    guard(|| {
        // SAFETY: `tag_len` points to a number, and `tag` is null or has as many writable elements.
        let output = unsafe { Output::new(tag, tag_len) };
        session(handle)?.operation.finish(purpose, output)
    })
}

pub(crate) unsafe extern "C" fn digest_final(
    handle: CK_SESSION_HANDLE,
    digest: *mut CK_BYTE,
    digest_len: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: `digest` is null or has `*digest_len` writable bytes.
    unsafe { finish(handle, Purpose::Digest, digest, digest_len) }
}

pub(crate) unsafe extern "C" fn sign_final(
    handle: CK_SESSION_HANDLE,
    mac: *mut CK_BYTE,
    mac_len: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: `mac` is null or has `*mac_len` writable bytes.
    unsafe { finish(handle, Purpose::Sign, mac, mac_len) }
}

/// Returns the tag to compare. It must not be null.
///
/// # Safety
/// `tag` is null or points to `len` readable bytes that do not change during `'a`.
unsafe fn tag<'a>(tag: *mut CK_BYTE, len: CK_ULONG) -> Result<&'a [u8]> {
    if tag.is_null() {
        return Err(CKR_ARGUMENTS_BAD);
    }
    // SAFETY: `tag` is null or points to `len` readable bytes.
    unsafe { array(tag.cast_const(), len) }
}

pub(crate) unsafe extern "C" fn verify(
    handle: CK_SESSION_HANDLE,
    data: *mut CK_BYTE,
    len: CK_ULONG,
    mac: *mut CK_BYTE,
    mac_len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        // SAFETY: `data` is null or points to `len` readable bytes.
        let data = unsafe { array(data.cast_const(), len) };
        // SAFETY: `mac` is null or points to `mac_len` readable bytes.
        let mac = unsafe { tag(mac, mac_len) };
        session(handle)?.operation.verify_whole(data, mac)
    })
}

pub(crate) unsafe extern "C" fn verify_final(
    handle: CK_SESSION_HANDLE,
    mac: *mut CK_BYTE,
    mac_len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        // SAFETY: `mac` is null or points to `mac_len` readable bytes.
        let mac = unsafe { tag(mac, mac_len) };
        session(handle)?.operation.verify_finish(mac)
    })
}
