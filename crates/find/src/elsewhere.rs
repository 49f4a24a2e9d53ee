//! Content near the place where it is expected, under other names: renamed files, and a renamed folder.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_metainfo::FileKind;
use hashlane_pipeline::{CancelToken, FileIndex, Options};
use hashlane_verify::{Content, files_of};

use crate::budget::SearchBudget;
use crate::candidates::Candidates;
use crate::found::{FileMatch, FoundTorrent};
use crate::search::{Within, find_within};

/// Maximum number of a folder's entries to look at.
const MAX_ENTRIES: u64 = 10_000;

/// Maximum number of a torrent's files to look for in another folder.
const MAX_FILES: usize = 16;

/// Number of pieces that are hashed of a file at most.
const MAX_PIECES: u64 = 8;

/// Folders near the content of some torrents, listed once each, and a limit of the work of searches in them.
#[derive(Debug, Default)]
pub struct Surroundings {
    listings: HashMap<PathBuf, Listing>,
    indexes: HashMap<PathBuf, FolderIndex>,
    budget: Arc<SearchBudget>,
}

/// Missing content that lies near its place under other names. A piece of each was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    root: Option<OtherRoot>,
    /// Missing files of the torrent, and where they were found.
    files: BTreeMap<FileIndex, PathBuf>,
}

/// A file or folder that has the content of a torrent, under another name than the torrent's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherRoot {
    /// The file, or the folder of the files.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Number of the torrent's files that exist in it with their lengths.
    pub n_files: usize,
    /// Number of the torrent's files that are not empty.
    pub total_files: usize,
}

impl Elsewhere {
    /// Returns the file or folder that has the content, if none of it is at its place.
    pub fn root(&self) -> Option<&OtherRoot> {
        self.root.as_ref()
    }

    /// Returns where a missing file was found.
    pub fn file(&self, file: FileIndex) -> Option<&Path> {
        self.files.get(&file).map(PathBuf::as_path)
    }

    /// Returns the missing files that were found one by one, in order.
    pub fn files(&self) -> impl Iterator<Item = (FileIndex, &Path)> {
        let files = self.files.iter();
        files.map(|(file, path)| (*file, path.as_path()))
    }

    /// Returns `true` if missing files were found one by one.
    pub fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Returns `true` if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.root.is_none() && self.files.is_empty()
    }
}

impl Surroundings {
    /// Returns surroundings whose searches share a limit with others.
    pub fn new(budget: Arc<SearchBudget>) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// Returns the limit of the searches.
    pub fn budget(&self) -> &SearchBudget {
        &self.budget
    }

    /// Looks for missing files of a torrent: in their folders under other names, or if the folder of the content does not exist,
    /// in the folders beside it. Only reads.
    ///
    /// At most 10,000 entries of a folder are looked at. Nothing is found after `cancel` is set, or if the system cannot hash.
    pub fn find(
        &mut self,
        content: &Content,
        missing: impl IntoIterator<Item = FileIndex>,
        options: &Options,
        cancel: &CancelToken,
    ) -> Elsewhere {
        let missing: BTreeSet<FileIndex> = missing.into_iter().collect();
        if missing.is_empty() || cancel.is_cancelled() {
            return Elsewhere::default();
        }
        let mut search = Search {
            content,
            options,
            cancel,
            surroundings: self,
        };
        if content.torrent().is_single_file() {
            let found = search.files(&missing).into_values().next();
            return Elsewhere {
                root: found.map(|path| OtherRoot {
                    path,
                    is_folder: false,
                    n_files: 1,
                    total_files: 1,
                }),
                files: BTreeMap::new(),
            };
        }
        if !content.root().exists() {
            return Elsewhere {
                root: search.folder(),
                files: BTreeMap::new(),
            };
        }
        Elsewhere {
            root: None,
            files: search.files(&missing),
        }
    }

    /// Returns the first paths in a folder, in the order of their names.
    fn entries_of(&self, folder: &Path) -> Vec<PathBuf> {
        let here = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let n_taken = self.budget.take_entries(MAX_ENTRIES);
        let mut entries = here.read_dir().into_iter().flatten();
        let taken = entries.by_ref().take(n_taken as usize).flatten();
        let mut paths: Vec<PathBuf> = taken.map(|it| folder.join(it.file_name())).collect();
        if n_taken < MAX_ENTRIES && entries.next().is_some() {
            self.budget.note_exhausted();
        }
        self.budget.return_entries(n_taken - paths.len() as u64);
        paths.sort_unstable();
        paths
    }

    /// Returns the entries of a folder.
    fn listing(&mut self, folder: &Path) -> &Listing {
        if !self.listings.contains_key(folder) {
            let listing = Listing::new(self.entries_of(folder));
            self.listings.insert(folder.to_owned(), listing);
        }
        &self.listings[folder]
    }

