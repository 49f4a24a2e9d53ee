//! The lists of functions, and the three exported symbols that return them.
//!
//! No other function is exported. If the lists referred to exported functions, the dynamic linker
//! would replace them by a program's own `C_Initialize` and so on.
//!
//! A SAFETY comment names what the contract of the function says of an argument. Null and misaligned
//! pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::CStr;

use cryptoki_sys::{
    CK_FLAGS, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_0, CK_INTERFACE, CK_RV, CK_ULONG, CK_UTF8CHAR,
    CK_VERSION, CKR_FUNCTION_FAILED,
};

use crate::border::{Output, check_target, guard, is_text, put, structure};
use crate::calls::general::{V2_40, V3_0};
use crate::calls::{general, messages, objects, sessions, unsupported};

/// Makes a list with the functions of all versions.
macro_rules! list {
    ($type:ident, $version:expr, $get_info:path, $($more:tt)*) => {
        $type {
            version: $version,
            C_Initialize: Some(general::initialize),
            C_Finalize: Some(general::finalize),
            C_GetInfo: Some($get_info),
            C_GetFunctionList: Some(get_function_list),
            C_GetSlotList: Some(general::get_slot_list),
            C_GetSlotInfo: Some(general::get_slot_info),
            C_GetTokenInfo: Some(general::get_token_info),
            C_GetMechanismList: Some(general::get_mechanism_list),
            C_GetMechanismInfo: Some(general::get_mechanism_info),
            C_InitToken: Some(general::init_token),
            C_InitPIN: Some(sessions::init_pin),
            C_SetPIN: Some(sessions::set_pin),
            C_OpenSession: Some(sessions::open_session),
            C_CloseSession: Some(sessions::close_session),
            C_CloseAllSessions: Some(sessions::close_all_sessions),
            C_GetSessionInfo: Some(sessions::get_session_info),
            C_GetOperationState: Some(sessions::get_operation_state),
            C_SetOperationState: Some(sessions::set_operation_state),
            C_Login: Some(sessions::login),
            C_Logout: Some(sessions::logout),
            C_CreateObject: Some(objects::create_object),
            C_CopyObject: Some(objects::copy_object),
            C_DestroyObject: Some(objects::destroy_object),
            C_GetObjectSize: Some(objects::get_object_size),
            C_GetAttributeValue: Some(objects::get_attribute_value),
            C_SetAttributeValue: Some(objects::set_attribute_value),
            C_FindObjectsInit: Some(objects::find_objects_init),
            C_FindObjects: Some(objects::find_objects),
            C_FindObjectsFinal: Some(objects::find_objects_final),
            C_EncryptInit: Some(unsupported::encrypt_init),
            C_Encrypt: Some(unsupported::encrypt),
            C_EncryptUpdate: Some(unsupported::encrypt_update),
            C_EncryptFinal: Some(unsupported::encrypt_final),
            C_DecryptInit: Some(unsupported::decrypt_init),
            C_Decrypt: Some(unsupported::decrypt),
            C_DecryptUpdate: Some(unsupported::decrypt_update),
            C_DecryptFinal: Some(unsupported::decrypt_final),
            C_DigestInit: Some(messages::digest_init),
            C_Digest: Some(messages::digest),
            C_DigestUpdate: Some(messages::digest_update),
            C_DigestKey: Some(messages::digest_key),
            C_DigestFinal: Some(messages::digest_final),
            C_SignInit: Some(messages::sign_init),
            C_Sign: Some(messages::sign),
            C_SignUpdate: Some(messages::sign_update),
            C_SignFinal: Some(messages::sign_final),
            C_SignRecoverInit: Some(unsupported::sign_recover_init),
            C_SignRecover: Some(unsupported::sign_recover),
            C_VerifyInit: Some(messages::verify_init),
            C_Verify: Some(messages::verify),
            C_VerifyUpdate: Some(messages::verify_update),
            C_VerifyFinal: Some(messages::verify_final),
            C_VerifyRecoverInit: Some(unsupported::verify_recover_init),
            C_VerifyRecover: Some(unsupported::verify_recover),
            C_DigestEncryptUpdate: Some(unsupported::digest_encrypt_update),
            C_DecryptDigestUpdate: Some(unsupported::decrypt_digest_update),
            C_SignEncryptUpdate: Some(unsupported::sign_encrypt_update),
            C_DecryptVerifyUpdate: Some(unsupported::decrypt_verify_update),
            C_GenerateKey: Some(objects::generate_key),
            C_GenerateKeyPair: Some(unsupported::generate_key_pair),
            C_WrapKey: Some(unsupported::wrap_key),
            C_UnwrapKey: Some(unsupported::unwrap_key),
            C_DeriveKey: Some(unsupported::derive_key),
            C_SeedRandom: Some(sessions::seed_random),
            C_GenerateRandom: Some(sessions::generate_random),
            C_GetFunctionStatus: Some(general::not_parallel),
            C_CancelFunction: Some(general::not_parallel),
            C_WaitForSlotEvent: Some(general::wait_for_slot_event),
            $($more)*
        }
    };
}

static LIST_2_40: CK_FUNCTION_LIST = list!(CK_FUNCTION_LIST, V2_40, general::get_info_2_40,);

