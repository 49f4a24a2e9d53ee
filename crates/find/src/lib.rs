#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # The way of a search
//!
//! 1. `candidates.rs`: [`Candidates::collect`] walks the folders once (`walk.rs`), and keeps the files that have the length of
//!    a wanted file.
//! 2. `wanted.rs`: the files of the torrents, and for each the pieces that lie in it alone.
//! 3. `search.rs`: [`find`] compares one such piece with each candidate, then further pieces for files that are damaged,
//!    and at last the pieces that span several files, for those that have no piece of their own.
//! 4. `probe.rs`: the pieces of all torrents that are compared in one round are the messages of one run of the pipeline,
//!    in the order of the disk.
//! 5. `found.rs`: the result for each torrent, which is also a set of files that can be verified.
//! 6. `assembly.rs`: all pieces of damaged files and all their candidates: [`assemble`] finds the best candidate, and new files
//!    are made of the right pieces of several.
//! 7. `names.rs`, `link.rs` (Unix): a folder with the names of the torrent, made of links or clones.
//! 8. `roots.rs` (Unix): a table of the roots of files, which finds files of version 2 without reading them again.
//! 9. `elsewhere.rs`: a search for the missing files of one torrent near their places. `budget.rs` limits the work of
//!    all such searches.
//!
//! `duplicates.rs` finds files with equal bytes without torrents: [`SameLength::collect`] walks the folders, `parts.rs` has the
//! messages, `hash.rs` hashes them, and `link.rs` makes duplicates links to one file.

mod assembly;
mod budget;
mod candidates;
mod duplicates;
mod elsewhere;
mod found;
#[cfg(unix)]
mod link;
mod names;
mod probe;
#[cfg(unix)]
mod roots;
mod search;
mod walk;
mod wanted;

pub use hashlane_pipeline::Progress;

pub use assembly::{Assembly, Merged, assemble};
pub use budget::SearchBudget;
pub use candidates::Candidates;
pub use duplicates::{DuplicateFile, DuplicateGroup, Duplicates, SameLength};
#[cfg(unix)]
pub use duplicates::{DuplicateLink, LinkedName, link_duplicates};
pub use elsewhere::{Elsewhere, OtherRoot, Surroundings};
pub use found::{FileMatch, FoundFiles, FoundTorrent, NamedFiles, Place, Undecided};
#[cfg(unix)]
pub use link::{LinkKind, Linked, link};
#[cfg(unix)]
pub use roots::{RootTable, TableError, TableUpdate};
pub use search::{Findings, MAX_PROBES, find};
