//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod endpoint;
mod log;
mod login;
#[cfg(target_os = "linux")]
mod own_process;
