//! An iterator over the torrents of a session.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::{Category, Failure, Imported, Note, PathMap};

/// Options for reading a session.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Folders with other paths on this machine.
    pub map: PathMap,
    /// The folder with the settings of the program, if they are not where the program keeps them. qBittorrent:
    /// `qBittorrent.conf` and `categories.json`; Transmission: `settings.json`; Deluge: `core.conf` and
    /// `label.conf`.
    pub settings: Option<PathBuf>,
}

/// Returns names in the order of a queue. Those that are not in it come last, and stay in their order.
pub(crate) fn in_order<'q>(
    mut names: Vec<String>,
    queue: impl Iterator<Item = &'q [u8]>,
) -> Vec<String> {
    let places: HashMap<&[u8], usize> = queue.zip(0..).collect();
    names.sort_by_key(|name| places.get(name.as_bytes()).copied().unwrap_or(usize::MAX));
    names
}

/// The torrents of a session: those in the queue of the program in its order, all others in the order of their info-hashes or
/// of the database. A torrent that cannot be read is an error of its own.
#[derive(Default)]
pub struct Torrents {
    rest: Option<Box<dyn ExactSizeIterator<Item = Result<Imported, Failure>> + Send>>,
    notes: Vec<Note>,
    categories: Vec<Category>,
    lock: Option<PathBuf>,
}

impl Torrents {
    /// Returns the torrents with these keys. `read` reads one.
    pub(crate) fn new<K: Send + 'static>(
        keys: Vec<K>,
        read: impl Fn(K) -> Result<Imported, Failure> + Send + 'static,
    ) -> Self {
        Self {
            rest: Some(Box::new(keys.into_iter().map(read))),
            ..Self::default()
        }
    }

    /// Adds the categories of the program.
    pub(crate) fn with_categories(mut self, categories: Vec<Category>) -> Self {
        self.categories = categories;
        self
    }

    /// Looks for a file that exists while the program runs.
    pub(crate) fn locked_by(mut self, locks: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut locks = locks.into_iter();
        let found = locks.find(|lock| lock.symlink_metadata().is_ok());
        self.lock = found.map(|lock| lock.canonicalize().unwrap_or(lock));
        self
    }

    /// Adds a note about all torrents.
    pub(crate) fn with_note(mut self, note: Note) -> Self {
        self.notes.push(note);
        self
    }

    /// Returns the categories that the program has, those without torrents too.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Returns a file that exists while the program runs. A program that was killed leaves it.
    pub fn lock(&self) -> Option<&Path> {
        self.lock.as_deref()
    }

    /// Returns what could not be carried over of any torrent.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

impl Iterator for Torrents {
    type Item = Result<Imported, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest.as_mut()?.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.as_ref().map_or((0, Some(0)), Iterator::size_hint)
    }
}

impl ExactSizeIterator for Torrents {}

impl fmt::Debug for Torrents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torrents")
            .field("remaining", &self.len())
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}
