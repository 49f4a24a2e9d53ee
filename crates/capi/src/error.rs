//! Error codes, their messages, and the version of the library.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::{CStr, c_char, c_int};

/// Reasons why a call failed. `HASHLANE_ERROR_NONE` is 0. Later versions may add codes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The call succeeded.
    None = 0,
    /// A pointer is NULL that must not be.
    NullPointer = 1,
    /// A length is greater than `PTRDIFF_MAX`, which no object in memory can have.
    LengthTooLarge = 2,
    /// The number names no algorithm.
    UnknownAlgorithm = 3,
    /// The text names no backend.
    UnknownBackend = 4,
    /// This CPU lacks a feature that the backend needs.
    UnavailableBackend = 5,
    /// The tag belongs to another message or to another key.
    TagMismatch = 6,
    /// The tag is not as long as a MAC of the algorithm.
    TagLength = 7,
    /// The length of the messages is 0, so their number is unknown.
    ZeroMessageLength = 8,
    /// The number of digests is not the number of messages.
    WrongCount = 9,
    /// There is not enough memory for the work space of the call.
    OutOfMemory = 10,
    /// The queue is running its callback.
    InCallback = 11,
    /// An internal error. Free the handles of the call and do not use them otherwise.
    Internal = 12,
}

impl Error {
    const ALL: [Self; 13] = [
        Self::None,
        Self::NullPointer,
        Self::LengthTooLarge,
        Self::UnknownAlgorithm,
        Self::UnknownBackend,
        Self::UnavailableBackend,
        Self::TagMismatch,
        Self::TagLength,
        Self::ZeroMessageLength,
        Self::WrongCount,
        Self::OutOfMemory,
        Self::InCallback,
        Self::Internal,
    ];

    fn message(self) -> &'static CStr {
        match self {
            Self::None => c"no error",
            Self::NullPointer => c"a pointer is NULL that must not be",
            Self::LengthTooLarge => c"a length is greater than PTRDIFF_MAX",
            Self::UnknownAlgorithm => c"no algorithm has this number",
            Self::UnknownBackend => c"no backend has this name",
            Self::UnavailableBackend => c"this CPU cannot run the backend",
            Self::TagMismatch => c"the tag is not that of the message",
            Self::TagLength => c"the tag is not as long as a MAC of the algorithm",
            Self::ZeroMessageLength => c"the length of the messages is 0",
            Self::WrongCount => c"the number of digests is not the number of messages",
            Self::OutOfMemory => c"not enough memory for the work space",
            Self::InCallback => c"the queue is running its callback",
            Self::Internal => c"internal error in libhashlane",
        }
    }
}

/// Returns a message in English for an error code, in lower case and without a full stop. The text is constant and is
/// never freed. An unknown code gets a message too.
///
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_error_message(error: c_int) -> *const c_char {
    let known = Error::ALL
        .into_iter()
        .find(|known| *known as c_int == error);
    known.map_or(c"unknown error code", Error::message).as_ptr()
}

/// Returns the version of the library, for example `0.1.0`. The text is constant and is never freed.
///
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no NUL"),
        };
    VERSION.as_ptr()
}
