#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `hash_versions.rs` | the two kinds of hashes that a torrent can have |
//! | `error.rs` | errors that prevent a verification |
//! | `layout.rs` | pieces as byte ranges of files |
//! | `content.rs` | the place of a torrent's files on this machine |
//! | `links.rs` | symbolic links of a torrent, compared with those on disk |
//! | `piece_hasher.rs` | digests of pieces: SHA-1 and merkle trees |
//! | `piece.rs` | states of pieces |
//! | `file_report.rs` | the state of one file |
//! | `report.rs` | the result of a verification |
//! | `comparison.rs` | comparison of computed digests with the torrent's digests |
//! | `verify.rs` | verification of a torrent's content |
//! | `source_tree_error.rs` | reasons why no torrent can be created from files |
//! | `source_tree.rs` | the files of a new torrent |
//! | `create.rs` | hashes for a new torrent |

mod comparison;
mod content;
mod create;
mod error;
mod file_report;
mod hash_versions;
mod layout;
mod links;
mod piece;
mod piece_hasher;
mod report;
mod source_tree;
mod source_tree_error;
mod verify;

pub use content::Content;
pub use create::{CreateError, HashProgress, hash_source_tree};
pub use error::Error;
pub use file_report::{FileError, FileReport, FileState};
pub use hash_versions::HashVersions;
pub use hashlane_files::{Candidate, Choice, LeftOut, Links, Selection, WalkError};
pub use hashlane_pipeline::{CancelToken, Extent, FileIndex, IoMode, Options};
pub use layout::{Layout, files_of};
pub use piece::{PieceCounts, PieceState};
pub use report::Report;
pub use source_tree::{FileOrder, SourceTree};
pub use source_tree_error::SourceTreeError;
pub use verify::{Progress, verify, verify_untrusted};
