//! Walks of folders that collect files and links.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::links::resolve_link;
use crate::stamp::{Stamp, TICK};
use crate::walk::{MAX_LINK_PATHS, Step, Walk};

/// A file, or the files and links of a folder, as they were found by [`FileTree::walk`].
#[derive(Clone, Debug)]
pub struct FileTree {
    root: PathBuf,
    is_single_file: bool,
    entries: Vec<Entry>,
    left_out: LeftOut,
}

/// A file or link of a tree.
#[derive(Clone, Debug)]
pub struct Entry {
    path: PathBuf,
    kind: EntryKind,
    stamp: Stamp,
}

/// The kind of an entry. A program must decide about each kind, so a new kind is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File {
        /// Length in bytes.
        len_bytes: u64,
        /// Whether the owner may execute the file. Always `false` on systems without this
        /// permission.
        is_executable: bool,
    },
    /// A symbolic link, with [`Links::Store`].
    Link {
        /// Target of the link, relative to the root. Empty for the root itself.
        target: PathBuf,
    },
}

/// The entries to include in a walk.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Selection<'s> {
    /// Whether to include files and folders whose names start with a dot.
    pub hidden: bool,
    /// Treatment of symbolic links.
    pub links: Links,
    /// Returns the choice for a file, folder or link that is not hidden.
    pub choose: &'s dyn Fn(Candidate<'_>) -> Choice,
}

impl<'s> Selection<'s> {
    /// Returns the selection of everything that `choose` takes. Links are stored, and nothing is hidden from `choose`.
    pub fn new(choose: &'s dyn Fn(Candidate<'_>) -> Choice) -> Self {
        Self {
            hidden: true,
            links: Links::default(),
            choose,
        }
    }

    /// Sets whether to include files and folders whose names start with a dot.
    #[must_use]
    pub fn hidden(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }

    /// Sets the treatment of symbolic links.
    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }
}

/// A file, folder or link that a walk meets.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate<'c> {
    /// Path below the root.
    pub path: &'c Path,
    /// Whether it is a folder, or a link to one that is followed.
    pub is_folder: bool,
}

/// Whether a candidate is part of the tree. A folder that is not part of it is left out with everything in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// It is part of the tree.
    Take,
    /// It is excluded.
    Exclude,
    /// It is left out because it is never content, such as the files of a file manager.
    Junk,
    /// It is left out without being counted.
    Ignore,
}

/// Treatment of symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Links {
    /// Links are entries. None may lead out of the root.
    #[default]
    Store,
    /// Targets are found in place of links. None may lie outside the root.
    Follow,
    /// Targets are found in place of links, also outside the root.
    FollowOutside,
    /// Links are left out.
    Skip,
}

/// Numbers of entries of a folder that were left out. A program that reports them should report all, so a new number is a
/// breaking change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files and folders that are excluded.
    pub excluded: usize,
    /// Files and folders that are never content.
    pub junk: usize,
    /// Files of Hashlane itself: see [`is_own_name`](crate::is_own_name).
    pub own: usize,
    /// Hidden files and folders.
    pub hidden: usize,
    /// Symbolic links.
    pub links: usize,
}

/// A reason for which a walk fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WalkError {
    /// The system could not read a file or folder.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// An entry that is not a file, folder or link, for example a pipe.
    #[error("{}: not a regular file", path.display())]
    NotRegular {
        /// Path of the entry.
        path: PathBuf,
    },
    /// A symbolic link that leads out of the root.
    #[error("{}: links to {}, which is not in the content", path.display(), target.display())]
    LinkOutside {
        /// Path of the link.
        path: PathBuf,
        /// Target of the link.
        target: PathBuf,
    },
    /// The links to one folder form more paths than a walk could ever finish.
    #[error("{}: more than {MAX_LINK_PATHS} paths of symbolic links lead to this folder", folder.display())]
    TooManyLinkPaths {
        /// Canonical path of the folder.
        folder: PathBuf,
    },
}

impl FileTree {
    /// Walks a folder, or takes a single file. Opens no file.
    ///
    /// # Errors
    /// A [`WalkError`] that names the file. Entries are never left out because of an error.
    pub fn walk(root: &Path, selection: &Selection<'_>) -> Result<Self, WalkError> {
        let metadata = root.metadata().map_err(|error| io_error(root, error))?;
        let mut tree = Self {
            root: root.to_owned(),
            is_single_file: !metadata.is_dir(),
            entries: Vec::new(),
            left_out: LeftOut::default(),
        };
        if metadata.is_dir() {
            tree.walk_folder(selection)?;
        } else if metadata.is_file() {
            tree.add_file(PathBuf::new(), Stamp::of(&metadata));
        } else {
            let path = root.to_owned();
            return Err(WalkError::NotRegular { path });
        }
        Ok(tree)
    }

