//! Detection of files that change while they are hashed.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

#[cfg(unix)]
use cap_std::time::SystemTime as SystemTimeOfCap;

/// Properties that change when a file is written to or replaced: its length, times and identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    pub(crate) modified: Option<SystemTime>,
    /// Device and inode, on systems that have them.
    id: Option<(u64, u64)>,
    /// Time of the last change of content or metadata, in seconds and nanoseconds, on systems that
    /// record it. Unlike the modification time, programs cannot set it back.
    changed: Option<(i64, i64)>,
}

impl Stamp {
    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the time of modification, if the system has one.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (id, changed) = {
            use std::os::unix::fs::MetadataExt as _;
            let id = (metadata.dev(), metadata.ino());
            (Some(id), Some((metadata.ctime(), metadata.ctime_nsec())))
        };
        #[cfg(not(unix))]
        let (id, changed) = (None, None);
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            id,
            changed,
        }
    }
}

#[cfg(unix)]
impl Stamp {
    /// Returns the stamp of a file below a [`Root`](crate::Root).
    pub(crate) fn of_entry(metadata: &cap_std::fs::Metadata) -> Self {
        use cap_std::fs::MetadataExt as _;
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok().map(SystemTimeOfCap::into_std),
            id: Some((metadata.dev(), metadata.ino())),
            changed: Some((metadata.ctime(), metadata.ctime_nsec())),
        }
    }

    /// Returns `true` if this is the state of the same file after it got another name, which changes
    /// the time of the last change.
    pub(crate) fn is_renamed_from(&self, before: &Self) -> bool {
        let unchanged = |stamp: &Self| (stamp.length, stamp.modified, stamp.id);
        unchanged(self) == unchanged(before)
    }
}

/// Longer than the resolution of file times, since a tick of the kernel is at most 10 ms.
pub(crate) const TICK: Duration = Duration::from_millis(20);
