//! The files of a torrent, and their attributes (BEP 47).

pub(crate) mod list;
pub(crate) mod tree;
mod unique;

use std::borrow::Cow;
use std::fmt;

use crate::located::Located;
use crate::merkle::Node;
use crate::path::{self, Folder};
use crate::{Error, TorrentPath};

/// How `BitComet` named padding before BEP 47 gave it an attribute, and some still do.
pub(crate) const PADDING_PREFIX: &[u8] = b"_____padding_file_";

/// The path that padding has if the torrent gives none. BEP 47 recommends this folder.
const PADDING_PATH: &[u8] = b"4:.pad";

/// The files of a torrent, in the order of the content.
#[derive(Clone)]
pub struct Files<'a> {
    entries: Vec<Entry<'a>>,
    /// Those of the file tree; none where paths are lists.
    folders: Vec<Folder<'a>>,
}

/// What is kept of a file.
#[derive(Clone)]
pub(crate) struct Entry<'a> {
    path: Path<'a>,
    is_renamed: bool,
    pub(crate) length: u64,
    pub(crate) offset: u64,
    kind: StoredKind,
    attributes: Attributes,
    /// Where in the .torrent file it is described, in bytes.
    pub(crate) document_offset: usize,
    pub(crate) pieces_root: Option<&'a Node>,
    pub(crate) piece_layer: Option<&'a [Node]>,
}

#[derive(Clone)]
enum Path<'a> {
    /// Bencoded components.
    List(Cow<'a, [u8]>),
    /// A name, and the index of the folder.
    Tree(Option<u32>, Cow<'a, [u8]>),
}

#[derive(Clone)]
enum StoredKind {
    Regular,
    Padding,
    /// With the bencoded components of the target. There are few links: they need not be borrowed.
    Symlink(Box<[u8]>),
}

/// One file of a torrent.
#[derive(Clone, Copy)]
pub struct File<'t> {
    files: &'t Files<'t>,
    entry: &'t Entry<'t>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind<'t> {
    /// A file with content.
    Regular,
    /// Zero bytes that fill the space up to the next piece and are not stored on the disk: by
    /// attribute (`p`, BEP 47), or by the older convention of a name that starts with
    /// `_____padding_file_`.
    Padding,
    /// A symbolic link, which has no content (`l`, BEP 47).
    Symlink {
        /// What it points to, relative to the content root. Some creators mean: relative to the
        /// link's folder.
        target: TorrentPath<'t>,
    },
}

/// Attributes that change how a file is stored, not what is in it (BEP 47).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The file can be executed (`x`).
    pub executable: bool,
    /// The file is hidden (`h`).
    pub hidden: bool,
}

impl<'a> Files<'a> {
    /// How many there are, padding and links included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none: never, in a torrent.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The file at this position, counted from zero.
    pub fn get(&self, index: usize) -> Option<File<'_>> {
        let entry = self.entries.get(index)?;
        Some(File { files: self, entry })
    }

    /// All of them. In a version 1 torrent each starts where the one before ends; with version 2,
    /// files that are not empty start at a piece of their own.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = File<'_>> + ExactSizeIterator + Clone {
        self.entries.iter().map(|entry| File { files: self, entry })
    }

    pub(crate) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    pub(crate) fn entries_mut(&mut self) -> &mut [Entry<'a>] {
        &mut self.entries
    }
}

impl fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'t> File<'t> {
    /// Where the file is, relative to the content root: without the torrent's name in front,
    /// except in a single-file torrent, where it is the name.
    ///
    /// The path of padding need not be unique, and is `.pad` if the torrent gives none.
    pub fn path(self) -> TorrentPath<'t> {
        match &self.entry.path {
            Path::List(encoded) => TorrentPath::of_list(encoded),
            Path::Tree(folder, name) => TorrentPath::in_tree(&self.files.folders, *folder, name),
        }
    }

    /// Whether the torrent gives another path, which cannot be opened safely or is that of another
    /// file. [`Self::path`] is then what libtorrent makes of it, which stands for what most people
    /// have on their disks: `/` and NUL are left out, what remains no name becomes `_`, and the
    /// second file of a path becomes `name.1.extension`.
    pub fn is_renamed(self) -> bool {
        self.entry.is_renamed
    }

    /// How many bytes of the content this file is. Zero for a symbolic link.
    pub fn length(self) -> u64 {
        self.entry.length
    }

    /// Where the file starts in the content, in bytes.
    pub fn offset(self) -> u64 {
        self.entry.offset
    }

    /// What the file is.
    pub fn kind(self) -> FileKind<'t> {
        match &self.entry.kind {
            StoredKind::Regular => FileKind::Regular,
            StoredKind::Padding => FileKind::Padding,
            StoredKind::Symlink(target) => FileKind::Symlink {
                target: TorrentPath::of_list(target),
            },
        }
    }

    /// Attributes that change how the file is stored.
    pub fn attributes(self) -> Attributes {
        self.entry.attributes
    }

    /// Where in the .torrent file the file is described, in bytes.
    pub(crate) fn document_offset(self) -> usize {
        self.entry.document_offset
    }

    /// The root of the file's merkle tree (BEP 52): `None` for empty files, links and padding,
    /// and in a version 1 torrent.
    pub fn pieces_root(self) -> Option<&'t Node> {
        self.entry.pieces_root
    }

    /// The hash of each of the file's pieces (BEP 52), which have been checked against the root.
    /// `None` if the torrent has none, as after a magnet link, and for files of one piece, which
    /// need none.
    pub fn piece_layer(self) -> Option<&'t [Node]> {
        self.entry.piece_layer
    }
}

