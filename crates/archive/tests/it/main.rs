//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod protect;
#[cfg(unix)]
mod random;
#[cfg(unix)]
mod runs;
