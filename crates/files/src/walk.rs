//! An iterator over the files below a folder.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Returns the regular files below a folder, in the order of their names. Each path begins with
/// `folder`.
///
/// With `follow_links`, links are followed, also out of the folder; otherwise they are skipped. The
/// walk continues after an error. An error names a file or folder that cannot be read, a link to
/// one of its own parent folders, or a pipe, socket or device.
pub fn walk_files(
    folder: &Path,
    follow_links: bool,
) -> impl Iterator<Item = Result<PathBuf, (PathBuf, io::Error)>> + use<> {
    let root = folder.to_owned();
    let walk = WalkDir::new(folder)
        .follow_links(follow_links)
        .sort_by_file_name();
    walk.into_iter().filter_map(move |entry| {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(reason_of(error, &root))),
        };
        let kind = entry.file_type();
        if kind.is_dir() || kind.is_symlink() {
            return None;
        }
        let path = entry.into_path();
        if kind.is_file() {
            return Some(Ok(path));
        }
        Some(Err((path, io::Error::other("not a regular file"))))
    })
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
