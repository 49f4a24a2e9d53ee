//! Versions of the format.

use std::fmt;

/// A version of the format that can be read. Rules that changed since 0.97 depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    /// The draft of 2011, which most bags have.
    V0_97,
    /// RFC 8493.
    V1_0,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V0_97 => "0.97",
            Self::V1_0 => "1.0",
        })
    }
}
