//! Why a torrent cannot be created.

use crate::bencode::MAX_DEPTH;
use crate::{ComponentError, LengthsError};

/// The most components of a path that is written: so many that what stands around the deepest folder
/// of a file tree stays within [`MAX_DEPTH`].
pub const MAX_NEW_PATH_DEPTH: usize = MAX_DEPTH - 8;

/// Why there can be no such torrent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The piece length is not a power of two, or too short or too long.
    #[error("a piece length of {piece_length} bytes is no power of two from {min} to {max}")]
    PieceLength {
        /// The piece length in bytes.
        piece_length: u32,
        /// The shortest one, which version 2 wants longer.
        min: u32,
        /// The longest one.
        max: u32,
    },
    /// There is nothing to hash, or too much.
    #[error(transparent)]
    Lengths(#[from] LengthsError),
    /// A name that no torrent should have.
    #[error("{:?}: {reason}", String::from_utf8_lossy(.name))]
    Name {
        /// The name.
        name: Vec<u8>,
        /// What is wrong with it.
        reason: ComponentError,
    },
    /// A path, or the target of a link, of no names at all.
    #[error("a path is empty")]
    EmptyPath,
    /// A file with a name that version 1 programs take for padding, which is zeros and no file.
    #[error("{}: the name is that of padding", display(.path))]
    PaddingName {
        /// The path.
        path: Vec<Vec<u8>>,
    },
    /// A path of too many folders.
    #[error("{}...: more than {MAX_NEW_PATH_DEPTH} folders deep", display(&.path[..1]))]
    TooDeep {
        /// The path.
        path: Vec<Vec<u8>>,
    },
    /// Two files of one path, or one inside of another, or files that are not in order.
    #[error("{}: comes twice, or is not in order", display(.path))]
    Order {
        /// The later one.
        path: Vec<Vec<u8>>,
    },
}

fn display(path: &[Vec<u8>]) -> String {
    let names = path.iter().map(|name| String::from_utf8_lossy(name));
    names.collect::<Vec<_>>().join("/")
}
