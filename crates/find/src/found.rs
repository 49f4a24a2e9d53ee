//! The result of a search.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{FileKind, MappedPlace, Torrent};
use hashlane_pipeline::{FileIndex, FileSet, ReadAt};
use hashlane_verify::{HashVersions, Layout, files_of};

use crate::candidates::Candidates;

/// Where a file of a torrent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The candidate that fits best.
    pub candidate: u32,
    /// Other candidates that fit equally, as copies do.
    pub others: Vec<u32>,
}

impl Place {
    /// Returns all candidates that fit, the best one first.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(self.candidate).chain(self.others.iter().copied())
    }
}

/// The files that were found with the torrent's names below one path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedFiles {
    /// The folder of the files, or the file of a torrent that has no folder.
    pub path: PathBuf,
    /// The files, in order.
    pub files: Vec<FileIndex>,
    /// Whether they are all files that have content, so that `path` is a value of `--content`.
    pub is_all: bool,
}

/// The reason why nothing decides which candidate a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undecided {
    /// Each piece with bytes of the file also has bytes of another file, which was not found: this one.
    Neighbour(FileIndex),
    /// Each piece with bytes of the file also has bytes of other files, and no combination of candidates is right. One of the
    /// other files may be damaged.
    Shared,
    /// A candidate could not be read.
    Unreadable,
    /// The torrent has a single hash for the whole file (BEP 52, without a piece layer).
    WholeFileHash,
    /// Too many candidates have the length of the file. Some of them were not tried.
    TooMany,
}

/// The result for one file of a torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileMatch {
    /// A piece with bytes of the file is right. The rest of the file was not checked.
    Identified(Place),
    /// Some of the checked pieces are right, and others are wrong.
    Partial {
        /// The candidate with the most right pieces.
        candidate: u32,
        /// Number of pieces that are right.
        right: u32,
        /// Number of pieces that were checked.
        checked: u32,
    },
    /// The file has no bytes, so any empty file is right.
    Empty,
    /// No candidate has the length of the file.
    Missing,
    /// Candidates have the length of the file, and none has the bytes that were checked.
    Wrong {
        /// Number of candidates.
        candidates: u32,
    },
    /// Candidates have the length of the file, and nothing decides which of them it is.
    Undecided(Undecided),
    /// Padding or a symbolic link, which is not searched.
    NotSearched,
}

impl FileMatch {
    /// Returns the candidate to use for the file, if there is one.
    pub fn candidate(&self) -> Option<u32> {
        match self {
            Self::Identified(place) => Some(place.candidate),
            Self::Partial { candidate, .. } => Some(*candidate),
            _ => None,
        }
    }

    /// Returns `true` if nothing of the file is missing or wrong as far as it was checked.
    pub fn is_found(&self) -> bool {
        matches!(self, Self::Identified(_) | Self::Empty | Self::NotSearched)
    }
}

/// The result for one torrent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundTorrent {
    /// The result for each file of the torrent, padding and links included.
    pub files: Vec<FileMatch>,
    /// Number of pieces of the torrent that were found right.
    pub right_pieces: u32,
    /// Number of pieces of the torrent.
    pub pieces: u32,
}

impl FoundTorrent {
    /// Returns `true` if each file was found. Only a verification shows that all bytes are right.
    pub fn is_identified(&self) -> bool {
        self.files.iter().all(FileMatch::is_found)
    }

