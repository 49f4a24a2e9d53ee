#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bencode;
mod error;
mod field;
mod file;
mod info_hash;
mod lengths;
mod path;
mod torrent;

pub use error::Error;
pub use field::Field;
pub use file::{Attributes, File, FileKind};
pub use info_hash::{InfoHashV1, InfoHashV2, InfoHashes};
pub use lengths::{Lengths, LengthsError, PieceIndex};
pub use path::{ComponentError, Components, PathComponent, TorrentPath};
pub use torrent::{Torrent, Version};
