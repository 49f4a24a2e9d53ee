#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `error.rs` | reasons why a bag cannot be made or read at all |
//! | `lines.rs` | lines of a tag file, with limits |
//! | `version.rs` | versions of the format |
//! | `path.rs` | paths of files in a bag, and how manifests write them |
//! | `declaration.rs` | `bagit.txt`: the version |
//! | `info.rs` | `bag-info.txt`: labels and values |
//! | `manifest.rs` | manifests, read and written; `fetch.txt` |
//! | `contents.rs` | the files of a bag |
//! | `hash.rs` | digests of files |
//! | `problem.rs` | what is wrong with a bag |
//! | `validate.rs` | compares a bag with its manifests |
//! | `tags.rs` | writes the tag files of a bag |
//! | `create.rs` | makes a bag of a folder |
//! | `update.rs` | renews the manifests of a bag |

mod contents;
mod create;
mod declaration;
mod error;
mod hash;
mod info;
mod lines;
mod manifest;
mod path;
mod problem;
mod tags;
mod update;
mod validate;
mod version;

pub use create::{Created, NewBag, create_copy, create_in_place};
pub use error::Error;
pub use hash::Run;
pub use hashlane_sums::Progress;
pub use manifest::{manifest_name, write_payload_manifest};
pub use problem::{LineProblem, Problem, ProblemKind};
pub use update::{Updated, update};
pub use validate::{Depth, Validation, Verdict, validate};
pub use version::Version;
