#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `hasher.rs` | several digests of messages side by side |
//! | `run.rs` | inputs to hash; hashes them, and delivers the outcome of each in order |
//! | `name.rs` | names as bytes, and their escapes |
//! | `list.rs`, `list/` | lists of checksums, read and written |

mod hasher;
mod list;
mod name;
mod run;

pub use hashlane_hashes::{Algorithm, Blake2bLen, Digest, Hasher, UnknownAlgorithm};
pub use hashlane_pipeline::{
    CancelToken, Error, Event, Failure, IoMode, Options, Outcome, Progress,
};
pub use list::{
    AnyLines, Entry, GnuLines, Line, LineStyle, Lines, ListFormat, ListWriter, Unwritable,
    ValueLine, ValueLines, write_line,
};
pub use name::{bytes_of, escape, needs_escape, path_of, with_slashes};
pub use run::{Item, Source, hash_items};
