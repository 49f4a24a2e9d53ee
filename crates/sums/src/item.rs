//! Inputs to hash, and the outcome of each.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Digest};

/// An input to hash, with a tag that the caller chooses.
#[derive(Debug)]
pub struct Item<T> {
    /// The source of the bytes.
    pub source: Source,
    /// The digests to compute. The outcome has them in this order.
    pub algorithms: Arc<[Algorithm]>,
    /// A value that is returned with the outcome.
    pub tag: T,
}

/// The source of the bytes of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file of any kind, read to its end.
    File(PathBuf),
    /// The standard input stream, read from its current position to its end.
    Stdin,
    /// No source. The item keeps its place in the order.
    Nothing,
}

/// The outcome of an item.
#[derive(Debug)]
pub enum Outcome {
    /// The digests, in the order of [`Item::algorithms`], and the number of bytes read.
    Digests(Vec<Digest>, u64),
    /// The file could not be opened.
    NotOpened(io::Error),
    /// The input could not be read to its end.
    NotRead(io::Error),
    /// The item has no source.
    Nothing,
}
