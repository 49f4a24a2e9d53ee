//! The space of file systems.

use std::io;
use std::path::Path;

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
        let own = rustix::fs::statvfs(folder);
        let parents = || folder.ancestors().skip(1);
        let space = own.or_else(|error| {
            let of_parent = parents().find_map(|parent| rustix::fs::statvfs(parent).ok());
            of_parent.ok_or(error)
        })?;
        Ok(Self {
            free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
            total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
        })
    }
}
