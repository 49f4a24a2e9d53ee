#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `algorithm.rs` | names, lengths and state of the algorithms |
//! | `item.rs` | inputs to hash, and the outcome of each |
//! | `hasher.rs` | several digests of messages side by side |
//! | `run.rs` | hashes inputs, and delivers the outcomes in order |
//! | `name.rs` | names as bytes, and their escapes |
//! | `list.rs`, `list/` | lists of checksums, read and written |

mod algorithm;
mod hasher;
mod item;
mod list;
mod name;
mod run;

pub use algorithm::{Algorithm, Blake2bLen, Digest, UnknownAlgorithm};
pub use hashlane_pipeline::{CancelToken, Error, IoMode, Options};
pub use item::{Item, Outcome, Source};
pub use list::{AnyLines, Entry, GnuLines, Line, LineStyle, Lines, write_line};
pub use name::{bytes_of, escape, needs_escape, path_of};
pub use run::{Event, hash_items};
