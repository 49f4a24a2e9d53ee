//! A walk over a folder, from which every search for files is made.
//!
//! A folder is listed whole before its first entry is visited, and none stays open. If stamps are wanted, the files
//! of a folder are asked for them in the order of their inodes, which on a disk is near the order in which the inodes are
//! stored.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::is_absent;
use crate::own::is_own_name;
use crate::stamp::Stamp;

#[cfg(not(unix))]
#[path = "walk/portable.rs"]
mod system;
#[cfg(unix)]
#[path = "walk/unix.rs"]
mod system;

use system::{FolderId, Level, Place};

/// Maximum number of paths through symbolic links by which a walk may reach one folder. Ten folders
/// with ten links each to the next folder have 10^9 paths.
pub(crate) const MAX_LINK_PATHS: usize = 64;

/// What a step of a walk finds at its path.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step {
    /// A regular file, with its stamp if [`Walk::with_stamps`] was called.
    File(Option<Stamp>),
    /// A regular file of Hashlane itself, which is not content: see [`is_own_name`].
    Own(Option<Stamp>),
    /// A folder. What it has follows, unless [`Walk::skip_folder`] is called.
    Folder,
    /// A symbolic link that is not followed.
    Link,
    /// A pipe, socket or device.
    Special,
    /// A file or folder that cannot be read, or a link to one of its own parent folders. Nothing
    /// is known of what lies below it.
    Failed(io::Error),
    /// More than 64 paths through symbolic links lead to this folder. The walk has ended.
    TooManyLinkPaths,
}

/// The order of the entries of a walk. A folder always comes directly before its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WalkOrder {
    /// Folder by folder, in the order of the bytes of the names: `a/b` comes before `a.txt`.
    #[default]
    Name,
    /// In the order of the bytes of the paths of files, including slashes: `a.txt` comes before
    /// `a/b`. A list of paths that is sorted by bytes, such as the key of a database, can be merged
    /// with this walk.
    Bytes,
}

/// A walk over everything below a folder, in an order that does not depend on the file system.
///
/// A file or folder that vanishes during the walk is left out. A walk continues after an error.
///
/// ```
/// use hashlane_files::{Step, Walk};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a"), "")?;
/// let mut walk = Walk::new(folder.path());
/// while let Some(step) = walk.step() {
///     if matches!(step, Step::File(_)) {
///         println!("{}", walk.path().display());
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Walk {
    root: PathBuf,
    order: WalkOrder,
    wanted: Wanted,
    /// The folders that contain the last entry, from the root down.
    levels: Vec<OpenLevel>,
    /// The path of the last entry, below the root.
    path: PathBuf,
    /// Whether the last entry is a folder whose contents follow.
    enters: bool,
    /// Whether the last entry is a folder, and whether it is a link.
    is_folder: bool,
    is_link: bool,
    link_paths: LinkPaths,
}

/// What a walk asks the system for.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    stamps: bool,
    follows_links: bool,
}

/// A folder whose entries are being visited.
#[derive(Debug)]
struct OpenLevel {
    level: Level,
    /// The identity of the folder, if links are followed.
    id: Option<FolderId>,
    place: Place,
}

impl Walk {
    /// Returns a walk over what is below `root`, which may be a link to a folder. Links below it are not followed.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            order: WalkOrder::default(),
            wanted: Wanted::default(),
            levels: Vec::new(),
            path: PathBuf::new(),
            enters: true,
            is_folder: true,
            is_link: false,
            link_paths: LinkPaths::default(),
        }
    }

    /// Sets the order.
    #[must_use]
    pub fn order(mut self, order: WalkOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets whether links are followed, also out of the folder.
    #[must_use]
    pub fn follow_links(mut self, follows: bool) -> Self {
        self.wanted.follows_links = follows;
        self
    }

    /// Asks the system for the stamp of each file.
    #[must_use]
    pub fn with_stamps(mut self) -> Self {
        self.wanted.stamps = true;
        self
    }

    /// Goes to the next entry. A root that cannot be read is [`Step::Failed`] at the empty path.
    pub fn step(&mut self) -> Option<Step> {
        if std::mem::take(&mut self.enters)
            && let Some(step) = self.enter()
        {
            return Some(step);
        }
        loop {
            let open = self.levels.last_mut()?;
            let Some((name, entry)) = open.level.next_entry() else {
                self.levels.pop();
                continue;
            };
            open.place.enter(&mut self.path, name);
            self.is_link = entry.is_link;
            self.is_folder = matches!(entry.step, Step::Folder);
            self.enters = self.is_folder;
            return Some(match entry.step {
                Step::File(stamp) if is_own_name(name) => Step::Own(stamp),
                step => step,
            });
        }
    }

    /// Lists the folder at the path. Returns what there is to say about it instead of its contents.
    fn enter(&mut self) -> Option<Step> {
        let is_link = self.is_link || self.levels.is_empty();
        let (mut level, id) = match Level::list(&self.place(), is_link, self.wanted) {
            Ok(level) => level,
            // It vanished meanwhile.
            Err(error) if is_absent(&error) && !self.levels.is_empty() => return None,
            Err(error) => return Some(Step::Failed(error)),
        };
        if let Some(id) = &id {
            let mut parents = self.levels.iter();
            if self.is_link && parents.any(|parent| parent.id.as_ref() == Some(id)) {
                let reason = "leads back to a folder that contains the link";
                return Some(Step::Failed(io::Error::other(reason)));
            }
            if !self.link_paths.add(self.levels.len(), self.is_link, id) {
                self.levels.clear();
                return Some(Step::TooManyLinkPaths);
            }
        }
        level.sort(self.order);
        self.levels.push(OpenLevel {
            level,
            id,
            place: Place::of(&self.path),
        });
        None
    }

    /// Leaves out the contents of the folder that was found last.
    pub fn skip_folder(&mut self) {
        self.enters = false;
    }

    /// Returns the folder of the walk.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of the last entry below the root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the last entry, including the root.
    pub fn place(&self) -> PathBuf {
        if self.path.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(&self.path)
        }
    }

    /// Returns the path of the last entry without symbolic links.
    pub(crate) fn canonical_place(&self) -> PathBuf {
        let place = self.place();
        place.canonicalize().unwrap_or(place)
    }

    /// Returns `true` if the last entry is a folder, also one that cannot be read.
    pub fn is_folder(&self) -> bool {
        self.is_folder
    }

    /// Returns the number of folders that contain the last entry, at least 1 for everything below the root.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns `true` if the last entry is a link that was followed.
    pub fn is_followed_link(&self) -> bool {
        self.is_link && self.wanted.follows_links
    }
}

