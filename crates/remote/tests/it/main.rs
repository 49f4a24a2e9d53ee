//! Tests of the protocols with a client in memory, by requests and by programs that speak them.
#![cfg(all(unix, feature = "libtorrent"))]
#![allow(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a panic is a failure of a test, and many are tables"
)]

mod client;
mod groups;
mod not_run;
mod python;
mod qbittorrent;
mod sequences;
mod transmission;
mod transmission_programs;
