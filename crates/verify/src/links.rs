//! Symbolic links of a torrent (BEP 47), compared with those on disk.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use hashlane_files::{LinkState, read_link, resolve_link};
use hashlane_metainfo::{FileKind, TorrentPath};
use hashlane_pipeline::FileIndex;

use crate::content::Content;

/// The entry at the path of a torrent's link.
#[derive(Debug)]
pub(crate) enum Link {
    /// The torrent's link.
    Right,
    /// A link to this target.
    Elsewhere(PathBuf),
    /// A file or folder.
    Other,
    /// Nothing.
    Absent,
    /// The system reported an error.
    Failed(io::Error),
}

/// Compares a link on disk with the torrent's link.
///
/// The targets are equal if both lead to the same place in the content. The torrent's target is relative
/// to the content root or, as some creators write it, to the folder of the link.
pub(crate) fn compare(content: &Content, file: FileIndex) -> Link {
    let entry = content.torrent().file(file.get());
    let FileKind::Symlink { target } = entry.kind() else {
        unreachable!("the caller passes only links");
    };
    let found = match content.path_of(file).map(|path| read_link(&path)) {
        Ok(LinkState::Link(found)) => found,
        Ok(LinkState::Other) => return Link::Other,
        Ok(LinkState::Absent) => return Link::Absent,
        Ok(LinkState::Failed(error)) | Err(error) => return Link::Failed(error),
    };
    let mut folder = names(entry.path());
    folder.pop();
    let is_right = resolve_link(content.root(), &folder, &found).is_some_and(|place| {
        let target = names(target);
        place == target || place == [&folder[..], &target[..]].concat()
    });
    if is_right {
        Link::Right
    } else {
        Link::Elsewhere(found)
    }
}

/// Returns the names in a torrent's path in the form of the system.
fn names(path: TorrentPath<'_>) -> Vec<&OsStr> {
    path.components()
        .filter_map(|name| name.to_os_str().ok())
        .collect()
}
