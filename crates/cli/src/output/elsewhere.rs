//! Content that was found under another name, as text for people.

use std::path::Path;

use hashlane_find::OtherRoot;

use super::text::{Grouped, Shown, count};

/// Returns for example `found as films-2024 (74 of 74 files), by one piece`.
pub fn found_root(root: &OtherRoot) -> String {
    let (n_files, total) = (Grouped(root.n_files as u64), root.total_files as u64);
    let extent = if root.is_folder {
        format!(" ({n_files} of {})", count(total, "file"))
    } else {
        String::new()
    };
    format!("found as {}{extent}, by one piece", Shown(&root.path))
}

/// Returns for example `found as extra (1).mkv, by one piece`.
pub fn found_file(path: &Path) -> String {
    format!("found as {}, by one piece", Shown(path))
}
