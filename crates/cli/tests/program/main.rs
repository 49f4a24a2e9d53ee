//! The program as real processes: what it prints, and how it ends.
#![allow(missing_docs, clippy::unwrap_used)]

mod create;
mod edit;
mod fixture;
mod generated;
mod in_process;
mod interrupt;
mod json;
mod options;
mod output;
mod recover;
mod shared;
mod show;
mod verify;
