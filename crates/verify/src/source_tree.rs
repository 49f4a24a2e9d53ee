//! The files of a new torrent.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{Attributes, NewFile};
use hashlane_pipeline::{FileIndex, FileSet};
use walkdir::WalkDir;

use crate::file_stamp::{Stamp, TICK};
use crate::links;
use crate::source_tree_error::{LeftOut, SourceTreeError};

/// A file or a folder of files for a new torrent, as it was when it was searched.
#[derive(Clone, Debug)]
pub struct SourceTree {
    root: PathBuf,
    is_single_file: bool,
    files: Vec<Found>,
    left_out: LeftOut,
}

/// A file of the tree.
#[derive(Clone, Debug)]
struct Found {
    /// Relative to the root; empty if the root is the file.
    path: PathBuf,
    file: NewFile,
    stamp: Stamp,
}

/// The files of a folder to take, and their attributes.
#[derive(Clone, Copy)]
pub struct Selection<'s> {
    /// Whether to take files and folders whose names start with a dot.
    pub hidden: bool,
    /// Treatment of symbolic links.
    pub links: Links,
    /// Whether to mark executable and hidden files (BEP 47).
    pub attributes: bool,
    /// Returns `true` for files to leave out, and for folders to leave out with everything in them. Gets
    /// the path below the root.
    pub exclude: &'s dyn Fn(&Path) -> bool,
    /// Returns `true` for files that are not part of the content, and are not counted as left out.
    pub ignore: &'s dyn Fn(&Path) -> bool,
}

impl std::fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selection")
            .field("hidden", &self.hidden)
            .field("links", &self.links)
            .field("attributes", &self.attributes)
            .finish_non_exhaustive()
    }
}

/// Treatment of symbolic links. None may lead out of the content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Links become links of the torrent (BEP 47).
    #[default]
    Store,
    /// Targets are taken in place of links.
    Follow,
    /// Links are left out.
    Skip,
}

impl SourceTree {
    /// Searches a folder, or looks at a file. Opens no file.
    ///
    /// # Errors
    /// A [`SourceTreeError`] that names the file. Nothing is left out silently.
    pub fn find(root: &Path, selection: &Selection<'_>) -> Result<Self, SourceTreeError> {
        let metadata = root.metadata().map_err(|error| io_error(root, error))?;
        let mut tree = Self {
            root: root.to_owned(),
            is_single_file: !metadata.is_dir(),
            files: Vec::new(),
            left_out: LeftOut::default(),
        };
        if metadata.is_dir() {
            tree.search(selection)?;
        } else {
            tree.add(PathBuf::new(), &metadata, selection)?;
        }
        if tree.files.is_empty() {
            return Err(SourceTreeError::Empty {
                path: root.to_owned(),
                left_out: tree.left_out,
            });
        }
        // By names, not by bytes of the whole path: what is in `a` comes before `a.txt`.
        tree.files
            .sort_unstable_by(|a, b| a.file.path.cmp(&b.file.path));
        Ok(tree)
    }

    fn search(&mut self, selection: &Selection<'_>) -> Result<(), SourceTreeError> {
        let canonical = self
            .root
            .canonicalize()
            .map_err(|error| io_error(&self.root, error))?;
        let mut left_out = LeftOut::default();
        let root = self.root.clone();
        let walk = WalkDir::new(&root)
            .min_depth(1)
            .follow_links(selection.links == Links::Follow)
            .into_iter()
            .filter_entry(|entry| {
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                if is_hidden && !selection.hidden {
                    left_out.hidden += 1;
                    return false;
                }
                let path = entry.path().strip_prefix(&root).unwrap_or(entry.path());
                let is_excluded = (selection.exclude)(path);
                left_out.excluded += usize::from(is_excluded);
                !is_excluded && !(selection.ignore)(path)
            });
        for entry in walk {
            let entry = entry.map_err(|error| walk_error(&root, error))?;
            let path = entry.path().strip_prefix(&root).unwrap_or(entry.path());
            if entry.path_is_symlink() {
                match selection.links {
                    Links::Skip => {
                        self.left_out.links += 1;
                        continue;
                    }
                    Links::Store => {
                        self.add_link(path)?;
                        continue;
                    }
                    Links::Follow => stays_inside(entry.path(), &canonical)?,
                }
            }
            if !entry.file_type().is_dir() {
                let metadata = entry.metadata().map_err(|error| walk_error(&root, error))?;
                self.add(path.to_owned(), &metadata, selection)?;
            }
        }
        self.left_out.hidden = left_out.hidden;
        self.left_out.excluded = left_out.excluded;
        Ok(())
    }

    fn add(
        &mut self,
        path: PathBuf,
        metadata: &Metadata,
        selection: &Selection<'_>,
    ) -> Result<(), SourceTreeError> {
        if !metadata.is_file() {
            let path = self.place_of(&path);
            return Err(SourceTreeError::NotRegular { path });
        }
        let names = self.names(&path)?;
        let attributes = if selection.attributes {
            Attributes {
                executable: is_executable(metadata),
                hidden: names.last().is_some_and(|name| name.starts_with(b".")),
            }
        } else {
            Attributes::default()
        };
        self.files.push(Found {
            file: NewFile {
                path: names,
                length: metadata.len(),
                attributes,
                target: None,
            },
            stamp: Stamp::of(metadata),
            path,
        });
        Ok(())
    }

