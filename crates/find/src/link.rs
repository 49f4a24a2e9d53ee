//! Folders with the names of a torrent, made of links to the files that were found.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hashlane_files::clone_file;
use hashlane_metainfo::Torrent;
use hashlane_pipeline::FileIndex;
use hashlane_verify::files_of;

use crate::candidates::Candidates;
use crate::found::{FileMatch, FoundTorrent};
use crate::names::NewNames;

/// The kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkKind {
    /// A symbolic link to the absolute path of the file.
    Symlink,
    /// A second name of the file. Both names must be on one file system.
    Hardlink,
    /// A file of its own that shares the bytes on the disk until one of them changes (Btrfs, XFS).
    Reflink,
}

/// What became of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Linked {
    /// The file of the torrent.
    pub file: FileIndex,
    /// The name that the torrent wants.
    pub path: PathBuf,
    /// Whether the name was made. `Ok(false)` if it was already a name of the same file.
    pub result: io::Result<bool>,
}

/// Makes the names that a torrent wants below `folder`, for each file that was identified and each empty file. A file that was
/// not identified gets no name. No existing file is changed or replaced.
///
/// # Errors
/// The folder cannot be used at all. Problems of single files are in the results.
pub fn link(
    torrent: &Torrent,
    found: &FoundTorrent,
    candidates: &Candidates,
    folder: &Path,
    kind: LinkKind,
) -> io::Result<Vec<Linked>> {
    let names = NewNames::in_folder(torrent, folder)?;
    let mut linked = Vec::new();
    for (file, _) in files_of(torrent) {
        let source = match &found.files[file.get()] {
            FileMatch::Identified(place) => Some(candidates.path(place.candidate)),
            FileMatch::Empty => None,
            _ => continue,
        };
        let path = names.path_of(file)?;
        let result = names.make_folders(&path).and_then(|()| match source {
            Some(source) => link_file(&source.canonicalize()?, &path, kind),
            None => make_empty(&path),
        });
        linked.push(Linked { file, path, result });
    }
    Ok(linked)
}

fn link_file(source: &Path, path: &Path, kind: LinkKind) -> io::Result<bool> {
    let made = match kind {
        LinkKind::Symlink => std::os::unix::fs::symlink(source, path),
        LinkKind::Hardlink => fs::hard_link(source, path),
        LinkKind::Reflink => clone_to(source, path),
    };
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_name_of(path, source) => {
            Ok(false)
        }
        result => result.map(|()| true),
    }
}

/// Returns `true` if a path leads to this file.
fn is_name_of(path: &Path, source: &Path) -> bool {
    let id = |path: &Path| {
        path.metadata()
            .ok()
            .map(|metadata| (metadata.dev(), metadata.ino()))
    };
    id(path).is_some() && id(path) == id(source)
}

fn make_empty(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_empty(path) => Ok(false),
        result => result.map(|_| true),
    }
}

fn is_empty(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}

fn clone_to(source: &Path, path: &Path) -> io::Result<()> {
    let source = fs::File::open(source)?;
    let new = OpenOptions::new().write(true).create_new(true).open(path)?;
    // The file is new, so nothing else is removed.
    clone_file(&source, &new).inspect_err(|_| drop(fs::remove_file(path)))
}
