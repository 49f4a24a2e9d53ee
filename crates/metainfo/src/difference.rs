//! The ways in which the two versions of a hybrid torrent can disagree.

use std::fmt;

/// What version 1 and version 2 say differently of the content of one torrent.
///
/// Paths are as they are shown to people, see [`PathComponent`](crate::PathComponent).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A file that is in one of them only.
    OnlyIn {
        /// 1 or 2.
        version: u8,
        /// Its path.
        path: String,
    },
    /// Other files in the same place.
    Order {
        /// The file that version 1 has there.
        v1: String,
        /// The file that version 2 has there.
        v2: String,
    },
    /// A file of two lengths, in bytes.
    Length {
        /// Its path.
        path: String,
        /// Its length in version 1.
        v1: u64,
        /// Its length in version 2.
        v2: u64,
    },
    /// A file that does not start at a piece of its own in version 1.
    Alignment {
        /// Its path.
        path: String,
        /// Where it starts in the content, in bytes, after version 1.
        v1: u64,
        /// Where it would have to start.
        v2: u64,
    },
    /// A link with two targets.
    Target {
        /// Its path.
        path: String,
        /// What it points to in version 1.
        v1: String,
        /// What it points to in version 2.
        v2: String,
    },
    /// Padding at the end of version 1 that fills more than the last piece.
    Tail {
        /// The total length in version 1, in bytes.
        v1: u64,
        /// The most that it can be.
        v2: u64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyIn { version, path } => write!(f, "only version {version} has {path}"),
            Self::Order { v1, v2 } => {
                write!(f, "where version 1 has {v1}, version 2 has {v2}")
            }
            Self::Length { path, v1, v2 } => {
                write!(f, "{path} has {v1} bytes in version 1, {v2} in version 2")
            }
            Self::Alignment { path, v1, v2 } => write!(
                f,
                "{path} starts at byte {v1} of the content in version 1, and at {v2} in version 2"
            ),
            Self::Target { path, v1, v2 } => {
                write!(
                    f,
                    "{path} points to {v1} in version 1, to {v2} in version 2"
                )
            }
            Self::Tail { v1, v2 } => write!(
                f,
                "the content has {v1} bytes in version 1, and at most {v2} in version 2"
            ),
        }
    }
}
