//! What a line of a list is.

use crate::algorithm::{Algorithm, Digest};

/// A file that a list names, and what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, as bytes.
    pub name: Vec<u8>,
    /// The digests that the file should have: one or more.
    pub digests: Vec<(Algorithm, Digest)>,
    /// The length that the file should have, if the list has it.
    pub len_bytes: Option<u64>,
}

/// What a line of a list is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// An empty line, a comment or a header.
    Ignored,
    /// A file.
    Entry(Entry),
    /// Anything else.
    Improper,
}
