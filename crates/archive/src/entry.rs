//! The files of a catalogue, for those who read it.

use hashlane_sha::Sha256Digest;

use crate::catalogue::Catalogue;
use crate::error::Reason;

/// A file of the catalogue.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry<'e> {
    /// Path below the folder of the archive, with slashes between components.
    pub path: &'e [u8],
    /// Length in bytes.
    pub size: u64,
    /// Time of modification in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Time of the last change of content or metadata in nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Number of the file in its file system.
    pub inode: u64,
    /// SHA-256 of the content that the file should have.
    pub digest: Sha256Digest,
    /// Time at which this content was first read, in seconds since 1970.
    pub first_checked: i64,
    /// Time at which the file was last read, in seconds since 1970.
    pub last_checked: i64,
    /// Time at which rot was first found, in seconds since 1970.
    pub rot_since: Option<i64>,
}

impl Catalogue {
    /// Calls `visit` with each file, in the order of the bytes of the paths.
    ///
    /// # Errors
    /// The catalogue cannot be read, or the error of `visit`.
    pub fn for_each<E: From<crate::Error>>(
        &self,
        mut visit: impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        enum Failure<E> {
            Read(Reason),
            Visit(E),
        }
        impl<E> From<Reason> for Failure<E> {
            fn from(reason: Reason) -> Self {
                Self::Read(reason)
            }
        }
        let result = self.each(|path, record| {
            let entry = Entry {
                path,
                size: record.state.size.unsigned_abs(),
                mtime_ns: record.state.mtime_ns,
                ctime_ns: record.state.ctime_ns,
                inode: record.state.inode.cast_unsigned(),
                digest: record.digest,
                first_checked: record.first_checked,
                last_checked: record.last_checked,
                rot_since: record.rot_since,
            };
            visit(entry).map_err(Failure::Visit)
        });
        result.map_err(|failure| match failure {
            Failure::Read(reason) => reason.at(self.path()).into(),
            Failure::Visit(error) => error,
        })
    }
}
