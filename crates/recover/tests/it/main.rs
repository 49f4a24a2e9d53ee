//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod codex32;
mod eip55;
mod prefixes;
mod repair;
