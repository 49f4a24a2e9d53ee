//! Content under other names in the same folder: renamed files, and a renamed folder.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use hashlane_metainfo::FileKind;
use hashlane_verify::{
    CancelToken, Content, FileIndex, FileReport, FileState, Identity, Options, Probe, Report,
};

/// Maximum number of a folder's entries to look at.
const MAX_ENTRIES: usize = 10_000;

/// Maximum number of files that are compared with a missing one.
const MAX_CANDIDATES: usize = 16;

/// Maximum number of a torrent's files to look for in another folder.
const MAX_FILES: usize = 16;

/// Maximum number of bytes to hash for one torrent.
const MAX_BYTES: u64 = 256 << 20;

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
        let mut search = Search {
            content,
            probe: Probe::new(content.torrent(), options, cancel, MAX_BYTES),
            folders: HashMap::new(),
        };
        if content.torrent().is_single_file() {
            let file = report.files().first();
            let found = file.and_then(|file| search.file(file));
            return Self {
                root: found.map(|path| Root { path, n_files: 1 }),
                files: BTreeMap::new(),
            };
        }
        if !content.root().exists() {
            return Self {
                root: search.folder(),
                files: BTreeMap::new(),
            };
        }
        let files = report.files().iter();
        let files = files.filter_map(|file| Some((file.index.get(), search.file(file)?)));
        Self {
            root: None,
            files: files.collect(),
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
    probe: Probe<'c>,
    /// The files in each folder that the torrent does not have, by length.
    folders: HashMap<PathBuf, HashMap<u64, Vec<PathBuf>>>,
}

impl Search<'_> {
    /// Returns the file that has the content of a missing one, in the same folder. Returns `None` if several have it:
    /// nothing decides between them.
    fn file(&mut self, file: &FileReport) -> Option<PathBuf> {
        let kind = self.content.torrent().file(file.index.get()).kind();
        let is_regular = matches!(kind, FileKind::Regular) && file.length > 0;
        if !is_regular || file.state != FileState::Missing {
            return None;
        }
        let path = self.content.path_of(file.index).ok()?;
        let folder = path.parent()?;
        if !self.folders.contains_key(folder) {
            let found = self.others_in(folder);
            self.folders.insert(folder.to_owned(), found);
        }
        let candidates = self.folders[folder].get(&file.length)?;
        let candidates = candidates.iter().take(MAX_CANDIDATES);
        let mut found =
            candidates.filter(|path| self.probe.compare(file.index, path) == Identity::Identified);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }

    /// Returns the files of a folder that the torrent does not have, by length.
    fn others_in(&self, folder: &Path) -> HashMap<u64, Vec<PathBuf>> {
        let indexes = 0..self.content.torrent().files().len();
        let own = indexes.filter_map(|index| self.content.path_of(FileIndex::new(index)).ok());
        let own: HashSet<PathBuf> = own.filter(|path| path.parent() == Some(folder)).collect();
        let mut others: HashMap<u64, Vec<PathBuf>> = HashMap::new();
        for path in entries_of(folder) {
            if let Ok(metadata) = path.symlink_metadata()
                && metadata.is_file()
                && !own.contains(&path)
            {
                others.entry(metadata.len()).or_default().push(path);
            }
        }
        others
    }

    /// Returns the folder beside the expected one that has the content. Returns `None` if several have as many files:
    /// nothing decides between them.
    fn folder(&mut self) -> Option<Root> {
        let parent = self.content.root().parent()?;
        let folders = entries_of(parent).into_iter().filter(|path| path.is_dir());
        let mut best: Option<Root> = None;
        let mut is_tied = false;
        for path in folders {
            let n_files = self.n_files_in(&path)?;
            let most = best.as_ref().map_or(0, |best| best.n_files);
            if n_files < most.max(1) || !self.is_identified(&path) {
                continue;
            }
            is_tied = n_files == most;
            best = Some(Root { path, n_files });
        }
        best.filter(|_| !is_tied)
    }

    /// Returns the number of the torrent's files that exist in a folder with their lengths, or 0 if none of the first
    /// ones does. Returns `None` if a path cannot exist on this system.
    fn n_files_in(&self, folder: &Path) -> Option<usize> {
        let content = Content::at(self.content.torrent(), folder).ok()?;
        let mut n_files = 0;
        for (n_seen, index) in self.regular_files().enumerate() {
            if n_seen == MAX_FILES && n_files == 0 {
                break;
            }
            let length = content.torrent().file(index.get()).length();
            let found = content.path_of(index).ok()?.metadata();
            n_files += usize::from(found.is_ok_and(|it| it.is_file() && it.len() == length));
        }
        Some(n_files)
    }

    /// Returns `true` if one of the first files that exist in a folder is identified.
    fn is_identified(&mut self, folder: &Path) -> bool {
        let Ok(content) = Content::at(self.content.torrent(), folder) else {
            return false;
        };
        let files: Vec<FileIndex> = self.regular_files().collect();
        let paths = files
            .into_iter()
            .filter_map(|index| Some((index, content.path_of(index).ok()?)));
        let mut existing = paths.filter(|(_, path)| path.is_file()).take(MAX_FILES);
        existing.any(|(index, path)| self.probe.compare(index, &path) == Identity::Identified)
    }

    fn regular_files(&self) -> impl Iterator<Item = FileIndex> + use<'_> {
        let files = hashlane_verify::files_of(self.content.torrent());
        files
            .filter(|(_, file)| matches!(file.kind(), FileKind::Regular) && file.length() > 0)
            .map(|(index, _)| index)
    }
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
