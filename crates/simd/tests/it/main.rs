//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod not_run;
mod operations;
mod wide;
