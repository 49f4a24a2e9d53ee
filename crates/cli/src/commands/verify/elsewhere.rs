//! Content under other names in the same folder: renamed files, and a renamed folder.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use hashlane_find::{Candidates, FileMatch, FoundTorrent, find};
use hashlane_metainfo::FileKind;
use hashlane_verify::{CancelToken, Content, FileIndex, FileState, Options, Report, files_of};

/// Maximum number of a folder's entries to look at.
const MAX_ENTRIES: usize = 10_000;

/// Maximum number of a torrent's files to look for in another folder.
const MAX_FILES: usize = 16;

/// Number of bytes that are hashed at most, about.
const MAX_BYTES: u64 = 256 << 20;

/// Number of pieces that are hashed of a file at most.
const MAX_PIECES: u64 = 8;

/// Content that lies in the expected folder under other names. A piece of each was verified.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// The file, or the folder of the files, that has the content.
    pub(super) root: Option<Root>,
    /// Missing files of the torrent, and where they were found.
    files: BTreeMap<usize, PathBuf>,
}

/// A file or folder that has the content.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    /// Number of the torrent's files that exist in it with their lengths.
    pub(super) n_files: usize,
    /// Number of the torrent's files that are not empty.
    pub(super) total_files: usize,
}

impl Elsewhere {
    /// Looks for the missing content of a torrent.
    pub(super) fn find(
        content: &Content,
        report: &Report,
        options: &Options,
        cancel: &CancelToken,
    ) -> Self {
        if report.is_complete() || report.is_cancelled() {
            return Self::default();
        }
        let search = Search {
            content,
            options,
            cancel,
        };
        if content.torrent().is_single_file() {
            let found = search.files(&BTreeSet::from([0]));
            return Self {
                root: found.into_values().next().map(|path| Root {
                    path,
                    n_files: 1,
                    total_files: 1,
                }),
                files: BTreeMap::new(),
            };
        }
        if !content.root().exists() {
            return Self {
                root: search.folder(),
                files: BTreeMap::new(),
            };
        }
        let missing = report
            .files()
            .iter()
            .filter(|file| file.state == FileState::Missing);
        Self {
            root: None,
            files: search.files(&missing.map(|file| file.index.get()).collect()),
        }
    }

    /// Returns where a missing file was found.
    pub(super) fn file(&self, file: FileIndex) -> Option<&Path> {
        self.files.get(&file.get()).map(PathBuf::as_path)
    }

    /// Returns `true` if missing files were found one by one.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }
}

struct Search<'c> {
    content: &'c Content,
    options: &'c Options,
    cancel: &'c CancelToken,
}

impl Search<'_> {
    /// Returns the files that have the content of missing ones, in the same folders. A file is left out if several have its
    /// content: nothing decides between them.
    fn files(&self, missing: &BTreeSet<usize>) -> BTreeMap<usize, PathBuf> {
        let path_of = |index: usize| self.content.path_of(FileIndex::new(index)).ok();
        let own: HashSet<PathBuf> = (0..self.content.torrent().files().len())
            .filter_map(path_of)
            .collect();
        let missing_paths = missing.iter().copied().filter_map(path_of);
        let folders = missing_paths.filter_map(|path| path.parent().map(Path::to_owned));
        let folders: BTreeSet<PathBuf> = folders.collect();
        let others = folders.iter().flat_map(|folder| entries_of(folder));
        let (candidates, found) = self.search(others.filter(|path| !own.contains(path)));
        let found = found
            .into_iter()
            .flat_map(|found| found.files.into_iter().enumerate());
        let found = found.filter(|(index, _)| missing.contains(index));
        let decided = found.filter_map(|(index, file)| match file {
            FileMatch::Identified(place) if !place.others.is_empty() => None,
            file => Some((index, candidates.path(file.candidate()?).to_owned())),
        });
        decided.collect()
    }

    /// Compares files with the torrent by a few pieces.
    fn search(&self, paths: impl Iterator<Item = PathBuf>) -> (Candidates, Option<FoundTorrent>) {
        let torrent = self.content.torrent();
        let piece_length = u64::from(torrent.lengths().piece_length().get());
        let max_files = (MAX_BYTES / piece_length / MAX_PIECES).max(1);
        let candidates = Candidates::of_files([torrent], paths, max_files as usize);
        let findings = find(
            &[torrent],
            &candidates,
            self.options,
            self.cancel,
            &mut |_| (),
        );
        (
            candidates,
            findings
                .ok()
                .and_then(|findings| findings.torrents.into_iter().next()),
        )
    }

    /// Returns the folder beside the expected one that has the content. Returns `None` if several have it: nothing decides
    /// between them.
    fn folder(&self) -> Option<Root> {
        let parent = self.content.root().parent()?;
        let folders = entries_of(parent).into_iter().filter(|path| path.is_dir());
        let first = folders.flat_map(|folder| self.first_files_in(&folder));
        let (candidates, found) = self.search(first);
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
        Some(Root {
            path,
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
        let files = files_of(self.content.torrent());
        let with_content =
            files.filter(|(_, file)| matches!(file.kind(), FileKind::Regular) && file.length() > 0);
        with_content.filter_map(move |(index, file)| {
            let path = content.as_ref()?.path_of(index).ok()?;
            Some((path, file.length()))
        })
    }
}

fn has_length(path: &Path, length: u64) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.len() == length)
}

/// Returns the first paths in a folder, in the order of their names.
fn entries_of(folder: &Path) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let Ok(entries) = here.read_dir() else {
        return Vec::new();
    };
    let entries = entries.take(MAX_ENTRIES).flatten();
    let mut paths: Vec<PathBuf> = entries.map(|it| folder.join(it.file_name())).collect();
    paths.sort_unstable();
    paths
}