/// An entry of a folder.
#[derive(Debug)]
struct Entry {
    step: Step,
    /// Whether the entry is a link, which `step` has followed.
    is_link: bool,
}

impl WalkOrder {
    /// Compares the names of two entries of a folder. A flag says which are folders.
    fn compare(self, a: (&OsStr, bool), b: (&OsStr, bool)) -> Ordering {
        let (of_a, of_b) = (a.0.as_encoded_bytes(), b.0.as_encoded_bytes());
        if self == Self::Name || !(a.1 || b.1) {
            return of_a.cmp(of_b);
        }
        let n = of_a.len().min(of_b.len());
        let next = |bytes: &[u8], is_folder: bool| {
            let end = is_folder.then_some(b'/');
            bytes.get(n).copied().or(end)
        };
        let rest = || next(of_a, a.1).cmp(&next(of_b, b.1));
        of_a[..n].cmp(&of_b[..n]).then_with(rest)
    }
}

/// Counts the paths through symbolic links to each folder of a walk that follows links.
#[derive(Debug, Default)]
struct LinkPaths {
    /// The depth of the outermost link to a folder that contains the current folder.
    link_depth: Option<usize>,
    /// Numbers of paths by the identities of the folders.
    counts: HashMap<FolderId, usize>,
}

impl LinkPaths {
    /// Adds the next folder of the walk, which visits folders before their contents. Returns `false` if it has too many
    /// paths.
    fn add(&mut self, depth: usize, is_link: bool, id: &FolderId) -> bool {
        if self.link_depth.is_some_and(|of_link| depth <= of_link) {
            self.link_depth = None;
        }
        if is_link {
            self.link_depth.get_or_insert(depth);
        }
        if self.link_depth.is_none() {
            return true;
        }
        let count = self.counts.entry(id.to_owned()).or_default();
        *count += 1;
        *count <= MAX_LINK_PATHS
    }
}

/// What [`walk_files`] finds. A program must decide about each kind, so a new one is a breaking change.
#[derive(Debug)]
pub enum Walked {
    /// A regular file.
    File(PathBuf),
    /// Something that is not content.
    LeftOut(PathBuf, NotContent),
    /// A file or folder that cannot be read, or a link to one of its own parent folders.
    Failed(PathBuf, io::Error),
}

impl Walked {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        let (Self::File(path) | Self::LeftOut(path, _) | Self::Failed(path, _)) = self;
        path
    }
}

/// The reason why something in a folder is not content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotContent {
    /// Hashlane made the file: see [`is_own_name`].
    Own,
    /// It is a pipe, socket or device.
    Special,
}

impl fmt::Display for NotContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "a file of Hashlane itself",
            Self::Special => "a pipe, socket or device",
        })
    }
}

/// Visits everything below a folder except folders, in the order of the names. Each path begins with
/// `folder`.
///
/// With `follow_links`, links are followed, also out of the folder; otherwise they are skipped. The
/// walk continues after an error. Only one error ends the walk: more
/// than 64 paths through links lead to the folder that it names.
pub fn walk_files(folder: &Path, follow_links: bool) -> impl Iterator<Item = Walked> + use<> {
    let mut walk = Walk::new(folder).follow_links(follow_links);
    std::iter::from_fn(move || {
        loop {
            return Some(match walk.step()? {
                Step::Folder | Step::Link => continue,
                Step::File(_) => Walked::File(walk.place()),
                Step::Own(_) => Walked::LeftOut(walk.place(), NotContent::Own),
                Step::Special => Walked::LeftOut(walk.place(), NotContent::Special),
                Step::Failed(error) => Walked::Failed(walk.place(), error),
                Step::TooManyLinkPaths => {
                    let reason = format!(
                        "more than {MAX_LINK_PATHS} paths of symbolic links lead to this folder"
                    );
                    Walked::Failed(walk.canonical_place(), io::Error::other(reason))
                }
            });
        }
    })
}
