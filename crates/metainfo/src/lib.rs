#![doc = include_str!("../README.md")]
//! ## Modules
//!
//! No module imports a module further down.
//!
//! | file | contents |
//! |---|---|
//! | `bencode` | reads and writes bencode: `error`, `grammar` (tokens), `value`, `write` |
//! | `info_hash`, `lengths`, `merkle` | protocol versions and info-hashes, lengths, merkle trees |
//! | `path` | paths that cannot leave their folder; `foreign`, `transmission`: names that other programs write |
//! | `field`, `difference`, `error` | errors, and the names of fields and differences in them |
//! | `located`, `path/read` | read dictionaries by key, and paths, with the name of the field in every error |
//! | `files` | the files of a torrent: `list` (version 1), `tree` (version 2), `unique` (duplicate paths), `foreign` (paths that other programs write) |
//! | `hybrid`, `piece_layers` | checks that both versions agree, and that layers lead to their roots |
//! | `names` | names of the content on the disk that are not the torrent's own |
//! | `metadata` | trackers, comment and other keys that do not describe the content: copied, and `borrowed`; `other`: unknown keys |
//! | `parsed`, `torrent` | a whole .torrent file: borrowed from its bytes, and owned |
//! | `content_map` | text that says where files lie on the disk, one by one |
//! | `notes` | harmless oddities of a torrent |
//! | `masked` | URLs and other texts without passwords and passkeys |
//! | `edit`, `create`, `magnet` | edited torrents, new torrents, magnet links |
//! | `serialization` | serde, with the feature `serde` |
#![forbid(unsafe_code)]

pub mod bencode;
mod content_map;
mod create;
mod difference;
mod edit;
mod error;
mod field;
mod files;
mod hybrid;
mod info_hash;
mod lengths;
mod located;
mod magnet;
mod masked;
pub mod merkle;
mod metadata;
mod names;
mod notes;
mod parsed;
mod path;
mod piece_layers;
#[cfg(feature = "serde")]
mod serialization;
mod torrent;

pub use content_map::{ContentMap, MapError, MappedPlace};
pub use create::{
    CreateError, MAX_NEW_PATH_DEPTH, MAX_PIECE_LENGTH, MIN_PIECE_LENGTH, NewContent, NewFile,
    NewMetadata, PieceHashes, PieceLengthGoal,
};
pub use difference::Difference;
pub use edit::{Edit, EditError, ListEdit, UrlChanges};
pub use error::Error;
pub use field::Field;
pub use files::{Attributes, File, FileKind, Files, ForeignPaths};
pub use info_hash::{InfoHashV1, InfoHashV2, InfoHashes, Version};
pub use lengths::{Lengths, LengthsError, LibtorrentLimit, PieceIndex};
pub use magnet::{
    FileSelection, FileSelectionError, IgnoredHint, IgnoredReason, Magnet, MagnetError,
    PeerAddress, PeerAddressError, host_and_port, is_url,
};
pub use masked::{AllSecrets, MASK, Secrets, masked_text, masked_url, masked_web_seed};
pub use metadata::{Metadata, MetadataRef, OtherKey, Text, Tier};
pub use names::{ContentLayout, Names, NamesError, Top};
pub use notes::Note;
pub use path::{
    ComponentError, Components, MAX_PATH_DEPTH, Naming, PathComponent, TorrentPath, needs_escape,
};
pub use torrent::{ReadError, Torrent};
