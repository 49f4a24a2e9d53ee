//! Tests of the public interface.
#![cfg(all(unix, feature = "libtorrent"))]
#![allow(clippy::unwrap_used)]

mod exchange;
#[cfg(target_os = "linux")]
mod memory;
mod not_run;
#[cfg(target_os = "linux")]
mod own_process;
