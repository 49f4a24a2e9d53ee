//! The folder of `--against`, and the rule for the names of lists in it.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use hashlane_files::{Walked, is_absent, walk_files};
use hashlane_sums::Entry;

use super::filter::Filter;

/// The folder of `--against`.
pub(super) struct Folder {
    path: PathBuf,
    /// The files by their paths below the folder, each with whether a list has it. A sorted map would compare paths part by
    /// part, 15 times for each name of a list of 20,000.
    files: HashMap<PathBuf, bool>,
    /// Missing files, with their paths below the folder.
    missing: Vec<(PathBuf, Entry)>,
}

/// The state of a path below the folder.
pub(super) enum Place {
    /// A file or something else, at this path.
    Found(PathBuf),
    Absent,
    /// The path leads out of the folder by a symbolic link.
    Outside,
}

impl Folder {
    /// Finds the files of a folder that `filter` takes. `other` gets all else.
    pub(super) fn walk(
        path: &Path,
        follows_links: bool,
        filter: &Filter,
        mut other: impl FnMut(Walked),
    ) -> Self {
        let mut files = HashMap::new();
        let found = walk_files(path, follows_links);
        for found in found.filter(|found| filter.takes(path, found.path())) {
            match found {
                Walked::File(file) => {
                    let inside = file.strip_prefix(path).unwrap_or(&file);
                    files.insert(inside.to_owned(), false);
                }
                found => other(found),
            }
        }
        Self {
            path: path.to_owned(),
            files,
            missing: Vec::new(),
        }
    }

    /// Returns the prefix to remove from the names of a list: the one with which most names exist in the folder.
    ///
    /// Candidates are the name of the folder, the folder that all names share up to that name, none, and the folder that
    /// all names share. The first of several is taken: where names exist with and without the name of the folder, the
    /// list was probably made outside of it, and the folder holds a copy of itself.
    pub(super) fn prefix_of(&self, names: &[PathBuf]) -> Prefix {
        let folder = match self.path.file_name() {
            Some(name) => Some(name.to_owned()),
            // The path is `.`, ends with `..`, or is the root.
            None => self
                .path
                .canonicalize()
                .ok()
                .and_then(|path| Some(path.file_name()?.to_owned())),
        };
        let shared = shared_folder(names);
        let named = shared
            .ancestors()
            .find(|path| path.file_name() == folder.as_deref());
        let candidates = [
            folder.as_ref().map(PathBuf::from),
            named.filter(|_| folder.is_some()).map(Path::to_owned),
            Some(PathBuf::new()),
            Some(shared.clone()),
            // Everything lies in the root.
            Some(PathBuf::from("/")).filter(|_| folder.is_none()),
        ];
        let mut best = Prefix::default();
        let mut most = 0;
        for path in candidates.into_iter().flatten() {
            if path == best.path && most > 0 {
                continue;
            }
            let candidate = Prefix { path, tied: None };
            match self.count(&candidate, names, most.max(1)) {
                Some(n_found) if n_found > most => {
                    most = n_found;
                    best = candidate;
                }
                Some(_) if best.tied.is_none() => best.tied = Some(candidate.path),
                _ => {}
            }
        }
        best
    }

    /// Returns the number of names that exist in the folder with this prefix, or `None` if they are fewer than `least`.
    fn count(&self, prefix: &Prefix, names: &[PathBuf], least: usize) -> Option<usize> {
        let mut n_found = 0;
        for (position, name) in names.iter().enumerate() {
            // The rest cannot be enough.
            if n_found + (names.len() - position) < least {
                return None;
            }
            let inside = prefix.inside(name);
            n_found += usize::from(inside.is_some_and(|path| self.has(path)));
        }
        (n_found >= least).then_some(n_found)
    }

    /// Returns `true` if a file has this path below the folder.
    pub(super) fn has(&self, inside: &Path) -> bool {
        matches!(self.place(inside), Ok(Place::Found(_)))
    }

