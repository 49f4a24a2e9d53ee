//! Tests with stores made by hand. Stores of the programs themselves are in the tests of `hashlane sum`.
#![allow(missing_docs, clippy::unwrap_used)]

mod listing;
mod packages;
mod stores;