    fn add_link(&mut self, path: &Path) -> Result<(), SourceTreeError> {
        let place = self.place_of(path);
        let metadata = place
            .symlink_metadata()
            .map_err(|error| io_error(&place, error))?;
        let target = place.read_link().map_err(|error| io_error(&place, error))?;
        let folder: Vec<&OsStr> = path.parent().into_iter().flat_map(Path::iter).collect();
        let Some(inside) = links::resolve(&self.root, &folder, &target) else {
            return Err(SourceTreeError::LinkOutside {
                path: place,
                target,
            });
        };
        if inside.is_empty() {
            return Err(SourceTreeError::LinkToRoot { path: place });
        }
        let inside: PathBuf = inside.into_iter().collect();
        self.files.push(Found {
            file: NewFile {
                path: self.names(path)?,
                length: 0,
                attributes: Attributes::default(),
                target: Some(self.names(&inside)?),
            },
            stamp: Stamp::of(&metadata),
            path: path.to_owned(),
        });
        Ok(())
    }

    /// Returns the names in a path, as a torrent has them; the name of the root if it is the file.
    fn names(&self, path: &Path) -> Result<Vec<Vec<u8>>, SourceTreeError> {
        let own = self.root.file_name().unwrap_or_default();
        let names = if path.as_os_str().is_empty() {
            vec![own]
        } else {
            path.iter().collect()
        };
        let names = names.into_iter().map(|name| {
            name_bytes(name).ok_or_else(|| SourceTreeError::NotUnicode {
                path: self.place_of(path),
            })
        });
        names.collect()
    }

    /// Returns the path of a file of the tree.
    fn place_of(&self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(path)
        }
    }

    /// Returns the file or folder that was searched.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `true` if the root is a file.
    pub fn is_single_file(&self) -> bool {
        self.is_single_file
    }

    /// Returns the files in the order of their names, as a torrent has them.
    pub fn files(&self) -> Vec<NewFile> {
        self.files.iter().map(|found| found.file.clone()).collect()
    }

    /// Returns the length of all files in bytes.
    pub fn length(&self) -> u64 {
        self.files.iter().map(|found| found.file.length).sum()
    }

    /// Returns the numbers of entries that were left out.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Waits until every later write gives a file another time than the one it was found with. Waits
    /// only if a file was written to just before.
    pub(crate) fn settle(&self) {
        let newest = self
            .files
            .iter()
            .filter_map(|found| found.stamp.modified)
            .max();
        let age = newest.and_then(|newest| newest.elapsed().ok());
        if let Some(rest) = age.and_then(|age| TICK.checked_sub(age)) {
            std::thread::sleep(rest);
        }
    }

    /// Returns the first file that changed since it was found.
    pub(crate) fn changed(&self) -> Option<PathBuf> {
        let changed = self.files.iter().find(|found| {
            let place = self.place_of(&found.path);
            let metadata = match found.file.target {
                Some(_) => place.symlink_metadata(),
                None => place.metadata(),
            };
            !metadata.is_ok_and(|metadata| Stamp::of(&metadata) == found.stamp)
        });
        changed.map(|found| self.place_of(&found.path))
    }
}

impl FileSet for SourceTree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.place_of(&self.files[file.get()].path))
    }
}

/// Returns an error if a link leads out of the content.
fn stays_inside(link: &Path, canonical: &Path) -> Result<(), SourceTreeError> {
    let target = link.canonicalize().map_err(|error| io_error(link, error))?;
    if target.starts_with(canonical) {
        return Ok(());
    }
    Err(SourceTreeError::LinkOutside {
        path: link.to_owned(),
        target,
    })
}

fn is_executable(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.permissions().mode() & 0o100 != 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Returns a name as a torrent has it.
#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "names of other systems have no bytes"
)]
fn name_bytes(name: &OsStr) -> Option<Vec<u8>> {
    Some(std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec())
}

/// Returns a name as a torrent has it.
#[cfg(not(unix))]
fn name_bytes(name: &OsStr) -> Option<Vec<u8>> {
    Some(name.to_str()?.as_bytes().to_vec())
}

fn io_error(path: &Path, error: io::Error) -> SourceTreeError {
    SourceTreeError::Io {
        path: path.to_owned(),
        error,
    }
}

fn walk_error(root: &Path, error: walkdir::Error) -> SourceTreeError {
    let path = error.path().unwrap_or(root).to_owned();
    let error = match error.loop_ancestor() {
        Some(_) => io::Error::other("leads back to a folder that it is in"),
        None => error
            .into_io_error()
            .unwrap_or_else(|| io::Error::other("cannot be read")),
    };
    SourceTreeError::Io { path, error }
}
