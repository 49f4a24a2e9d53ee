//! The entries of lists.

use std::sync::Arc;

use crate::algorithm::{Digest, DigestAlgorithm};

/// A file in a list, with its expected properties. Programs compare entries with literals, so a new property is a breaking
/// change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in bytes.
    pub name: Vec<u8>,
    /// The expected digests, at least one.
    pub digests: Vec<(DigestAlgorithm, Digest)>,
    /// The expected length in bytes, if the list contains it.
    pub len_bytes: Option<u64>,
    /// A second reading of the line, for a line of two formats. It is meant if no file has the name
    /// of this reading, and a file has the name of the second one.
    pub alternative: Option<Box<Entry>>,
}

impl Entry {
    /// Returns the algorithms of the digests, in their order.
    pub fn algorithms(&self) -> Arc<[DigestAlgorithm]> {
        let digests = self.digests.iter();
        digests.map(|(algorithm, _)| *algorithm).collect()
    }

    /// Adds the digests of another entry of the same file. Returns `false` and adds nothing if the
    /// entries contradict each other, or if a line has two readings.
    pub fn add(&mut self, other: &Self) -> bool {
        let contradicts = |(algorithm, digest): &(DigestAlgorithm, Digest)| {
            let mut own = self.digests.iter();
            own.any(|(known, own)| known == algorithm && own != digest)
        };
        let is_ambiguous = self.alternative.is_some() || other.alternative.is_some();
        if is_ambiguous
            || self.len_bytes != other.len_bytes
            || other.digests.iter().any(contradicts)
        {
            return false;
        }
        for digest in &other.digests {
            if !self.digests.contains(digest) {
                self.digests.push(digest.clone());
            }
        }
        true
    }

    /// Returns `true` if `found` equals the digests of the entry. `found` is in the order of
    /// [`Self::algorithms`].
    pub fn matches(&self, found: &[Digest]) -> bool {
        let digests = self.digests.iter();
        digests.map(|(_, digest)| digest).eq(found)
    }
}

/// The meaning of a line of a list. A program must decide about each, so a new meaning is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// An empty line, a comment or a header.
    Ignored,
    /// The entry of a file.
    Entry(Entry),
    /// An invalid line.
    Improper,
}
