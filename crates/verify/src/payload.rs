//! Files on this machine that a torrent is to be made of.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hashlane_metainfo::{Attributes, NewFile};
use hashlane_pipeline::{FileIndex, FileSet};
use walkdir::WalkDir;

use crate::links;

/// A file, or a folder of files, as it was when it was looked through.
#[derive(Clone, Debug)]
pub struct Payload {
    root: PathBuf,
    is_single_file: bool,
    files: Vec<Found>,
    left_out: LeftOut,
}

/// A file of a payload.
#[derive(Clone, Debug)]
struct Found {
    /// Relative to the root; empty if the root is the file.
    path: PathBuf,
    file: NewFile,
    stamp: Stamp,
}

/// What changes when a file is written to, or replaced by another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    /// Device and number, where files have them.
    id: Option<(u64, u64)>,
    /// When anything about the file was changed last, in seconds and nanoseconds, where the system
    /// keeps that. Nobody can set it back, as they can the time of modification.
    changed: Option<(i64, i64)>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (id, changed) = {
            use std::os::unix::fs::MetadataExt as _;
            let id = (metadata.dev(), metadata.ino());
            (Some(id), Some((metadata.ctime(), metadata.ctime_nsec())))
        };
        #[cfg(not(unix))]
        let (id, changed) = (None, None);
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            id,
            changed,
        }
    }
}

/// Longer than the steps that the times of files are kept in: a tick of the kernel is at most 10 ms.
const TICK: Duration = Duration::from_millis(20);

/// Which files of a folder are taken, and what of them.
#[derive(Clone, Copy)]
pub struct Selection<'s> {
    /// Whether files and folders whose names start with a dot are taken.
    pub hidden: bool,
    /// What becomes of symbolic links.
    pub links: Links,
    /// Whether executable and hidden files are marked as such (BEP 47).
    pub attributes: bool,
    /// Leaves out files, and folders with all that is in them, by their path from the root on.
    pub exclude: &'s dyn Fn(&Path) -> bool,
    /// Files that do not belong to the content, and are not counted as left out.
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

/// What becomes of symbolic links in a payload. None of them may lead out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// They are links in the torrent too (BEP 47).
    #[default]
    Store,
    /// What they lead to is taken in their place.
    Follow,
    /// They are left out.
    Skip,
}

/// How much of a folder was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files and folders that are excluded.
    pub excluded: usize,
    /// Hidden files and folders.
    pub hidden: usize,
    /// Symbolic links.
    pub links: usize,
}

/// Why a payload cannot be made a torrent of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The system could not tell what is there.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// Of what.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// Something that is no file, folder or link, such as a pipe.
    #[error("{}: not a regular file", path.display())]
    NotRegular {
        /// Where it is.
        path: PathBuf,
    },
    /// A symbolic link that leads out of the payload.
    #[error("{}: links to {}, which is not in the content", path.display(), target.display())]
    LinkOutside {
        /// Where it is.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A symbolic link to the payload as a whole, for which torrents have no words.
    #[error("{}: links to the content as a whole, which no torrent can say", path.display())]
    LinkToRoot {
        /// Where it is.
        path: PathBuf,
    },
    /// A name that is not Unicode, on a system whose names are.
    #[error("{}: the name is not Unicode", path.display())]
    NotUnicode {
        /// Where it is.
        path: PathBuf,
    },
    /// There is no file at all.
    #[error("{}: no files in there{}", path.display(), but(*left_out))]
    Empty {
        /// The folder.
        path: PathBuf,
        /// What there is.
        left_out: LeftOut,
    },
}

impl Payload {
    /// Looks through a folder, or at a file, without opening any.
    ///
    /// # Errors
    /// A [`PayloadError`] that names the file: nothing is left out in silence.
    pub fn find(root: &Path, selection: &Selection<'_>) -> Result<Self, PayloadError> {
        let metadata = root.metadata().map_err(|error| io_error(root, error))?;
        let mut payload = Self {
            root: root.to_owned(),
            is_single_file: !metadata.is_dir(),
            files: Vec::new(),
            left_out: LeftOut::default(),
        };
        if metadata.is_dir() {
            payload.look_through(selection)?;
        } else {
            payload.add(PathBuf::new(), &metadata, selection)?;
        }
        if payload.files.is_empty() {
            return Err(PayloadError::Empty {
                path: root.to_owned(),
                left_out: payload.left_out,
            });
        }
        // By names, not by bytes of the whole path: what is in `a` comes before `a.txt`.
        payload
            .files
            .sort_unstable_by(|a, b| a.file.path.cmp(&b.file.path));
        Ok(payload)
    }

