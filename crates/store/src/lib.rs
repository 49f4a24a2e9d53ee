#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `store` | the folder: opened, `read`, changed; the order of writes |
//! | `format` | the format version of a folder, and upgrades |
//! | `lock` | one program at a time |
//! | `entry` | a torrent of the folder |
//! | `choices` | what a person chose for a torrent |
//! | `groups` | categories and labels |
//! | `session` | settings of the session that requests have changed |
//! | `order` | the numbers that give torrents their order |
//! | `totals` | bytes, times and dates |
//! | `name` | the name of a torrent |
//! | `file` | reading and writing one file |
//! | `error` | errors |
//!
//! Types of choices and totals are exhaustive: a program makes them, and a field that it overlooked would be lost in the folder.
#![forbid(unsafe_code)]
#![cfg(unix)]

mod choices;
mod entry;
mod error;
mod file;
mod format;
mod groups;
mod lock;
mod name;
mod order;
mod session;
mod store;
mod totals;

pub use choices::{Choices, Priorities};
pub use entry::{Entry, Metainfo};
pub use error::StoreError;
pub use groups::{Category, Groups};
pub use name::{InvalidName, Name};
pub use session::Session;
pub use store::{Store, names_in};
pub use totals::{AllTotals, TorrentTotals, Totals};
