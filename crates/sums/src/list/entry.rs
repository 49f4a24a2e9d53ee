//! What a line of a list is.

use std::sync::Arc;

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

impl Entry {
    /// Returns the algorithms of the digests, in their order.
    pub fn algorithms(&self) -> Arc<[Algorithm]> {
        let digests = self.digests.iter();
        digests.map(|(algorithm, _)| *algorithm).collect()
    }

    /// Returns `true` if the digests of a file are those of the entry. `found` is in the order of
    /// [`Self::algorithms`].
    pub fn matches(&self, found: &[Digest]) -> bool {
        let digests = self.digests.iter();
        digests.map(|(_, digest)| digest).eq(found)
    }
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
