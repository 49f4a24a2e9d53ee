//! What can be wrong with the grammar of a document.

use std::fmt;

use super::kind::{Kind, MAX_DEPTH};

/// A document that is not one bencoded value: where, and why.
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

    /// Where the offending number, byte or value starts, in bytes from the start of the document.
    pub fn offset(self) -> usize {
        self.offset
    }

    /// What is wrong there.
    pub fn kind(self) -> SyntaxErrorKind {
        self.kind
    }
}

/// The reason of a [`SyntaxError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The document ends too early.
    UnexpectedEnd {
        /// What should have followed, in words.
        expected: &'static str,
    },
    /// A byte that cannot stand here.
    UnexpectedByte {
        /// What should have been here, in words.
        expected: &'static str,
        /// What is here.
        found: u8,
    },
    /// An integer or the length of a byte string, such as `007`.
    LeadingZero,
    /// The integer `-0`.
    NegativeZero,
    /// An integer outside of `i64`.
    IntegerOverflow,
    /// The length of a byte string does not fit into `u64`.
    LengthOverflow,
    /// A byte string is longer than the rest of the document.
    BeyondEnd {
        /// The byte string's length in bytes, as declared.
        length: u64,
        /// How many bytes follow.
        available: usize,
    },
    /// The key of a dictionary is not a byte string.
    KeyNotByteString {
        /// What it is.
        found: Kind,
    },
    /// More than [`MAX_DEPTH`] levels of lists and dictionaries.
    TooDeep,
    /// The value is followed by something.
    TrailingBytes {
        /// How many bytes follow.
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
            Self::LeadingZero => f.write_str("number starts with a superfluous zero"),
            Self::NegativeZero => f.write_str("integer is -0"),
            Self::IntegerOverflow => {
                write!(f, "integer is outside {} to {}", i64::MIN, i64::MAX)
            }
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
                write!(f, "key of a dictionary is {found}, expected a byte string")
            }
            Self::TooDeep => write!(f, "more than {MAX_DEPTH} nested lists and dictionaries"),
            Self::TrailingBytes { count } => write!(f, "{count} bytes too many after the value"),
        }
    }
}