    /// Finds the file for a path below the folder. A path that leads out of the folder by a link is never read, unless
    /// links are followed.
    pub(super) fn place(&self, inside: &Path) -> io::Result<Place> {
        let path = self.path.join(inside);
        if self.files.contains_key(inside) {
            return Ok(Place::Found(path));
        }
        // A link, a special file, a name in another letter case, or nothing.
        match path.metadata() {
            Err(error) if is_absent(&error) => Ok(Place::Absent),
            Err(error) => Err(error),
            Ok(_) if path.canonicalize()?.starts_with(self.path.canonicalize()?) => {
                Ok(Place::Found(path))
            }
            Ok(_) => Ok(Place::Outside),
        }
    }

    /// Records that a file is a list that is checked, if it is in the folder.
    pub(super) fn note_list(&mut self, list: &Path) {
        let (Ok(list), Ok(folder)) = (list.canonicalize(), self.path.canonicalize()) else {
            return;
        };
        if let Ok(inside) = list.strip_prefix(folder) {
            self.note_listed(inside);
        }
    }

    /// Records that a list has a file.
    pub(super) fn note_listed(&mut self, inside: &Path) {
        if let Some(is_listed) = self.files.get_mut(inside) {
            *is_listed = true;
        }
    }

    /// Records a missing file. It is reported later, when it is known whether the file moved.
    pub(super) fn note_missing(&mut self, inside: PathBuf, entry: Entry) {
        self.missing.push((inside, entry));
    }

    /// Returns the missing files, each once, and removes them.
    pub(super) fn take_missing(&mut self) -> Vec<Entry> {
        let mut missing: Vec<Entry> = Vec::new();
        let mut by_path: HashMap<PathBuf, usize> = HashMap::new();
        for (path, entry) in self.missing.drain(..) {
            let known = by_path.get(&path);
            let is_known = known.is_some_and(|index| missing[*index].add(&entry));
            if !is_known {
                by_path.insert(path, missing.len());
                missing.push(entry);
            }
        }
        missing
    }

    /// Returns the paths below the folder of the files that no list has, in order.
    pub(super) fn unlisted(&self) -> Vec<&Path> {
        let unlisted = self.files.iter().filter(|(_, is_listed)| !**is_listed);
        let mut unlisted: Vec<&Path> = unlisted.map(|(path, _)| path.as_path()).collect();
        unlisted.sort_unstable();
        unlisted
    }
}

/// The start of the names of a list, which is removed before they are looked up in the folder.
#[derive(Default)]
pub(super) struct Prefix {
    /// Empty if nothing is removed.
    pub(super) path: PathBuf,
    /// Another prefix with which as many names exist in the folder.
    pub(super) tied: Option<PathBuf>,
}

impl Prefix {
    /// Returns the path below the folder for a name, or `None` if the name does not start with the prefix or leaves the
    /// folder.
    pub(super) fn inside<'n>(&self, name: &'n Path) -> Option<&'n Path> {
        let inside = without_dots(name).strip_prefix(&self.path).ok()?;
        let mut components = inside.components();
        let is_inside = components.all(|part| matches!(part, Component::Normal(_)));
        (is_inside && !inside.as_os_str().is_empty()).then_some(inside)
    }
}

/// Returns the innermost folder that contains all names.
fn shared_folder(names: &[PathBuf]) -> PathBuf {
    let mut folders = names.iter().map(|name| {
        let parent = without_dots(name).parent();
        parent.unwrap_or(Path::new(""))
    });
    let mut shared = folders.next().unwrap_or(Path::new("")).to_owned();
    for folder in folders {
        while !folder.starts_with(&shared) {
            // An absolute and a relative path share nothing, not even the root.
            if !shared.pop() {
                shared.clear();
            }
        }
    }
    shared
}

/// Returns a path without `.` at its start. `Path` ignores other dots.
fn without_dots(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}
