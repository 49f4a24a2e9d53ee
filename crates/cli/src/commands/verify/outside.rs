//! Content outside its folder: `verify` follows links there, `seed` and `get` do not.

use std::collections::BTreeSet;
use std::path::Path;

use hashlane_verify::{Content, FileIndex, Report};

/// The parts of a torrent's content that links lead to, out of the folder of the content.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// Whether the content itself is outside the folder. `get` refuses it, and `seed` serves it.
    pub(super) content: bool,
    /// Files that `seed` and `get` refuse.
    files: BTreeSet<usize>,
}

impl Outside {
    /// Finds content outside `folder`, or outside the content itself if the user named its path.
    #[cfg(unix)]
    pub(super) fn find(content: &Content, folder: Option<&Path>, report: &Report) -> Self {
        let mut outside = Self {
            content: folder.is_some_and(|folder| {
                let name = content.root().strip_prefix(folder);
                name.is_ok_and(|name| Folder::open(folder).is_some_and(|it| it.is_left_by(name)))
            }),
            files: BTreeSet::new(),
        };
        if let Ok((content, folder)) = content.clone().confined(folder)
            && let Some(folder_of_content) = Folder::open(&folder)
        {
            outside.find_files(&content, &folder, &folder_of_content, report);
        }
        outside
    }

    /// Finds nothing: `seed` and `get` do not exist on this system.
    #[cfg(not(unix))]
    pub(super) fn find(_: &Content, _: Option<&Path>, _: &Report) -> Self {
        Self::default()
    }

    #[cfg(unix)]
    fn find_files(&mut self, content: &Content, folder: &Path, opened: &Folder, report: &Report) {
        use hashlane_metainfo::FileKind;
        use hashlane_verify::FileState;

        let regular = report.files().iter().filter(|file| {
            let kind = content.torrent().file(file.index.get()).kind();
            matches!(kind, FileKind::Regular) && file.length > 0
        });
        let mut last = (None, false);
        for file in regular.filter(|file| file.state != FileState::Missing) {
            let Ok(path) = content.path_of(file.index) else {
                continue;
            };
            let Ok(below) = path.strip_prefix(folder) else {
                continue;
            };
            // Most files have a neighbour in the same folder, and are no links.
            let parent = below.parent().unwrap_or(Path::new(""));
            if last.0.as_deref() != Some(parent) {
                last = (Some(parent.to_owned()), opened.is_left_by(parent));
            }
            if last.1 || path.is_symlink() && opened.is_left_by(below) {
                self.files.insert(file.index.get());
            }
        }
    }

    pub(super) fn has(&self, file: FileIndex) -> bool {
        self.files.contains(&file.get())
    }
}

/// A folder with the rule that `seed` and `get` apply to links.
#[cfg(unix)]
struct Folder(hashlane_files::Root);

#[cfg(unix)]
impl Folder {
    fn open(folder: &Path) -> Option<Self> {
        let folder = Some(folder).filter(|folder| *folder != Path::new(""));
        let root = hashlane_files::Root::open(folder.unwrap_or(Path::new(".")));
        root.ok().map(Self)
    }

    /// Returns `true` if a link in this path, relative to the folder, leads out of the folder.
    fn is_left_by(&self, path: &Path) -> bool {
        let status = self.0.status(path);
        status.is_err_and(|error| hashlane_files::leads_out(&error))
    }
}
