//! Errors of the bencode grammar.

use std::fmt;

use super::{Kind, MAX_DEPTH};

/// The error for a document that is not a single bencoded value, with its offset and reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {kind}")]
pub struct SyntaxError {
    offset: usize,
    kind: SyntaxErrorKind,
}

impl SyntaxError {
    pub(super) fn new(offset: usize, kind: SyntaxErrorKind) -> Self {
        Self { offset, kind }
    }

    /// Returns the offset of the offending number, byte or value in the document, in bytes.
    pub fn offset(self) -> usize {
        self.offset
    }

    /// Returns the reason.
    pub fn kind(self) -> SyntaxErrorKind {
        self.kind
    }
}

/// The reason for a [`SyntaxError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The document ends too early.
    UnexpectedEnd {
        /// The expected input, in words.
        expected: &'static str,
    },
    /// A byte is not allowed here.
    UnexpectedByte {
        /// The expected input, in words.
        expected: &'static str,
        /// The byte that was found.
        found: u8,
    },
    /// An integer or the length of a byte string has a leading zero, such as `007`.
    LeadingZero,
    /// An integer is `-0`.
    NegativeZero,
    /// The length of a byte string does not fit into `u64`.
    LengthOverflow,
    /// A byte string is longer than the rest of the document.
    BeyondEnd {
        /// The declared length of the byte string, in bytes.
        length: u64,
        /// Number of bytes that follow.
        available: usize,
    },
    /// The key of a dictionary is not a byte string.
    KeyNotByteString {
        /// The type of the key.
        found: Kind,
    },
    /// Lists and dictionaries are nested more than [`MAX_DEPTH`] levels deep.
    TooDeep,
    /// Bytes follow the value.
    TrailingBytes {
        /// Number of bytes that follow.
        count: usize,
    },
}

impl fmt::Display for SyntaxErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedEnd { expected } => write!(f, "expected {expected}, found the end"),
            Self::UnexpectedByte { expected, found } => {
                write!(f, "expected {expected}, found '{}'", found.escape_ascii())
            }
            Self::LeadingZero => f.write_str("number has a leading zero"),
            Self::NegativeZero => f.write_str("integer is -0"),
            Self::LengthOverflow => {
                write!(f, "byte string is longer than {} bytes", u64::MAX)
            }
            Self::BeyondEnd { length, available } => {
                write!(
                    f,
                    "byte string is {length} bytes long, but {available} bytes follow"
                )
            }
            Self::KeyNotByteString { found } => {
                write!(f, "dictionary key is {found}, expected a byte string")
            }
            Self::TooDeep => write!(
                f,
                "lists and dictionaries are nested more than {MAX_DEPTH} levels deep"
            ),
            Self::TrailingBytes { count: 1 } => {
                f.write_str("1 byte follows the value, expected the end")
            }
            Self::TrailingBytes { count } => {
                write!(f, "{count} bytes follow the value, expected the end")
            }
        }
    }
}
