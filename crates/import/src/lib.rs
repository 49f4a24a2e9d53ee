#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! No module imports a module further down.
//!
//! | file | contents |
//! |---|---|
//! | `error` | reasons why a session or a torrent cannot be read |
//! | `file` | limits, and files that are read whole |
//! | `path` | paths of a session as paths of the system, relative paths that cannot leave their folder, and mapped folders |
//! | `imported` | a torrent with what its program knew about it |
//! | `torrents` | an iterator over the torrents of a session |
//! | `dictionary` | bencoded dictionaries by key |
//! | `global` | notes about settings for all torrents |
//! | `place` | the place of the content, from the paths of its files |
//! | `source` | .torrent files with the trackers in use, and magnet links |
//! | `libtorrent` | resume data of libtorrent, which qBittorrent and Deluge keep: `numbers` of files in its lists, and piece `layers` |
//! | `qbittorrent`, `transmission`, `rtorrent`, `deluge` | the sessions of the programs |
//! | `session` | a session of any of them |
//!
//! Errors can get new fields. What a session can hold is exhaustive: a program that overlooked a case would lose it.
#![forbid(unsafe_code)]

mod deluge;
mod dictionary;
mod error;
mod file;
mod global;
mod imported;
mod libtorrent;
mod path;
mod place;
mod qbittorrent;
mod rtorrent;
mod session;
mod source;
mod torrents;
mod transmission;

pub use error::{Failure, Reason, SessionError};
pub use file::{MAX_SESSION_FILE_BYTES, MAX_TORRENT_BYTES, MAX_TORRENTS};
pub use imported::{Category, Imported, Note, Source, Start, Statistics};
pub use path::{PathMap, PathMapError, RelativePath};
pub use session::{Program, read};
pub use torrents::{Options, Torrents};
