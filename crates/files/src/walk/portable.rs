//! Folders listed by their paths.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Entry, Step, WalkOrder, Wanted};
use crate::stamp::Stamp;

/// The identity of a folder: its canonical path.
pub(super) type FolderId = PathBuf;

/// The path of a folder.
#[derive(Debug)]
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn of(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Replaces a path below the folder by that of the entry with this name.
    pub(super) fn enter(&self, path: &mut PathBuf, name: &OsStr) {
        *path = self.0.join(name);
    }
}

/// The entries of a folder.
#[derive(Debug)]
pub(super) struct Level {
    /// The names, and the entries that are not visited yet. The next one is the last.
    entries: Vec<(OsString, Entry)>,
    /// The name of the last entry that was visited.
    last: OsString,
}

impl Level {
    /// Lists the folder at a path. Returns its identity if links are followed.
    pub(super) fn list(
        folder: &Path,
        _is_link: bool,
        wanted: Wanted,
    ) -> io::Result<(Self, Option<FolderId>)> {
        let id = wanted.follows_links.then(|| folder.canonicalize());
        let id = id.transpose()?;
        let mut entries = Vec::new();
        for entry in folder.read_dir()? {
            let entry = entry?;
            let is_link = wanted.follows_links && entry.file_type()?.is_symlink();
            let metadata = if is_link {
                fs::metadata(entry.path())
            } else {
                entry.metadata()
            };
            let step = match metadata {
                Ok(it) if it.is_file() => Step::File(Some(Stamp::of(&it))),
                Ok(it) if it.is_dir() => Step::Folder,
                Ok(it) if it.is_symlink() => Step::Link,
                Ok(_) => Step::Special,
                // It vanished meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => continue,
                Err(error) => Step::Failed(error),
            };
            entries.push((entry.file_name(), Entry { step, is_link }));
        }
        let last = OsString::new();
        Ok((Self { entries, last }, id))
    }

    pub(super) fn sort(&mut self, order: WalkOrder) {
        let is_folder = |entry: &Entry| matches!(entry.step, Step::Folder);
        self.entries.sort_unstable_by(|(a, entry_a), (b, entry_b)| {
            order.compare((b, is_folder(entry_b)), (a, is_folder(entry_a)))
        });
    }

    /// Returns the next entry and its name.
    pub(super) fn next_entry(&mut self) -> Option<(&OsStr, Entry)> {
        let (name, entry) = self.entries.pop()?;
        self.last = name;
        Some((&self.last, entry))
    }
}
