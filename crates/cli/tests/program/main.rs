//! The program as real processes: what it prints, and how it ends.
#![allow(missing_docs, clippy::unwrap_used)]

mod fixture;
mod generated;
mod in_process;
mod interrupt;
mod json;
mod options;
mod shared;
mod verify;
