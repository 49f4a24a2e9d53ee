//! Functions whose implementation depends on the system.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
pub use linux::{DirectQueue, MapArena, MappedBytes, is_rotational};
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
pub(crate) use linux::{
    cached_bytes, clone_file, disk_extents, drop_pages, is_on_disk, next_data, next_hole,
    open_with_flags, read_at, share_range, shared_extents, write_at, writers,
};

#[cfg(any(not(target_os = "linux"), hashlane_portable))]
mod portable;
#[cfg(any(not(target_os = "linux"), hashlane_portable))]
pub use portable::{DirectQueue, MapArena, MappedBytes, is_rotational};
#[cfg(any(not(target_os = "linux"), hashlane_portable))]
pub(crate) use portable::{
    cached_bytes, clone_file, disk_extents, is_on_disk, next_data, next_hole, read_at,
    shared_extents, write_at,
};
#[cfg(all(unix, any(not(target_os = "linux"), hashlane_portable)))]
pub(crate) use portable::{drop_pages, open_with_flags, share_range, writers};

/// Opens a file for reading, with the flags of [`open_with_flags`].
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    return open_with_flags(|flags| {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags).open(path)
    });
    #[cfg(not(unix))]
    options.open(path)
}

/// Number of open files that [`raise_open_file_limit`] requests: the most that macOS accepts
/// (`OPEN_MAX`). It leaves room for thousands of connections beside the budget of open files.
#[cfg(unix)]
const RAISED_OPEN_FILES: u64 = 10_240;

/// Raises the soft limit on open files of this process to the hard limit, but to at most 10,240.
///
/// Common soft limits of 256 or 1,024 exist for programs that use `select(2)`. Call this function
/// when the program starts, because the first opened file fixes the budget of open files. If the
/// system refuses, the limit stays unchanged.
pub fn raise_open_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let raised = maximum.map_or(RAISED_OPEN_FILES, |hard| hard.min(RAISED_OPEN_FILES));
        if current.is_some_and(|soft| soft < raised) {
            let limit = Rlimit {
                current: Some(raised),
                maximum,
            };
            let _ = setrlimit(Resource::Nofile, limit);
        }
    }
}

/// Returns the number of files that this process may have open. On systems without such a limit,
/// returns 256, the lowest limit in common use.
pub(crate) fn max_open_files() -> u64 {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let limit = Some(256);
    limit.unwrap_or(u64::MAX)
}
