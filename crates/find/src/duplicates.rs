//! Files with equal bytes.

mod file;
mod hash;
#[cfg(unix)]
mod link;
mod parts;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hashlane_files::{FileId, Stamp};
use hashlane_pipeline::{CancelToken, Error, Options, Progress};

use crate::walk::visit_files;
use file::CHANGED;
pub use file::{DuplicateFile, DuplicateGroup};
use hash::Hashing;
#[cfg(unix)]
pub use link::{DuplicateLink, LinkedName, link_duplicates};
use parts::{ENDS_LEN, Ends, Pieces};

/// The regular files below some folders whose length another file has, too.
#[derive(Debug, Default)]
pub struct SameLength {
    folders: Vec<PathBuf>,
    files: Vec<DuplicateFile>,
    /// Files of one length, at least two.
    groups: Vec<Vec<u32>>,
    errors: Vec<(PathBuf, io::Error)>,
    #[cfg(unix)]
    unfinished: Vec<PathBuf>,
    n_names: u64,
}

/// The result of a search for duplicates.
#[derive(Debug)]
#[non_exhaustive]
pub struct Duplicates {
    /// The groups, those that take most space first.
    pub groups: Vec<DuplicateGroup>,
    /// Files that could not be read, or that changed while they were read, with the reasons. They are in no group.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    /// Number of bytes that were hashed.
    pub hashed_bytes: u64,
}

impl SameLength {
    /// Walks the folders, and keeps the files whose length another file has, too. Empty files are left out unless
    /// `with_empty`. All names of a file (hard links) are one file. Symbolic links are not followed. A folder that is below
    /// another one is walked once.
    ///
    /// `progress` gets the number of names that were seen so far. After `cancel` is set, the function returns what it has.
    /// Folders that cannot be read are in [`Self::errors`].
    pub fn collect(
        folders: &[PathBuf],
        with_empty: bool,
        cancel: &CancelToken,
        mut progress: impl FnMut(u64),
    ) -> Self {
        let mut found = Self {
            folders: folders.to_vec(),
            ..Self::default()
        };
        let mut seen = Vec::new();
        for folder in without_nested(folders) {
            visit_files(folder, |file| {
                if cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                found.n_names += 1;
                progress(found.n_names);
                match file {
                    #[cfg(unix)]
                    Ok((path, _)) if is_unfinished(&path) => found.unfinished.push(path),
                    Ok((_, stamp)) if stamp.length() == 0 && !with_empty => {}
                    Ok(file) => seen.push(file),
                    Err(error) => found.errors.push(error),
                }
                ControlFlow::Continue(())
            });
        }
        if cancel.is_cancelled() {
            return found;
        }
        found.group(seen);
        found
    }

    /// Groups the files of one length, each with all of its names.
    fn group(&mut self, mut seen: Vec<(PathBuf, Stamp)>) {
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for (_, stamp) in &seen {
            *counts.entry(stamp.length()).or_default() += 1;
        }
        seen.retain(|(_, stamp)| counts[&stamp.length()] > 1);
        // The sort is stable: names stay in the order of the walk.
        seen.sort_by_key(|(_, stamp)| stamp.length());
        let mut by_id: HashMap<FileId, u32> = HashMap::new();
        let mut group = Vec::new();
        let mut len_bytes = None;
        for (path, stamp) in seen {
            if len_bytes != Some(stamp.length()) {
                len_bytes = Some(stamp.length());
                by_id.clear();
                self.add_group(&mut group);
            }
            let next = self.files.len() as u32;
            let id = stamp.file_id();
            let file = id.map_or(next, |id| *by_id.entry(id).or_insert(next));
            if file == next {
                group.push(next);
                self.files.push(DuplicateFile {
                    names: vec![path],
                    stamp,
                    inode: id.map_or(0, FileId::inode),
                });
            } else {
                self.files[file as usize].names.push(path);
            }
        }
        self.add_group(&mut group);
    }

    fn add_group(&mut self, group: &mut Vec<u32>) {
        let group = std::mem::take(group);
        if group.len() > 1 {
            self.groups.push(group);
        }
    }

    /// Returns the number of all names that were seen, of files of any length.
    pub fn seen(&self) -> u64 {
        self.n_names
    }

