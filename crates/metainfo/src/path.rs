//! Paths of files in a torrent, which cannot leave the folder that they are opened in.
//!
//! A .torrent file is untrusted, and its paths are joined to a folder of the user. An unchecked
//! path therefore cannot be represented: every [`PathComponent`] and [`TorrentPath`] has been
//! checked. Names that cannot be opened are replaced as in libtorrent, see
//! [`File::is_renamed`](crate::File::is_renamed).
//!
//! Some things are not checked, because they cause an error of the file system but cannot leave the
//! folder: the length of a component, characters that some file systems forbid, and names that some
//! file systems treat as equal (such as `a` and `A`).

pub(crate) mod component;
mod escape;
mod foreign;
pub(crate) mod read;
mod transmission;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

pub use component::{ComponentError, PathComponent};
pub use escape::needs_escape;
pub use foreign::Naming;

use crate::bencode::Items;

/// Maximum number of components of a path, the same as in libtorrent.
/// [`bencode::MAX_DEPTH`](crate::bencode::MAX_DEPTH) limits paths of a file tree to slightly fewer.
pub const MAX_PATH_DEPTH: usize = 100;

/// A relative path of one or more checked components.
///
/// The path borrows from the torrent and allocates nothing. Paths are ordered by the raw bytes of
/// their components. The displayed text ([`Display`](fmt::Display)) joins the components with `/`
/// and is safe to print, see [`PathComponent`].
#[derive(Clone, Copy)]
pub struct TorrentPath<'t>(Repr<'t>);

/// The two ways in which a torrent stores paths.
#[derive(Clone, Copy)]
enum Repr<'t> {
    /// A list of components (BEP 3): one or more bencoded byte strings, each of them a valid
    /// component.
    List(&'t [u8]),
    /// A key of the file tree (BEP 52), and its folder.
    Tree {
        folders: &'t [Folder<'t>],
        folder: Option<u32>,
        name: &'t [u8],
    },
}

/// A folder of the file tree.
#[derive(Clone, Debug)]
pub(crate) struct Folder<'a> {
    /// Index of the parent folder, which is smaller than the folder's own.
    pub(crate) parent: Option<u32>,
    /// A valid component.
    pub(crate) name: Cow<'a, [u8]>,
}

impl<'t> TorrentPath<'t> {
    /// Wraps bencoded components that have been checked.
    pub(crate) fn of_list(encoded: &'t [u8]) -> Self {
        Self(Repr::List(encoded))
    }

    /// Wraps a name that has been checked, in one of these folders.
    pub(crate) fn in_tree(folders: &'t [Folder<'t>], folder: Option<u32>, name: &'t [u8]) -> Self {
        Self(Repr::Tree {
            folders,
            folder,
            name,
        })
    }

    /// Returns the components from the outermost folder to the file's name. There is at least one.
    pub fn components(self) -> Components<'t> {
        Components(match self.0 {
            Repr::List(encoded) => Rest::List(Items::from_encoded(encoded)),
            Repr::Tree {
                folders,
                folder,
                name,
            } => {
                let mut names = vec![name];
                let mut next = folder;
                while let Some(folder) = next.map(|index| &folders[index as usize]) {
                    names.push(&folder.name);
                    next = folder.parent;
                }
                Rest::Tree(names)
            }
        })
    }

    /// Returns the last component.
    #[expect(clippy::missing_panics_doc, reason = "a path has a component")]
    pub fn file_name(self) -> PathComponent<'t> {
        let name = match self.0 {
            Repr::List(_) => return self.components().last().expect("a path has a component"),
            Repr::Tree { name, .. } => name,
        };
        PathComponent::from_checked(name)
    }
}

impl PartialEq for TorrentPath<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.components().eq(other.components())
    }
}

impl Eq for TorrentPath<'_> {}

impl PartialOrd for TorrentPath<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TorrentPath<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            // Fast path for files of one folder: a deep folder can hold millions of files.
            (
                Repr::Tree {
                    folders: a,
                    folder: in_a,
                    name,
                },
                Repr::Tree {
                    folders: b,
                    folder: in_b,
                    name: other_name,
                },
            ) if std::ptr::eq(a, b) && in_a == in_b => name.cmp(other_name),
            _ => self.components().cmp(other.components()),
        }
    }
}

impl fmt::Display for TorrentPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.components().map(|component| component.to_string());
        f.pad(&names.collect::<Vec<_>>().join("/"))
    }
}

impl fmt::Debug for TorrentPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TorrentPath({self})")
    }
}

/// An iterator over the components of a path, see [`TorrentPath::components`].
#[derive(Clone, Debug)]
pub struct Components<'t>(Rest<'t>);

#[derive(Clone, Debug)]
enum Rest<'t> {
    List(Items<'t>),
    /// The last component first.
    Tree(Vec<&'t [u8]>),
}

impl<'t> Iterator for Components<'t> {
    type Item = PathComponent<'t>;

    fn next(&mut self) -> Option<PathComponent<'t>> {
        let bytes = match &mut self.0 {
            Rest::List(items) => items
                .next()?
                .as_bytes()
                .expect("a TorrentPath holds byte strings"),
            Rest::Tree(names) => names.pop()?,
        };
        Some(PathComponent::from_checked(bytes))
    }
}

/// Bencodes names back to back.
pub(crate) fn encode<'n>(names: impl IntoIterator<Item = impl AsRef<[u8]> + 'n>) -> Vec<u8> {
    let mut encoded = Vec::new();
    for name in names {
        let name = name.as_ref();
        encoded.extend_from_slice(format!("{}:", name.len()).as_bytes());
        encoded.extend_from_slice(name);
    }
    encoded.shrink_to_fit();
    encoded
}

/// Inserts the number `n` before the extension of a name: `a.1.txt` for `a.txt`. libtorrent does
/// the same to a file that has the path of another file.
pub(crate) fn numbered(name: &[u8], n: u32) -> Vec<u8> {
    let dot = name.iter().rposition(|byte| *byte == b'.');
    let (stem, extension) = name.split_at(dot.unwrap_or(name.len()));
    [stem, format!(".{n}").as_bytes(), extension].concat()
}
