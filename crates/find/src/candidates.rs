//! Files that may be content.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hashlane_files::{FileId, Stamp};
use hashlane_metainfo::merkle::Node;
use hashlane_metainfo::{File, FileKind, Torrent};
use hashlane_pipeline::{CancelToken, FileIndex, FileSet};

use crate::walk::visit_files;

/// The regular files below some folders that have the length of a file of some torrents, or all of them.
#[derive(Debug, Default)]
pub struct Candidates {
    folders: Vec<PathBuf>,
    files: Vec<Candidate>,
    /// The stamps of the candidates, if all files are candidates.
    #[cfg(unix)]
    stamps: Vec<Stamp>,
    /// The candidates by their roots (BEP 52), as far as a table has them.
    by_root: HashMap<Node, Vec<u32>>,
    /// Number of candidates that have the length of a wanted file.
    n_wanted: usize,
    by_len: HashMap<u64, Vec<u32>>,
    /// Those that have a wanted name too, by name and length: a torrent can want thousands of files of one length.
    by_name: HashMap<OsString, HashMap<u64, Vec<u32>>>,
    errors: Vec<(PathBuf, io::Error)>,
    n_files: u64,
    /// Files that are longer than a wanted file of their name, by that length and name: the first of them.
    longer: HashMap<(u64, OsString), (PathBuf, u64)>,
}

/// A file, by the first of its names.
#[derive(Debug)]
struct Candidate {
    path: PathBuf,
    len_bytes: u64,
    /// The number of the file in its file system, which is near the order on the disk.
    inode: u64,
}

