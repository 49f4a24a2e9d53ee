//! The regular files below a folder, with their stamps.

#[cfg(unix)]
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hashlane_files::Stamp;
#[cfg(unix)]
use hashlane_files::{Listed, list_files};
#[cfg(not(unix))]
use hashlane_files::{Walked, walk_files};

/// A regular file and its stamp, or a file or folder that cannot be read and the reason.
pub(crate) type Seen = Result<(PathBuf, Stamp), (PathBuf, io::Error)>;

/// Visits the regular files below a folder, except those of Hashlane itself. Each path begins with `folder`. Symbolic links are not followed, and a file that
/// vanishes during the walk is left out. The walk ends when `visit` returns [`ControlFlow::Break`].
#[cfg(unix)]
pub(crate) fn visit_files(folder: &Path, mut visit: impl FnMut(Seen) -> ControlFlow<()>) {
    let walked = list_files(folder, |below, listed| {
        // The path of a folder ends with a slash.
        let path = || folder.join(OsStr::from_bytes(below.strip_suffix(b"/").unwrap_or(below)));
        match listed {
            Listed::File(stamp) => visit(Ok((path(), stamp))),
            Listed::Failed(error) => visit(Err((path(), error))),
            _ => ControlFlow::Continue(()),
        }
    });
    if let Err(error) = walked {
        let _ = visit(Err((folder.to_owned(), error)));
    }
}

/// Does the same.
#[cfg(not(unix))]
pub(crate) fn visit_files(folder: &Path, mut visit: impl FnMut(Seen) -> ControlFlow<()>) {
    for file in walk_files(folder, false) {
        let seen = match file {
            Walked::File(path) => match path.symlink_metadata() {
                Ok(metadata) if metadata.is_file() => Ok((path, Stamp::of(&metadata))),
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => Err((path, error)),
            },
            Walked::LeftOut(..) => continue,
            Walked::Failed(path, error) => Err((path, error)),
        };
        if visit(seen).is_break() {
            return;
        }
    }
}
