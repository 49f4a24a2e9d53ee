//! Detection of files that change while they are hashed.

use std::fs::Metadata;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(unix)]
use cap_std::time::SystemTime as SystemTimeOfCap;

use crate::file_id::FileId;

/// Properties that change when a file is written to or replaced: its length, times and identity, and whether it is executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    pub(crate) modified: Option<SystemTime>,
    /// Device and inode, on systems that have them.
    id: Option<(u64, u64)>,
    /// Time of the last change of content or metadata, in seconds and nanoseconds, on systems that
    /// record it. Unlike the modification time, programs cannot set it back.
    changed: Option<(i64, i64)>,
    is_executable: bool,
}

impl Stamp {
    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns `true` if the owner may execute the file. Always `false` on systems without this
    /// permission.
    pub fn is_executable(&self) -> bool {
        self.is_executable
    }

    /// Returns the time of modification, if the system has one.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Returns the number of the file in its file system, if the system has one.
    pub fn inode(&self) -> Option<u64> {
        self.id.map(|(_, inode)| inode)
    }

    /// Returns the identity of the file, if the system has one.
    pub fn file_id(&self) -> Option<FileId> {
        let (device, inode) = self.id?;
        Some(FileId::new(device, inode))
    }

    /// Returns the time of modification in nanoseconds since 1970, if the system has one. Times beyond the years 1677 and
    /// 2262 are cut off there.
    pub fn modified_ns(&self) -> Option<i64> {
        self.modified
            .map(|time| match time.duration_since(UNIX_EPOCH) {
                Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
                Err(before) => {
                    i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns)
                }
            })
    }

    /// Returns the time of the last change of content or metadata in nanoseconds since 1970, cut off as
    /// [`Self::modified_ns`] is, if the system records it.
    pub fn changed_ns(&self) -> Option<i64> {
        let (seconds, nanos) = self.changed?;
        Some(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
    }

    /// Waits until any later write is certain to change the times of its file. Waits only if a file was changed just now, and for
    /// [`TICK`] at most.
    pub fn settle<'s>(stamps: impl IntoIterator<Item = &'s Self>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let Some(now) = now.ok().and_then(|now| i64::try_from(now.as_nanos()).ok()) else {
            return;
        };
        let ages = stamps
            .into_iter()
            .filter_map(|stamp| now.checked_sub(stamp.changed_ns()?))
            // A time in the future is of another clock.
            .filter_map(|age| u64::try_from(age).ok());
        let age = ages.min();
        let rest = age.and_then(|age| TICK.checked_sub(Duration::from_nanos(age)));
        if let Some(rest) = rest {
            std::thread::sleep(rest);
        }
    }

    /// Returns the stamp of the file with these properties.
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (id, changed, is_executable) = {
            use std::os::unix::fs::MetadataExt as _;
            let id = (metadata.dev(), metadata.ino());
            let changed = (metadata.ctime(), metadata.ctime_nsec());
            (Some(id), Some(changed), is_executable(metadata.mode()))
        };
        #[cfg(not(unix))]
        let (id, changed, is_executable) = (None, None, false);
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            id,
            changed,
            is_executable,
        }
    }
}

#[cfg(unix)]
impl Stamp {
    /// Returns the stamp of the regular file at `path`, or `None` if there is something else. A link is something else.
    ///
    /// # Errors
    /// The system's error.
    pub fn of_regular(path: &Path) -> io::Result<Option<Self>> {
        let metadata = path.symlink_metadata()?;
        Ok(metadata.is_file().then(|| Self::of(&metadata)))
    }

    /// Returns the stamp of a file by the answer of `stat`.
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        clippy::cast_lossless,
        clippy::cast_sign_loss,
        reason = "the types of the fields differ between systems"
    )]
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        let nanos = Duration::from_nanos(stat.st_mtime_nsec as u64);
        let seconds = Duration::from_secs((stat.st_mtime as i64).unsigned_abs());
        let modified = if stat.st_mtime < 0 {
            UNIX_EPOCH.checked_sub(seconds)
        } else {
            UNIX_EPOCH.checked_add(seconds)
        };
        Self {
            length: stat.st_size as u64,
            modified: modified.and_then(|time| time.checked_add(nanos)),
            id: Some((stat.st_dev as u64, stat.st_ino as u64)),
            changed: Some((stat.st_ctime as i64, stat.st_ctime_nsec as i64)),
            is_executable: is_executable(stat.st_mode as u32),
        }
    }

    /// Returns the stamp of a file below a [`Root`](crate::Root).
    pub(crate) fn of_entry(metadata: &cap_std::fs::Metadata) -> Self {
        use cap_std::fs::MetadataExt as _;
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok().map(SystemTimeOfCap::into_std),
            id: Some((metadata.dev(), metadata.ino())),
            changed: Some((metadata.ctime(), metadata.ctime_nsec())),
            is_executable: is_executable(metadata.mode()),
        }
    }

    /// Returns `true` if this is the state of the same file after it got another name, which changes
    /// the time of the last change.
    pub(crate) fn is_renamed_from(&self, before: &Self) -> bool {
        let unchanged = |stamp: &Self| (stamp.length, stamp.modified, stamp.id);
        unchanged(self) == unchanged(before)
    }
}

#[cfg(unix)]
fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

/// Longer than the resolution of file times, since a tick of the kernel is at most 10 ms. A write that comes this long after
/// another one changes the times of its file.
pub const TICK: Duration = Duration::from_millis(20);
