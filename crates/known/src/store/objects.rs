//! Stores in which a file has the SHA-256 of its bytes as its name: the objects of Git LFS, and repositories of restic.

use std::path::Path;

use hashlane_sums::Algorithm;

use super::found::{Found, Name};
use crate::text;

fn meaning(_: &Path, name: &str) -> Name {
    match text::digest(Algorithm::Sha256, name.as_bytes()) {
        Some(digest) => Name::Digest(digest),
        // restic renames a file when it is complete.
        None if name.contains("-tmp-") => Name::Unfinished,
        None => Name::Unknown,
    }
}

/// Reads the objects of Git LFS.
pub(super) fn read_git_lfs(folder: &Path, found: &mut Found) {
    found.add_files(&folder.join("objects"), meaning);
}

/// Reads a repository of restic. `config` has another name than its digest, and locks come and go.
pub(super) fn read_restic(folder: &Path, found: &mut Found) {
    for name in ["data", "index", "keys", "snapshots"] {
        found.add_files(&folder.join(name), meaning);
    }
}
