//! The border between C and Rust, for the libraries of this workspace that export functions to C.
//! Pointers and lengths become references and slices, and panics become errors.
//!
//! # Modules
//!
//! | file | contents |
//! |---|---|
//! | `lib.rs` | the faults of arguments, memory that may be lacking, and panics |
//! | `pointers.rs` | checks pointers and lengths, and reads and writes through them; all unsafe code |
#![deny(unsafe_code)]

mod pointers;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use pointers::{array, array_mut, check, exclusive, put, shared, text, write};

/// The reason why an argument cannot be used. Each library has its own error codes for these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The pointer is null.
    Null,
    /// The pointer is not aligned for its type.
    Misaligned,
    /// The length is greater than that of any object in memory.
    TooLong,
    /// There is not enough memory for a copy of the argument.
    OutOfMemory,
}

/// Runs the body of a function that C calls. A panic becomes the error `on_panic`.
///
/// # Errors
/// The error of the body, or `on_panic`.
pub fn guard<E>(on_panic: E, body: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(on_panic))
}

/// Returns an empty vector with space for `len` elements.
///
/// # Errors
/// [`Fault::OutOfMemory`].
pub fn reserved<T>(len: usize) -> Result<Vec<T>, Fault> {
    let mut elements = Vec::new();
    let reservation = elements.try_reserve_exact(len);
    reservation.map_err(|_| Fault::OutOfMemory)?;
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(guard(1, || panic!("as a test")), Err(1));
        assert_eq!(guard(1, || Err(2)), Err(2));
        assert_eq!(guard(1, || Ok(())), Ok(()));
    }

    #[test]
    fn unusable_arguments_are_refused() {
        assert_eq!(reserved::<u64>(usize::MAX), Err(Fault::OutOfMemory));
        let numbers = [1_u32, 2];
        let start = numbers.as_ptr();
        assert_eq!(check(std::ptr::null::<u32>()), Err(Fault::Null));
        assert_eq!(check(start.wrapping_byte_add(1)), Err(Fault::Misaligned));
        assert_eq!(check(start), Ok(()));
    }
}
