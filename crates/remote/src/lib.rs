#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `model` | a client as the protocols see it, besides its torrents |
//! | `listen` | where a protocol is served, and to whom |
//! | `torrent` | what the protocols show of a torrent |
//! | `apply` | commands for the torrents that a request names |
//! | `check` | checks of requests that all protocols share |
//! | `labels` | categories among labels |
//! | `transmission` | Transmission RPC: `request` (arguments), `torrent` (fields of torrents), `session` (settings), `call` (methods) |
//! | `qbittorrent` | qBittorrent Web API: `request` (forms), `access` (pages of other sites), `sessions` (cookies), `torrent` (fields of torrents), `client` (rates), `changes` (since an answer); methods: `call`, `app`, `transfer`, `torrents`, `edit`, `sync` |
//!
//! Types of the model are exhaustive: a client of the trait fills in every field, and an adapter decides about every case.
#![forbid(unsafe_code)]
#![cfg(all(unix, feature = "libtorrent"))]

mod apply;
mod check;
mod labels;
mod listen;
pub mod model;
mod qbittorrent;
mod torrent;
mod transmission;

pub use hashlane_server::{Login, LoginError, Verdict};
pub use listen::{Listen, ListenError};
pub use model::Control;
pub use qbittorrent::serve as serve_qbittorrent;
pub use transmission::serve as serve_transmission;
