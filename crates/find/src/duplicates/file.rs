//! Files, and groups of equal ones.

use std::path::PathBuf;

use hashlane_files::Stamp;

/// The reason why a file is in no group.
pub(super) const CHANGED: &str = "changed while it was read";

/// A file, with all of its names that were seen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DuplicateFile {
    /// The names (hard links), in the order of the walk; at least one.
    pub names: Vec<PathBuf>,
    /// The properties of the file when it was seen. It had the same ones after it was hashed.
    pub stamp: Stamp,
    /// The number of the file in its file system, which is near the order on the disk.
    pub(super) inode: u64,
}

/// Files with equal bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DuplicateGroup {
    /// Length of each file in bytes.
    pub len_bytes: u64,
    /// The files, at least two, in the order of the walk.
    pub files: Vec<DuplicateFile>,
}

impl DuplicateGroup {
    /// Returns the number of bytes that all files but one take.
    pub fn excess_bytes(&self) -> u64 {
        (self.files.len() as u64 - 1).saturating_mul(self.len_bytes)
    }
}
