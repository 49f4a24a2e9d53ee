//! The SHA-1 and SHA-256 functions of libmd, with its names and its contexts, for programs that are already
//! compiled. `docs/libmd.md` shows their use.
//!
//! # Modules
//!
//! | file | contents |
//! |---|---|
//! | `context.rs` | the two contexts in the layout of libmd: update, pad, finish |
//! | `chunk.rs` | reads a part of a file into a context |
//! | `exports.rs` | the eighteen functions that C calls; all unsafe code |
//!
//! libmd is a library of Linux and the BSDs. The crate is empty on other systems than Linux.
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod chunk;
#[cfg(target_os = "linux")]
mod context;
#[cfg(target_os = "linux")]
pub mod exports;
