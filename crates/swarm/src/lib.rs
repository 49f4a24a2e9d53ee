#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! - `storage.rs`: the content of a torrent, by parts of pieces.
//! - `files.rs`: the files of a torrent, opened below one folder; `files/guarded.rs`: those that may belong to the user.
//! - `guard.rs`: files of the user that share pieces with files of the torrent.
//! - `watch.rs`: detects that files changed after their verification.
//! - `writable.rs`: the end of all writing, before files are deleted.
//!
//! With the feature `libtorrent`:
//!
//! - `session.rs`: a session: torrents in, events out.
//! - `settings.rs`, `network.rs`, `torrent.rs`: the parameters of a session and of a torrent.
//! - `event.rs`, `status.rs`: the reports of a session.
//! - `secrets.rs`: the secrets that its reports must not contain.
//! - `ffi.rs`: the interface to the C++ half in `cpp/`.
//!
//! Reports can get new fields. Parameters, and types whose every case the client decides about, are exhaustive.
#![deny(unsafe_code)]
// Sessions and files use Unix interfaces.
#![cfg(unix)]

#[cfg(feature = "libtorrent")]
mod event;
#[cfg(feature = "libtorrent")]
mod ffi;
mod files;
mod guard;
#[cfg(feature = "libtorrent")]
mod network;
mod remains;
#[cfg(feature = "libtorrent")]
mod secrets;
#[cfg(feature = "libtorrent")]
mod session;
#[cfg(feature = "libtorrent")]
mod settings;
#[cfg(feature = "libtorrent")]
mod status;
mod storage;
#[cfg(feature = "libtorrent")]
mod torrent;
mod watch;
mod writable;

#[cfg(feature = "libtorrent")]
pub use event::{Counters, Event};
pub use files::{Access, StorageError};
pub use guard::{IfDifferent, Replaced};
#[cfg(feature = "libtorrent")]
pub use network::{Bind, Network};
pub use remains::Remains;
#[cfg(feature = "libtorrent")]
pub use session::{Session, SessionError, close_sockets_on_exec};
#[cfg(feature = "libtorrent")]
pub use settings::{
    Encryption, EventDetail, OutgoingUtp, Proxy, ProxyKind, Settings, Transport, WebSeeds,
};
#[cfg(feature = "libtorrent")]
pub use status::{State, Status};
pub use storage::Storage;
#[cfg(feature = "libtorrent")]
pub use torrent::{AddTorrent, Sources, TorrentId};
pub use watch::Stamps;
