//! The functions that C calls. They behave as in libmd 1.0.4, with three differences, all in cases in
//! which libmd crashes or returns the digest of other bytes:
//!
//! - A null or misaligned pointer that libmd would dereference, or a length beyond `isize::MAX`,
//!   ends the process with a message.
//! - A length of 0 means the bytes up to the end of the file, as the manual says. libmd uses the
//!   length that the file system reports. That length is 0 for pipes and for files in /proc.
//! - A negative length means the same, as the manual says. libmd ends the process.
//!
//! A panic ends the process, because the functions are `extern "C"`.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and misaligned
//! pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]
#![allow(non_snake_case, reason = "the names are those of libmd")]

use std::ffi::c_char;
use std::io::Write as _;

use data_encoding::HEXLOWER;
use hashlane_border::{Fault, array, exclusive, put, text, write};
use hashlane_sha::BLOCK_LEN;

use crate::context::{self, Context, Sha1Context, Sha256Context, compress};

/// Length of a SHA-256 digest in bytes.
const LONGEST_DIGEST: usize = 32;

/// Ends the process after a call whose behaviour libmd leaves undefined. An error cannot be
/// returned: most functions return nothing, and a caller would use the bytes in its buffer as a
/// digest.
fn refuse(function: &str, problem: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "libmd: {function}: {problem}");
    std::process::abort()
}

/// Ends the process after an argument that cannot be used.
fn refuse_argument(function: &str, fault: Fault) -> ! {
    let problem = match fault {
        Fault::Misaligned => "a pointer is not aligned",
        Fault::TooLong => "the length exceeds the address space",
        _ => "a pointer is null",
    };
    refuse(function, problem)
}

/// Returns the bytes of an argument.
///
/// # Safety
/// If `data` is not null and `len` is at most `isize::MAX`, `len` bytes at `data` are readable.
unsafe fn bytes<'a>(function: &str, data: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: `data` is null or points to `len` readable bytes.
    unsafe { array(data, len) }.unwrap_or_else(|fault| refuse_argument(function, fault))
}

/// Returns the context or the state of an argument.
///
/// # Safety
/// If `pointer` is neither null nor misaligned, it points to an initialised `T`, and nothing else refers to it.
unsafe fn reference<'a, T>(function: &str, pointer: *mut T) -> &'a mut T {
    // SAFETY: nothing else uses the object at `pointer` during the call.
    unsafe { exclusive(pointer) }.unwrap_or_else(|fault| refuse_argument(function, fault))
}

/// Writes a digest as hexadecimal digits and a zero byte to `text`, or to memory from `malloc` if
/// `text` is null. Returns null if there is no memory; the context is then unchanged.
///
/// # Safety
/// If `text` is not null, twice the length of a digest plus one byte are writable there, outside of `context`.
unsafe fn end<C: Context>(context: &mut C, text: *mut c_char) -> *mut c_char {
    let text_len = 2 * size_of::<C::Digest>();
    let text = if text.is_null() {
        // SAFETY: `malloc` has no requirements.
        unsafe { libc::malloc(text_len + 1) }.cast()
    } else {
        text
    };
    if text.is_null() {
        return text;
    }
    let mut digits = [0; 2 * LONGEST_DIGEST];
    HEXLOWER.encode_mut(finish(context).as_ref(), &mut digits[..text_len]);
    // SAFETY: `text` has room for the digits and a zero byte, as allocated above or as the caller
    // says. The digits are in a separate buffer.
    unsafe {
        text.copy_from_nonoverlapping(digits.as_ptr().cast(), text_len);
        text.add(text_len).write(0);
    }
    text
}

/// Returns the digest and clears the context.
fn finish<C: Context>(context: &mut C) -> C::Digest {
    context.pad();
    let digest = context.digest();
    // SAFETY: a context consists of integers, for which zeros are valid. This also clears the bytes
    // between the fields, as libmd does.
    unsafe { zeroize::zeroize_flat_type(context) };
    digest
}

/// Writes the digest of a part of a file, or sets `errno` and returns null.
///
/// # Safety
/// `name` is null or a string that ends with a zero byte; `digits` as `text` of [`end`].
unsafe fn file_chunk<C: Context>(
    name: *const c_char,
    digits: *mut c_char,
    offset: libc::off_t,
    length: libc::off_t,
) -> *mut c_char {
    // SAFETY: `name` ends with a NUL.
    let read = match unsafe { text(name) } {
        Err(_) => Err(std::io::Error::from_raw_os_error(libc::EFAULT)),
        Ok(name) => context::read::<C>(name, offset, length),
    };
    match read {
        // SAFETY: `digits` is null or has space for the digits and a NUL.
        Ok(mut context) => unsafe { end(&mut context, digits) },
        Err(error) => {
            // SAFETY: the address of this thread's `errno` is always valid.
            unsafe { *libc::__errno_location() = error.raw_os_error().unwrap_or(libc::EIO) };
            std::ptr::null_mut()
        }
    }
}

