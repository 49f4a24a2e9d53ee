//! Results compared with those of the programs that define the formats, and behaviour that all formats share.
#![allow(missing_docs, clippy::unwrap_used)]

mod btroot;
mod cid;
mod dmverity;
mod files;
mod fsverity;
mod git;
mod glacier;
mod idsig;
mod judge;
mod named;
mod not_run;
mod outputs;
mod random;
mod s3;
