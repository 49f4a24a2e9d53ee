#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `file.rs` | a file with a known digest |
//! | `text.rs` | digests and files in text |
//! | `listing.rs` | the listing of a repository at Hugging Face |
//! | `store.rs`, `store/` | stores whose names are digests: a module for each layout |
//! | `dpkg.rs` | the packages of Debian |

pub mod dpkg;
mod file;
pub mod listing;
pub mod store;
mod text;

pub use file::{KnownDigest, KnownFile};
