//! Functions for sessions, logins, saved operations and random numbers.
//!
//! A SAFETY comment names what the contract of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_void;

use cryptoki_sys::{
    CK_BYTE, CK_FLAGS, CK_NOTIFY, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE, CK_SESSION_INFO,
    CK_SLOT_ID, CK_ULONG, CK_USER_TYPE, CK_UTF8CHAR, CKF_DIGEST, CKF_FIND_OBJECTS, CKF_RW_SESSION,
    CKF_SERIAL_SESSION, CKF_SIGN, CKF_VERIFY, CKR_ARGUMENTS_BAD, CKR_FUNCTION_FAILED,
    CKR_OPERATION_NOT_INITIALIZED, CKR_RANDOM_SEED_NOT_SUPPORTED, CKR_SAVED_STATE_INVALID,
    CKR_SESSION_PARALLEL_NOT_SUPPORTED, CKR_SESSION_READ_ONLY, CKR_STATE_UNSAVEABLE,
    CKR_TOKEN_WRITE_PROTECTED, CKR_USER_NOT_LOGGED_IN, CKR_USER_PIN_NOT_INITIALIZED,
    CKR_USER_TYPE_INVALID, CKU_CONTEXT_SPECIFIC, CKU_USER,
};

use super::session;
use crate::border::{Result, array, check_target, guard, put, space};
use crate::operation::Purpose;
use crate::process;
use crate::token::check_slot;

pub(crate) unsafe extern "C" fn open_session(
    slot: CK_SLOT_ID,
    flags: CK_FLAGS,
    _application: *mut c_void,
    _notify: CK_NOTIFY,
    session: *mut CK_SESSION_HANDLE,
) -> CK_RV {
    guard(|| {
        process::write(|token| {
            check_slot(slot)?;
            if flags & CKF_SERIAL_SESSION == 0 {
                return Err(CKR_SESSION_PARALLEL_NOT_SUPPORTED);
            }
            check_target(session)?;
            let handle = token.open_session(flags & CKF_RW_SESSION != 0)?;
            // SAFETY: `session` points to writable memory for the value.
            unsafe { put(session, handle) }
        })
    })
}

pub(crate) unsafe extern "C" fn close_session(session: CK_SESSION_HANDLE) -> CK_RV {
    guard(|| process::write(|token| token.close_session(session)))
}

pub(crate) unsafe extern "C" fn close_all_sessions(slot: CK_SLOT_ID) -> CK_RV {
    guard(|| {
        process::write(|token| {
            check_slot(slot)?;
            token.close_all_sessions();
            Ok(())
        })
    })
}

pub(crate) unsafe extern "C" fn get_session_info(
    session: CK_SESSION_HANDLE,
    info: *mut CK_SESSION_INFO,
) -> CK_RV {
    // SAFETY: `info` points to writable memory for the value.
    guard(|| process::read(|token| unsafe { put(info, token.session(session)?.info()) }))
}

/// Ends the operations that the flags name (v3.0). Other flags, and operations that are not active,
/// are ignored.
pub(crate) unsafe extern "C" fn session_cancel(
    handle: CK_SESSION_HANDLE,
    flags: CK_FLAGS,
) -> CK_RV {
    guard(|| {
        let session = session(handle)?;
        for (flag, purpose) in [
            (CKF_DIGEST, Purpose::Digest),
            (CKF_SIGN, Purpose::Sign),
            (CKF_VERIFY, Purpose::Verify),
        ] {
            if flags & flag != 0 {
                session.operation.cancel(purpose);
            }
        }
        if flags & CKF_FIND_OBJECTS != 0 {
            session.operation.end_search();
        }
        Ok(())
    })
}

/// Refuses to return the state of an operation, because the state of an HMAC is as secret as its
/// key.
pub(crate) unsafe extern "C" fn get_operation_state(
    handle: CK_SESSION_HANDLE,
    _state: *mut CK_BYTE,
    state_len: *mut CK_ULONG,
) -> CK_RV {
    guard(|| {
        let session = session(handle)?;
        check_target(state_len)?;
        Err(if session.operation.is_active() {
            CKR_STATE_UNSAVEABLE
        } else {
            CKR_OPERATION_NOT_INITIALIZED
        })
    })
}

