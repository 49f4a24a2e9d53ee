//! Inputs to hash, and the outcome of each.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Digest};

/// An input to hash, with a value of the caller's choice.
#[derive(Debug)]
pub struct Item<T> {
    /// Where the bytes come from.
    pub source: Source,
    /// The digests to compute, in the order of the outcome.
    pub algorithms: Arc<[Algorithm]>,
    /// A value that comes back with the outcome.
    pub tag: T,
}

/// Where the bytes of an input come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file of any kind, read until its end.
    File(PathBuf),
    /// The standard input stream, from its current position until its end.
    Stdin,
    /// Nothing is read. The item keeps its place in the order.
    Nothing,
}

/// The outcome of an item.
#[derive(Debug)]
pub enum Outcome {
    /// The digests, in the order of [`Item::algorithms`], and the number of bytes that were read.
    Digests(Vec<Digest>, u64),
    /// The file could not be opened.
    NotOpened(io::Error),
    /// The input could not be read to its end.
    NotRead(io::Error),
    /// The item has no source.
    Nothing,
}