impl Candidates {
    /// Walks the folders, each once even if it is given twice or below another one, and returns the files that have the length of a file of the torrents, in bytes. A file with several
    /// names (hard links) is one candidate, with its first name. Symbolic links are not followed.
    ///
    /// `progress` gets the number of files that were seen so far. After `cancel` is set, the function returns what it has.
    /// Folders that cannot be read are in [`Self::errors`].
    pub fn collect<'t>(
        torrents: impl IntoIterator<Item = &'t Torrent>,
        folders: &[PathBuf],
        cancel: &CancelToken,
        progress: impl FnMut(u64),
    ) -> Self {
        Self::walk(torrents, folders, false, cancel, progress)
    }

    /// Does the same, and also keeps the files of all other lengths except 0, for a table of their roots.
    #[cfg(unix)]
    pub fn collect_all<'t>(
        torrents: impl IntoIterator<Item = &'t Torrent>,
        folders: &[PathBuf],
        cancel: &CancelToken,
        progress: impl FnMut(u64),
    ) -> Self {
        Self::walk(torrents, folders, true, cancel, progress)
    }

    fn walk<'t>(
        torrents: impl IntoIterator<Item = &'t Torrent>,
        folders: &[PathBuf],
        keeps_all: bool,
        cancel: &CancelToken,
        mut progress: impl FnMut(u64),
    ) -> Self {
        let mut lens = Lens::of(torrents);
        lens.keeps_all = keeps_all;
        let mut candidates = Self {
            folders: distinct(folders),
            ..Self::default()
        };
        let mut ids = HashSet::new();
        for folder in &candidates.folders.clone() {
            visit_files(folder, |seen| {
                if cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                candidates.n_files += 1;
                progress(candidates.n_files);
                match seen {
                    Ok((path, stamp)) => {
                        candidates.note_longer(&path, stamp.length(), &lens);
                        candidates.consider(path, &stamp, &lens, &mut ids);
                    }
                    Err(error) => candidates.errors.push(error),
                }
                ControlFlow::Continue(())
            });
        }
        candidates
    }

    /// Returns the first `max` of some files that have the length of a file of the torrents, as [`Self::collect`] does for
    /// folders. Paths at which there is no regular file are left out.
    pub fn of_files<'t>(
        torrents: impl IntoIterator<Item = &'t Torrent>,
        paths: impl IntoIterator<Item = PathBuf>,
        max: usize,
    ) -> Self {
        let lens = Lens::of(torrents);
        let mut candidates = Self::default();
        let mut ids = HashSet::new();
        for path in paths {
            if candidates.len() == max {
                break;
            }
            candidates.n_files += 1;
            match path.symlink_metadata() {
                Ok(metadata) if metadata.is_file() => {
                    candidates.consider(path, &Stamp::of(&metadata), &lens, &mut ids);
                }
                _ => {}
            }
        }
        candidates
    }

    /// Notes a file that is longer than wanted files of its name.
    fn note_longer(&mut self, path: &Path, len_bytes: u64, lens: &Lens) {
        let Some((name, lens)) = path
            .file_name()
            .and_then(|name| lens.by_name.get_key_value(name))
        else {
            return;
        };
        for wanted in lens.iter().filter(|wanted| **wanted < len_bytes) {
            let longer = self.longer.entry((*wanted, name.clone()));
            longer.or_insert_with(|| (path.to_owned(), len_bytes));
        }
    }

    /// Returns a file with the name of a torrent's file that is longer, and its length in bytes, if one was seen.
    pub fn longer(&self, file: File<'_>) -> Option<(&Path, u64)> {
        let name = file.path().file_name().to_os_str().ok()?.to_os_string();
        let (path, len_bytes) = self.longer.get(&(file.length(), name))?;
        Some((path, *len_bytes))
    }

    /// Adds a file that has one of these lengths, unless another name of it was added before.
    fn consider(&mut self, path: PathBuf, stamp: &Stamp, lens: &Lens, ids: &mut HashSet<FileId>) {
        let len_bytes = stamp.length();
        let is_wanted = lens.wanted.contains(&len_bytes);
        let is_kept = is_wanted || lens.keeps_all && len_bytes > 0;
        let id = stamp.file_id();
        if !is_kept || id.is_some_and(|id| !ids.insert(id)) {
            return;
        }
        let name = path.file_name();
        let name = name.filter(|_| is_wanted).filter(|name| {
            let of_name = lens.by_name.get(*name);
            of_name.is_some_and(|lens| lens.contains(&len_bytes))
        });
        let name = name.map(OsStr::to_owned);
        self.add(path, name, len_bytes, id.map_or(0, FileId::inode));
        self.n_wanted += usize::from(is_wanted);
        #[cfg(unix)]
        if lens.keeps_all {
            self.stamps.push(*stamp);
        }
    }

    /// Adds a file that was made of candidates, and returns its index.
    pub(crate) fn push(&mut self, path: PathBuf, len_bytes: u64) -> u32 {
        self.n_wanted += 1;
        let name = path.file_name().map(OsStr::to_owned);
        self.add(path, name, len_bytes, 0)
    }

    /// Adds a file, also by its name if that is wanted.
    fn add(&mut self, path: PathBuf, name: Option<OsString>, len_bytes: u64, inode: u64) -> u32 {
        let index = self.files.len() as u32;
        if let Some(name) = name {
            let named = self.by_name.entry(name).or_default();
            named.entry(len_bytes).or_default().push(index);
        }
        self.files.push(Candidate {
            path,
            len_bytes,
            inode,
        });
        self.by_len.entry(len_bytes).or_default().push(index);
        index
    }

    /// Returns the number of all files that were seen, whatever their length.
    pub fn seen(&self) -> u64 {
        self.n_files
    }

    /// Returns the number of candidates that have the length of a wanted file.
    pub fn len(&self) -> usize {
        self.n_wanted
    }

    /// Returns `true` if no file has the length of a wanted file.
    pub fn is_empty(&self) -> bool {
        self.n_wanted == 0
    }

    /// Returns the candidates of [`Self::collect_all`], with their paths and stamps.
    #[cfg(unix)]
    pub(crate) fn stamped(&self) -> impl Iterator<Item = (u32, &Path, &Stamp)> {
        let files = (0..).zip(&self.files).zip(&self.stamps);
        files.map(|((candidate, file), stamp)| (candidate, file.path.as_path(), stamp))
    }

    /// Returns the folders that were walked.
    #[cfg(unix)]
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Sets the roots of candidates that are known.
    #[cfg(unix)]
    pub(crate) fn set_roots(&mut self, roots: impl IntoIterator<Item = (Node, u32)>) {
        self.by_root.clear();
        for (root, candidate) in roots {
            self.by_root.entry(root).or_default().push(candidate);
        }
        for candidates in self.by_root.values_mut() {
            candidates.sort_unstable();
        }
    }

    /// Returns the candidates that have a root, in the order of the walk, as far as roots are known.
    pub(crate) fn of_root(&self, root: &Node) -> &[u32] {
        self.by_root.get(root).map_or(&[], Vec::as_slice)
    }

    /// Returns the files and folders that could not be read, with the reasons.
    pub fn errors(&self) -> &[(PathBuf, io::Error)] {
        &self.errors
    }

    /// Returns the path of a candidate.
    ///
    /// # Panics
    /// Panics if the index belongs to other candidates.
    pub fn path(&self, candidate: u32) -> &Path {
        &self.files[candidate as usize].path
    }

    /// Returns the length of a candidate in bytes.
    pub(crate) fn len_bytes(&self, candidate: u32) -> u64 {
        self.files[candidate as usize].len_bytes
    }

    pub(crate) fn inode(&self, candidate: u32) -> u64 {
        self.files[candidate as usize].inode
    }

    /// Returns the candidates with a length in bytes and a name, in the order of the walk.
    pub(crate) fn of_name(&self, len_bytes: u64, name: &OsStr) -> &[u32] {
        let named = self.by_name.get(name);
        named
            .and_then(|named| named.get(&len_bytes))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the candidates with a length in bytes, in the order of the walk.
    pub(crate) fn of_len(&self, len_bytes: u64) -> &[u32] {
        self.by_len.get(&len_bytes).map_or(&[], Vec::as_slice)
    }
}

