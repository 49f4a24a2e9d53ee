#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `code` | the checksum: characters, constants of both codes, effect of an error |
//! | `pattern` | a damaged string: networks, known and unknown characters |
//! | `solve` | the strings of a pattern whose checksum fits |
//! | `repair` | all patterns that a string can have been, and their strings decoded again |
#![forbid(unsafe_code)]

mod code;
mod pattern;
mod repair;
mod solve;

pub use pattern::{HUMAN_READABLE, RepairError};
pub use repair::{Repaired, is_witness_address, repair};
