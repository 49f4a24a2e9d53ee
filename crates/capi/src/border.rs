//! Handles, and the arguments that only this library has: messages, paths, and buffers for texts.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "reads and writes arguments of C")]

use std::ffi::{OsStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use hashlane_border::Fault;
pub(crate) use hashlane_border::{array, reserved, shared, text};

use crate::error::Error;

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Null => Self::NullPointer,
            Fault::Misaligned => Self::MisalignedPointer,
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
    // SAFETY: `starts` is null or points to `n_messages` readable pointers.
    let starts = unsafe { array(starts, n_messages) }?;
    // SAFETY: `lens` is null or points to `n_messages` readable lengths.
    let lens = unsafe { array(lens, n_messages) }?;
    let mut messages = reserved(n_messages)?;
    for (start, len) in starts.iter().zip(lens) {
        // SAFETY: each message has as many bytes as its length says, which do not change.
        messages.push(unsafe { array(start.cast(), *len) }?);
    }
    Ok(messages)
}

/// Returns the path at `start`.
///
/// # Safety
/// The same as for [`text`].
pub(crate) unsafe fn path<'a>(start: *const c_char) -> Result<&'a Path, Error> {
    // SAFETY: `start` ends with a NUL.
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

/// Returns `len` copies of a value.
pub(crate) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, Error> {
    let mut values = reserved(len)?;
    values.resize(len, value);
    Ok(values)
}

/// Returns the object of a handle, or `None` for null.
///
/// # Safety
/// The same as for [`shared`].
pub(crate) unsafe fn optional<'a, T>(handle: *const T) -> Result<Option<&'a T>, Error> {
    // SAFETY: `handle` is null or a handle that is not freed during the call.
    match unsafe { shared(handle) } {
        Err(Fault::Null) => Ok(None),
        object => Ok(Some(object?)),
    }
}

/// Returns the object of a handle, which exists until the result is dropped, even if the handle is
/// freed before.
///
/// # Safety
/// `handle` is null or misaligned, or comes from [`give`] and was not freed.
pub(crate) unsafe fn keep<T>(handle: *const T) -> Result<Arc<T>, Error> {
    hashlane_border::check(handle)?;
    // SAFETY: `give` made the pointer from an `Arc`, which the handle owns until it is freed.
    Ok(unsafe {
        Arc::increment_strong_count(handle);
        Arc::from_raw(handle)
    })
}

/// Returns the state of a handle for one call. Fails with [`Error::Busy`] if another call uses the
/// state, and with [`Error::Internal`] if a panic has interrupted such a call.
pub(crate) fn lock<T>(state: &Mutex<T>) -> Result<MutexGuard<'_, T>, Error> {
    state.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Error::Busy,
        TryLockError::Poisoned(_) => Error::Internal,
    })
}

/// A structure that the caller allocates. Its first field, `struct_size`, is a `usize`. Versions
/// only append fields.
pub(crate) trait Versioned: Copy {
    /// The size of each version in bytes, in ascending order.
    const SIZES: &'static [usize];
}

/// A versioned structure that the caller fills.
///
/// # Safety
/// The fields may have any bytes: they are numbers, and pointers that are not used unchecked.
pub(crate) unsafe trait Filled: Versioned {}

/// The maximum of `struct_size`. It bounds the damage of a number that was not set, as `openat2` of
/// Linux does.
const MAX_STRUCT_SIZE: usize = 4096;

/// Writes a structure to `*target`, up to the size in its first field, which stays.
///
/// # Safety
/// `target` is null or misaligned, or points to a number. If the number is at most
/// [`MAX_STRUCT_SIZE`], it points to this many readable and writable bytes.
pub(crate) unsafe fn put_versioned<T: Versioned>(target: *mut T, value: T) -> Result<(), Error> {
    let start = size_of::<usize>();
    // SAFETY: the caller promises the same.
    let size = unsafe { known_size(target) }?;
    let fields = (&raw const value).cast::<u8>().wrapping_add(start);
    // SAFETY: both structures have `start` bytes and the copied ones, and `value` is a local
    // variable.
    unsafe {
        target
            .cast::<u8>()
            .wrapping_add(start)
            .copy_from_nonoverlapping(fields, size - start);
    }
    Ok(())
}

