//! The entries of lists.

use std::sync::Arc;

use crate::algorithm::{Algorithm, Digest};

/// A file in a list, with its expected properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in bytes.
    pub name: Vec<u8>,
    /// The expected digests, at least one.
    pub digests: Vec<(Algorithm, Digest)>,
    /// The expected length in bytes, if the list contains it.
    pub len_bytes: Option<u64>,
}

impl Entry {
    /// Returns the algorithms of the digests, in their order.
    pub fn algorithms(&self) -> Arc<[Algorithm]> {
        let digests = self.digests.iter();
        digests.map(|(algorithm, _)| *algorithm).collect()
    }

    /// Returns `true` if `found` equals the digests of the entry. `found` is in the order of
    /// [`Self::algorithms`].
    pub fn matches(&self, found: &[Digest]) -> bool {
        let digests = self.digests.iter();
        digests.map(|(_, digest)| digest).eq(found)
    }
}

/// The meaning of a line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// An empty line, a comment or a header.
    Ignored,
    /// The entry of a file.
    Entry(Entry),
    /// An invalid line.
    Improper,
}