    fn walk_folder(&mut self, selection: &Selection<'_>) -> Result<(), WalkError> {
        let canonical = self
            .root
            .canonicalize()
            .map_err(|error| io_error(&self.root, error))?;
        let follows = matches!(selection.links, Links::Follow | Links::FollowOutside);
        let mut walk = Walk::new(&self.root).with_stamps().follow_links(follows);
        while let Some(step) = walk.step() {
            match step {
                Step::Own(_) => {
                    self.left_out.own += 1;
                    continue;
                }
                Step::Failed(error) => return Err(io_error(&walk.place(), error)),
                Step::TooManyLinkPaths => {
                    let folder = walk.canonical_place();
                    return Err(WalkError::TooManyLinkPaths { folder });
                }
                _ => {}
            }
            if !self.takes(&walk, selection) {
                walk.skip_folder();
                continue;
            }
            if walk.is_followed_link() && selection.links == Links::Follow {
                stays_inside(&walk.place(), &canonical)?;
            }
            match step {
                Step::File(Some(stamp)) => self.add_file(walk.path().to_owned(), stamp),
                Step::Link if selection.links == Links::Skip => self.left_out.links += 1,
                Step::Link => self.add_link(walk.path())?,
                Step::Folder => {}
                _ => return Err(WalkError::NotRegular { path: walk.place() }),
            }
        }
        Ok(())
    }

    /// Returns `true` if an entry is selected. Counts it otherwise.
    fn takes(&mut self, walk: &Walk, selection: &Selection<'_>) -> bool {
        let name = walk.path().file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b".") && !selection.hidden {
            self.left_out.hidden += 1;
            return false;
        }
        let choice = (selection.choose)(Candidate {
            path: walk.path(),
            is_folder: walk.is_folder(),
        });
        self.left_out.excluded += usize::from(choice == Choice::Exclude);
        self.left_out.junk += usize::from(choice == Choice::Junk);
        choice == Choice::Take
    }

    fn add_file(&mut self, path: PathBuf, stamp: Stamp) {
        self.entries.push(Entry {
            path,
            kind: EntryKind::File {
                len_bytes: stamp.length(),
                is_executable: stamp.is_executable(),
            },
            stamp,
        });
    }

    fn add_link(&mut self, path: &Path) -> Result<(), WalkError> {
        let place = self.join(path);
        let metadata = place
            .symlink_metadata()
            .map_err(|error| io_error(&place, error))?;
        let target = place.read_link().map_err(|error| io_error(&place, error))?;
        let folder: Vec<&OsStr> = path.parent().into_iter().flat_map(Path::iter).collect();
        let Some(inside) = resolve_link(&self.root, &folder, &target) else {
            return Err(WalkError::LinkOutside {
                path: place,
                target,
            });
        };
        self.entries.push(Entry {
            path: path.to_owned(),
            kind: EntryKind::Link {
                target: inside.into_iter().collect(),
            },
            stamp: Stamp::of(&metadata),
        });
        Ok(())
    }

    /// Returns the file or folder that was walked.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `true` if the root is a file.
    pub fn is_single_file(&self) -> bool {
        self.is_single_file
    }

    /// Returns the files and links, in the order of their names unless [`Self::reorder`] has changed it.
    /// Folders are not entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Puts the entries into another order: the entry at `order[i]` becomes entry `i`.
    ///
    /// # Panics
    /// If `order` does not have each index of an entry once.
    pub fn reorder(&mut self, order: &[usize]) {
        let mut entries: Vec<_> = self.entries.drain(..).map(Some).collect();
        assert_eq!(order.len(), entries.len(), "each entry has a place");
        let entry = |index: &usize| entries[*index].take().expect("each index is there once");
        self.entries = order.iter().map(entry).collect();
    }

    /// Returns the numbers of entries that were left out.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Returns the path of an entry, including the root.
    pub fn path_of(&self, entry: &Entry) -> PathBuf {
        self.join(&entry.path)
    }

    fn join(&self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(path)
        }
    }

    /// Waits until any later write is certain to change the modification time of its file. Waits
    /// only if a file was written to just before the walk.
    pub fn settle(&self) {
        let newest = self.entries.iter().filter_map(|entry| entry.stamp.modified);
        let age = newest.max().and_then(|newest| newest.elapsed().ok());
        if let Some(rest) = age.and_then(|age| TICK.checked_sub(age)) {
            std::thread::sleep(rest);
        }
    }

    /// Returns the path of the first entry that has changed since the walk.
    pub fn first_change(&self) -> Option<PathBuf> {
        let changed = self.entries.iter().find(|entry| {
            let path = self.path_of(entry);
            let metadata = match entry.kind {
                EntryKind::Link { .. } => path.symlink_metadata(),
                EntryKind::File { .. } => path.metadata(),
            };
            !metadata.is_ok_and(|metadata| Stamp::of(&metadata) == entry.stamp)
        });
        changed.map(|entry| self.path_of(entry))
    }
}

impl Entry {
    /// Returns the path below the root. Empty if the root is a file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of the entry.
    pub fn kind(&self) -> &EntryKind {
        &self.kind
    }
}

impl std::fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selection")
            .field("hidden", &self.hidden)
            .field("links", &self.links)
            .finish_non_exhaustive()
    }
}

/// Returns an error if a link leads out of the root.
fn stays_inside(link: &Path, canonical: &Path) -> Result<(), WalkError> {
    let target = link.canonicalize().map_err(|error| io_error(link, error))?;
    if target.starts_with(canonical) {
        return Ok(());
    }
    Err(WalkError::LinkOutside {
        path: link.to_owned(),
        target,
    })
}

fn io_error(path: &Path, error: io::Error) -> WalkError {
    WalkError::Io {
        path: path.to_owned(),
        error,
    }
}