impl FileSet for Candidates {
    fn root(&self) -> &Path {
        self.folders.first().map_or(Path::new(""), PathBuf::as_path)
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.files[file.get()].path.clone())
    }
}

/// Returns the folders without those that are given twice, by any path, or lie below another one.
fn distinct(folders: &[PathBuf]) -> Vec<PathBuf> {
    let places: Vec<PathBuf> = folders
        .iter()
        .map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.clone()))
        .collect();
    let is_repeated = |index: usize| {
        let mut others = places.iter().enumerate();
        others.any(|(other, place)| {
            let is_earlier = other < index;
            places[index].starts_with(place) && (is_earlier || places[index] != *place)
        })
    };
    let kept = (0..folders.len()).filter(|index| !is_repeated(*index));
    kept.map(|index| folders[index].clone()).collect()
}

/// The lengths of files that become candidates.
struct Lens {
    /// The lengths of the files of torrents that have content.
    wanted: HashSet<u64>,
    /// The same lengths by the names of the files.
    by_name: HashMap<OsString, HashSet<u64>>,
    /// Whether files of all other lengths are candidates too.
    keeps_all: bool,
}

impl Lens {
    fn of<'t>(torrents: impl IntoIterator<Item = &'t Torrent>) -> Self {
        let mut lens = Self {
            wanted: HashSet::new(),
            by_name: HashMap::new(),
            keeps_all: false,
        };
        let files = torrents
            .into_iter()
            .flat_map(|torrent| torrent.files().iter());
        for file in files.filter(|file| file.kind() == FileKind::Regular && file.length() > 0) {
            lens.wanted.insert(file.length());
            let Ok(name) = file.path().file_name().to_os_str() else {
                continue;
            };
            if let Some(of_name) = lens.by_name.get_mut(name) {
                of_name.insert(file.length());
            } else {
                let of_name = HashSet::from([file.length()]);
                lens.by_name.insert(name.to_owned(), of_name);
            }
        }
        lens
    }
}
