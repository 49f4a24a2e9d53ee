//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod codex32;
mod eip55;
mod judge;
mod not_run;
mod prefixes;
mod repair;
mod slip39;