static LIST_3_0: CK_FUNCTION_LIST_3_0 = list!(
    CK_FUNCTION_LIST_3_0,
    V3_0,
    general::get_info_3_0,
    C_GetInterfaceList: Some(get_interface_list),
    C_GetInterface: Some(get_interface),
    C_LoginUser: Some(sessions::login_user),
    C_SessionCancel: Some(sessions::session_cancel),
    C_MessageEncryptInit: Some(unsupported::message_encrypt_init),
    C_EncryptMessage: Some(unsupported::encrypt_message),
    C_EncryptMessageBegin: Some(unsupported::encrypt_message_begin),
    C_EncryptMessageNext: Some(unsupported::encrypt_message_next),
    C_MessageEncryptFinal: Some(unsupported::message_encrypt_final),
    C_MessageDecryptInit: Some(unsupported::message_decrypt_init),
    C_DecryptMessage: Some(unsupported::decrypt_message),
    C_DecryptMessageBegin: Some(unsupported::decrypt_message_begin),
    C_DecryptMessageNext: Some(unsupported::decrypt_message_next),
    C_MessageDecryptFinal: Some(unsupported::message_decrypt_final),
    C_MessageSignInit: Some(unsupported::message_sign_init),
    C_SignMessage: Some(unsupported::sign_message),
    C_SignMessageBegin: Some(unsupported::sign_message_begin),
    C_SignMessageNext: Some(unsupported::sign_message_next),
    C_MessageSignFinal: Some(unsupported::message_sign_final),
    C_MessageVerifyInit: Some(unsupported::message_verify_init),
    C_VerifyMessage: Some(unsupported::verify_message),
    C_VerifyMessageBegin: Some(unsupported::verify_message_begin),
    C_VerifyMessageNext: Some(unsupported::verify_message_next),
    C_MessageVerifyFinal: Some(unsupported::message_verify_final),
);

const NAME: &CStr = c"PKCS 11";

/// The interfaces, the default first. They do not have `CKF_INTERFACE_FORK_SAFE`, because a child
/// must call `C_Initialize` again.
static INTERFACES: Interfaces = Interfaces([
    CK_INTERFACE {
        pInterfaceName: NAME.as_ptr().cast::<CK_UTF8CHAR>().cast_mut(),
        pFunctionList: (&raw const LIST_3_0).cast_mut().cast(),
        flags: 0,
    },
    CK_INTERFACE {
        pInterfaceName: NAME.as_ptr().cast::<CK_UTF8CHAR>().cast_mut(),
        pFunctionList: (&raw const LIST_2_40).cast_mut().cast(),
        flags: 0,
    },
]);

struct Interfaces([CK_INTERFACE; 2]);

// SAFETY: nothing is written through the pointers. They are mutable only because the C types have
// no read-only pointers here.
unsafe impl Sync for Interfaces {}

/// Returns the functions of v2.40. May be called before `C_Initialize`.
///
/// # Safety
/// `list` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetFunctionList(list: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    // SAFETY: the function has the same conditions.
    unsafe { get_function_list(list) }
}

/// Returns the interfaces: v3.0 and v2.40. May be called before `C_Initialize`.
///
/// # Safety
/// `count` is null or points to a writable number, and `interfaces` is null or points to as many writable interfaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterfaceList(
    interfaces: *mut CK_INTERFACE,
    count: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: the function has the same conditions.
    unsafe { get_interface_list(interfaces, count) }
}

/// Returns the interface with a name, a version and flags. A null name or version matches any. May
/// be called before `C_Initialize`.
///
/// # Safety
/// `name` is null or a string, `version` is null or readable, and `interface` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterface(
    name: *mut CK_UTF8CHAR,
    version: *mut CK_VERSION,
    interface: *mut *mut CK_INTERFACE,
    flags: CK_FLAGS,
) -> CK_RV {
    // SAFETY: the function has the same conditions.
    unsafe { get_interface(name, version, interface, flags) }
}

unsafe extern "C" fn get_function_list(list: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    // SAFETY: `list` points to writable memory for the value.
    guard(|| unsafe { put(list, (&raw const LIST_2_40).cast_mut()) })
}

unsafe extern "C" fn get_interface_list(
    interfaces: *mut CK_INTERFACE,
    count: *mut CK_ULONG,
) -> CK_RV {
    // SAFETY: `count` points to a number, and `interfaces` is null or has as many writable elements.
    guard(|| unsafe { Output::new(interfaces, count) }?.write(&INTERFACES.0))
}

unsafe extern "C" fn get_interface(
    name: *mut CK_UTF8CHAR,
    version: *mut CK_VERSION,
    interface: *mut *mut CK_INTERFACE,
    flags: CK_FLAGS,
) -> CK_RV {
    guard(|| {
        check_target(interface)?;
        // SAFETY: the name is read only if it is not null.
        let is_ours = name.is_null() || unsafe { is_text(name, NAME) };
        // SAFETY: `version` is null or points to a version.
        let version = unsafe { structure(version.cast_const()) }?;
        let found = select(version, flags).filter(|_| is_ours);
        let found = found.ok_or(CKR_FUNCTION_FAILED)?;
        // SAFETY: `interface` points to writable memory for the value.
        unsafe { put(interface, (&raw const *found).cast_mut()) }
    })
}

/// Returns the first interface with this version and with all of these flags.
fn select(version: Option<&CK_VERSION>, flags: CK_FLAGS) -> Option<&'static CK_INTERFACE> {
    let versions = [V3_0, V2_40];
    let mut known = INTERFACES.0.iter().zip(versions);
    let found = known.find(|(interface, known)| {
        let is_version =
            version.is_none_or(|wanted| (wanted.major, wanted.minor) == (known.major, known.minor));
        is_version && interface.flags & flags == flags
    })?;
    Some(found.0)
}
