//! Bytes of a file in the page cache (`cachestat(2)`, or `mincore(2)` before Linux 6.5), and file systems with disks of their own.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd as _;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

/// The number of the system call, which is the same on all architectures that have it, except those listed below.
#[cfg(not(any(
    target_arch = "mips",
    target_arch = "mips64",
    all(target_arch = "x86_64", target_pointer_width = "32")
)))]
const CACHESTAT: libc::c_long = 451;

/// `f_type` of local file systems on which reads past the page cache are fast: ext2 to ext4, XFS, btrfs and F2FS (statfs(2)).
const ON_DISKS: [u64; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010];

/// Returns the number of bytes of a range that are in the page cache, rounded up to pages.
///
/// # Errors
/// The system does not report it: it has no such call, or the user may not write to the file.
pub(crate) fn cached_bytes(file: &File, range: Range<u64>) -> io::Result<u64> {
    match by_cachestat(file, &range) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => by_mincore(file, &range),
        result => result,
    }
}

/// Returns `true` if a file lies on a local file system of a disk.
#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "the type of the field differs between systems"
)]
pub(crate) fn is_on_disk(file: &File) -> bool {
    let kind = rustix::fs::fstatfs(file).map(|status| status.f_type as u64 & 0xffff_ffff);
    kind.is_ok_and(|kind| ON_DISKS.contains(&kind))
}

#[cfg(not(any(
    target_arch = "mips",
    target_arch = "mips64",
    all(target_arch = "x86_64", target_pointer_width = "32")
)))]
fn by_cachestat(file: &File, range: &Range<u64>) -> io::Result<u64> {
    let asked = [range.start, range.end - range.start];
    // Pages in the cache, dirty ones, those being written, and two counts of evicted ones.
    let mut counts = [0_u64; 5];
    // SAFETY: the system reads the two numbers of `asked`, and writes the five of `counts`.
    let result = unsafe {
        libc::syscall(
            CACHESTAT,
            file.as_raw_fd(),
            asked.as_ptr(),
            counts.as_mut_ptr(),
            0,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(counts[0].saturating_mul(page_size() as u64))
}

#[cfg(any(
    target_arch = "mips",
    target_arch = "mips64",
    all(target_arch = "x86_64", target_pointer_width = "32")
))]
fn by_cachestat(_: &File, _: &Range<u64>) -> io::Result<u64> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}

fn by_mincore(file: &File, range: &Range<u64>) -> io::Result<u64> {
    let page = page_size() as u64;
    let start = range.start / page * page;
    let len_bytes = usize::try_from(range.end - start).map_err(io::Error::other)?;
    let mut pages = vec![0_u8; len_bytes.div_ceil(page as usize)];
    // SAFETY: a new map, whose bytes are never read, is unmapped before the function returns. `pages` has a byte for each page.
    let result = unsafe {
        let flags = MapFlags::SHARED;
        let map = mmap(
            std::ptr::null_mut(),
            len_bytes,
            ProtFlags::READ,
            flags,
            file,
            start,
        )?;
        let result = match libc::mincore(map, len_bytes, pages.as_mut_ptr()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        munmap(map, len_bytes)?;
        result
    };
    result?;
    Ok(pages.iter().filter(|flags| **flags & 1 == 1).count() as u64 * page)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::not_run::not_run;

    /// Both calls see the pages that were written, and none after they were dropped.
    #[test]
    fn written_pages_are_cached_until_they_are_dropped() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let len_bytes = 64 * page_size() as u64;
        file.write_all(&vec![1; len_bytes as usize]).unwrap();
        file.sync_all().unwrap();
        let range = 0..len_bytes;
        assert_eq!(by_mincore(&file, &range).unwrap(), len_bytes);
        let by_call = cached_bytes(&file, range.clone()).unwrap();
        assert_eq!(by_call, len_bytes);
        if !is_on_disk(&file) {
            return not_run(
                "dropped pages",
                "the checkout is on no disk",
                "use a checkout on ext4, XFS or Btrfs",
            );
        }
        super::super::drop_pages(&file);
        // Pages that the system is using stay.
        assert!(by_mincore(&file, &range).unwrap() < len_bytes / 2);
        assert!(cached_bytes(&file, range).unwrap() < len_bytes / 2);
    }
}
