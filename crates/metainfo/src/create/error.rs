//! Reasons why a torrent cannot be created.

use crate::bencode::MAX_DEPTH;
use crate::{ComponentError, LengthsError, LibtorrentLimit};

/// Maximum number of components of a path in a new torrent. The deepest folder of a file tree then stays within
/// [`MAX_DEPTH`], including the levels around the tree.
pub const MAX_NEW_PATH_DEPTH: usize = MAX_DEPTH - 8;

/// The reason why a torrent cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The piece length is not a power of two, or it is too short or too long.
    #[error(
        "piece length is {piece_length} bytes, expected a power of two from {min} to {max} bytes"
    )]
    PieceLength {
        /// The piece length in bytes.
        piece_length: u32,
        /// Minimum piece length, which is larger for version 2.
        min: u32,
        /// Maximum piece length.
        max: u32,
    },
    /// libtorrent, which many programs use, would refuse the torrent.
    #[error("the content has {pieces} pieces, and {limit}: use a larger piece length")]
    Libtorrent {
        /// Number of pieces with the requested piece length.
        pieces: u32,
        /// The limit that is exceeded.
        limit: LibtorrentLimit,
    },
    /// The content is empty or too long.
    #[error(transparent)]
    Lengths(#[from] LengthsError),
    /// A name is not safe.
    #[error("{:?}: {reason}", String::from_utf8_lossy(.name))]
    Name {
        /// The bytes of the name, which need not be UTF-8.
        name: Vec<u8>,
        /// The rule that the name breaks.
        reason: ComponentError,
    },
    /// A path, or the target of a link, has no components.
    #[error("a path is empty")]
    EmptyPath,
    /// The name of a file is the name of padding to version 1 programs, which would ignore the
    /// file.
    #[error("{}: version 1 programs treat a file of this name as padding", display(.path))]
    PaddingName {
        /// The components of the path, which need not be UTF-8.
        path: Vec<Vec<u8>>,
    },
    /// A path has too many components.
    #[error("{}...: the path has more than {MAX_NEW_PATH_DEPTH} components", display(&.path[..1]))]
    TooDeep {
        /// The components of the path, which need not be UTF-8.
        path: Vec<Vec<u8>>,
    },
    /// Two files have the same path, one file is below another, or the files are not sorted.
    #[error("{}: duplicate path, or the files are not sorted", display(.path))]
    Order {
        /// The path of the second file.
        path: Vec<Vec<u8>>,
    },
}

fn display(path: &[Vec<u8>]) -> String {
    let names = path.iter().map(|name| String::from_utf8_lossy(name));
    names.collect::<Vec<_>>().join("/")
}
