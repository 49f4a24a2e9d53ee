//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod protect;
#[cfg(unix)]
mod runs;
