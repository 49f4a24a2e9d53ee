//! The return codes of arguments that cannot be used, and the arguments of PKCS#11: mechanisms,
//! templates, and buffers with their lengths.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and misaligned
//! pointers are refused before they are used.
#![allow(unsafe_code, reason = "reads and writes arguments of C")]

use std::ffi::c_void;
use std::mem::MaybeUninit;

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_TYPE, CK_MECHANISM, CK_MECHANISM_TYPE, CK_RV, CK_ULONG,
    CK_UNAVAILABLE_INFORMATION, CKR_ARGUMENTS_BAD, CKR_ATTRIBUTE_VALUE_INVALID,
    CKR_BUFFER_TOO_SMALL, CKR_GENERAL_ERROR, CKR_HOST_MEMORY, CKR_MECHANISM_PARAM_INVALID, CKR_OK,
};
use hashlane_border::{Fault, reserved};

/// The outcome of a call. Errors are return codes of the standard.
pub(crate) type Result<T = ()> = std::result::Result<T, CK_RV>;

/// Runs the body of a function that C calls. A panic becomes `CKR_GENERAL_ERROR`. If the panic
/// poisons a lock, the next call that takes the lock clears it.
pub(crate) fn guard(body: impl FnOnce() -> Result) -> CK_RV {
    hashlane_border::guard(CKR_GENERAL_ERROR, body).map_or_else(|error| error, |()| CKR_OK)
}

/// Returns the return code for an argument that cannot be used.
fn code(fault: Fault) -> CK_RV {
    match fault {
        Fault::OutOfMemory => CKR_HOST_MEMORY,
        _ => CKR_ARGUMENTS_BAD,
    }
}

/// Returns a length in memory. One that memory cannot have becomes a length that no array can have.
fn length(len: CK_ULONG) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// Returns the `len` elements at `start`, which may be null if `len` is 0.
///
/// # Safety
/// `start` is null or not aligned, or points to `len` elements that do not change during `'a`.
pub(crate) unsafe fn array<'a, T>(start: *const T, len: CK_ULONG) -> Result<&'a [T]> {
    // SAFETY: `start` points to `len` elements that do not change during the call.
    unsafe { hashlane_border::array(start, length(len)) }.map_err(code)
}

/// Rejects a target that a result cannot be written to.
pub(crate) fn check_target<T>(target: *const T) -> Result {
    hashlane_border::check(target).map_err(code)
}

/// Returns the structure at `start`, or `None` if `start` is null.
///
/// # Safety
/// As for [`array()`] with one element.
pub(crate) unsafe fn structure<'a, T>(start: *const T) -> Result<Option<&'a T>> {
    // SAFETY: `start` is null, not aligned, or points to a readable structure.
    match unsafe { hashlane_border::shared(start) } {
        Err(Fault::Null) => Ok(None),
        structure => structure.map(Some).map_err(code),
    }
}

/// Writes a value to `*target`.
///
/// # Safety
/// `target` is null or not aligned, or points to a writable `T`.
pub(crate) unsafe fn put<T>(target: *mut T, value: T) -> Result {
    // SAFETY: `target` is null, not aligned, or points to a writable `T`.
    unsafe { hashlane_border::put(target, value) }.map_err(code)
}

/// Returns the `len` bytes at `start`, which need not be initialised, for writing.
///
/// # Safety
/// `start` is null, or points to `len` writable bytes to which nothing else refers during `'a`.
pub(crate) unsafe fn space<'a>(start: *mut u8, len: CK_ULONG) -> Result<&'a mut [MaybeUninit<u8>]> {
    // SAFETY: `start` points to `len` writable bytes to which nothing else refers.
    unsafe { hashlane_border::array_mut(start.cast(), length(len)) }.map_err(code)
}

/// A mechanism with its parameter, as given by a caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) mechanism: CK_MECHANISM_TYPE,
    pub(crate) parameter: &'a [u8],
}

/// Returns the mechanism at `mechanism`, or `None` for a null pointer, which cancels operations.
///
/// # Safety
/// `mechanism` is null or not aligned, or points to a mechanism whose parameter is readable and does not change during `'a`.
pub(crate) unsafe fn request<'a>(mechanism: *const CK_MECHANISM) -> Result<Option<Request<'a>>> {
    // SAFETY: `mechanism` is null or points to a mechanism.
    let Some(request) = (unsafe { structure(mechanism) })? else {
        return Ok(None);
    };
    // SAFETY: a mechanism states the length of its parameter.
    let parameter = unsafe { array(request.pParameter.cast(), request.ulParameterLen) };
    Ok(Some(Request {
        mechanism: request.mechanism,
        parameter: parameter.map_err(|_| CKR_MECHANISM_PARAM_INVALID)?,
    }))
}

/// An attribute of a template.
pub(crate) type Given<'a> = (CK_ATTRIBUTE_TYPE, &'a [u8]);

