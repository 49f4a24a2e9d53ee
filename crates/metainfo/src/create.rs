//! Creates new .torrent files.

mod content;
mod error;
mod metadata;
mod piece_length;
mod write;

pub use content::{NewContent, NewFile};
pub use error::{CreateError, MAX_NEW_PATH_DEPTH};
pub use metadata::NewMetadata;
pub use piece_length::{MAX_PIECE_LENGTH, MIN_PIECE_LENGTH, PieceLengthGoal};
pub use write::PieceHashes;
