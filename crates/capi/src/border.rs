//! Turns C pointers and lengths into references, manages handles, and stops panics.
#![allow(unsafe_code, reason = "makes references of pointers")]

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::{ptr, slice};

use crate::error::Error;

/// Runs the body of an exported function. A panic becomes [`Error::Internal`].
///
/// A handle that a panic leaves half changed is still memory-safe. The unsafe code of this crate
/// and of the crates below keeps no state between calls that a panic can leave half changed: the
/// engine's vectors take slices and proofs of CPU features, and a message in a queue is a pointer
/// and a length that were checked before they were stored. Memory maps, whose unsafe code has
/// state, are not used here, as verifications read files.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Error>) -> Error {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Error::None,
        Ok(Err(error)) => error,
        Err(_) => Error::Internal,
    }
}

/// Returns the `len` elements at `start`, which may be null if `len` is 0.
///
/// # Safety
/// `start` is null, or points to `len` aligned elements that do not change during `'a`.
pub(crate) unsafe fn array<'a, T>(start: *const T, len: usize) -> Result<&'a [T], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(Error::NullPointer);
    }
    if len > isize::MAX as usize / size_of::<T>() {
        return Err(Error::LengthTooLarge);
    }
    // SAFETY: `start` is not null, `len` elements fit into an object, and the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(start, len) })
}

/// Returns the messages whose start addresses and lengths are in two arrays.
///
/// # Safety
/// `starts` and `lens` meet the conditions of [`array`], and so does each start with its length.
pub(crate) unsafe fn messages<'a>(
    starts: *const *const c_void,
    lens: *const usize,
    n_messages: usize,
) -> Result<Vec<&'a [u8]>, Error> {
    // SAFETY: the caller's promise.
    let starts = unsafe { array(starts, n_messages) }?;
    // SAFETY: the caller's promise.
    let lens = unsafe { array(lens, n_messages) }?;
    let mut messages = reserved(n_messages)?;
    for (start, len) in starts.iter().zip(lens) {
        // SAFETY: the caller's promise.
        messages.push(unsafe { array(start.cast(), *len) }?);
    }
    Ok(messages)
}

/// Returns the text at `start`.
///
/// # Safety
/// `start` is null, or points to a text that ends with a NUL and does not change during `'a`.
pub(crate) unsafe fn text<'a>(start: *const c_char) -> Result<&'a CStr, Error> {
    if start.is_null() {
        return Err(Error::NullPointer);
    }
    // SAFETY: `start` is not null, and the caller promises the rest.
    Ok(unsafe { CStr::from_ptr(start) })
}

/// Returns the path at `start`.
///
/// # Safety
/// The same as for [`text`].
pub(crate) unsafe fn path<'a>(start: *const c_char) -> Result<&'a Path, Error> {
    // SAFETY: the caller's promise.
    let text = unsafe { text(start) }?;
    #[cfg(unix)]
    let path = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(text.to_bytes());
    #[cfg(not(unix))]
    let path = OsStr::new(
        text.to_str()
            .map_err(|error| Error::System.with_details(error))?,
    );
    Ok(Path::new(path))
}

/// Returns `len` default values.
pub(crate) fn defaults<T: Clone + Default>(len: usize) -> Result<Vec<T>, Error> {
    let mut values = reserved(len)?;
    values.resize(len, T::default());
    Ok(values)
}

fn reserved<T>(len: usize) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory)?;
    Ok(values)
}

/// Returns the object that a handle points to.
///
/// # Safety
/// `handle` is null, or comes from [`give`], is not freed during `'a`, and no exclusive reference to it exists.
pub(crate) unsafe fn shared<'a, T>(handle: *const T) -> Result<&'a T, Error> {
    // SAFETY: a pointer of `give` is aligned and points to a `T`; the caller promises the rest.
    unsafe { handle.as_ref() }.ok_or(Error::NullPointer)
}

/// Returns the object that a handle points to, for modification.
///
/// # Safety
/// `handle` is null, or comes from [`give`], and nothing else uses it during `'a`.
pub(crate) unsafe fn exclusive<'a, T>(handle: *mut T) -> Result<&'a mut T, Error> {
    // SAFETY: a pointer of `give` is aligned and points to a `T`; the caller promises the rest.
    unsafe { handle.as_mut() }.ok_or(Error::NullPointer)
}

