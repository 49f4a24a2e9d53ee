//! The two kinds of hashes that a torrent can have.

use hashlane_metainfo::Version;

/// A set of hash versions to verify or create: SHA-1 digests of pieces (version 1, BEP 3), SHA-256
/// merkle trees of files (version 2, BEP 52), or both in one pass over the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashVersions {
    /// SHA-1 digests of pieces.
    pub v1: bool,
    /// SHA-256 merkle trees of files.
    pub v2: bool,
}

impl HashVersions {
    /// Returns all hash versions that a torrent of this version has.
    pub fn of(version: Version) -> Self {
        Self {
            v1: version.has_v1(),
            v2: version.has_v2(),
        }
    }

    /// Returns the hash versions that are in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            v1: self.v1 && other.v1,
            v2: self.v2 && other.v2,
        }
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(self) -> bool {
        !self.v1 && !self.v2
    }
}
