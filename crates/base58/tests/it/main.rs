//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod every_kind;
mod judge;
mod not_run;
mod recovery;
mod reference;
mod strings;
mod vectors;
