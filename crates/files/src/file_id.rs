//! The identity of a file, whatever its name.

use std::fs;
use std::io;
use std::path::Path;

/// The device and inode of a file. Two names of the same file have equal identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn new(device: u64, inode: u64) -> Self {
        Self { device, inode }
    }

    /// Returns the identity of the file at `path`, following symbolic links. Returns `None` on a system that has no such
    /// identities.
    ///
    /// # Errors
    /// The system's error.
    pub fn of_path(path: &Path) -> io::Result<Option<Self>> {
        Ok(Self::of_metadata(&fs::metadata(path)?))
    }

    /// Returns the identity of the file with these properties, or `None` on a system that has no such identities.
    pub fn of_metadata(metadata: &fs::Metadata) -> Option<Self> {
        #[cfg(unix)]
        return Some(Self::of_std(metadata));
        #[cfg(not(unix))]
        {
            let _ = metadata;
            None
        }
    }

    #[cfg(unix)]
    pub(crate) fn of(metadata: &cap_std::fs::Metadata) -> Self {
        use cap_std::fs::MetadataExt as _;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    #[cfg(unix)]
    pub(crate) fn of_std(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// Returns the number of the file system.
    pub fn device(self) -> u64 {
        self.device
    }

    /// Returns the number of the file in its file system. It is near the order on the disk.
    pub fn inode(self) -> u64 {
        self.inode
    }
}
