//! What was found of a torrent, and the folders that were searched.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_find::FoundTorrent;
use hashlane_metainfo::Torrent;
use hashlane_verify::{FileIndex, FileReport, Report};

use crate::{Env, Exit};

/// A torrent, and what was found of it.
pub(super) struct Searched<'s> {
    pub(super) path: &'s Path,
    pub(super) torrent: &'s Torrent,
    pub(super) found: &'s FoundTorrent,
    /// The verification of all bytes, if it was wanted.
    pub(super) report: Option<Report>,
    /// Number of files that links were made for, if they were wanted.
    pub(super) linked: Option<Linked>,
}

impl Searched<'_> {
    /// Returns whether all bytes are right, if they were verified. Symbolic links of the torrent are not searched, so they do not
    /// count.
    pub(super) fn is_complete(&self) -> Option<bool> {
        let counts = self.report.as_ref()?.counts();
        Some(counts.have == counts.total() && self.found.is_identified())
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
        let is_right = self.is_complete() != Some(false);
        match &self.linked {
            Some(linked) if !linked.failures.is_empty() => Exit::NotChecked,
            _ if self.found.is_identified() && is_right => Exit::Good,
            _ => Exit::Bad,
        }
    }
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
    /// Returns the folders that were given, if they are folders.
    pub(super) fn open(env: &Env, folders: &[PathBuf]) -> anyhow::Result<Self> {
        let mut opened = Self {
            given: folders.to_vec(),
            absolute: Vec::new(),
        };
        for given in folders {
            let absolute = env.resolve(given);
            let metadata = absolute.metadata();
            let metadata = metadata.with_context(|| given.display().to_string())?;
            anyhow::ensure!(metadata.is_dir(), "{}: is no folder", given.display());
            opened.absolute.push(absolute);
        }
        Ok(opened)
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