impl fmt::Debug for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("path", &self.path())
            .field("length", &self.length())
            .field("offset", &self.offset())
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}

impl Entry<'_> {
    /// Where the file ends in the content, in bytes. Beyond the limit of a total length it may
    /// stop short, but stays beyond: such a total is refused, and no such file is ever seen.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    /// Whether bytes of it are on the disk.
    pub(crate) fn has_content(&self) -> bool {
        matches!(self.kind, StoredKind::Regular) && self.length > 0
    }

    pub(crate) fn is_padding(&self) -> bool {
        matches!(self.kind, StoredKind::Padding)
    }
}

/// The entries of a file's dictionary that both versions have.
struct FileFields<'a> {
    attr: Attr<'a>,
    length: Option<Located<'a>>,
    target: Option<Located<'a>>,
}

struct Attr<'a> {
    value: Option<Located<'a>>,
    letters: &'a [u8],
}

impl<'a> FileFields<'a> {
    fn read(dictionary: &Located<'a>) -> Result<Self, Error> {
        let [value, length, target] = dictionary.pick(["attr", "length", "symlink path"])?;
        let letters = value
            .as_ref()
            .map(Located::bytes)
            .transpose()?
            .unwrap_or_default();
        Ok(Self {
            attr: Attr { value, letters },
            length,
            target,
        })
    }

    /// What the file is, by its attributes.
    fn kind(&self, dictionary: &Located<'a>) -> Result<StoredKind, Error> {
        match self.attr.value {
            Some(attr) if self.attr.has(b'l') && self.attr.has(b'p') => {
                let (offset, field) = (attr.offset(), attr.field());
                Err(Error::ConflictingAttributes { offset, field })
            }
            _ if self.attr.has(b'l') => {
                let target = self
                    .target
                    .as_ref()
                    .ok_or_else(|| dictionary.missing("symlink path"))?;
                let target = path::read::target(target)?;
                Ok(StoredKind::Symlink(target.into_owned().into()))
            }
            _ if self.attr.has(b'p') => Ok(StoredKind::Padding),
            _ => Ok(StoredKind::Regular),
        }
    }

    fn length(&self, dictionary: &Located<'a>, kind: &StoredKind) -> Result<u64, Error> {
        match (kind, &self.length) {
            // Whatever `length` says: some creators write the length of the target there, and
            // libtorrent ignores it as well.
            (StoredKind::Symlink(_), _) => Ok(0),
            (_, Some(length)) => length.unsigned(),
            (_, None) => Err(dictionary.missing("length")),
        }
    }
}

impl Attr<'_> {
    fn has(&self, letter: u8) -> bool {
        self.letters.contains(&letter)
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            executable: self.has(b'x'),
            hidden: self.has(b'h'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These are the shortest encodings of files and folders. What is held of them may be half of
    /// what `Torrent` promises to allocate at most, 16 times the size of its input: the other half
    /// is for telling names apart. `tests/allocation.rs` has the whole.
    #[test]
    fn files_and_folders_take_less_than_8_times_their_encoding() {
        let size_of_file = size_of::<Entry<'_>>() + 2 * size_of::<usize>();
        assert!(size_of_file <= 8 * b"d4:attr1:p6:lengthi1ee".len());
        assert!(size_of_file <= 8 * b"1:ad0:d6:lengthi0eee".len());
        assert!(size_of::<Folder<'_>>() <= 8 * b"1:ade".len());
    }
}
