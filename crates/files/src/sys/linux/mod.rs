//! Linux: holes, guarded maps, and what the kernel knows about the disk.

mod map;
mod sigbus;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, SeekFrom};
use rustix::io::Errno;

pub use map::{MapArena, Window};

/// Opens without waiting for the writer of a named pipe, and without changing the access time if
/// the file is ours (the kernel refuses that with EPERM for the files of others, see open(2)).
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let open = |flags: OFlags| {
        OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
    };
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

/// Where the first data at or after `offset` begins; `None` if a hole reaches to the end.
pub(crate) fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(next_data) => Ok(Some(next_data)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Where the first hole at or after `offset` begins; the end of the file is one.
pub(crate) fn next_hole(file: &File, offset: u64) -> io::Result<u64> {
    Ok(rustix::fs::seek(file, SeekFrom::Hole(offset))?)
}

/// Whether the file at `path` lies on a disk that seeks, as far as the kernel knows.
///
/// File systems that span disks, such as btrfs, have a device number of their own, which leads
/// nowhere: what they lie on is not found out. Otherwise device numbers lead to sysfs: of a whole disk directly, of a partition by the folder above.
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
