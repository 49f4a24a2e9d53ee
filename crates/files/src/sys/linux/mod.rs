//! Linux: holes, guarded maps, places on disks, and detection of rotational disks.

mod cached;
mod direct;
mod extents;
mod lease;
mod map;
mod share;
mod sigbus;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, OFlags, SeekFrom};
use rustix::io::Errno;

pub(crate) use cached::{cached_bytes, is_on_disk};
pub use direct::DirectQueue;
pub(crate) use extents::{disk_extents, shared_extents};
pub(crate) use lease::writers;
pub use map::{MapArena, MappedBytes};
pub(crate) use share::share_range;

/// Opens a file with flags for `open(2)`. A named pipe does not wait for its writer, and the access
/// time stays unchanged if the user owns the file. For other files, the system refuses the second
/// flag with EPERM.
pub(crate) fn open_with_flags<T>(mut open: impl FnMut(i32) -> io::Result<T>) -> io::Result<T> {
    let mut open = |flags: OFlags| open(flags.bits().cast_signed());
    match open(OFlags::NONBLOCK | OFlags::NOATIME) {
        Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
            open(OFlags::NONBLOCK)
        }
        result => result,
    }
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    file.write_at(bytes, offset)
}

/// Drops the pages of a file that are on the disk from the page cache, except those that a process
/// maps. Starts to write all other pages (`posix_fadvise(2)`). This is advice: errors are ignored.
pub(crate) fn drop_pages(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
}

/// Gives a file the bytes of another file, which both share on the disk (`ioctl_ficlone(2)`).
pub(crate) fn clone_file(from: &File, to: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

/// Returns the offset of the first data at or after `offset`, or `None` if a hole reaches to the
/// end.
pub(crate) fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(next_data) => Ok(Some(next_data)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the offset of the first hole at or after `offset`. The end of the file counts as a hole.
pub(crate) fn next_hole(file: &File, offset: u64) -> io::Result<u64> {
    Ok(rustix::fs::seek(file, SeekFrom::Hole(offset))?)
}

/// Returns `true` if the kernel reports that the file at `path` is on a rotational disk.
///
/// Device numbers lead to sysfs: directly for a disk, through the parent folder for a partition. A
/// file system that spans several disks, such as btrfs, has a device number of its own. For such a
/// file system the result is `false`.
pub fn is_rotational(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else {
        return false;
    };
    let (major, minor) = (
        rustix::fs::major(metadata.dev()),
        rustix::fs::minor(metadata.dev()),
    );
    let Ok(device) = PathBuf::from(format!("/sys/dev/block/{major}:{minor}")).canonicalize() else {
        return false;
    };
    let queue = [Some(device.as_path()), device.parent()]
        .into_iter()
        .flatten();
    let rotational = queue.map(|device| fs::read(device.join("queue/rotational")));
    rotational
        .into_iter()
        .find_map(Result::ok)
        .is_some_and(|value| value.starts_with(b"1"))
}
