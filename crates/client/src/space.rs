//! The space of file systems.

use std::io;
use std::path::Path;

use hashlane_files::DiskSpace;
use serde::Serialize;

/// The space of the file system of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Space {
    /// Bytes that can be written.
    pub free_bytes: u64,
    /// All bytes.
    pub total_bytes: u64,
}

impl Space {
    /// Returns the space of a folder. One that does not exist yet has that of its parent.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let space = DiskSpace::of(folder)?;
        Ok(Self {
            free_bytes: space.free_bytes,
            total_bytes: space.total_bytes,
        })
    }
}
