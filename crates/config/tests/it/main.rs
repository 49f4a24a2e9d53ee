//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod config;
mod not_run;
