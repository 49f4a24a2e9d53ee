//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod every_kind;
mod not_run;
mod recovery;
mod strings;
mod vectors;
