//! The files of a new torrent, and reasons why there are none.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{Entry, EntryKind, FileTree, LeftOut, Selection, WalkError};
use hashlane_metainfo::{Attributes, NewFile};
use hashlane_pipeline::{FileIndex, FileSet};

/// A file or a folder of files for a new torrent, in its state at the time of the search.
#[derive(Clone, Debug)]
pub struct SourceTree {
    tree: FileTree,
    /// The torrent's file for each entry of the tree.
    files: Vec<NewFile>,
}

/// A reason why no torrent can be created from files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceTreeError {
    /// The files could not be found.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A symbolic link to the content as a whole. No torrent can contain such a link.
    #[error("{}: is a link to the content as a whole, which no torrent can contain", path.display())]
    LinkToRoot {
        /// Path of the entry.
        path: PathBuf,
    },
    /// A name that is not Unicode, on a system whose names are Unicode.
    #[error("{}: the name is not Unicode", path.display())]
    NotUnicode {
        /// Path of the entry.
        path: PathBuf,
    },
    /// A folder without files.
    #[error("{}: contains no files{}", path.display(), but(*left_out))]
    Empty {
        /// The folder.
        path: PathBuf,
        /// Entries that were left out.
        left_out: LeftOut,
    },
}

/// Returns the end of the message about a folder without files.
fn but(left_out: LeftOut) -> &'static str {
    if left_out == LeftOut::default() {
        ""
    } else {
        " except those that are left out"
    }
}

/// An order of files. Version 2 supports only [`FileOrder::Path`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileOrder {
    /// Folder by folder, by the bytes of the names: `a/b` comes before `a.txt`.
    #[default]
    Path,
    /// By the bytes of the whole path, including slashes: `a.txt` comes before `a/b`.
    WholePath,
    /// The smallest file first.
    Smallest,
    /// The largest file first.
    Largest,
}

impl SourceTree {
    /// Searches a folder or examines a file. Opens no file. `attributes` marks executable and hidden files (BEP 47).
    ///
    /// # Errors
    /// Returns a [`SourceTreeError`] that names the file. No entry is left out silently.
    pub fn find(
        root: &Path,
        selection: &Selection<'_>,
        attributes: bool,
    ) -> Result<Self, SourceTreeError> {
        let tree = FileTree::walk(root, selection)?;
        if tree.entries().is_empty() {
            return Err(SourceTreeError::Empty {
                path: root.to_owned(),
                left_out: tree.left_out(),
            });
        }
        let files = tree.entries().iter();
        let files = files.map(|entry| new_file(&tree, entry, attributes));
        let files = files.collect::<Result<_, _>>()?;
        Ok(Self { tree, files })
    }

    /// Puts the files into another order.
    pub fn sort(&mut self, order: FileOrder) {
        let files = &self.files;
        let mut places: Vec<usize> = (0..files.len()).collect();
        let by_path = |a: &usize, b: &usize| files[*a].path.cmp(&files[*b].path);
        match order {
            FileOrder::Path => places.sort_by(by_path),
            FileOrder::WholePath => places.sort_by_cached_key(|i| files[*i].path.join(&b'/')),
            FileOrder::Smallest => {
                places.sort_by(|a, b| files[*a].length.cmp(&files[*b].length).then(by_path(a, b)));
            }
            FileOrder::Largest => {
                places.sort_by(|a, b| files[*b].length.cmp(&files[*a].length).then(by_path(a, b)));
            }
        }
        let mut files: Vec<_> = self.files.drain(..).map(Some).collect();
        self.files = places.iter().filter_map(|i| files[*i].take()).collect();
        self.tree.reorder(&places);
    }

    /// Returns the file or folder that was searched.
    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// Returns `true` if the root is a file.
    pub fn is_single_file(&self) -> bool {
        self.tree.is_single_file()
    }

    /// Returns the files for a torrent, in the order of their names unless [`Self::sort`] has changed it.
    pub fn files(&self) -> Vec<NewFile> {
        self.files.clone()
    }

    /// Returns the length of all files in bytes.
    pub fn length(&self) -> u64 {
        self.files.iter().map(|file| file.length).sum()
    }

    /// Returns the numbers of entries that were left out.
    pub fn left_out(&self) -> LeftOut {
        self.tree.left_out()
    }

    /// Waits until every later write will change the modification time of its file.
    pub(crate) fn settle(&self) {
        self.tree.settle();
    }

    /// Returns the first file that changed since it was found.
    pub(crate) fn changed(&self) -> Option<PathBuf> {
        self.tree.first_change()
    }
}

impl FileSet for SourceTree {
    fn root(&self) -> &Path {
        self.tree.root()
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.tree.path_of(&self.tree.entries()[file.get()]))
    }
}

/// Returns the torrent's form of a file or link of a tree.
fn new_file(tree: &FileTree, entry: &Entry, attributes: bool) -> Result<NewFile, SourceTreeError> {
    let path = names(tree, entry, entry.path())?;
    match entry.kind() {
        EntryKind::File {
            len_bytes,
            is_executable,
        } => {
            let is_hidden = path.last().is_some_and(|name| name.starts_with(b"."));
            let attributes = Attributes::default()
                .executable(attributes && *is_executable)
                .hidden(attributes && is_hidden);
            Ok(NewFile::new(path, *len_bytes).attributes(attributes))
        }
        EntryKind::Link { target } if target.as_os_str().is_empty() => {
            let path = tree.path_of(entry);
            Err(SourceTreeError::LinkToRoot { path })
        }
        EntryKind::Link { target } => Ok(NewFile::link(path, names(tree, entry, target)?)),
    }
}

/// Returns the torrent's form of the names in a path below the root. If the root is the file, returns its name.
fn names(tree: &FileTree, entry: &Entry, path: &Path) -> Result<Vec<Vec<u8>>, SourceTreeError> {
    let names = if path.as_os_str().is_empty() {
        vec![tree.root().file_name().unwrap_or_default()]
    } else {
        path.iter().collect()
    };
    let names = names.into_iter().map(|name| {
        name_bytes(name).ok_or_else(|| SourceTreeError::NotUnicode {
            path: tree.path_of(entry),
        })
    });
    names.collect()
}

/// Returns the torrent's form of a name.
#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "names of other systems have no bytes"
)]
fn name_bytes(name: &OsStr) -> Option<Vec<u8>> {
    Some(std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec())
}

/// Returns the torrent's form of a name.
#[cfg(not(unix))]
fn name_bytes(name: &OsStr) -> Option<Vec<u8>> {
    Some(name.to_str()?.as_bytes().to_vec())
}
