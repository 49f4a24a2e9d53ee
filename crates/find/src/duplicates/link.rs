//! Duplicates that become names of one file, or share its bytes.

use std::io;
use std::path::PathBuf;

use hashlane_files::KeptFile;
use hashlane_pipeline::CancelToken;

use super::file::DuplicateGroup;

/// The kind of a link that replaces a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DuplicateLink {
    /// A second name of the kept file.
    Hard,
    /// A file of its own that shares the bytes of the kept file on the disk until one of them changes (Btrfs, XFS).
    Reflink,
}

/// What became of one name of a duplicate.
#[derive(Debug)]
#[non_exhaustive]
pub struct LinkedName {
    /// The name.
    pub path: PathBuf,
    /// An error if the duplicate is as it was.
    pub result: io::Result<()>,
}

/// Links the files of a group to the first of them, which is kept. A hard link replaces each name of each other file. A
/// reflink is made once for each other file.
///
/// All bytes are compared again, and a file that has changed, or is being changed, keeps its name and its bytes. Nothing is
/// linked across file systems. After `cancel` is set, the function returns soon, and the remaining names are not in the
/// result.
pub fn link_duplicates(
    group: &DuplicateGroup,
    kind: DuplicateLink,
    cancel: &CancelToken,
) -> Vec<LinkedName> {
    let Some((first, others)) = group.files.split_first() else {
        return Vec::new();
    };
    let kept = KeptFile::open(&first.names[0], &first.stamp);
    let mut linked = Vec::new();
    for file in others {
        let names = match kind {
            DuplicateLink::Hard => &file.names[..],
            DuplicateLink::Reflink => &file.names[..1],
        };
        for path in names {
            if cancel.is_cancelled() {
                return linked;
            }
            let result = match (&kept, kind) {
                (Err(error), _) => Err(io::Error::new(
                    error.kind(),
                    format!("{}: {error}", first.names[0].display()),
                )),
                (Ok(kept), DuplicateLink::Hard) => kept.replace_by_link(path, &file.stamp, cancel),
                (Ok(kept), DuplicateLink::Reflink) => kept.share_bytes(path, &file.stamp, cancel),
            };
            linked.push(LinkedName {
                path: path.clone(),
                result,
            });
        }
    }
    linked
}
