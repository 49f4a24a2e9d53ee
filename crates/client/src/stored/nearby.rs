//! Content that is not at its place: where it was found, and files to reuse that could not be used.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashlane_find::{Elsewhere, Surroundings};
use hashlane_verify::{FileIndex, FileState, Report};

use super::{StoredTorrent, VerifySettings};

/// What the user should know about content that is not at its place.
#[derive(Debug, Default)]
pub(crate) struct Nearby {
    /// Missing content that lies near its place under another name.
    pub(crate) elsewhere: Elsewhere,
    /// Files that were found and could not be reused, with the reasons.
    pub(crate) not_reused: Vec<String>,
}

impl StoredTorrent {
    /// Returns what was noted since the last call.
    pub(crate) fn take_nearby(&self) -> Nearby {
        std::mem::take(&mut *lock(&self.nearby))
    }

    /// Notes a file that was found and could not be reused.
    pub(super) fn note_not_reused(&self, note: String) {
        lock(&self.nearby).not_reused.push(note);
    }

    /// Looks for missing files near their places, and notes where they are. All searches of a client share a limit of their work.
    pub(super) fn look_nearby(
        &self,
        missing: impl IntoIterator<Item = FileIndex>,
        settings: &VerifySettings,
    ) {
        let VerifySettings {
            hashing,
            cancel,
            search_budget,
            ..
        } = settings;
        // Folders are listed anew, because they can change before the next search.
        let mut surroundings = Surroundings::new(Arc::clone(search_budget));
        let elsewhere = surroundings.find(&self.content, missing, hashing, cancel);
        lock(&self.nearby).elsewhere = elsewhere;
    }

    /// Does the same for the missing files of a report.
    pub(super) fn look_for_missing(&self, report: &Report, settings: &VerifySettings) {
        let files = report.files().iter();
        let missing = files.filter(|file| file.state == FileState::Missing);
        self.look_nearby(missing.map(|file| file.index), settings);
    }
}

/// Locks a value that is valid whenever its lock is released, so that a poisoned lock is no problem.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
