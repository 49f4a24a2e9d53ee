//! The guard of free space: downloads pause before a disk is full, and resume after.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hashlane_api::Size;
use hashlane_client::Space;

/// Free space above the limit at which downloads resume, as a part of the limit, so that they do not alternate between the
/// two states.
const MARGIN: u64 = 8;

/// The free space of folders at one moment.
pub(super) struct FreeSpace {
    min_free: u64,
    free: HashMap<PathBuf, Option<u64>>,
}

impl FreeSpace {
    /// Returns the space of which `min_free` bytes must stay free.
    pub(super) fn new(min_free: u64) -> Self {
        Self {
            min_free,
            free: HashMap::new(),
        }
    }

    /// Returns the reason if a folder has too little free space. `is_held` says whether it had before. A folder that does not
    /// exist yet has the space of its parent.
    pub(super) fn shortage(&mut self, folder: &Path, is_held: bool) -> Option<String> {
        let free = self.free.entry(folder.to_owned());
        let free = (*free.or_insert_with(|| free_bytes(folder)))?;
        let margin = if is_held { self.min_free / MARGIN } else { 0 };
        let missing = self.min_free.saturating_add(margin).checked_sub(free)?;
        (missing > 0).then(|| {
            format!(
                "waiting for space: {}: {} free, less than {} (--min-free); {} more needed",
                folder.display(),
                Size(free),
                Size(self.min_free),
                Size(missing)
            )
        })
    }
}

/// Returns the free bytes of the file system of a folder. One that does not exist yet has those of its parent.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    Some(Space::of(folder).ok()?.free_bytes)
}
