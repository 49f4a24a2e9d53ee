#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `bitfield.rs` | pieces as a bitfield |
//! | `layout.rs` | the two kinds of hashes that a torrent can have; pieces as byte ranges of files |
//! | `content.rs` | the place of a torrent's files on this machine |
//! | `links.rs` | symbolic links of a torrent, compared with those on disk |
//! | `piece_hasher.rs` | digests of pieces: SHA-1 and merkle trees |
//! | `piece.rs` | states of pieces |
//! | `file_report.rs` | the state of one file |
//! | `report.rs` | the result of a verification |
//! | `comparison.rs` | comparison of computed digests with the torrent's digests |
//! | `verify.rs` | verification of a torrent's content, and errors that prevent it |
//! | `library.rs` | verification of many torrents in one run; their files on the disks, and the order of the pieces |
//! | `source_tree.rs` | the files of a new torrent, and reasons why there are none |
//! | `create.rs` | hashes for a new torrent |

pub mod bitfield;
mod comparison;
mod content;
mod create;
mod file_report;
mod layout;
mod library;
mod links;
#[cfg(test)]
#[path = "../tests/it/not_run.rs"]
mod not_run;
mod piece;
mod piece_hasher;
mod report;
mod source_tree;
mod verify;

pub use content::Content;
pub use create::{CreateError, HashProgress, hash_source_tree, hash_source_tree_on};
pub use file_report::{FileError, FileReport, FileState};
pub use hashlane_files::{Candidate, Choice, LeftOut, Links, Selection, WalkError};
pub use hashlane_pipeline::{
    CancelGuard, CancelToken, Extent, FileIndex, FileSet, IoMode, Options, ReadAt, Readers,
};
pub use layout::{HashVersions, Layout, files_of};
pub use library::{Library, LibraryEvent};
pub use piece::{PieceCounts, PieceState};
pub use piece_hasher::{PieceRoots, PieceTrees};
pub use report::Report;
pub use source_tree::{FileOrder, SourceTree, SourceTreeError};
pub use verify::{Error, Progress, Verification, verify};
