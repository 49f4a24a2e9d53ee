//! Handles, and the arguments that only this library has: messages, paths, and buffers for texts.
//!
//! A block of unsafe code without a comment relies on the Safety section of its function alone.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::ffi::{OsStr, c_char, c_void};
use std::path::Path;
use std::ptr;

use hashlane_border::{Fault, reserved};
pub(crate) use hashlane_border::{array, exclusive, shared, text};

use crate::error::Error;

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Null | Fault::Misaligned => Self::NullPointer,
            Fault::TooLong => Self::LengthTooLarge,
            Fault::OutOfMemory => Self::OutOfMemory,
        }
    }
}

/// Runs the body of an exported function. A panic becomes [`Error::Internal`].
///
/// A handle that a panic leaves half changed is still memory-safe. The unsafe code of this crate
/// and of the crates below keeps no state between calls that a panic can leave half changed: the
/// engine's vectors take slices and proofs of CPU features, and a message in a queue is a pointer
/// and a length that were checked before they were stored. Memory maps, whose unsafe code has
/// state, are not used here, as verifications read files.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Error>) -> Error {
    hashlane_border::guard(Error::Internal, body).map_or_else(|error| error, |()| Error::None)
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
    let starts = unsafe { array(starts, n_messages) }?;
    let lens = unsafe { array(lens, n_messages) }?;
    let mut messages = reserved(n_messages)?;
    for (start, len) in starts.iter().zip(lens) {
        messages.push(unsafe { array(start.cast(), *len) }?);
    }
    Ok(messages)
}

/// Returns the path at `start`.
///
/// # Safety
/// The same as for [`text`].
pub(crate) unsafe fn path<'a>(start: *const c_char) -> Result<&'a Path, Error> {
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
    unsafe { fill(buffer, capacity.saturating_sub(1), text, len) }?;
    if capacity == 0 {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the text and the NUL fit. If `buffer` is null, the text is empty, and `write` rejects null.
    unsafe { write(buffer.wrapping_add(text.len()), &[0]) }
}

/// Writes a value to `*target`.
///
/// # Safety
/// The same as for [`hashlane_border::put`].
pub(crate) unsafe fn put<T>(target: *mut T, value: T) -> Result<(), Error> {
    Ok(unsafe { hashlane_border::put(target, value) }?)
}

/// Writes elements from `start` on.
///
/// # Safety
/// The same as for [`hashlane_border::write`].
pub(crate) unsafe fn write<T: Copy>(start: *mut T, elements: &[T]) -> Result<(), Error> {
    Ok(unsafe { hashlane_border::write(start, elements) }?)
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
