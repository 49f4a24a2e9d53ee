//! An iterator over the files below a folder.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::own::is_own_name;

/// Maximum number of paths through symbolic links by which a walk may reach one folder. Ten folders
/// with ten links each to the next folder have 10^9 paths.
pub(crate) const MAX_LINK_PATHS: usize = 64;

/// What a walk finds. A program must decide about each kind, so a new one is a breaking change.
#[derive(Debug)]
pub enum Walked {
    /// A regular file.
    File(PathBuf),
    /// Something that is not content.
    LeftOut(PathBuf, NotContent),
    /// A file or folder that cannot be read, or a link to one of its own parent folders.
    Failed(PathBuf, io::Error),
}

impl Walked {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        let (Self::File(path) | Self::LeftOut(path, _) | Self::Failed(path, _)) = self;
        path
    }
}

/// The reason why something in a folder is not content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotContent {
    /// Hashlane made the file: see [`is_own_name`].
    Own,
    /// It is a pipe, socket or device.
    Special,
}

impl fmt::Display for NotContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "a file of Hashlane itself",
            Self::Special => "a pipe, socket or device",
        })
    }
}

/// Visits everything below a folder except folders, in the order of the names. Each path begins with
/// `folder`.
///
/// With `follow_links`, links are followed, also out of the folder; otherwise they are skipped. The
/// walk continues after an error. Only one error ends the walk: more
/// than 64 paths through links lead to the folder that it names.
pub fn walk_files(folder: &Path, follow_links: bool) -> impl Iterator<Item = Walked> + use<> {
    let root = folder.to_owned();
    let mut walk = WalkDir::new(folder)
        .follow_links(follow_links)
        .sort_by_file_name()
        .into_iter();
    let mut link_paths = LinkPaths::default();
    let mut has_ended = false;
    std::iter::from_fn(move || {
        while !has_ended {
            let entry = match walk.next()? {
                Ok(entry) => entry,
                Err(error) => {
                    let (path, error) = reason_of(error, &root);
                    return Some(Walked::Failed(path, error));
                }
            };
            if follow_links && let Some(folder) = link_paths.add(&entry) {
                has_ended = true;
                let reason = format!(
                    "more than {MAX_LINK_PATHS} paths of symbolic links lead to this folder"
                );
                return Some(Walked::Failed(folder, io::Error::other(reason)));
            }
            let kind = entry.file_type();
            if kind.is_dir() || kind.is_symlink() {
                continue;
            }
            let reason = if !kind.is_file() {
                Some(NotContent::Special)
            } else if entry.depth() > 0 && is_own_name(entry.file_name()) {
                Some(NotContent::Own)
            } else {
                None
            };
            let path = entry.into_path();
            return Some(match reason {
                Some(reason) => Walked::LeftOut(path, reason),
                None => Walked::File(path),
            });
        }
        None
    })
}

/// Counts the paths through symbolic links to each folder of a walk that follows links.
#[derive(Debug, Default)]
pub(crate) struct LinkPaths {
    /// The depth of the outermost link to a folder that contains the current entry.
    link_depth: Option<usize>,
    /// Numbers of paths by the folders' canonical paths.
    counts: HashMap<PathBuf, usize>,
}

impl LinkPaths {
    /// Adds the next entry of the walk, which visits folders before their contents. Returns the canonical path of
    /// a folder that has too many paths.
    pub(crate) fn add(&mut self, entry: &DirEntry) -> Option<PathBuf> {
        if self.link_depth.is_some_and(|depth| entry.depth() <= depth) {
            self.link_depth = None;
        }
        if !entry.file_type().is_dir() {
            return None;
        }
        if entry.path_is_symlink() {
            self.link_depth.get_or_insert(entry.depth());
        }
        self.link_depth?;
        // Folders that cannot be resolved cannot be read either.
        let folder = entry.path().canonicalize().ok()?;
        let count = self.counts.entry(folder.clone()).or_default();
        *count += 1;
        (*count > MAX_LINK_PATHS).then_some(folder)
    }
}

/// Returns the path and the reason of an error. An error without a path is about `root`.
pub(crate) fn reason_of(error: walkdir::Error, root: &Path) -> (PathBuf, io::Error) {
    let path = error.path().unwrap_or(root).to_owned();
    let reason = match error.loop_ancestor() {
        Some(_) => io::Error::other("leads back to a folder that contains the link"),
        None => error
            .into_io_error()
            .unwrap_or_else(|| io::Error::other("cannot be read")),
    };
    (path, reason)
}
