//! The result of one verification, and content outside its folder: `verify` follows links there, `seed` and `get` do not.

use std::collections::BTreeSet;
#[cfg(unix)]
use std::ffi::OsString;
#[cfg(unix)]
use std::io;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;

use hashlane_find::Elsewhere;
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
        let mut neighbours: Option<Neighbours> = None;
        // Files of a content map are served wherever they lie.
        let regular = regular.filter(|file| !content.is_mapped(file.index));
        for file in regular.filter(|file| file.state != FileState::Missing) {
            let Ok(path) = content.path_of(file.index) else {
                continue;
            };
            let (Ok(below), Some(parent)) = (path.strip_prefix(folder), path.parent()) else {
                continue;
            };
            let neighbours = match &mut neighbours {
                Some(neighbours) if neighbours.folder == parent => neighbours,
                other => {
                    let parent_below = below.parent().unwrap_or(Path::new(""));
                    let is_outside = opened.is_left_by(parent_below);
                    other.insert(Neighbours::new(parent, is_outside))
                }
            };
            if neighbours.are_outside || neighbours.has_link(&path) && opened.is_left_by(below) {
                self.files.insert(file.index.get());
            }
        }
    }

    pub(super) fn has(&self, file: FileIndex) -> bool {
        self.files.contains(&file.get())
    }
}

/// Files of one folder. Many files are found to be no links by reading the folder once.
#[cfg(unix)]
struct Neighbours {
    folder: PathBuf,
    /// Whether the folder is outside the content's folder.
    are_outside: bool,
    /// Number of files that were looked at.
    n_seen: usize,
    /// The names of links in the folder, if it was read.
    links: Option<BTreeSet<OsString>>,
}

#[cfg(unix)]
impl Neighbours {
    /// The number of files that are looked at one by one. The folder can have many more files than the torrent.
    const FEW: usize = 16;

    fn new(folder: &Path, are_outside: bool) -> Self {
        Self {
            folder: folder.to_owned(),
            are_outside,
            n_seen: 0,
            links: None,
        }
    }

    /// Returns `true` if the file at `path`, in the folder, is a link.
    fn has_link(&mut self, path: &Path) -> bool {
        self.n_seen += 1;
        if self.n_seen == Self::FEW {
            self.links = links_in(&self.folder).ok();
        }
        match (&self.links, path.file_name()) {
            (Some(links), Some(name)) => links.contains(name),
            _ => path.is_symlink(),
        }
    }
}

/// Returns the names of the links in a folder.
#[cfg(unix)]
fn links_in(folder: &Path) -> io::Result<BTreeSet<OsString>> {
    let mut links = BTreeSet::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_symlink() {
            links.insert(entry.file_name());
        }
    }
    Ok(links)
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

/// A torrent that was verified.
pub(super) struct Verified<'v> {
    /// The path of the .torrent file, as given.
    pub(super) torrent_path: &'v Path,
    pub(super) content: &'v Content,
    pub(super) report: &'v Report,
    pub(super) outside: Outside,
    pub(super) elsewhere: Elsewhere,
}