/// Writes a handle to the object that `make` returns to `*handle`, or NULL if `make` fails.
///
/// # Safety
/// `handle` is null, or points to a writable pointer.
pub(crate) unsafe fn give<T>(
    handle: *mut *mut T,
    make: impl FnOnce() -> Result<T, Error>,
) -> Error {
    if handle.is_null() {
        return Error::NullPointer;
    }
    let mut made = ptr::null_mut();
    let error = guard(|| {
        made = Box::into_raw(Box::new(make()?));
        Ok(())
    });
    // SAFETY: `handle` is not null, and the caller promises that it is writable.
    unsafe { handle.write(made) };
    error
}

/// Drops the object of a handle. Null is ignored.
///
/// # Safety
/// `handle` is null, or comes from [`give`] and is not used afterwards.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: `give` made the pointer from a box, and the caller promises that it is freed
        // once.
        let object = unsafe { Box::from_raw(handle) };
        let _ = guard(|| {
            drop(object);
            Ok(())
        });
    }
}

/// Writes bytes to `*start`. The input and output of a function may overlap, because no reference
/// to either exists here.
///
/// # Safety
/// `start` is null, or points to `bytes.len()` writable bytes outside `bytes`.
pub(crate) unsafe fn write(start: *mut u8, bytes: &[u8]) -> Result<(), Error> {
    if start.is_null() {
        return Err(Error::NullPointer);
    }
    // SAFETY: `start` is not null, and the caller promises the rest.
    unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Ok(())
}

/// Writes byte strings one after the other, from `*start` on. `start` may be null if there are
/// none.
///
/// # Safety
/// `start` is null, or points to as many writable bytes as all strings have, outside the strings.
pub(crate) unsafe fn write_all<'b>(
    start: *mut u8,
    texts: impl IntoIterator<Item = &'b [u8]>,
) -> Result<(), Error> {
    let mut written = 0;
    for bytes in texts {
        // SAFETY: the caller promises space for all strings. `write` rejects null, and only the
        // first address can be null.
        unsafe { write(start.wrapping_add(written), bytes) }?;
        written += bytes.len();
    }
    Ok(())
}

/// Writes bytes to a buffer of `capacity` bytes, and their number to `*len`, even if the bytes do
/// not fit. `buffer` may be null if there are no bytes, and `len` may be null.
///
/// # Safety
/// `buffer` is null, or points to `capacity` writable bytes outside `bytes`. `len` is null, or points to a writable number.
pub(crate) unsafe fn fill(
    buffer: *mut u8,
    capacity: usize,
    bytes: &[u8],
    len: *mut usize,
) -> Result<(), Error> {
    if !len.is_null() {
        // SAFETY: `len` is not null, and the caller promises the rest.
        unsafe { len.write(bytes.len()) };
    }
    if bytes.is_empty() {
        return Ok(());
    }
    if bytes.len() > capacity {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the bytes fit into the buffer, and the caller promises the rest.
    unsafe { write(buffer, bytes) }
}

/// Writes a text and a NUL to a buffer of `capacity` bytes, and the length of the text to `*len`,
/// even if the text does not fit.
///
/// # Safety
/// The same as for [`fill`].
pub(crate) unsafe fn fill_text(
    buffer: *mut c_char,
    capacity: usize,
    text: &[u8],
    len: *mut usize,
) -> Result<(), Error> {
    let buffer = buffer.cast();
    // One byte of the buffer is for the NUL. A buffer of 0 bytes holds no text.
    // SAFETY: the caller's promise.
    unsafe { fill(buffer, capacity.saturating_sub(1), text, len) }?;
    if capacity == 0 {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the text and the NUL fit. If `buffer` is null, the text is empty, and `write` rejects null.
    unsafe { write(buffer.wrapping_add(text.len()), &[0]) }
}

/// Writes a value to `*place`.
///
/// # Safety
/// `place` is null, or points to writable memory for a `T`.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Error> {
    if place.is_null() {
        return Err(Error::NullPointer);
    }
    // SAFETY: `place` is not null, and the caller promises the rest.
    unsafe { place.write(value) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_code() {
        assert_eq!(guard(|| panic!("as a test")), Error::Internal);
        let mut handle = ptr::dangling_mut::<u8>();
        // SAFETY: `handle` is writable.
        let error = unsafe { give(&raw mut handle, || panic!("as a test")) };
        assert_eq!(error, Error::Internal);
        assert!(handle.is_null());
    }
}