    fn look_through(&mut self, selection: &Selection<'_>) -> Result<(), PayloadError> {
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
    ) -> Result<(), PayloadError> {
        if !metadata.is_file() {
            let path = self.place_of(&path);
            return Err(PayloadError::NotRegular { path });
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

    fn add_link(&mut self, path: &Path) -> Result<(), PayloadError> {
        let place = self.place_of(path);
        let metadata = place
            .symlink_metadata()
            .map_err(|error| io_error(&place, error))?;
        let target = place.read_link().map_err(|error| io_error(&place, error))?;
        let folder: Vec<&OsStr> = path.parent().into_iter().flat_map(Path::iter).collect();
        let Some(inside) = links::resolve(&self.root, &folder, &target) else {
            return Err(PayloadError::LinkOutside {
                path: place,
                target,
            });
        };
        if inside.is_empty() {
            return Err(PayloadError::LinkToRoot { path: place });
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

    /// The names in a path, as a torrent has them. Where the root is the file, its own.
    fn names(&self, path: &Path) -> Result<Vec<Vec<u8>>, PayloadError> {
        let own = self.root.file_name().unwrap_or_default();
        let names = if path.as_os_str().is_empty() {
            vec![own]
        } else {
            path.iter().collect()
        };
        let names = names.into_iter().map(|name| {
            name_bytes(name).ok_or_else(|| PayloadError::NotUnicode {
                path: self.place_of(path),
            })
        });
        names.collect()
    }

    /// Where a file of the payload is.
    fn place_of(&self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(path)
        }
    }

    /// The file or folder that was looked at.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it is one file, and no folder.
    pub fn is_single_file(&self) -> bool {
        self.is_single_file
    }

    /// The files in the order of their names, as a torrent has them.
    pub fn files(&self) -> Vec<NewFile> {
        self.files.iter().map(|found| found.file.clone()).collect()
    }

    /// The length of all files in bytes.
    pub fn length(&self) -> u64 {
        self.files.iter().map(|found| found.file.length).sum()
    }

    /// What was left out.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Waits until whatever is written to a file from now on leaves it with another time than it was
    /// found with. Only what was written to just before makes it wait.
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

    /// The first file that is not what it was when it was found.
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

impl FileSet for Payload {
    fn root(&self) -> &Path {
        &self.root
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.place_of(&self.files[file.get()].path))
    }
}

/// What there is in a folder without files.
fn but(left_out: LeftOut) -> &'static str {
    let LeftOut {
        excluded,
        hidden,
        links,
    } = left_out;
    if excluded + hidden + links > 0 {
        " but what is left out"
    } else {
        ""
    }
}

/// Refuses a link that is followed and leads out of the content.
fn stays_inside(link: &Path, canonical: &Path) -> Result<(), PayloadError> {
    let target = link.canonicalize().map_err(|error| io_error(link, error))?;
    if target.starts_with(canonical) {
        return Ok(());
    }
    Err(PayloadError::LinkOutside {
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

/// A name as a torrent has it.
#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "names of other systems have no bytes"
)]
fn name_bytes(name: &OsStr) -> Option<Vec<u8>> {
    Some(std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec())
}

/// A name as a torrent has it.
#[cfg(not(unix))]
fn name_bytes(name: &OsStr) -> Option<Vec<u8>> {
    Some(name.to_str()?.as_bytes().to_vec())
}

fn io_error(path: &Path, error: io::Error) -> PayloadError {
    PayloadError::Io {
        path: path.to_owned(),
        error,
    }
}

fn walk_error(root: &Path, error: walkdir::Error) -> PayloadError {
    let path = error.path().unwrap_or(root).to_owned();
    let error = match error.loop_ancestor() {
        Some(_) => io::Error::other("leads back to a folder that it is in"),
        None => error
            .into_io_error()
            .unwrap_or_else(|| io::Error::other("cannot be read")),
    };
    PayloadError::Io { path, error }
}
