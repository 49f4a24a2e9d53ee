//! The mark of a file: the extended attribute `user.hashlane`.

use std::io;

use crate::file::SourceFile;

/// The name of the attribute.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
const NAME: &str = "user.hashlane";

/// Maximum length of a mark in bytes.
const MAX_LEN: usize = 256;

impl SourceFile {
    /// Returns the mark of the file. Returns `None` if the file has none, has a mark of more than 256 bytes, or the file
    /// system has no extended attributes.
    pub fn mark(&self) -> Option<Vec<u8>> {
        let mut mark = vec![0; MAX_LEN];
        let len = self.read_mark(&mut mark).ok()?;
        mark.truncate(len);
        Some(mark)
    }

    /// Sets the mark of the file. The file may be open for reading only.
    ///
    /// # Errors
    /// The system's error; `Unsupported` if the file system has no extended attributes.
    pub fn set_mark(&self, mark: &[u8]) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        return Ok(rustix::fs::fsetxattr(
            &self.file,
            NAME,
            mark,
            rustix::fs::XattrFlags::empty(),
        )?);
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            let _ = mark;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Removes the mark of the file.
    ///
    /// # Errors
    /// The system's error, also if the file has no mark; `Unsupported` if the file system has no extended attributes.
    pub fn remove_mark(&self) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        return Ok(rustix::fs::fremovexattr(&self.file, NAME)?);
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn read_mark(&self, mark: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::fs::fgetxattr(&self.file, NAME, mark)?)
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    #[expect(clippy::unused_self, reason = "other systems have marks")]
    fn read_mark(&self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
