//! The entries of lists.

use std::sync::Arc;

use hashlane_hashes::{Algorithm, Digest};

use crate::name::with_slashes;

/// A file in a list, with its expected properties. Programs compare entries with literals, so a new property is a breaking
/// change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in bytes.
    pub name: Vec<u8>,
    /// The expected digests, at least one.
    pub digests: Vec<(Algorithm, Digest)>,
    /// The expected length in bytes, if the list contains it.
    pub len_bytes: Option<u64>,
    /// Other readings of the line, for a line of two formats, and for names with backslashes, which
    /// lists made on Windows have in place of slashes. The first reading whose name a file has is
    /// meant, or this one if no file has such a name.
    pub alternatives: Vec<Self>,
}

impl Entry {
    /// Returns the algorithms of the digests, in their order.
    pub fn algorithms(&self) -> Arc<[Algorithm]> {
        let digests = self.digests.iter();
        digests.map(|(algorithm, _)| *algorithm).collect()
    }

    /// Adds the digests of another entry of the same file. Returns `false` and adds nothing if the
    /// entries contradict each other, or have other readings.
    pub fn add(&mut self, other: &Self) -> bool {
        if !self.accepts(other) {
            return false;
        }
        for digest in &other.digests {
            if !self.digests.contains(digest) {
                self.digests.push(*digest);
            }
        }
        for (own, other) in self.alternatives.iter_mut().zip(&other.alternatives) {
            own.add(other);
        }
        true
    }

    /// Returns `true` if both entries are of one file, in each reading.
    fn accepts(&self, other: &Self) -> bool {
        let contradicts = |(algorithm, digest): &(Algorithm, Digest)| {
            let mut own = self.digests.iter();
            own.any(|(known, own)| known == algorithm && own != digest)
        };
        let mut readings = self.alternatives.iter().zip(&other.alternatives);
        self.len_bytes == other.len_bytes
            && self.alternatives.len() == other.alternatives.len()
            && !other.digests.iter().any(contradicts)
            && readings.all(|(own, other)| own.name == other.name && own.accepts(other))
    }

    /// Adds readings with slashes in place of the backslashes of names.
    pub(super) fn with_slashes(mut self) -> Self {
        let readings = std::iter::once(&self).chain(&self.alternatives);
        let slashed: Vec<Self> = readings
            .filter_map(|reading| {
                Some(Self {
                    name: with_slashes(&reading.name)?,
                    digests: reading.digests.clone(),
                    len_bytes: reading.len_bytes,
                    alternatives: Vec::new(),
                })
            })
            .collect();
        self.alternatives.extend(slashed);
        self
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
    /// A line with something that no digest of a file checks, such as a signature or a link, as text for people.
    Unchecked(String),
    /// An invalid line.
    Improper,
}
