#![doc = include_str!("../README.md")]
//!
//! # The way of a run
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `error.rs` | errors that end a run |
//! | `record.rs` | the entry of a file |
//! | `catalogue.rs` | the file of the catalogue: opened, made and refused |
//! | `verdict.rs` | what is said about a file |
//! | `event.rs` | what a run passes on |
//! | `compare.rs` | the walk of a folder, merged with the catalogue |
//! | `scratch.rs` | what a run has to remember: files to read, files that are gone |
//! | `read.rs` | reads and hashes files side by side |
//! | `table.rs` | reads and changes single files of the catalogue, and commits |
//! | `run.rs` | reads the files that were noted, and decides about each |
//! | `runs.rs` | [`update`], [`check`] and [`scrub`] |
//! | `group.rs` | sets of recovery files beside the catalogue |
//! | `protect.rs` | makes recovery files, and removes old ones |
//! | `heal.rs` | repairs rotten files |
//! | `entry.rs` | the files of a catalogue |
//! | `export.rs` | lists for other programs |
//! | `export/parquet.rs` | the list as a file of Apache Parquet |
#![forbid(unsafe_code)]
#![cfg(unix)]

mod catalogue;
mod compare;
mod entry;
mod error;
mod event;
mod export;
mod group;
mod heal;
mod protect;
mod read;
mod record;
mod run;
mod runs;
mod scratch;
mod table;
mod verdict;

pub use catalogue::{Catalogue, FILE_NAME, SCHEMA_VERSION};
pub use entry::Entry;
pub use error::{Error, Reason};
pub use event::{Event, Finding, Origin, Outcome, Repair, Summary};
pub use export::{Format, List};
pub use hashlane_pipeline::{CancelToken, Options};
pub use heal::{Healed, Healing, heal};
pub use protect::{Protected, Protection, is_protected, protect};
pub use run::Job;
pub use runs::{IfMissing, Limits, check, scrub, update};
pub use verdict::Verdict;
