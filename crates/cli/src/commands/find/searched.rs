//! What was found of a torrent, and the folders that were searched.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_find::{FoundTorrent, Merged};
use hashlane_metainfo::Torrent;
use hashlane_verify::{FileIndex, FileReport, HashVersions, Layout, PieceState, Report};

use crate::{Env, Exit};

/// A torrent, and what was found of it.
pub(super) struct Searched<'s> {
    pub(super) path: &'s Path,
    pub(super) torrent: &'s Torrent,
    pub(super) found: &'s FoundTorrent,
    /// The verification of all bytes, if it was wanted.
    pub(super) report: Option<Report>,
    /// New files that were made of several damaged ones, if they were wanted.
    pub(super) merged: Vec<MergedFile>,
    /// Number of files that links were made for, if they were wanted.
    pub(super) linked: Option<Linked>,
    /// The share of the bytes in percent that may be missing, if some may.
    pub(super) accepted: Option<f64>,
}

impl Searched<'_> {
    /// Returns whether all bytes are right, if they were verified. Symbolic links of the torrent are not searched, so they do not
    /// count.
    pub(super) fn is_complete(&self) -> Option<bool> {
        let counts = self.report.as_ref()?.counts();
        Some(counts.have == counts.total() && self.found.is_identified())
    }

    /// Returns the bytes of the pieces that a client needs to complete the torrent, as far as it is known: all that are wrong or
    /// missing, or without a verification of all bytes those of files that were not found.
    pub(super) fn needed_bytes(&self) -> u64 {
        let Some(report) = &self.report else {
            return self.found.needed_bytes(self.torrent);
        };
        let layout = Layout::new(self.torrent, HashVersions::of(self.torrent.version()));
        let pieces = layout.lengths().pieces().zip(report.pieces());
        let needed = pieces.filter(|(_, state)| **state != PieceState::Have);
        needed.map(|(piece, _)| layout.content_len(piece)).sum()
    }

    /// Returns `true` if something is missing or wrong, and it is not more than may be.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn is_accepted(&self) -> bool {
        let Some(percent) = self.accepted.filter(|_| !self.is_whole()) else {
            return false;
        };
        let share = self.needed_bytes() as f64 / self.torrent.content_length() as f64;
        share * 100.0 <= percent
    }

    /// Returns `true` if each file was found, and all bytes are right if they were verified.
    pub(super) fn is_whole(&self) -> bool {
        self.found.is_identified() && self.is_complete() != Some(false)
    }

    /// Returns the report of a file whose bytes were all verified, if some are wrong.
    pub(super) fn damaged(&self, file: FileIndex) -> Option<&FileReport> {
        let files = self.report.as_ref()?.files();
        let place = files
            .binary_search_by_key(&file, |report| report.index)
            .ok()?;
        Some(&files[place]).filter(|report| report.counts.have < report.counts.total())
    }

    pub(super) fn exit(&self) -> Exit {
        match self.failures().next() {
            Some(_) => Exit::NotChecked,
            None if self.is_whole() || self.is_accepted() => Exit::Good,
            None => Exit::Bad,
        }
    }

    /// Returns the links and new files that were not made, with the reasons.
    pub(super) fn failures(&self) -> impl Iterator<Item = String> + '_ {
        let links = self.linked.iter().flat_map(|linked| &linked.failures);
        let merged = self.merged.iter().filter_map(|merged| {
            let error = merged.result.as_ref().err()?;
            let file = self.torrent.file(merged.file.get()).path();
            Some(format!("{file}: not merged: {error}"))
        });
        links.cloned().chain(merged)
    }

    /// Returns the new file in the place of a damaged one, if it was made.
    pub(super) fn merged(&self, file: FileIndex) -> Option<&Merged> {
        let mut all = self.merged.iter().filter(|merged| merged.file == file);
        all.next()?.result.as_ref().ok()
    }
}

/// A file that was to be made of several damaged ones.
pub(super) struct MergedFile {
    pub(super) file: FileIndex,
    pub(super) result: io::Result<Merged>,
}

/// The links of a torrent.
#[derive(Default)]
pub(super) struct Linked {
    pub(super) folder: PathBuf,
    pub(super) n_made: u64,
    pub(super) n_there: u64,
    /// Names that were not made, with the reasons.
    pub(super) failures: Vec<String>,
}

/// The folders that are searched, as they were given and as absolute paths.
pub(super) struct Folders {
    pub(super) given: Vec<PathBuf>,
    pub(super) absolute: Vec<PathBuf>,
}

impl Folders {
    /// Returns those of the given folders that can be searched, and the others with the reasons.
    pub(super) fn open(env: &Env, folders: &[PathBuf]) -> (Self, Vec<(PathBuf, String)>) {
        let mut opened = Self {
            given: Vec::new(),
            absolute: Vec::new(),
        };
        let mut refused = Vec::new();
        for given in folders {
            let absolute = env.resolve(given);
            let problem = match absolute.metadata() {
                Ok(metadata) if metadata.is_dir() => {
                    opened.given.push(given.clone());
                    opened.absolute.push(absolute);
                    continue;
                }
                Ok(_) => "is not a folder".to_owned(),
                Err(error) => error.to_string(),
            };
            refused.push((given.clone(), problem));
        }
        (opened, refused)
    }

    /// Returns a path below one of the folders with the folder as it was given.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        let folders = self.given.iter().zip(&self.absolute);
        let mut below = folders.filter_map(|(given, absolute)| {
            let rest = path.strip_prefix(absolute).ok()?;
            // `join` of nothing would add a slash.
            Some(if rest == Path::new("") {
                given.clone()
            } else {
                given.join(rest)
            })
        });
        below.next().unwrap_or_else(|| path.to_owned())
    }
}
