//! Files in the folder of the content that the torrent does not have.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_files::walk_files;
use hashlane_verify::{Content, FileIndex};

use crate::output::text::Shown;

/// Calls `found` with the path of each extra file, relative to the folder, in the order of their names. A torrent of a
/// single file has no folder and therefore no extra files.
///
/// # Errors
/// Fails if a folder cannot be read, or with an error of `found`.
pub(super) fn for_each(
    content: &Content,
    mut found: impl FnMut(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let root = content.root();
    if content.torrent().is_single_file() || !root.is_dir() {
        return Ok(());
    }
    let known: HashSet<PathBuf> = (0..content.torrent().files().len())
        .filter_map(|index| content.path_of(FileIndex::new(index)).ok())
        .collect();
    for file in walk_files(root, false) {
        let file = match file {
            Ok(file) => file,
            Err((path, error)) => return Err(error).context(Shown(&path).to_string()),
        };
        if !known.contains(&file) {
            found(file.strip_prefix(root).unwrap_or(&file))?;
        }
    }
    Ok(())
}
