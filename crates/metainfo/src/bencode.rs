//! Reads and writes bencode (BEP 3, "bencoding"). The reader borrows from the document and knows
//! the byte offset of every value.
//!
//! [`Value::parse`] checks a whole document once, without recursion and without allocating. A
//! [`Value`] is then a slice of that document: its accessors cannot fail, and its iterators find
//! the next value by scanning the bytes again. That is cheap: a byte string is skipped in one step,
//! and most of a .torrent file is byte strings.
//!
//! The grammar follows BEP 3. Where BEP 3 is ambiguous, every value has exactly one encoding: leading zeros are
//! refused, also in the length of a byte string, and so is `-0`. There are two deviations:
//! - Keys need not be sorted. Unsorted files exist, and the order makes no difference: the
//!   info-hash covers the bytes as they are.
//! - Keys may appear twice. The reader of a dictionary decides whether to refuse that.
//!   [`Torrent`](crate::Torrent) refuses it for every key of the info dictionary that it reads.

mod error;
mod grammar;
mod value;
mod write;

pub use error::{SyntaxError, SyntaxErrorKind};
pub(crate) use grammar::Token;
pub(crate) use value::Tokens;
pub use value::{Entries, Entry, Items, Value};
pub use write::Writer;

use std::fmt;

/// Maximum nesting depth of lists and dictionaries, the same as in libtorrent.
///
/// A version 1 torrent needs 5 levels. A version 2 torrent needs 4, plus one for each level of
/// folders.
pub const MAX_DEPTH: usize = 100;

/// The type of a bencoded value. There are no other types (BEP 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `i42e`
    Integer,
    /// `4:spam`
    ByteString,
    /// `l…e`
    List,
    /// `d…e`
    Dictionary,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer => "an integer",
            Self::ByteString => "a byte string",
            Self::List => "a list",
            Self::Dictionary => "a dictionary",
        })
    }
}
