#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `format.rs` | what a format says about its leaves, and the traits `Format` and `Builder` |
//! | `hasher.rs` | digests of leaves, side by side |
//! | `segment.rs` | leaves of several files as messages of the pipeline |
//! | `run.rs` | hashes files, and delivers the result of each in order |
//! | `levels.rs` | the levels of a tree whose nodes are blocks of digests |
//! | `fsverity.rs` | fs-verity |
//! | `glacier.rs` | the tree hash of Amazon S3 Glacier |
//! | `git.rs` | blobs and trees of Git |
//! | `cid.rs` | content identifiers of IPFS: files and folders in `UnixFS` |

mod cid;
mod format;
mod fsverity;
mod git;
mod glacier;
mod hasher;
mod levels;
mod run;
mod segment;

pub use hashlane_hashes::HashFunction;

pub use cid::{Cid, CidBuilder, CidNode, FolderTooLarge};
pub use format::{Builder, Format, Tail};
pub use fsverity::{Fsverity, FsverityError, Measurement, Measurer};
pub use git::{Git, GitBuilder, GitId, GitMode};
pub use glacier::{Glacier, GlacierBuilder, GlacierHash};
pub use hashlane_pipeline::{CancelToken, Error, IoMode, Options};
pub use run::{Event, Item, Outcome, hash_files};
