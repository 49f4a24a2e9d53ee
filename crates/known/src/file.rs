//! Files with known digests.

use std::path::PathBuf;

use hashlane_sums::{Algorithm, Digest};

/// A file with a known digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// The path. Its documentation is that of the function that returns the file.
    pub path: PathBuf,
    /// The known length in bytes.
    pub len_bytes: Option<u64>,
    /// The known digest.
    pub digest: KnownDigest,
}

/// A known digest. A program must decide about each kind, so a new one is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownDigest {
    /// The digest of the bytes of the file.
    Digest(Algorithm, Digest),
    /// The SHA-1 name of the file as a blob of Git.
    GitBlob(Digest),
}