/// Rejects every state, because states cannot be saved.
pub(crate) unsafe extern "C" fn set_operation_state(
    handle: CK_SESSION_HANDLE,
    state: *mut CK_BYTE,
    state_len: CK_ULONG,
    _encryption_key: CK_OBJECT_HANDLE,
    _authentication_key: CK_OBJECT_HANDLE,
) -> CK_RV {
    guard(|| {
        session(handle)?;
        // SAFETY: `state` is null or points to `state_len` readable bytes.
        let state = unsafe { array(state.cast_const(), state_len) }?;
        Err(if state.is_empty() {
            CKR_ARGUMENTS_BAD
        } else {
            CKR_SAVED_STATE_INVALID
        })
    })
}

/// Refuses logins, because the token has no PIN.
pub(crate) unsafe extern "C" fn login(
    handle: CK_SESSION_HANDLE,
    user: CK_USER_TYPE,
    pin: *mut CK_UTF8CHAR,
    pin_len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        session(handle)?;
        // SAFETY: `pin` is null or points to `pin_len` readable bytes.
        unsafe { array(pin, pin_len) }?;
        refuse_login(user)
    })
}

/// Like `C_Login`, with a user name (v3.0).
pub(crate) unsafe extern "C" fn login_user(
    handle: CK_SESSION_HANDLE,
    user: CK_USER_TYPE,
    pin: *mut CK_UTF8CHAR,
    pin_len: CK_ULONG,
    name: *mut CK_UTF8CHAR,
    name_len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        session(handle)?;
        // SAFETY: `pin` is null or points to `pin_len` readable bytes.
        unsafe { array(pin, pin_len) }?;
        // SAFETY: `name` is null or points to `name_len` readable bytes.
        unsafe { array(name, name_len) }?;
        refuse_login(user)
    })
}

fn refuse_login(user: CK_USER_TYPE) -> Result {
    Err(match user {
        CKU_USER => CKR_USER_PIN_NOT_INITIALIZED,
        CKU_CONTEXT_SPECIFIC => CKR_OPERATION_NOT_INITIALIZED,
        _ => CKR_USER_TYPE_INVALID,
    })
}

pub(crate) unsafe extern "C" fn logout(handle: CK_SESSION_HANDLE) -> CK_RV {
    guard(|| {
        session(handle)?;
        Err(CKR_USER_NOT_LOGGED_IN)
    })
}

/// Refuses a new PIN: only a security officer may set one, and the token has no such user.
pub(crate) unsafe extern "C" fn init_pin(
    handle: CK_SESSION_HANDLE,
    _pin: *mut CK_UTF8CHAR,
    _pin_len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        session(handle)?;
        Err(CKR_USER_NOT_LOGGED_IN)
    })
}

pub(crate) unsafe extern "C" fn set_pin(
    handle: CK_SESSION_HANDLE,
    _old: *mut CK_UTF8CHAR,
    _old_len: CK_ULONG,
    _new: *mut CK_UTF8CHAR,
    _new_len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        Err(if session(handle)?.is_read_write() {
            CKR_TOKEN_WRITE_PROTECTED
        } else {
            CKR_SESSION_READ_ONLY
        })
    })
}

/// Refuses seeds, because random numbers come from the operating system.
pub(crate) unsafe extern "C" fn seed_random(
    handle: CK_SESSION_HANDLE,
    seed: *mut CK_BYTE,
    seed_len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        session(handle)?;
        // SAFETY: `seed` is null or points to `seed_len` readable bytes.
        unsafe { array(seed, seed_len) }?;
        Err(CKR_RANDOM_SEED_NOT_SUPPORTED)
    })
}

pub(crate) unsafe extern "C" fn generate_random(
    handle: CK_SESSION_HANDLE,
    buffer: *mut CK_BYTE,
    len: CK_ULONG,
) -> CK_RV {
    guard(|| {
        session(handle)?;
        // SAFETY: `buffer` is null or points to `len` writable bytes.
        let buffer = unsafe { space(buffer, len) }?;
        getrandom::fill_uninit(buffer).map_err(|_| CKR_FUNCTION_FAILED)?;
        Ok(())
    })
}
