//! The ways in which the two versions of a hybrid torrent can disagree.

use std::fmt;

/// A contradiction between version 1 and version 2 of a hybrid torrent.
///
/// Paths are escaped for display, see [`PathComponent`](crate::PathComponent).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Only one version has the file.
    OnlyIn {
        /// The version that has the file: 1 or 2.
        version: u8,
        /// The path of the file.
        path: String,
    },
    /// The content is one file in version 1, and a folder in version 2.
    Folder,
    /// The versions have different files at the same position.
    Order {
        /// The file of version 1.
        v1: String,
        /// The file of version 2.
        v2: String,
    },
    /// The lengths of a file differ. They are in bytes.
    Length {
        /// The path of the file.
        path: String,
        /// Length in version 1.
        v1: u64,
        /// Length in version 2.
        v2: u64,
    },
    /// A file does not start at a piece boundary in version 1.
    Alignment {
        /// The path of the file.
        path: String,
        /// Offset in the content in version 1, in bytes.
        v1: u64,
        /// The expected offset, in bytes.
        v2: u64,
    },
    /// The targets of a symbolic link differ.
    Target {
        /// The path of the file.
        path: String,
        /// Target in version 1.
        v1: String,
        /// Target in version 2.
        v2: String,
    },
    /// The padding at the end of version 1 continues after the last piece of version 2.
    Tail {
        /// Total length in version 1, in bytes.
        v1: u64,
        /// Maximum total length after version 2, in bytes.
        v2: u64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyIn { version, path } => write!(f, "only version {version} has {path}"),
            Self::Folder => f.write_str(
                "version 1 has a single file, version 2 a folder with that file and an empty folder",
            ),
            Self::Order { v1, v2 } => {
                write!(f, "version 1 has {v1} where version 2 has {v2}")
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