    /// Returns the files and their candidates.
    pub fn candidates(&self) -> impl Iterator<Item = (FileIndex, u32)> + '_ {
        let files = self.files.iter().enumerate();
        files.filter_map(|(index, file)| Some((FileIndex::new(index), file.candidate()?)))
    }

    /// Returns the bytes of the files without a place.
    pub fn missing_bytes(&self, torrent: &Torrent) -> u64 {
        let files = torrent.files().iter().zip(&self.files);
        let missing = files.filter(|(_, found)| !found.is_found() && found.candidate().is_none());
        missing.map(|(file, _)| file.length()).sum()
    }

    /// Returns the bytes of the pieces that have bytes of a file without a place: a client needs them to complete the torrent.
    /// In version 1 they include bytes of the neighbours.
    pub fn needed_bytes(&self, torrent: &Torrent) -> u64 {
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let files = files_of(torrent).zip(&self.files);
        let missing = files.filter(|(_, found)| !found.is_found() && found.candidate().is_none());
        let pieces: BTreeSet<u32> = missing
            .flat_map(|((file, _), _)| layout.pieces_of(file))
            .collect();
        let pieces = pieces
            .into_iter()
            .filter_map(|piece| layout.lengths().piece(piece));
        pieces.map(|piece| layout.content_len(piece)).sum()
    }

    /// Returns the files with the torrent's names below the path that has most of them. Returns `None` if all files that were
    /// found have other names.
    pub fn named(&self, torrent: &Torrent, candidates: &Candidates) -> Option<NamedFiles> {
        let mut roots: BTreeMap<&Path, Vec<FileIndex>> = BTreeMap::new();
        for (file, candidate) in self.candidates() {
            if let Some(root) = root_of(torrent, file, candidates.path(candidate)) {
                roots.entry(root).or_default().push(file);
            }
        }
        // The first of several that have as many.
        let (path, files) = roots
            .into_iter()
            .rev()
            .max_by_key(|(_, files)| files.len())?;
        let is_content =
            |file: &&FileMatch| !matches!(file, FileMatch::Empty | FileMatch::NotSearched);
        Some(NamedFiles {
            path: path.to_owned(),
            is_all: files.len() == self.files.iter().filter(is_content).count(),
            files,
        })
    }

    /// Returns the path below which all files with content were found with the torrent's names, if there is one: the value of
    /// `--content`.
    pub fn content(&self, torrent: &Torrent, candidates: &Candidates) -> Option<PathBuf> {
        let named = self.named(torrent, candidates)?;
        named.is_all.then_some(named.path)
    }

    /// Returns where the files lie, by their indexes, for a content map: absolute paths without links. Damaged files are
    /// among them. Files that were not found are left out.
    ///
    /// # Errors
    /// A file vanished meanwhile. The path and the system's error.
    pub fn places(
        &self,
        candidates: &Candidates,
    ) -> Result<Vec<(usize, MappedPlace)>, (PathBuf, io::Error)> {
        let mut places = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            if *file == FileMatch::Empty {
                places.push((index, MappedPlace::Empty));
            } else if let Some(candidate) = file.candidate() {
                let path = candidates.path(candidate);
                let place = path.canonicalize();
                let place = place.map_err(|error| (path.to_owned(), error))?;
                places.push((index, MappedPlace::At(place)));
            }
        }
        Ok(places)
    }

    /// Returns the files that were found as a set that can be verified.
    pub fn as_files<'f>(&'f self, candidates: &'f Candidates) -> FoundFiles<'f> {
        FoundFiles {
            found: self,
            candidates,
        }
    }
}

/// The files of a torrent where they were found. Those that were not found are absent, except empty files, which need no
/// place.
#[derive(Debug)]
pub struct FoundFiles<'f> {
    found: &'f FoundTorrent,
    candidates: &'f Candidates,
}

impl FileSet for FoundFiles<'_> {
    fn root(&self) -> &Path {
        self.candidates.root()
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        match self.found.files[file.get()].candidate() {
            Some(candidate) => Ok(self.candidates.path(candidate).to_owned()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn open_reader(&self, file: FileIndex) -> io::Result<Option<Box<dyn ReadAt + '_>>> {
        let is_empty = self.found.files[file.get()] == FileMatch::Empty;
        Ok(is_empty.then(|| Box::new(&[][..]) as Box<dyn ReadAt>))
    }
}

/// Returns the path of the content in which a file has the torrent's name: the file itself if the torrent has no folder.
fn root_of<'p>(torrent: &Torrent, file: FileIndex, path: &'p Path) -> Option<&'p Path> {
    if torrent.is_single_file() {
        return Some(path);
    }
    let components: Vec<_> = torrent.file(file.get()).path().components().collect();
    let mut root = path;
    for component in components.into_iter().rev() {
        if root.file_name()?.as_encoded_bytes() != component.as_bytes() {
            return None;
        }
        root = root.parent()?;
    }
    Some(root)
}

/// Returns what is known of each file before anything is compared.
pub(crate) fn initial(torrent: &Torrent) -> Vec<FileMatch> {
    let files = torrent
        .files()
        .iter()
        .map(|file| match (file.kind(), file.length()) {
            (FileKind::Regular, 0) => FileMatch::Empty,
            (FileKind::Regular, _) => FileMatch::Missing,
            _ => FileMatch::NotSearched,
        });
    files.collect()
}
