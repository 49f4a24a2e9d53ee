//! Checks pointers and lengths, and reads and writes through them.
#![allow(unsafe_code, reason = "makes references of pointers")]

use std::ffi::{CStr, c_char};
use std::slice;

use crate::Fault;

/// Checks that a pointer is neither null nor misaligned.
///
/// # Errors
/// [`Fault::Null`] or [`Fault::Misaligned`].
pub fn check<T>(pointer: *const T) -> Result<(), Fault> {
    if pointer.is_null() {
        Err(Fault::Null)
    } else if !pointer.is_aligned() {
        Err(Fault::Misaligned)
    } else {
        Ok(())
    }
}

fn check_array<T>(start: *const T, len: usize) -> Result<(), Fault> {
    check(start)?;
    if len > isize::MAX as usize / size_of::<T>() {
        return Err(Fault::TooLong);
    }
    Ok(())
}

/// Returns the `len` elements at `start`, which is not used if `len` is 0.
///
/// # Errors
/// [`Fault::Null`], [`Fault::Misaligned`] or [`Fault::TooLong`].
///
/// # Safety
/// A `start` that passes [`check()`] points to `len` elements that do not change during `'a`.
pub unsafe fn array<'a, T>(start: *const T, len: usize) -> Result<&'a [T], Fault> {
    if len == 0 {
        return Ok(&[]);
    }
    check_array(start, len)?;
    // SAFETY: `start` is usable, and `len` elements fit into an object. They do not change during
    // `'a`, as the Safety section asks.
    Ok(unsafe { slice::from_raw_parts(start, len) })
}

/// Returns the `len` elements at `start` for writing. `start` is not used if `len` is 0.
///
/// # Errors
/// [`Fault::Null`], [`Fault::Misaligned`] or [`Fault::TooLong`].
///
/// # Safety
/// A `start` that passes [`check()`] points to `len` writable elements to which nothing else refers during `'a`.
pub unsafe fn array_mut<'a, T>(start: *mut T, len: usize) -> Result<&'a mut [T], Fault> {
    if len == 0 {
        return Ok(&mut []);
    }
    check_array(start, len)?;
    // SAFETY: `start` is usable, and `len` elements fit into an object. They are writable, and nothing else refers to
    // them during `'a`, as the Safety section asks.
    Ok(unsafe { slice::from_raw_parts_mut(start, len) })
}

/// Returns the object at `place`.
///
/// # Errors
/// [`Fault::Null`] or [`Fault::Misaligned`].
///
/// # Safety
/// A `place` that passes [`check()`] points to a `T`, and no exclusive reference to it exists during `'a`.
pub unsafe fn shared<'a, T>(place: *const T) -> Result<&'a T, Fault> {
    check(place)?;
    // SAFETY: `place` is usable, and points to a `T` without an exclusive reference, as the Safety section asks.
    Ok(unsafe { &*place })
}

/// Returns the object at `place` for modification.
///
/// # Errors
/// [`Fault::Null`] or [`Fault::Misaligned`].
///
/// # Safety
/// A `place` that passes [`check()`] points to a `T`, and nothing else uses it during `'a`.
pub unsafe fn exclusive<'a, T>(place: *mut T) -> Result<&'a mut T, Fault> {
    check(place)?;
    // SAFETY: `place` is usable, and points to a `T` that nothing else uses, as the Safety section asks.
    Ok(unsafe { &mut *place })
}

/// Returns the text at `start`.
///
/// # Errors
/// [`Fault::Null`].
///
/// # Safety
/// A `start` that is not null points to a text that ends with a NUL and does not change during `'a`.
pub unsafe fn text<'a>(start: *const c_char) -> Result<&'a CStr, Fault> {
    check(start)?;
    // SAFETY: `start` is not null, and its text ends with a NUL and does not change, as the Safety section asks.
    Ok(unsafe { CStr::from_ptr(start) })
}

/// Writes a value to `*place`.
///
/// # Errors
/// [`Fault::Null`] or [`Fault::Misaligned`].
///
/// # Safety
/// A `place` that passes [`check()`] points to writable memory for a `T`.
pub unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Fault> {
    check(place)?;
    // SAFETY: `place` is usable, and the caller promises that it is writable.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes elements to `*start`. The input and output of a C function may overlap, because no
/// reference to the output exists here.
///
/// # Errors
/// [`Fault::Null`] or [`Fault::Misaligned`].
///
/// # Safety
/// A `start` that passes [`check()`] points to writable memory for the elements, outside of them.
pub unsafe fn write<T: Copy>(start: *mut T, elements: &[T]) -> Result<(), Fault> {
    check(start)?;
    // SAFETY: `start` is usable, and has room for the elements, outside of them, as the Safety section asks.
    unsafe { start.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
    Ok(())
}
