//! Tests of the folder: changes, interrupted changes, and hostile contents.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

mod kills;
mod made;
mod random;
mod store;
