//! The kinds of values, and how deep they may be nested.

use std::fmt;

/// How deep lists and dictionaries may be nested: as deep as libtorrent allows.
///
/// A version 1 torrent needs 5 levels, a version 2 torrent 4 and one for each folder.
pub const MAX_DEPTH: usize = 100;

/// The four kinds of bencoded values.
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