    /// Returns the number of files whose length another file has.
    pub fn len(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Returns `true` if each file has a length of its own.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the files and folders that could not be read, with the reasons.
    pub fn errors(&self) -> &[(PathBuf, io::Error)] {
        &self.errors
    }

    /// Returns the names that a killed process left when it replaced duplicates by hard links. They are in no group; see
    /// [`hashlane_files::remove_unfinished_link`].
    #[cfg(unix)]
    pub fn unfinished(&self) -> &[PathBuf] {
        &self.unfinished
    }

    /// Finds the files with equal bytes: by the first and the last block, then by all bytes. A file that changed meanwhile
    /// is left out.
    ///
    /// `progress` gets the state of the current round. After `cancel` is set, the function returns soon, without groups.
    ///
    /// # Errors
    /// An [`Error`] if nothing can be hashed at all.
    pub fn find(
        mut self,
        options: &Options,
        cancel: &CancelToken,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Duplicates, Error> {
        let groups = std::mem::take(&mut self.groups);
        let mut hashing = Hashing::new(&self.folders, &self.files, options, cancel);
        let (empty, groups): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| self.length(group) == 0);
        let ends = Ends::of(hashing.in_disk_order(&groups), &self.files);
        let digests = hashing.run_ends(&ends, progress)?;
        let groups = refine(groups, &digests);
        // The ends of the others are all of their bytes.
        let (long, mut equal): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| self.length(group) > ENDS_LEN);
        for files in Pieces::rounds(hashing.in_disk_order(&long), &self.files) {
            let pieces = Pieces::of(files, &self.files);
            hashing.run_pieces(&pieces, progress)?;
        }
        equal.extend(refine(long, hashing.wholes()));
        equal.extend(empty);
        let (mut unreadable, hashed_bytes) = hashing.finish();
        if cancel.is_cancelled() {
            equal.clear();
        }
        let mut groups = Vec::new();
        for mut group in equal {
            group.retain(|file| {
                let error = changed(&self.files[*file as usize]);
                let is_unchanged = error.is_none();
                unreadable.extend(error.map(|error| (*file, error)));
                is_unchanged
            });
            group.sort_unstable();
            if group.len() > 1 {
                groups.push(DuplicateGroup {
                    len_bytes: self.length(&group),
                    files: group
                        .iter()
                        .map(|file| self.files[*file as usize].clone())
                        .collect(),
                });
            }
        }
        groups.sort_by(|a, b| {
            let key = |group: &DuplicateGroup| Reverse(group.excess_bytes());
            (key(a), &a.files[0].names).cmp(&(key(b), &b.files[0].names))
        });
        unreadable.sort_by_key(|(file, _)| *file);
        let path = |file: u32| self.files[file as usize].names[0].clone();
        let unreadable = unreadable
            .into_iter()
            .map(|(file, error)| (path(file), error));
        Ok(Duplicates {
            groups,
            unreadable: unreadable.collect(),
            hashed_bytes,
        })
    }

    /// Returns the length of the files of a group.
    fn length(&self, group: &[u32]) -> u64 {
        self.files[group[0] as usize].stamp.length()
    }
}

#[cfg(unix)]
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| hashlane_files::UNFINISHED_LINKS.contains(name))
}

/// Splits groups by the digests of their files. Files without a digest, and those with a digest of their own, are left out.
fn refine<D: Ord>(groups: Vec<Vec<u32>>, digests: &HashMap<u32, D>) -> Vec<Vec<u32>> {
    let mut refined = Vec::new();
    for mut group in groups {
        group.retain(|file| digests.contains_key(file));
        group.sort_by(|a, b| digests[a].cmp(&digests[b]));
        let equal = group.chunk_by(|a, b| digests[a] == digests[b]);
        refined.extend(equal.filter(|equal| equal.len() > 1).map(<[u32]>::to_vec));
    }
    refined
}

/// Returns the reason why a path no longer leads to the file that was seen.
fn changed(file: &DuplicateFile) -> Option<io::Error> {
    match file.names[0].symlink_metadata() {
        Ok(metadata) if Stamp::of(&metadata) == file.stamp => None,
        Ok(_) => Some(io::Error::other(CHANGED)),
        Err(error) => Some(error),
    }
}

/// Returns the folders that are below no other one, each once.
fn without_nested(folders: &[PathBuf]) -> Vec<&Path> {
    let place = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let places: Vec<PathBuf> = folders.iter().map(place).collect();
    let is_outermost = |i: &usize| {
        let place = &places[*i];
        let is_nested = |other: &PathBuf| place != other && place.starts_with(other);
        !places.iter().any(is_nested) && !places[..*i].contains(place)
    };
    let outermost = (0..folders.len()).filter(is_outermost);
    outermost.map(|i| folders[i].as_path()).collect()
}
