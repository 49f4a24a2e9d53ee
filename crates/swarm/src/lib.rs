#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
// The protocol engine, and what is needed of files, are those of Unix.
#![cfg(unix)]

#[cfg(feature = "libtorrent")]
mod ffi;
mod files;
#[cfg(feature = "libtorrent")]
mod session;
mod storage;

pub use files::{Access, StorageError};
#[cfg(feature = "libtorrent")]
pub use session::{
    AddTorrent, Encryption, Event, Peer, Proxy, ProxyKind, Session, SessionError, Settings,
    Sources, State, Status, Telling, TorrentId, Transport,
};
pub use storage::Storage;
