//! Which of a torrent's two kinds of hashes are meant.

use hashlane_metainfo::Version;

/// Which hash families are judged, or made: the SHA-1 digests of pieces (BEP 3), the SHA-256
/// merkle trees of files (BEP 52), or both in one pass over the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Families {
    /// SHA-1 digests of pieces.
    pub v1: bool,
    /// SHA-256 merkle trees of files.
    pub v2: bool,
}

impl Families {
    /// All that a torrent of this version has.
    pub fn of(version: Version) -> Self {
        Self {
            v1: version.has_v1(),
            v2: version.has_v2(),
        }
    }

    /// Those that are in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            v1: self.v1 && other.v1,
            v2: self.v2 && other.v2,
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        !self.v1 && !self.v2
    }
}