/// Defines the nine functions of one algorithm. The names are listed, because macros cannot join
/// names.
macro_rules! export {
    (
        $context:ty, $digest_len:literal, $init:ident, $update:ident, $pad:ident, $final:ident,
        $transform:ident, $end:ident, $file:ident, $file_chunk:ident, $data:ident
    ) => {
        /// Starts a message.
        ///
        /// # Safety
        /// `context` is null or misaligned, or writable.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $init(context: *mut $context) {
            // SAFETY: `context` points to writable memory for the value.
            match unsafe { put(context, <$context>::initial()) } {
                Err(Fault::Null) if <$context>::IGNORES_NULL => {}
                Err(fault) => refuse_argument(stringify!($init), fault),
                Ok(()) => {}
            }
        }

        /// Adds `len` bytes at `data` to a message. `data` may be null if `len` is 0.
        ///
        /// # Safety
        /// `context` is initialised, no other thread uses it, and the bytes are readable and outside of it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $update(context: *mut $context, data: *const u8, len: usize) {
            // SAFETY: `data` points to `len` readable bytes.
            let data = unsafe { bytes(stringify!($update), data, len) };
            // SAFETY: nothing else uses `context` during the call.
            unsafe { reference(stringify!($update), context) }.update(data);
        }

        /// Adds the padding. Afterwards the state is the digest, in words of the machine's byte
        /// order.
        ///
        /// # Safety
        /// `context` is initialised and no other thread uses it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $pad(context: *mut $context) {
            // SAFETY: nothing else uses `context` during the call.
            unsafe { reference(stringify!($pad), context) }.pad();
        }

        /// Writes the digest of a message and clears the context. If `digest` is null, adds the
        /// padding only.
        ///
        /// # Safety
        /// `context` is initialised, no other thread uses it, and `digest` is null or has room for a digest.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $final(digest: *mut u8, context: *mut $context) {
            // The reference ends before `digest` is written, so the two may overlap.
            // SAFETY: nothing else uses `context` during the call.
            let context = unsafe { reference(stringify!($final), context) };
            if digest.is_null() {
                context.pad();
                return;
            }
            let bytes: [u8; $digest_len] = finish(context);
            // SAFETY: it is not null, so the caller promises room for a digest. `bytes` is a local variable.
            unsafe { write(digest, &bytes) }
                .unwrap_or_else(|fault| refuse_argument(stringify!($final), fault));
        }

        /// Compresses one block into a state.
        ///
        /// # Safety
        /// `state` is aligned, has all words of a state, and no other thread uses it; `block` has 64 bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $transform(state: *mut [u32; $digest_len / 4], block: *const u8) {
            // SAFETY: `block` points to `BLOCK_LEN` readable bytes.
            let block = unsafe { bytes(stringify!($transform), block, BLOCK_LEN) };
            // SAFETY: nothing else uses `state` during the call.
            let state = unsafe { reference(stringify!($transform), state) };
            compress::<<$context as Context>::Hash>(state, block.as_chunks().0);
        }

        /// Writes the digest of a message as hexadecimal digits to `text`. If `text` is null,
        /// writes it to new memory, which the caller frees with `free`. Returns the text, or null
        /// if there is no memory.
        ///
        /// # Safety
        /// `context` is initialised, no other thread uses it, and `text` is null or has room for the digits
        /// and a zero byte outside of the context.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $end(context: *mut $context, text: *mut c_char) -> *mut c_char {
            // SAFETY: nothing else uses the context, and `text` is null or has space for the digits and a NUL.
            unsafe { end(reference(stringify!($end), context), text) }
        }

        /// Returns the digest of a file as hexadecimal digits. If the file cannot be read, sets
        /// `errno` and returns null.
        ///
        /// # Safety
        /// `name` is null or a string that ends with a zero byte; `text` is null or has room for the digits
        /// and a zero byte.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $file(name: *const c_char, text: *mut c_char) -> *mut c_char {
            // SAFETY: `name` ends with a NUL, and `text` is null or has space for the digits and a NUL.
            unsafe { file_chunk::<$context>(name, text, 0, 0) }
        }

        /// Returns the digest of `length` bytes of a file from `offset` on. The part ends at the
        /// end of the file at the latest, and extends to it if `length` is 0 or negative. A
        /// negative offset counts as 0.
        ///
        /// # Safety
        /// The same as for the function for whole files.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $file_chunk(
            name: *const c_char,
            text: *mut c_char,
            offset: libc::off_t,
            length: libc::off_t,
        ) -> *mut c_char {
            // SAFETY: `name` ends with a NUL, and `text` is null or has space for the digits and a NUL.
            unsafe { file_chunk::<$context>(name, text, offset, length) }
        }

        /// Returns the digest of `len` bytes at `data` as hexadecimal digits.
        ///
        /// # Safety
        /// The bytes are readable; `text` is null or has room for the digits and a zero byte.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $data(
            data: *const u8,
            len: usize,
            text: *mut c_char,
        ) -> *mut c_char {
            let mut context = <$context>::initial();
            // SAFETY: `data` points to `len` readable bytes.
            context.update(unsafe { bytes(stringify!($data), data, len) });
            // SAFETY: `text` is null or has space for the digits and a NUL.
            unsafe { end(&mut context, text) }
        }
    };
}

export! {
    Sha1Context, 20, SHA1Init, SHA1Update, SHA1Pad, SHA1Final, SHA1Transform, SHA1End, SHA1File,
    SHA1FileChunk, SHA1Data
}
export! {
    Sha256Context, 32, SHA256Init, SHA256Update, SHA256Pad, SHA256Final, SHA256Transform, SHA256End,
    SHA256File, SHA256FileChunk, SHA256Data
}
