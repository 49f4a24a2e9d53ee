//! The SHA-1 and SHA-256 functions of libmd, with the same names and contexts, for programs that
//! are already compiled. `docs/reference/libmd.md` describes their use.
//!
//! # Modules
//!
//! | file | contents |
//! |---|---|
//! | `context.rs` | the two contexts in the layout of libmd: update, pad, finish, and read a part of a file |
//! | `exports.rs` | the eighteen functions that C calls; all unsafe code |
//!
//! libmd is a library of Linux and the BSDs. Outside Linux the crate is empty.
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod context;
#[cfg(target_os = "linux")]
pub mod exports;
