//! Functions for objects: creation, generation, attributes and searches.
//!
//! A SAFETY comment names what the contract of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE, CK_ULONG,
    CKR_ARGUMENTS_BAD, CKR_OPERATION_NOT_INITIALIZED,
};

use super::session;
use crate::border::{
    Given, Output, Result, check_target, fill_template, guard, put, request, template,
};
use crate::key::Key;
use crate::mechanism;
use crate::process;

/// Adds a key to the token and writes its handle.
///
/// # Safety
/// `object` is null or writable.
unsafe fn add(
    handle: CK_SESSION_HANDLE,
    object: *mut CK_OBJECT_HANDLE,
    make: impl FnOnce() -> Result<Key>,
) -> Result {
    session(handle)?;
    check_target(object)?;
    let key = make()?;
    let added = process::write(|token| token.add(handle, key))?;
    // SAFETY: `object` points to writable memory for the value.
    unsafe { put(object, added) }
}

pub(crate) unsafe extern "C" fn create_object(
    handle: CK_SESSION_HANDLE,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    object: *mut CK_OBJECT_HANDLE,
) -> CK_RV {
    guard(|| {
        // SAFETY: `attributes` points to `count` attributes with values of the lengths that they
        // state.
        let make = || Key::create(&unsafe { template(attributes, count) }?);
        // SAFETY: `object` points to a writable handle.
        unsafe { add(handle, object, make) }
    })
}

pub(crate) unsafe extern "C" fn generate_key(
    handle: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    key: *mut CK_OBJECT_HANDLE,
) -> CK_RV {
    guard(|| {
        let make = || {
            // SAFETY: `mechanism` is null or a mechanism with a parameter of the length that it
            // states.
            let request = unsafe { request(mechanism) }?.ok_or(CKR_ARGUMENTS_BAD)?;
            // SAFETY: `attributes` points to `count` attributes with values of the lengths that
            // they state.
            let template = unsafe { template(attributes, count) }?;
            mechanism::generate(request)?;
            Key::generate(&template)
        };
        // SAFETY: `key` points to a writable handle.
        unsafe { add(handle, key, make) }
    })
}

pub(crate) unsafe extern "C" fn copy_object(
    handle: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    copy: *mut CK_OBJECT_HANDLE,
) -> CK_RV {
    guard(|| {
        let make = || {
            let key = process::read(|token| token.key(object).cloned())?;
            // SAFETY: `attributes` points to `count` attributes with values of the lengths that
            // they state.
            key.copy(&unsafe { template(attributes, count) }?)
        };
        // SAFETY: `copy` points to a writable handle.
        unsafe { add(handle, copy, make) }
    })
}

pub(crate) unsafe extern "C" fn destroy_object(
    handle: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
) -> CK_RV {
    guard(|| {
        process::write(|token| {
            token.session(handle)?;
            token.destroy(object)
        })
    })
}

pub(crate) unsafe extern "C" fn get_object_size(
    handle: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
    size: *mut CK_ULONG,
) -> CK_RV {
    guard(|| {
        process::read(|token| {
            token.session(handle)?;
            // SAFETY: `size` points to writable memory for the value.
            unsafe { put(size, token.key(object)?.size() as CK_ULONG) }
        })
    })
}

pub(crate) unsafe extern "C" fn get_attribute_value(
    handle: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
) -> CK_RV {
    guard(|| {
        let key = process::read(|token| {
            token.session(handle)?;
            token.key(object).cloned()
        })?;
        // SAFETY: `attributes` points to `count` attributes, each with as much writable memory as
        // it states.
        unsafe { fill_template(attributes, count, |attribute| key.read(attribute)) }
    })
}

pub(crate) unsafe extern "C" fn set_attribute_value(
    handle: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
) -> CK_RV {
    guard(|| {
        // SAFETY: `attributes` points to `count` attributes with values of the lengths that they
        // state.
        let template: Result<Vec<Given<'_>>> = unsafe { template(attributes, count) };
        process::write(|token| {
            token.session(handle)?;
            token.modify(object, &template?)
        })
    })
}

pub(crate) unsafe extern "C" fn find_objects_init(
    handle: CK_SESSION_HANDLE,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
) -> CK_RV {
    guard(|| {
        // SAFETY: `attributes` points to `count` attributes with values of the lengths that they
        // state.
        let template: Result<Vec<Given<'_>>> = unsafe { template(attributes, count) };
        let (session, found) = process::read(|token| {
            let session = token.session(handle)?.clone();
            Ok((session, token.find(&template?)))
        })?;
        session.operation.begin_search(found)
    })
}

pub(crate) unsafe extern "C" fn find_objects(
    handle: CK_SESSION_HANDLE,
    objects: *mut CK_OBJECT_HANDLE,
    max: CK_ULONG,
    count: *mut CK_ULONG,
) -> CK_RV {
    guard(|| {
        let session = session(handle)?;
        check_target(count)?;
        if max > 0 {
            check_target(objects)?;
        }
        let max_found = usize::try_from(max).unwrap_or(usize::MAX);
        let found = session.operation.next_found(max_found)?;
        // SAFETY: `count` points to writable memory for the value.
        unsafe { put(count, max) }?;
        // SAFETY: `count` points to a number, and `objects` is null or has as many writable
        // elements.
        let output = unsafe { Output::new(objects, count) }?;
        output.write(&found)
    })
}

pub(crate) unsafe extern "C" fn find_objects_final(handle: CK_SESSION_HANDLE) -> CK_RV {
    guard(|| {
        if session(handle)?.operation.end_search() {
            Ok(())
        } else {
            Err(CKR_OPERATION_NOT_INITIALIZED)
        }
    })
}