    /// Returns the folders in a folder, by the names of their entries.
    fn index(&mut self, folder: &Path) -> &FolderIndex {
        if !self.indexes.contains_key(folder) {
            let folders = self.listing(folder).folders.clone();
            let mut index = FolderIndex::default();
            for folder in folders {
                let names = self.entries_of(&folder);
                index.add(folder, names.iter().filter_map(|path| path.file_name()));
            }
            index.names.sort_unstable();
            self.indexes.insert(folder.to_owned(), index);
        }
        &self.indexes[folder]
    }
}

/// The entries of a folder, in the order of their names.
#[derive(Debug, Default)]
struct Listing {
    folders: Vec<PathBuf>,
    /// Regular files, by their lengths in bytes.
    files: HashMap<u64, Vec<PathBuf>>,
}

impl Listing {
    fn new(entries: Vec<PathBuf>) -> Self {
        let mut listing = Self::default();
        for path in entries {
            match path.metadata() {
                Ok(metadata) if metadata.is_dir() => listing.folders.push(path),
                Ok(metadata) if metadata.is_file() => {
                    listing.files.entry(metadata.len()).or_default().push(path);
                }
                _ => {}
            }
        }
        listing
    }
}

/// Folders by the names of their entries. A library has a million of these names, so only their hashes are kept: a folder
/// that an equal hash adds lacks the file.
#[derive(Debug, Default)]
struct FolderIndex {
    folders: Vec<PathBuf>,
    hasher: RandomState,
    /// Hashes of names and the positions of their folders, in order.
    names: Vec<(u64, u32)>,
}

impl FolderIndex {
    fn add<'n>(&mut self, folder: PathBuf, names: impl Iterator<Item = &'n OsStr>) {
        // A folder has at most `MAX_ENTRIES` folders.
        let position = self.folders.len() as u32;
        let names = names.map(|name| (self.hasher.hash_one(name), position));
        self.names.extend(names);
        self.folders.push(folder);
    }

    /// Returns the positions of the folders that have an entry of this name.
    fn with(&self, name: &OsStr) -> impl Iterator<Item = u32> {
        let hash = self.hasher.hash_one(name);
        let start = self.names.partition_point(|(other, _)| *other < hash);
        let names = self.names[start..].iter();
        names
            .take_while(move |(other, _)| *other == hash)
            .map(|(_, position)| *position)
    }
}

struct Search<'c> {
    content: &'c Content,
    options: &'c Options,
    cancel: &'c CancelToken,
    surroundings: &'c mut Surroundings,
}

