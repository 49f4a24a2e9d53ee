#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! - `file.rs`: opens a regular file, reads it at given positions and finds its holes.
//! - `file_id.rs`: the identity of a file.
//! - `cache.rs`: keeps files open for their next use.
//! - `cancel.rs`: a request to stop, which every crate above uses.
//! - `copy.rs`: copies files, and shares their bytes on the disk where the file system can.
//! - `direct.rs`: reads past the page cache.
//! - `stream.rs`: reads a file of any kind from its first byte until its end.
//! - `budget.rs`: limits the open files of the process, and chooses the ones to close.
//! - `below.rs`: decides if a folder is below another one.
//! - `links.rs`: reads and resolves symbolic links as text.
//! - `walk.rs`: the walk over a folder, from which every search for files is made.
//! - `tree.rs`: the files and links of a folder, for a torrent; `globs.rs`: matches paths; `rules.rs`: reads files of patterns;
//!   `stamp.rs`: detects files that changed.
//! - `mark.rs`: the mark of a file in an extended attribute (Linux and macOS).
//! - `root.rs`: opens files below one folder, for reading or for downloads (Unix).
//! - `relocate.rs`: moves a file or folder without replacing anything (Unix).
//! - `removal.rs`: removes files and empty folders without following links (Unix).
//! - `rename.rs`: renames many files below a folder without replacing anything (Unix).
//! - `share.rs`: makes equal files names of one file, or lets them share their bytes (Unix).
//! - `space.rs`: the space of file systems (Unix).
//! - `temporary.rs`: names of temporary files, and the removal of those of killed processes.
//! - `atomic.rs`: files that get their name when they are complete.
//! - `new_file.rs`: files that are written whole or not at all, at the place where a path leads.
//! - `unicode.rs`: names in another Unicode form.
//! - `sys/`: the functions that differ between systems. `linux/map.rs` maps files,
//!   `linux/sigbus.rs` handles pages that vanish, `linux/lease.rs` finds programs that write to a file, `linux/cached.rs` finds bytes in the page cache, `linux/extents.rs` finds
//!   the place of a file on its disk, and `portable.rs` reads.
#![deny(unsafe_code)]

mod atomic;
mod below;
mod budget;
mod cache;
mod cancel;
mod copy;
mod direct;
mod file;
mod file_id;
mod globs;
mod links;
#[cfg(unix)]
mod mark;
mod new_file;
#[cfg(test)]
#[path = "../tests/it/not_run.rs"]
mod not_run;
mod own;
mod positioned;
#[cfg(unix)]
mod relocate;
#[cfg(unix)]
mod removal;
#[cfg(unix)]
mod rename;
#[cfg(unix)]
mod root;
mod rules;
#[cfg(unix)]
mod share;
#[cfg(unix)]
mod space;
mod stamp;
mod stream;
mod sys;
mod temporary;
mod tree;
mod unicode;
mod walk;

pub use atomic::{AtomicFile, Overwrite, UNFINISHED_FILES};
pub use below::is_below;
pub use budget::{is_out_of_descriptors, max_kept_open};
pub use cache::{CachedFile, FileCache};
pub use cancel::{CancelGuard, CancelToken};
pub use copy::{clone_file, clone_or_copy};
pub use direct::{DIRECT_UNIT, DirectRead};
#[cfg(unix)]
pub use file::Writers;
pub use file::{DiskExtent, Region, SourceFile, is_absent};
pub use file_id::FileId;
pub use globs::{GlobError, Globs};
pub use links::{LinkState, read_link, resolve_link};
pub use new_file::{NewFile, place_of};
pub use own::{
    CATALOGUE_NAME, CATALOGUE_SUFFIXES, RECOVERY_SUFFIX, is_catalogue_suffix, is_own_name,
};
pub use positioned::{read_at, read_exact_at, write_all_at};
#[cfg(unix)]
pub use relocate::{Relocation, UNFINISHED_MOVES, rename_new, rename_to_free};
#[cfg(unix)]
pub use removal::{DirEntryId, Removal};
#[cfg(unix)]
pub use rename::{RenameError, rename_files};
#[cfg(unix)]
pub use root::{FileStatus, Root, WritableFile, WritableRoot, is_replaced, leads_out, sync};
pub use rules::{Rules, RulesError};
#[cfg(unix)]
pub use share::{KeptFile, UNFINISHED_LINKS, remove_unfinished_link};
#[cfg(unix)]
pub use space::DiskSpace;
pub use stamp::{Stamp, TICK};
pub use stream::{ByteStream, read_limited, read_regular};
pub use sys::{DirectQueue, MapArena, MappedBytes, is_rotational, raise_open_file_limit};
pub use temporary::TemporaryNames;
pub use tree::{
    Candidate, Choice, Entry, EntryKind, FileTree, LeftOut, Links, Selection, WalkError,
};
pub use unicode::{UnicodeNames, nfc};
pub use walk::{NotContent, Step, Walk, WalkOrder, Walked, walk_files};
