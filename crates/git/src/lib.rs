#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Listed from the bottom to the top.
//!
//! | file | contents |
//! |---|---|
//! | `object.rs` | identifiers and types of objects |
//! | `delta.rs` | objects as changes to other objects |
//! | `index.rs` | the index of a pack: identifiers, places and checksums |
//! | `report.rs` | results: objects, problems and errors |
//! | `entries.rs` | the headers of the objects in a pack, and the objects that deltas are based on |
//! | `inflate.rs` | compressed objects |
//! | `hashing.rs` | objects hashed in lanes, and compared with their identifiers |
//! | `work.rs` | objects read and resolved by one thread |
//! | `verify.rs` | the verification of a pack by all threads |
#![forbid(unsafe_code)]

mod delta;
mod entries;
mod hashing;
mod index;
mod inflate;
mod object;
mod report;
mod verify;
mod work;

pub use hashlane_files::CancelToken;
pub use hashlane_hashes::Algorithm;

pub use object::{Id, Kind};
pub use report::{Error, Object, Options, Problem, Report, Wrong};
pub use verify::verify_pack;
