//! Protocol versions.

use std::fmt;

/// The protocol versions of a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// Version 1 (BEP 3).
    V1,
    /// Version 2 (BEP 52).
    V2,
    /// Both (BEP 52, "Upgrade Path").
    Hybrid,
}

impl Version {
    /// Returns `true` if pieces have SHA-1 digests (BEP 3).
    pub fn has_v1(self) -> bool {
        matches!(self, Self::V1 | Self::Hybrid)
    }

    /// Returns `true` if files have merkle trees (BEP 52).
    pub fn has_v2(self) -> bool {
        matches!(self, Self::V2 | Self::Hybrid)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "version 1",
            Self::V2 => "version 2",
            Self::Hybrid => "hybrid (version 1 and 2)",
        })
    }
}
