//! The space of file systems.

use std::io;
use std::path::{Path, PathBuf};

/// The space of the file system of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskSpace {
    /// The folder.
    pub folder: PathBuf,
    /// Bytes that can be written.
    pub free_bytes: u64,
    /// All bytes.
    pub total_bytes: u64,
}

impl DiskSpace {
    /// Returns the space of a folder. One that does not exist yet has that of its nearest parent.
    ///
    /// # Errors
    /// The system's error for the folder itself.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let mut first = None;
        for folder in folder.ancestors() {
            let is_empty = folder.as_os_str().is_empty();
            let folder = if is_empty { Path::new(".") } else { folder };
            match rustix::fs::statvfs(folder) {
                Ok(space) => {
                    return Ok(Self {
                        folder: folder.to_owned(),
                        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
                        total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
                    });
                }
                Err(error) => _ = first.get_or_insert(error),
            }
        }
        Err(first.map_or_else(|| io::ErrorKind::NotFound.into(), io::Error::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_folders_have_the_space_of_their_parent() {
        let folder = tempfile::tempdir().unwrap();
        let space = DiskSpace::of(&folder.path().join("new/folder")).unwrap();
        assert_eq!(space.folder, folder.path());
        assert!(space.free_bytes <= space.total_bytes && space.total_bytes > 0);
        for name in ["", "no such folder"] {
            assert_eq!(
                DiskSpace::of(Path::new(name)).unwrap().folder,
                Path::new(".")
            );
        }
    }
}