impl Search<'_> {
    /// Returns the files that have the content of missing ones, in the same folders. A file is left out if several have its
    /// content: nothing decides between them.
    fn files(&mut self, missing: &BTreeSet<FileIndex>) -> BTreeMap<FileIndex, PathBuf> {
        let torrent = self.content.torrent();
        let path_of = |file: FileIndex| self.content.path_of(file).ok();
        let own: HashSet<PathBuf> = files_of(torrent)
            .filter_map(|(file, _)| path_of(file))
            .collect();
        // The folders of missing files, and the lengths of these files.
        let mut folders: BTreeMap<PathBuf, BTreeSet<u64>> = BTreeMap::new();
        for file in missing {
            if let Some(folder) = path_of(*file).as_deref().and_then(Path::parent) {
                let lens = folders.entry(folder.to_owned()).or_default();
                lens.insert(torrent.file(file.get()).length());
            }
        }
        let mut others = Vec::new();
        for (folder, lens) in folders {
            let files = &self.surroundings.listing(&folder).files;
            let fitting = lens.iter().filter_map(|len_bytes| files.get(len_bytes));
            let fitting = fitting.flatten().filter(|path| !own.contains(*path));
            others.extend(fitting.cloned());
        }
        let (candidates, found) = self.search(others, missing);
        let found = found
            .into_iter()
            .flat_map(|found| found.files.into_iter().enumerate());
        let found = found.map(|(index, file)| (FileIndex::new(index), file));
        let found = found.filter(|(file, _)| missing.contains(file));
        let decided = found.filter_map(|(index, file)| match file {
            FileMatch::Identified(place) if !place.others.is_empty() => None,
            file => Some((index, candidates.path(file.candidate()?).to_owned())),
        });
        decided.collect()
    }

    /// Compares files with some of the torrent by a few pieces.
    fn search(
        &mut self,
        paths: Vec<PathBuf>,
        files: &BTreeSet<FileIndex>,
    ) -> (Candidates, Option<FoundTorrent>) {
        if paths.is_empty() {
            return (Candidates::default(), None);
        }
        let budget = &*self.surroundings.budget;
        let torrent = self.content.torrent();
        let piece_length = u64::from(torrent.lengths().piece_length().get());
        let max_files = (budget.bytes_left() / piece_length / MAX_PIECES).max(1);
        let n_paths = paths.len() as u64;
        let candidates = Candidates::of_files([torrent], paths, max_files as usize);
        if candidates.seen() < n_paths {
            budget.note_exhausted();
        }
        let (options, cancel) = (self.options, self.cancel);
        let findings = find_within(
            &[torrent],
            &candidates,
            Some(Within { budget, files }),
            options,
            cancel,
            &mut |_| (),
        );
        let found = findings.map_or_else(|_| Vec::new(), |findings| findings.torrents);
        (candidates, found.into_iter().next())
    }

    /// Returns the folder beside the expected one that has the content. Returns `None` if several have it: nothing decides
    /// between them.
    fn folder(&mut self) -> Option<OtherRoot> {
        let parent = self.content.root().parent()?;
        let root = self.content.root();
        let first = self.with_content().take(MAX_FILES);
        let first = first.filter_map(|(file, _)| self.content.path_of(file).ok());
        let names = first.filter_map(|path| {
            let below = path.strip_prefix(root).ok()?;
            Some(below.components().next()?.as_os_str().to_owned())
        });
        let names: BTreeSet<OsString> = names.collect();
        let index = self.surroundings.index(parent);
        let folders: BTreeSet<u32> = names.iter().flat_map(|name| index.with(name)).collect();
        let folders = folders.into_iter();
        let folders = folders.map(|position| index.folders[position as usize].clone());
        let folders: Vec<PathBuf> = folders.collect();
        let first = folders
            .iter()
            .flat_map(|folder| self.first_files_in(folder));
        let first: Vec<PathBuf> = first.collect();
        let asked = self.with_content().take(MAX_FILES);
        let asked: BTreeSet<FileIndex> = asked.map(|(file, _)| file).collect();
        let (candidates, found) = self.search(first, &asked);
        let found = found?;
        let named = found.named(self.content.torrent(), &candidates)?;
        let is_unique = |file: &FileIndex| match &found.files[file.get()] {
            FileMatch::Identified(place) => place.others.is_empty(),
            _ => true,
        };
        if !named.files.iter().any(is_unique) {
            return None;
        }
        let path = named.path;
        let n_files = self
            .paths_in(&path)
            .filter(|(path, length)| has_length(path, *length))
            .count();
        let total_files = self.paths_in(&path).count();
        Some(OtherRoot {
            path,
            is_folder: true,
            n_files,
            total_files,
        })
    }

    /// Returns the first of the torrent's files that exist in a folder with their lengths.
    fn first_files_in(&self, folder: &Path) -> Vec<PathBuf> {
        let first = self.paths_in(folder).take(MAX_FILES);
        let existing = first.filter(|(path, length)| has_length(path, *length));
        existing.map(|(path, _)| path).collect()
    }

    /// Returns the paths and lengths of the torrent's files in a folder.
    fn paths_in(&self, folder: &Path) -> impl Iterator<Item = (PathBuf, u64)> {
        let content = Content::at(self.content.torrent(), folder).ok();
        self.with_content().filter_map(move |(index, len_bytes)| {
            let path = content.as_ref()?.path_of(index).ok()?;
            Some((path, len_bytes))
        })
    }

    /// Returns the files of the torrent that have content, and their lengths in bytes.
    fn with_content(&self) -> impl Iterator<Item = (FileIndex, u64)> {
        let files = files_of(self.content.torrent());
        let regular = files.filter(|(_, file)| file.kind() == FileKind::Regular);
        let lens = regular.map(|(index, file)| (index, file.length()));
        lens.filter(|(_, len_bytes)| *len_bytes > 0)
    }
}

fn has_length(path: &Path, length: u64) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.len() == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of a folder that are left out are noted, also if some of its entries are still looked at.
    #[test]
    fn a_budget_that_ends_in_a_folder_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let empty = tempfile::tempdir().unwrap();
        for (n_left, n_seen) in [(4, 3), (3, 3), (2, 2), (0, 0)] {
            let surroundings = Surroundings::default();
            let budget = surroundings.budget();
            budget.take_entries(u64::MAX);
            budget.return_entries(n_left);
            assert_eq!(surroundings.entries_of(folder.path()).len(), n_seen);
            assert_eq!(budget.is_exhausted(), n_seen < 3, "{n_left} left");
            assert!(surroundings.entries_of(empty.path()).is_empty());
            assert_eq!(budget.is_exhausted(), n_seen < 3, "{n_left} left");
        }
    }
}
