//! Files around the content: where it may be if none of it was found, and files that the torrent does not have.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_files::{NotContent, Walked, walk_files};
use hashlane_find::Elsewhere;
use hashlane_metainfo::FileKind;
use hashlane_verify::{Content, FileIndex};

use crate::output::elsewhere::found_root;
use crate::output::text::Shown;

/// Maximum number of a torrent's files to look for in another folder.
const MAX_FILES: usize = 16;

/// Returns a suggestion if the content is not at `content.root()`: the option for the place where it was found, or the
/// options that name a place.
pub(super) fn suggestion(content: &Content, elsewhere: &Elsewhere) -> String {
    if let Some(found) = elsewhere.root() {
        return format!("{}: --content checks it", found_root(found));
    }
    let root = content.root();
    let folder = root.parent().unwrap_or(Path::new(""));
    if !content.torrent().is_single_file() && has_files(content, folder) {
        let folder = shown(folder);
        return format!("{folder} has files of the torrent: --content checks it");
    }
    if let Ok(name) = content.torrent().name().to_os_str() {
        let mut near = [Some(root), folder.parent()].into_iter().flatten();
        if let Some(folder) = near.find(|folder| folder.join(name).exists()) {
            let folder = shown(folder);
            return format!("{folder} has something of this name: -d checks it");
        }
    }
    "-d names the folder that has the content, --content the content under another name".to_owned()
}

/// Returns a folder as an option takes it: the current one is `.`, not an empty path.
fn shown(folder: &Path) -> Shown<'_> {
    if folder.as_os_str().is_empty() {
        return Shown(Path::new("."));
    }
    Shown(folder)
}

/// Returns `true` if one of the first files exists below `folder`.
fn has_files(content: &Content, folder: &Path) -> bool {
    let files = content.torrent().files();
    let regular = files
        .iter()
        .enumerate()
        .filter(|(_, file)| matches!(file.kind(), FileKind::Regular) && file.length() > 0);
    regular.take(MAX_FILES).any(|(index, _)| {
        let path = content.path_of(FileIndex::new(index)).ok();
        let below = path.and_then(|path| path.strip_prefix(content.root()).ok().map(PathBuf::from));
        below.is_some_and(|below| folder.join(below).is_file())
    })
}

/// Calls `found` with the path of each extra file, relative to the folder, in the order of their names. A torrent of a
/// single file has no folder and therefore no extra files.
///
/// # Errors
/// Fails if a folder cannot be read, or with an error of `found`.
pub(super) fn for_each_extra(
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
            Walked::File(file) | Walked::LeftOut(file, NotContent::Special) => file,
            Walked::LeftOut(_, NotContent::Own) => continue,
            Walked::Failed(path, error) => return Err(error).context(Shown(&path).to_string()),
        };
        if !known.contains(&file) {
            found(file.strip_prefix(root).unwrap_or(&file))?;
        }
    }
    Ok(())
}
