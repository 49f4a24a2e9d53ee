//! Creates new .torrent files.

mod content;
mod error;
mod metadata;
mod write;

pub use content::{MAX_PIECE_LENGTH, MIN_PIECE_LENGTH, NewContent, NewFile, PieceLengthGoal};
pub use error::{CreateError, MAX_NEW_PATH_DEPTH};
pub use metadata::NewMetadata;
pub use write::PieceHashes;
