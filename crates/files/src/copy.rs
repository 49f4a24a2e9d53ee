//! Copies of files that share their bytes on the disk, where the file system can.

use std::fs::File;
use std::io;

use crate::cancel::CancelToken;
use crate::file::SourceFile;
use crate::positioned::write_all_at;
use crate::sys;

/// Number of bytes to copy before the next look at the token.
const STEP_LEN: u64 = 1 << 20;

/// Gives an empty file the bytes of another file, which both share on the disk until one of them changes (Btrfs, XFS).
///
/// # Errors
/// The system's error. The file systems of most disks cannot share bytes, and no system shares them across file systems.
pub fn clone_file(from: &File, to: &File) -> io::Result<()> {
    sys::clone_file(from, to)
}

/// Gives an empty file the bytes of another file: shared with it if the file system can, or else copied. Holes stay holes.
///
/// # Errors
/// The system's error; `Interrupted` after `cancel`. A part may have been copied.
pub fn clone_or_copy(from: &SourceFile, to: &File, cancel: &CancelToken) -> io::Result<()> {
    if clone_file(&from.file, to).is_ok() {
        return Ok(());
    }
    let mut buffer = vec![0; STEP_LEN.min(from.len_bytes()) as usize];
    let end = from.len_bytes();
    let mut offset = 0;
    while offset < end {
        cancel.check()?;
        let region = from.region_at(offset);
        let region_end = region.range.end.min(end);
        if region.is_hole && region_end > offset {
            offset = region_end;
            continue;
        }
        let len = (region_end.max(offset + 1) - offset).min(STEP_LEN);
        let copied = from.read_at(&mut buffer[..len as usize], offset)?;
        if copied == 0 {
            // The file became shorter meanwhile.
            break;
        }
        write_all_at(to, &buffer[..copied], offset)?;
        offset += copied as u64;
    }
    to.set_len(end)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use super::*;

    #[test]
    fn a_copy_has_the_bytes_and_the_length() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let mut file = File::create(&from).unwrap();
        file.write_all(b"start").unwrap();
        file.seek(SeekFrom::Start(1 << 20)).unwrap();
        file.write_all(b"middle").unwrap();
        file.set_len(3 << 20).unwrap();
        let copy = || File::create(&to).unwrap();
        let source = SourceFile::open(&from).unwrap();
        let cancel = CancelToken::default();
        clone_or_copy(&source, &copy(), &cancel).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), std::fs::read(&from).unwrap());
        cancel.cancel();
        let error = clone_or_copy(&source, &copy(), &cancel);
        // A file system that shares bytes is faster than an interruption.
        if let Err(error) = error {
            assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        }
    }
}
