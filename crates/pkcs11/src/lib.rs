#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module imports only modules above it in this list.
//!
//! | file | contents |
//! |---|---|
//! | `border.rs` | pointers and lengths of C as references and slices, and the boundary for panics |
//! | `mechanism.rs` | the mechanisms, their parameters and what the token reports about them |
//! | `message.rs` | a message in progress: a digest or an HMAC |
//! | `attribute.rs` | the table of attributes: form, default, and who may change them |
//! | `key.rs` | secret keys: creation, generation, copies, changes, and what may be read |
//! | `operation.rs` | the active operation of a session, and when it ends |
//! | `token.rs` | the token: sessions, objects, and the texts about slot and token |
//! | `process.rs` | the token of this process: initialisation, locks, and children of `fork` |
//! | `calls.rs` | the functions that C calls |
//! | `lists.rs` | the lists of functions, and the three exported symbols that return them |
//!
//! The crate is empty on other systems than Unix.
#![cfg(unix)]
#![deny(unsafe_code)]

mod attribute;
mod border;
mod calls;
mod key;
pub mod lists;
mod mechanism;
mod message;
mod operation;
mod process;
mod token;
