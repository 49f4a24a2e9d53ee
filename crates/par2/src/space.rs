//! The space of disks.

use std::path::Path;

use crate::error::Error;

/// Fails if the disks have no space for new files with these paths and lengths.
///
/// # Errors
/// [`Error::Space`].
#[cfg(unix)]
pub fn check_space<'p>(files: impl IntoIterator<Item = (&'p Path, u64)>) -> Result<(), Error> {
    use std::collections::BTreeMap;
    use std::os::unix::fs::MetadataExt as _;

    let mut needed = BTreeMap::new();
    for (path, len) in files {
        let folder = path.parent().unwrap_or(path);
        let Ok(space) = hashlane_files::DiskSpace::of(folder) else {
            continue;
        };
        let Ok(metadata) = space.folder.metadata() else {
            continue;
        };
        let new = || (space.folder, 0_u64, space.free_bytes);
        let of_disk = needed.entry(metadata.dev()).or_insert_with(new);
        // Whole blocks.
        of_disk.1 = of_disk.1.saturating_add(len.saturating_add(4096));
    }
    for (folder, needed, available) in needed.into_values() {
        if needed > available {
            return Err(Error::Space {
                folder,
                needed,
                available,
            });
        }
    }
    Ok(())
}

/// Does nothing: only Unix is asked.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn check_space<'p>(_files: impl IntoIterator<Item = (&'p Path, u64)>) -> Result<(), Error> {
    Ok(())
}