/// Returns the structure at `source`. Fields that it does not have are 0, and so are all fields if
/// `source` is null.
///
/// # Safety
/// `source` is null or misaligned, or points to a number. If the number is at most
/// [`MAX_STRUCT_SIZE`], it points to this many readable bytes.
pub(crate) unsafe fn get_versioned<T: Filled>(source: *const T) -> Result<T, Error> {
    let mut value = MaybeUninit::<T>::zeroed();
    if !source.is_null() {
        // SAFETY: the caller promises the same.
        let size = unsafe { known_size(source) }?;
        let bytes = value.as_mut_ptr().cast::<u8>();
        // SAFETY: both structures have `size` bytes, and `value` is a local variable.
        unsafe { bytes.copy_from_nonoverlapping(source.cast(), size) };
    }
    // SAFETY: all bytes are zeros or those of the caller, which may be any.
    Ok(unsafe { value.assume_init() })
}

/// Returns the number of bytes that a structure has of the fields of this version. Bytes beyond
/// them must be 0: a caller that has set them expects an effect.
///
/// # Safety
/// `place` is null or misaligned, or points to a number. If the number is at most
/// [`MAX_STRUCT_SIZE`], it points to this many readable bytes.
unsafe fn known_size<T: Versioned>(place: *const T) -> Result<usize, Error> {
    // The end of the last field is the end of the structure. Otherwise a field of a later version
    // could lie in the padding of this one, and both versions would have the same size.
    const { assert!(T::SIZES[T::SIZES.len() - 1] == size_of::<T>()) };
    let known = size_of::<T>();
    hashlane_border::check(place)?;
    // SAFETY: the pointer is usable, and the caller promises a number.
    let size = unsafe { place.cast::<usize>().read() };
    let has_version = size >= known || T::SIZES.contains(&size);
    if !has_version || size > MAX_STRUCT_SIZE {
        return Err(Error::StructSize);
    }
    let beyond = place.cast::<u8>().wrapping_add(known);
    // SAFETY: the caller promises `size` bytes.
    let unknown = unsafe { array(beyond, size.saturating_sub(known)) }?;
    if unknown.iter().any(|byte| *byte != 0) {
        return Err(Error::StructSize);
    }
    Ok(size.min(known))
}

/// Writes a handle to the object that `make` returns to `*handle`, or NULL if `make` fails. C may
/// use a handle on any thread, and on several at once, so the object is `Send` and `Sync`.
///
/// # Safety
/// `handle` is null or misaligned, or points to a writable pointer.
pub(crate) unsafe fn give<T: Send + Sync>(
    handle: *mut *mut T,
    make: impl FnOnce() -> Result<T, Error>,
) -> Error {
    if let Err(fault) = hashlane_border::check(handle) {
        return fault.into();
    }
    let mut made = ptr::null_mut();
    let error = guard(|| {
        made = Arc::into_raw(Arc::new(make()?)).cast_mut();
        Ok(())
    });
    // SAFETY: `handle` is usable, and the caller promises that it is writable.
    unsafe { handle.write(made) };
    error
}

