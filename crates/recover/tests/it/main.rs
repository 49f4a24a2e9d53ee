//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod base32;
mod codex32;
mod eip55;
mod eos;
mod judge;
mod monero;
mod not_run;
mod prefixes;
mod reference;
mod repair;
mod slip39;
mod ss58;
