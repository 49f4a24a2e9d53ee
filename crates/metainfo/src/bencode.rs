//! Zero-copy reader and a writer of bencode (BEP 3, "bencoding") that knows the byte offset of everything.
//!
//! [`Value::parse`] checks a whole document once, without recursion and without allocating. A
//! [`Value`] is then a slice of that document: its accessors cannot fail, and its iterators find
//! the next value by scanning the bytes again. That is cheap, because a byte string is skipped
//! without being looked at, and byte strings are nearly all of a .torrent file.
//!
//! The grammar is BEP 3's, with what it leaves open decided so that every value has exactly one
//! encoding: no leading zeros, also in the length of a byte string, and no `-0`. Two deviations:
//! - Keys need not be sorted. Such files exist, and since an info-hash is taken over the bytes as
//!   they are, the order makes no difference.
//! - Keys may appear twice. Refusing that is up to the reader of a dictionary, who knows which
//!   keys matter; [`Torrent`](crate::Torrent) refuses it for every key of the info dictionary that it
//!   reads.

mod error;
mod grammar;
mod kind;
mod value;
mod write;

pub use error::{SyntaxError, SyntaxErrorKind};
pub(crate) use grammar::Token;
pub use kind::{Kind, MAX_DEPTH};
pub(crate) use value::Tokens;
pub use value::{Entries, Entry, Items, Value};
pub use write::Writer;