/// Returns the attributes of a template.
///
/// # Safety
/// `template` is null or not aligned, or points to `count` attributes whose values are readable and do not change during `'a`.
pub(crate) unsafe fn template<'a>(
    template: *const CK_ATTRIBUTE,
    count: CK_ULONG,
) -> Result<Vec<Given<'a>>> {
    // SAFETY: `template` is null, not aligned, or points to `count` readable attributes.
    let attributes = unsafe { array(template, count) }?;
    let mut given = reserved(attributes.len()).map_err(code)?;
    for attribute in attributes {
        // SAFETY: an attribute states the length of its value.
        let value = unsafe { array(attribute.pValue.cast(), attribute.ulValueLen) };
        given.push((
            attribute.type_,
            value.map_err(|_| CKR_ATTRIBUTE_VALUE_INVALID)?,
        ));
    }
    Ok(given)
}

/// Writes the values that `read` returns to a template, by the rules of `C_GetAttributeValue`: an
/// error in one attribute does not stop the others, and the first error is returned. All
/// attributes are read before a value is written, because values may overwrite the template.
///
/// # Safety
/// `template` is null or not aligned, or points to `count` writable attributes. The value of each
/// is null, or points to as many writable bytes as its length states. These bytes may overlap.
pub(crate) unsafe fn fill_template<'k>(
    template: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    read: impl Fn(CK_ATTRIBUTE_TYPE) -> Result<&'k [u8]>,
) -> Result {
    // SAFETY: Nothing is written before the slice is copied.
    let attributes = unsafe { array(template.cast_const(), count) }?;
    let mut given = reserved(attributes.len()).map_err(code)?;
    given.extend_from_slice(attributes);
    let mut first_error = Ok(());
    for (index, attribute) in given.iter().enumerate() {
        // SAFETY: No reference to the template exists.
        let outcome = read(attribute.type_).and_then(|value| unsafe { fill(attribute, value) });
        let len = outcome.unwrap_or(CK_UNAVAILABLE_INFORMATION);
        // SAFETY: the caller promises writable attributes up to `count`.
        unsafe { (&raw mut (*template.add(index)).ulValueLen).write(len) };
        first_error = first_error.and(outcome.map(|_| ()));
    }
    first_error
}

/// Writes a value, unless the attribute has no buffer. Returns the length of the value.
///
/// # Safety
/// The value of `attribute` is null, or points to as many writable bytes as its length states,
/// outside `value`, and no reference to these bytes exists.
unsafe fn fill(attribute: &CK_ATTRIBUTE, value: &[u8]) -> Result<CK_ULONG> {
    let len = value.len() as CK_ULONG;
    if !attribute.pValue.is_null() {
        if attribute.ulValueLen < len {
            return Err(CKR_BUFFER_TOO_SMALL);
        }
        // SAFETY: `pValue` points to `ulValueLen` writable bytes, which are enough. `value` lies outside of them.
        unsafe { hashlane_border::write(attribute.pValue.cast(), value) }.map_err(code)?;
    }
    Ok(len)
}

/// The buffer of a caller, and the address of its length. The input and output of a function may
/// overlap, because no reference to the buffer exists.
#[derive(Debug)]
pub(crate) struct Output<T> {
    buffer: *mut T,
    len: *mut CK_ULONG,
}

impl<T: Copy> Output<T> {
    /// Returns `CKR_ARGUMENTS_BAD` if `len` is null, or if a pointer is misaligned.
    ///
    /// # Safety
    /// `len` is null or not aligned, or points to a writable number. `buffer` is null or not aligned, or points to this many
    /// writable elements. Both stay so as long as the result is used.
    pub(crate) unsafe fn new(buffer: *mut T, len: *mut CK_ULONG) -> Result<Self> {
        check_target(len)?;
        if !buffer.is_aligned() {
            return Err(CKR_ARGUMENTS_BAD);
        }
        Ok(Self { buffer, len })
    }

    /// Reports the length of the output to the caller. Returns `true` if the caller has a buffer
    /// for the output, and `false` if the caller only queries the length.
    pub(crate) fn has_room(&self, n_elements: usize) -> Result<bool> {
        let needed = n_elements as CK_ULONG;
        // SAFETY: usable, as `new` has checked, and writable as promised to it.
        let room = unsafe { self.len.replace(needed) };
        if self.buffer.is_null() {
            Ok(false)
        } else if room < needed {
            Err(CKR_BUFFER_TOO_SMALL)
        } else {
            Ok(true)
        }
    }

    /// Writes the whole output, after [`Self::has_room`] or instead of it.
    pub(crate) fn write(&self, elements: &[T]) -> Result {
        if self.has_room(elements.len())? {
            // SAFETY: the buffer has room, and it is writable as promised to `new`. `elements` belong to this library.
            unsafe { hashlane_border::write(self.buffer, elements) }.map_err(code)?;
        }
        Ok(())
    }
}

/// Returns `true` if two C strings are equal. Null is no string.
///
/// # Safety
/// `text` is null, or points to a string with a zero byte at its end.
pub(crate) unsafe fn is_text(text: *const u8, expected: &std::ffi::CStr) -> bool {
    // SAFETY: `text` is null or ends with a NUL.
    let text = unsafe { hashlane_border::text(text.cast()) };
    text == Ok(expected)
}

/// Rejects pointers that the standard reserves.
pub(crate) fn must_be_null(reserved: *const c_void) -> Result {
    if reserved.is_null() {
        Ok(())
    } else {
        Err(CKR_ARGUMENTS_BAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_code() {
        assert_eq!(guard(|| panic!("as a test")), CKR_GENERAL_ERROR);
    }
}
