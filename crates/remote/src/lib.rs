#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `model` | a client as the protocols see it |
//! | `login` | names and passwords of requests |
//! | `listen` | where a protocol is served, and to whom |
//! | `transmission` | Transmission RPC: `request` (arguments), `torrent` (fields of torrents), `session` (settings), `call` (methods) |
#![forbid(unsafe_code)]

mod listen;
mod login;
pub mod model;
mod transmission;

pub use listen::{Listen, ListenError};
pub use login::{Login, LoginError, Verdict};
pub use model::Control;
pub use transmission::serve as serve_transmission;
