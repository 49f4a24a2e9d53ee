//! Results compared with those of the programs that define the formats, and behaviour that all formats share.
#![allow(missing_docs, clippy::unwrap_used)]

mod cid;
mod files;
mod fsverity;
mod git;
mod glacier;
mod judge;
