//! Sessions that the programs themselves wrote (`tests/fixtures/make`), and hostile ones.
#![allow(clippy::unwrap_used)]

mod deluge;
mod fixture;
mod global;
mod hostile;
mod qbittorrent;
mod read_only;
mod rtorrent;
mod statistics;
mod transmission;
