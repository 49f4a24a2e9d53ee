//! The folder of `--against`, and the rule for the names of lists in it.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use hashlane_files::{is_absent, walk_files};
use hashlane_sums::Entry;

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
    /// Finds the files of a folder. `failed` gets errors.
    pub(super) fn walk(
        path: &Path,
        follows_links: bool,
        mut failed: impl FnMut(&Path, &io::Error),
    ) -> Self {
        let mut files = HashMap::new();
        for found in walk_files(path, follows_links) {
            match found {
                Ok(file) => {
                    let inside = file.strip_prefix(path).unwrap_or(&file);
                    files.insert(inside.to_owned(), false);
                }
                Err((path, error)) => failed(&path, &error),
            }
        }
        Self {
            path: path.to_owned(),
            files,
            missing: Vec::new(),
        }
    }

    /// Returns the prefix to remove from the names of a list: the one with which most names exist in the folder, or the
    /// first of several. Candidates are none, the name of the folder, and the folder that all names share, also up to
    /// the name of the folder.
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
            Some(PathBuf::new()),
            folder.as_ref().map(PathBuf::from),
            named.filter(|_| folder.is_some()).map(Path::to_owned),
            Some(shared.clone()),
            // Everything lies in the root.
            Some(PathBuf::from("/")).filter(|_| folder.is_none()),
        ];
        let mut best = (0, Prefix(PathBuf::new()));
        for prefix in candidates.into_iter().flatten().map(Prefix) {
            // No other candidate can be better.
            if best.0 == names.len() {
                break;
            }
            let inside = names.iter().filter_map(|name| prefix.inside(name));
            let n_found = inside.filter(|path| self.has(path)).count();
            if n_found > best.0 {
                best = (n_found, prefix);
            }
        }
        best.1
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
pub(super) struct Prefix(PathBuf);

impl Prefix {
    /// Returns the prefix, or `None` if nothing is removed.
    pub(super) fn path(&self) -> Option<&Path> {
        Some(self.0.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// Returns the path below the folder for a name, or `None` if the name does not start with the prefix or leaves the
    /// folder.
    pub(super) fn inside<'n>(&self, name: &'n Path) -> Option<&'n Path> {
        let inside = without_dots(name).strip_prefix(&self.0).ok()?;
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
