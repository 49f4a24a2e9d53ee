//! The regular files below a folder, with their stamps.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hashlane_files::{Stamp, Step, Walk, WalkOrder};

/// A regular file and its stamp, or a file or folder that cannot be read and the reason.
pub(crate) type Seen = Result<(PathBuf, Stamp), (PathBuf, io::Error)>;

/// Visits the regular files below a folder, except those of Hashlane itself. Each path begins with `folder`. Symbolic
/// links are not followed. The walk ends when `visit` returns [`ControlFlow::Break`].
pub(crate) fn visit_files(folder: &Path, mut visit: impl FnMut(Seen) -> ControlFlow<()>) {
    let mut walk = Walk::new(folder).order(WalkOrder::Bytes).with_stamps();
    while let Some(step) = walk.step() {
        let seen = match step {
            Step::File(Some(stamp)) => Ok((walk.place(), stamp)),
            Step::Failed(error) => Err((walk.place(), error)),
            _ => continue,
        };
        if visit(seen).is_break() {
            return;
        }
    }
}
