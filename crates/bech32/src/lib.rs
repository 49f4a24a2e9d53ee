#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `code` | the checksum: characters, constants of both codes, effect of an error |
//! | `pattern` | a damaged string: networks, known and unknown characters |
//! | `solve` | finds the strings of a pattern with a correct checksum |
//! | `repair` | finds all possible patterns of a string, and decodes the results |
//! | `recognize` | recognizes damaged witness addresses among texts of any format |
#![forbid(unsafe_code)]

mod code;
mod pattern;
mod recognize;
mod repair;
mod solve;

pub use pattern::{HUMAN_READABLE, RepairError};
pub use recognize::{is_like_witness_address, starts_like_witness_address};
pub use repair::{Repaired, intact_start, is_witness_address, repair};
