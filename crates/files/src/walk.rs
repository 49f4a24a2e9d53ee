//! The files below a folder, one by one.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Returns the regular files of a folder and of all folders in it, in the order of their names. The path of each
/// begins with `folder`. Links are left out, or followed, into other folders too. The walk does not end at an
/// error, which names a file or folder: it cannot be read, is a link to a folder around it, or is a pipe, a
/// socket or a device.
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
        Some(_) => io::Error::other("leads back to a folder that it is in"),
        None => error
            .into_io_error()
            .unwrap_or_else(|| io::Error::other("cannot be read")),
    };
    (path, reason)
}
