//! The kinds of values, and how deep they may be nested.

use std::fmt;

/// Maximum nesting depth of lists and dictionaries, the same as in libtorrent.
///
/// A version 1 torrent needs 5 levels. A version 2 torrent needs 4, plus one for each level of
/// folders.
pub const MAX_DEPTH: usize = 100;

/// The type of a bencoded value.
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
