#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module imports only modules above it in this list.
//!
//! | file | contents |
//! |---|---|
//! | `border.rs` | return codes of unusable arguments; mechanisms, templates and buffers |
//! | `mechanism.rs` | the mechanisms, their parameters and what the token reports about them |
//! | `attribute.rs` | the table of attributes: form, default, and who may change them |
//! | `key.rs` | secret keys: creation, generation, copies, changes and read access |
//! | `operation.rs` | the active operation of a session, and when it ends |
//! | `token.rs` | the token: sessions, objects, and the texts about slot and token |
//! | `process.rs` | the token of this process: initialisation, locks, and children of `fork` |
//! | `calls.rs` | the functions that C calls |
//! | `lists.rs` | the lists of functions, and the three exported symbols that return them |
//!
//! Outside Unix the crate is empty.
#![cfg(unix)]
#![deny(unsafe_code)]

mod attribute;
mod border;
mod calls;
mod key;
pub mod lists;
mod mechanism;
mod operation;
mod process;
mod token;
