//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod runs;
