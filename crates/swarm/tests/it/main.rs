//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod not_run;
#[cfg(unix)]
mod storage;