/// Drops a handle, and its object unless [`keep`] has kept it. Null is ignored.
///
/// # Safety
/// `handle` is null, or comes from [`give`] and is not used afterwards.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: `give` made the pointer from an `Arc`, and the caller promises that it is freed
        // once.
        let object = unsafe { Arc::from_raw(handle) };
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
/// `buffer` is null, or points to `capacity` writable bytes outside `bytes`. `len` is null, or
/// points to a writable number.
pub(crate) unsafe fn fill(
    buffer: *mut u8,
    capacity: usize,
    bytes: &[u8],
    len: *mut usize,
) -> Result<(), Error> {
    if !len.is_null() {
        // SAFETY: `len` points to writable memory for the value.
        unsafe { put(len, bytes.len()) }?;
    }
    if bytes.is_empty() {
        return Ok(());
    }
    if bytes.len() > capacity {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the bytes fit into the `capacity` writable bytes of `buffer`, and lie outside of it.
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
    // SAFETY: `fill` gets one byte less than `buffer` has.
    unsafe { fill(buffer, capacity.saturating_sub(1), text, len) }?;
    if capacity == 0 {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the text and the NUL fit. If `buffer` is null, the text is empty, and `write` rejects
    // null.
    unsafe { write(buffer.wrapping_add(text.len()), &[0]) }
}

/// Writes a value to `*target`.
///
/// # Safety
/// The same as for [`hashlane_border::put`].
pub(crate) unsafe fn put<T>(target: *mut T, value: T) -> Result<(), Error> {
    // SAFETY: `target` is null, not aligned, or points to a writable `T`.
    Ok(unsafe { hashlane_border::put(target, value) }?)
}

/// Writes elements from `start` on.
///
/// # Safety
/// The same as for [`hashlane_border::write`].
pub(crate) unsafe fn write<T: Copy>(start: *mut T, elements: &[T]) -> Result<(), Error> {
    // SAFETY: `start` points to as many writable bytes, outside of the source.
    Ok(unsafe { hashlane_border::write(start, elements) }?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure to which the second field was added.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Numbers {
        struct_size: usize,
        first: u64,
        second: u64,
    }

    impl Versioned for Numbers {
        const SIZES: &'static [usize] = &[16, 24];
    }

    // SAFETY: the fields are numbers.
    unsafe impl Filled for Numbers {}

    #[test]
    fn a_structure_is_written_up_to_its_size() {
        let value = Numbers {
            struct_size: 24,
            first: 1,
            second: 2,
        };
        let write = |words: &mut [u64]| {
            // SAFETY: the tests below state no more bytes than the array has, or more than the
            // maximum.
            unsafe { put_versioned(words.as_mut_ptr().cast(), value) }
        };
        for (before, expected) in [
            ([24, 9, 9, 9], Ok([24, 1, 2, 9])),
            // An older program does not have the second field.
            ([16, 9, 9, 9], Ok([16, 1, 9, 9])),
            // A newer program that uses no later field.
            ([32, 9, 9, 0], Ok([32, 1, 2, 0])),
            ([32, 9, 9, 1 << 63], Err(Error::StructSize)),
            ([25, 9, 9, 0], Ok([25, 1, 2, 0])),
            ([0, 9, 9, 9], Err(Error::StructSize)),
            ([8, 9, 9, 9], Err(Error::StructSize)),
            ([23, 9, 9, 9], Err(Error::StructSize)),
            ([4097, 9, 9, 9], Err(Error::StructSize)),
            ([u64::MAX, 9, 9, 9], Err(Error::StructSize)),
        ] {
            let mut words = before;
            let outcome = write(&mut words);
            assert_eq!(outcome.map(|()| words), expected, "{before:?}");
            assert!(expected.is_ok() || words == before, "{before:?}");
        }
        let misaligned = [24_u64; 4].as_mut_ptr().wrapping_byte_add(1);
        // SAFETY: unusable pointers are refused.
        let outcome = unsafe { put_versioned(misaligned.cast(), value) };
        assert_eq!(outcome, Err(Error::MisalignedPointer));
        // SAFETY: as above.
        let outcome = unsafe { put_versioned(ptr::null_mut(), value) };
        assert_eq!(outcome, Err(Error::NullPointer));
    }

    #[test]
    fn fields_that_a_structure_does_not_have_are_read_as_0() {
        // SAFETY: the tests below state no more bytes than the array has, or more than the maximum.
        let read = |words: &[u64]| unsafe { get_versioned::<Numbers>(words.as_ptr().cast()) };
        for (words, expected) in [
            ([24, 1, 2, 9], Ok((1, 2))),
            ([16, 1, 9, 9], Ok((1, 0))),
            ([32, 1, 2, 0], Ok((1, 2))),
            ([32, 1, 2, 9], Err(Error::StructSize)),
            ([0, 1, 2, 9], Err(Error::StructSize)),
            ([23, 1, 2, 9], Err(Error::StructSize)),
            ([u64::MAX, 1, 2, 9], Err(Error::StructSize)),
        ] {
            let found = read(&words).map(|numbers| (numbers.first, numbers.second));
            assert_eq!(found, expected, "{words:?}");
        }
        // SAFETY: a null pointer is not used.
        let absent = unsafe { get_versioned::<Numbers>(ptr::null()) };
        let zeros = Numbers {
            struct_size: 0,
            first: 0,
            second: 0,
        };
        assert_eq!(absent, Ok(zeros));
    }

    #[test]
    fn a_state_is_used_by_one_call_at_a_time() {
        let state = Mutex::new(1);
        let used = lock(&state).expect("nothing uses it");
        assert_eq!(lock(&state).map(|_| ()), Err(Error::Busy));
        drop(used);
        assert_eq!(*lock(&state).expect("nothing uses it"), 1);
        let outcome = guard(|| {
            let _used = lock(&state)?;
            panic!("as a test")
        });
        assert_eq!(outcome, Error::Internal);
        assert_eq!(lock(&state).map(|_| ()), Err(Error::Internal));
    }

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
