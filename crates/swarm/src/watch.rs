//! Detects that files changed after their verification.
//!
//! Every read of a served file is compared with the state of the file before the verification: its length, its times of
//! modification and of change, and its inode. The first difference, or a failed read, makes the file a suspect: nothing
//! more is read from it until it has been verified again. A file system stores times with a limited resolution, so a
//! change in the same tick of the kernel's clock as the stamp (at most 10 ms) goes unnoticed.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use hashlane_files::{Stamp, is_out_of_descriptors};

/// The state of each file of a torrent at one time: `None` for a file that is absent. The default watches no file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamps(pub(crate) Vec<Option<Stamp>>);

impl Stamps {
    /// Returns the state of each file in the order of the torrent, which includes padding. `None` is a file that is absent
    /// or empty, or is not a regular file.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Stamp>> {
        self.0.iter().map(Option::as_ref)
    }
}

/// The error of a read from a suspect. It concerns only the requesting peer.
#[derive(Debug, thiserror::Error)]
#[error("the file changed and has not been verified yet")]
pub(crate) struct Suspect;

impl From<Suspect> for io::Error {
    fn from(error: Suspect) -> Self {
        Self::other(error)
    }
}

/// Returns `true` if an error is [`Suspect`].
pub(crate) fn is_suspect(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Suspect>())
}

/// The watched files of a torrent. No file is watched before the first verification or during a download.
#[derive(Debug, Default)]
pub(crate) struct Watch(RwLock<Arc<WatchedFiles>>);

#[derive(Debug, Default)]
struct WatchedFiles {
    files: Vec<WatchedFile>,
    has_suspects: AtomicBool,
}

#[derive(Debug)]
struct WatchedFile {
    stamp: Option<Stamp>,
    is_suspect: AtomicBool,
}

impl Watch {
    /// Starts to compare all files with these stamps. No file is a suspect any more.
    pub(crate) fn start(&self, stamps: Stamps) {
        let files = stamps.0.into_iter().map(|stamp| WatchedFile {
            stamp,
            is_suspect: AtomicBool::new(false),
        });
        let watched = Arc::new(WatchedFiles {
            files: files.collect(),
            has_suspects: AtomicBool::new(false),
        });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = watched;
    }

    /// Returns `true` if a file is a suspect.
    pub(crate) fn has_suspects(&self) -> bool {
        self.watched().has_suspects.load(Ordering::Relaxed)
    }

    /// Returns `true` if files are watched and one of them differs from `now`.
    pub(crate) fn differs_from(&self, now: &Stamps) -> bool {
        let watched = self.watched();
        let files = &watched.files;
        !files.is_empty() && !files.iter().map(|file| &file.stamp).eq(&now.0)
    }

    /// Returns `true` if a file is watched and differs from `now`.
    pub(crate) fn file_differs_from(&self, index: usize, now: &Stamp) -> bool {
        let watched = self.watched();
        let file = watched.files.get(index);
        file.is_some_and(|file| file.stamp.as_ref() != Some(now))
    }

    /// Calls `read`, which returns the stamp of the file. A file that differs or cannot be read becomes a suspect.
    pub(crate) fn read(
        &self,
        index: usize,
        read: impl FnOnce() -> io::Result<Stamp>,
    ) -> io::Result<()> {
        let watched = self.watched();
        let Some(file) = watched.files.get(index) else {
            return read().map(drop);
        };
        if file.is_suspect.load(Ordering::Relaxed) {
            return Err(Suspect.into());
        }
        match read() {
            // A lack of descriptors is no property of the file.
            Err(error) if is_out_of_descriptors(&error) => return Err(error),
            Ok(stamp) if Some(&stamp) == file.stamp.as_ref() => return Ok(()),
            _ => {}
        }
        file.is_suspect.store(true, Ordering::Relaxed);
        watched.has_suspects.store(true, Ordering::Relaxed);
        Err(Suspect.into())
    }

    /// Returns the files without holding the lock: a read can take long, and must not delay [`Self::start`].
    fn watched(&self) -> Arc<WatchedFiles> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}
