//! General functions, and functions for slots and tokens.
//!
//! A SAFETY comment names what the contract of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_void;

use cryptoki_sys::{
    CK_C_INITIALIZE_ARGS, CK_FLAGS, CK_INFO, CK_MECHANISM_INFO, CK_MECHANISM_TYPE, CK_RV,
    CK_SESSION_HANDLE, CK_SLOT_ID, CK_SLOT_INFO, CK_TOKEN_INFO, CK_ULONG, CK_UTF8CHAR, CK_VERSION,
    CKF_DONT_BLOCK, CKF_OS_LOCKING_OK, CKR_ARGUMENTS_BAD, CKR_CANT_LOCK, CKR_FUNCTION_NOT_PARALLEL,
    CKR_FUNCTION_NOT_SUPPORTED, CKR_NO_EVENT, CKR_SESSION_EXISTS, CKR_TOKEN_WRITE_PROTECTED,
};

use crate::border::{Output, Result, array, check_target, guard, must_be_null, put, structure};
use crate::mechanism::{MECHANISMS, Mechanism};
use crate::process;
use crate::token::{SLOT, check_slot, library_info, slot_info};

pub(crate) unsafe extern "C" fn initialize(arguments: *mut c_void) -> CK_RV {
    guard(|| {
        // SAFETY: null, or these arguments, by the contract of the call.
        let arguments = unsafe { structure(arguments.cast::<CK_C_INITIALIZE_ARGS>()) }?;
        if let Some(arguments) = arguments {
            check_arguments(arguments)?;
        }
        process::initialize()
    })
}

/// Checks the arguments of `C_Initialize`. The module uses locks of the operating system. A caller
/// that offers only its own locks gets `CKR_CANT_LOCK`.
fn check_arguments(arguments: &CK_C_INITIALIZE_ARGS) -> Result {
    must_be_null(arguments.pReserved)?;
    let callbacks = [
        arguments.CreateMutex.is_some(),
        arguments.DestroyMutex.is_some(),
        arguments.LockMutex.is_some(),
        arguments.UnlockMutex.is_some(),
    ];
    match callbacks {
        [false, false, false, false] => Ok(()),
        [true, true, true, true] if arguments.flags & CKF_OS_LOCKING_OK != 0 => Ok(()),
        [true, true, true, true] => Err(CKR_CANT_LOCK),
        _ => Err(CKR_ARGUMENTS_BAD),
    }
}

pub(crate) unsafe extern "C" fn finalize(reserved: *mut c_void) -> CK_RV {
    guard(|| {
        process::read(|_| must_be_null(reserved))?;
        process::finalize()
    })
}

pub(crate) unsafe extern "C" fn get_info_2_40(info: *mut CK_INFO) -> CK_RV {
    // SAFETY: `info` points to writable memory for the structure.
    guard(|| unsafe { get_info(info, V2_40) })
}

pub(crate) unsafe extern "C" fn get_info_3_0(info: *mut CK_INFO) -> CK_RV {
    // SAFETY: `info` points to writable memory for the structure.
    guard(|| unsafe { get_info(info, V3_0) })
}

/// The versions of the standard that the module implements.
pub(crate) const V2_40: CK_VERSION = CK_VERSION {
    major: 2,
    minor: 40,
};
pub(crate) const V3_0: CK_VERSION = CK_VERSION { major: 3, minor: 0 };

/// # Safety
/// `info` is null or writable.
unsafe fn get_info(info: *mut CK_INFO, interface: CK_VERSION) -> Result {
    // SAFETY: `info` points to writable memory for the value.
    process::read(|_| unsafe { put(info, library_info(interface)) })
}

pub(crate) unsafe extern "C" fn get_slot_list(
    _only_with_token: u8,
    slots: *mut CK_SLOT_ID,
    count: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: `count` points to a number, and `slots` is null or has as many writable elements.
    guard(|| process::read(|_| unsafe { Output::new(slots, count) }?.write(&[SLOT])))
}

pub(crate) unsafe extern "C" fn get_slot_info(slot: CK_SLOT_ID, info: *mut CK_SLOT_INFO) -> CK_RV {
    guard(|| {
        process::read(|_| {
            check_slot(slot)?;
            // SAFETY: `info` points to writable memory for the value.
            unsafe { put(info, slot_info()) }
        })
    })
}

pub(crate) unsafe extern "C" fn get_token_info(
    slot: CK_SLOT_ID,
    info: *mut CK_TOKEN_INFO,
) -> CK_RV {
    guard(|| {
        process::read(|token| {
            check_slot(slot)?;
            // SAFETY: `info` points to writable memory for the value.
            unsafe { put(info, token.info()) }
        })
    })
}

/// Reports that there is no event, because the token is always present.
pub(crate) unsafe extern "C" fn wait_for_slot_event(
    flags: CK_FLAGS,
    _slot: *mut CK_SLOT_ID,
    reserved: *mut c_void,
) -> CK_RV {
    guard(|| {
        process::read(|_| {
            must_be_null(reserved)?;
            Err(if flags & CKF_DONT_BLOCK != 0 {
                CKR_NO_EVENT
            } else {
                CKR_FUNCTION_NOT_SUPPORTED
            })
        })
    })
}

pub(crate) unsafe extern "C" fn get_mechanism_list(
    slot: CK_SLOT_ID,
    mechanisms: *mut CK_MECHANISM_TYPE,
    count: *mut CK_ULONG,
) -> CK_RV {
    guard(|| {
        process::read(|_| {
            check_slot(slot)?;
            // SAFETY: `count` points to a number, and `mechanisms` is null or has as many writable
            // elements.
            unsafe { Output::new(mechanisms, count) }?.write(&MECHANISMS.map(|(number, _)| number))
        })
    })
}

pub(crate) unsafe extern "C" fn get_mechanism_info(
    slot: CK_SLOT_ID,
    mechanism: CK_MECHANISM_TYPE,
    info: *mut CK_MECHANISM_INFO,
) -> CK_RV {
    guard(|| {
        process::read(|_| {
            check_slot(slot)?;
            check_target(info)?;
            // SAFETY: `info` points to writable memory for the value.
            unsafe { put(info, Mechanism::from_number(mechanism)?.info()) }
        })
    })
}

pub(crate) unsafe extern "C" fn init_token(
    slot: CK_SLOT_ID,
    pin: *mut CK_UTF8CHAR,
    pin_len: CK_ULONG,
    label: *mut CK_UTF8CHAR,
) -> CK_RV {
    guard(|| {
        process::read(|token| {
            check_slot(slot)?;
            // SAFETY: `pin` is null or points to `pin_len` readable bytes.
            unsafe { array(pin, pin_len) }?;
            if label.is_null() {
                return Err(CKR_ARGUMENTS_BAD);
            }
            Err(if token.has_sessions() {
                CKR_SESSION_EXISTS
            } else {
                CKR_TOKEN_WRITE_PROTECTED
            })
        })
    })
}

/// Implements `C_GetFunctionStatus` and `C_CancelFunction`, which the standard keeps for
/// compatibility.
pub(crate) unsafe extern "C" fn not_parallel(session: CK_SESSION_HANDLE) -> CK_RV {
    guard(|| {
        process::read(|token| {
            token.session(session)?;
            Err(CKR_FUNCTION_NOT_PARALLEL)
        })
    })
}
