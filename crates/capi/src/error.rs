//! Error codes, their messages, and the version of the library.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;

/// The reason why a call failed. `HASHLANE_ERROR_NONE` is 0. Later versions may add codes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The call succeeded.
    None = 0,
    /// A pointer is NULL but must not be.
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
    /// The tag is not as long as a MAC of the algorithm, or as the truncated tags of the protocol.
    TagLength = 7,
    /// The length of the messages is 0, so their number is unknown.
    ZeroMessageLength = 8,
    /// The number of digests or elements is wrong.
    WrongCount = 9,
    /// There is not enough memory for the work space of the call.
    OutOfMemory = 10,
    /// Another call uses the handle: on another thread, or the call whose callback is running. Or a
    /// queue has a part of the hasher's message. The call has changed nothing.
    Busy = 11,
    /// An internal error. Free the handles of the call and do not use them otherwise.
    Internal = 12,
    /// The hasher belongs to another algorithm than the queue.
    WrongAlgorithm = 13,
    /// The buffer is too small for the text or for the bytes. Nothing is written to it.
    BufferTooSmall = 14,
    /// The index is not less than the number of elements.
    IndexTooLarge = 15,
    /// The system cannot read a file. `hashlane_error_details()` names the file.
    System = 16,
    /// The bytes are not a torrent, or the torrent cannot be used. `hashlane_error_details()` names
    /// the place.
    InvalidTorrent = 17,
    /// The torrent has no hashes of this algorithm.
    NoSuchHashes = 18,
    /// The callback cancelled the call.
    Cancelled = 19,
    /// The number names no alphabet of Base58.
    UnknownAlphabet = 20,
    /// The text is not Base58Check, or not a pattern of a Base58Check string.
    /// `hashlane_error_details()` names the place.
    InvalidText = 21,
    /// The text names no kind of Base58Check string.
    UnknownKind = 22,
    /// The search has too many candidates or too many matches.
    SearchTooLarge = 23,
    /// The length of truncated tags is below the minimum of RFC 2104, or above the length of a MAC.
    TruncatedLength = 24,
    /// A pointer is not aligned for the type that it points to.
    MisalignedPointer = 25,
    /// `struct_size` is 0 or otherwise the size of no version of the structure, or a byte beyond
    /// the fields that this library knows is not 0.
    StructSize = 26,
    /// The number has a bit that is none of the flags `HASHLANE_DAMAGE_...` of this library.
    UnknownDamage = 27,
    /// The text names no tree hash.
    UnknownTree = 28,
    /// The tree hash does not have such parameters. `hashlane_error_details()` has the reason.
    TreeParameter = 29,
    /// A file is too short or too long for the tree hash, or changed while it was read. Or an entry
    /// cannot be part of the result of a folder, or a hash device has no usable superblock.
    /// `hashlane_error_details()` names the file.
    UnusableFile = 30,
    /// The digest belongs to another file or folder. `hashlane_error_details()` names the file.
    DigestMismatch = 31,
}

impl Error {
    const ALL: [Self; 32] = [
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
        Self::Busy,
        Self::Internal,
        Self::WrongAlgorithm,
        Self::BufferTooSmall,
        Self::IndexTooLarge,
        Self::System,
        Self::InvalidTorrent,
        Self::NoSuchHashes,
        Self::Cancelled,
        Self::UnknownAlphabet,
        Self::InvalidText,
        Self::UnknownKind,
        Self::SearchTooLarge,
        Self::TruncatedLength,
        Self::MisalignedPointer,
        Self::StructSize,
        Self::UnknownDamage,
        Self::UnknownTree,
        Self::TreeParameter,
        Self::UnusableFile,
        Self::DigestMismatch,
    ];

    fn message(self) -> &'static CStr {
        match self {
            Self::None => c"no error",
            Self::NullPointer => c"a pointer is NULL but must not be",
            Self::LengthTooLarge => c"a length is greater than PTRDIFF_MAX",
            Self::UnknownAlgorithm => c"no algorithm has this number",
            Self::UnknownBackend => c"no backend has this name",
            Self::UnavailableBackend => c"this CPU cannot run the backend",
            Self::TagMismatch => c"the tag does not match the message",
            Self::TagLength => c"the tag has the wrong length",
            Self::ZeroMessageLength => c"the length of the messages is 0",
            Self::WrongCount => c"the number of digests or elements is wrong",
            Self::OutOfMemory => c"not enough memory for the work space",
            Self::Busy => c"the handle is in use: by another thread, by the call of this callback, or by a queue",
            Self::Internal => c"internal error in libhashlane",
            Self::WrongAlgorithm => c"the hasher belongs to another algorithm than the queue",
            Self::BufferTooSmall => c"the buffer is too small",
            Self::IndexTooLarge => c"the index is not less than the number of elements",
            Self::System => c"the system cannot read a file",
            Self::InvalidTorrent => c"not a torrent, or the torrent cannot be used",
            Self::NoSuchHashes => c"the torrent has no hashes of this algorithm",
            Self::Cancelled => c"the callback cancelled the call",
            Self::UnknownAlphabet => c"no alphabet has this number",
            Self::InvalidText => c"the text is not Base58Check",
            Self::UnknownKind => c"no kind of Base58Check string has this name",
            Self::SearchTooLarge => c"the search has too many candidates or too many matches",
            Self::TruncatedLength => {
                c"truncated tags of this length are refused: see RFC 2104, section 5"
            }
            Self::MisalignedPointer => c"a pointer is not aligned for its type",
            Self::StructSize => {
                c"struct_size is wrong, or the structure has fields that this version lacks"
            }
            Self::UnknownDamage => c"a flag names no kind of damage",
            Self::UnknownTree => c"no tree hash has this name",
            Self::TreeParameter => c"the tree hash does not have such parameters",
            Self::UnusableFile => c"a file cannot be used, for example because it changed while it was read",
            Self::DigestMismatch => c"the digest belongs to another file or folder",
        }
    }

    /// Returns the error after storing its details for `hashlane_error_details()`.
    pub(crate) fn with_details(self, details: impl fmt::Display) -> Self {
        let text = details.to_string().replace('\0', "\u{fffd}");
        let text = CString::new(text).unwrap_or_default();
        // Without details at the end of a thread, when its data are destroyed.
        let _ = DETAILS.try_with(|last| last.replace(Some((self, text))));
        self
    }
}

thread_local! {
    /// The last error of this thread with details.
    static DETAILS: RefCell<Option<(Error, CString)>> = const { RefCell::new(None) };
}

/// Returns the English message of an error code, in lower case and without a full stop. The text is
/// constant and is never freed. Unknown codes also have a message.
///
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_error_message(error: c_int) -> *const c_char {
    let known = Error::ALL
        .into_iter()
        .find(|known| *known as c_int == error);
    known.map_or(c"unknown error code", Error::message).as_ptr()
}

/// Returns the detailed message of the last failed call on this thread. Pass the error that the
/// call returned. The message names the file, the place and the reason if they are known; otherwise
/// it is the message of `hashlane_error_message()`, as always in destructors at the end of the
/// thread. It is valid until the next failed call on this thread, and until the thread ends.
///
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_error_details(error: c_int) -> *const c_char {
    let details = DETAILS.try_with(|last| match &*last.borrow() {
        Some((failed, details)) if *failed as c_int == error => Some(details.as_ptr()),
        _ => None,
    });
    // The details are destroyed before some destructors that a thread runs at its end.
    let details = details.ok().flatten();
    details.unwrap_or_else(|| hashlane_error_message(error))
}

/// Returns the version of the library, for example `0.1.0`. The text is constant and is never
/// freed.
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
