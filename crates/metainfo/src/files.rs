//! The files of a torrent, and their attributes (BEP 47).

mod foreign;
pub(crate) mod list;
pub(crate) mod tree;
mod unique;

use std::borrow::Cow;
use std::fmt;

pub use foreign::ForeignPaths;

use crate::located::Located;
use crate::merkle::Node;
use crate::path::{self, Folder};
use crate::{Error, TorrentPath};

/// Prefix of the names of padding files before BEP 47 defined an attribute. `BitComet` introduced
/// it, and some programs still write it.
pub(crate) const PADDING_PREFIX: &[u8] = b"_____padding_file_";

/// Path of padding for which the torrent has none. BEP 47 recommends this folder.
const PADDING_PATH: &[u8] = b"4:.pad";

/// The files of a torrent, in the order of the content.
#[derive(Clone)]
pub struct Files<'a> {
    entries: Vec<Entry<'a>>,
    /// The folders of the file tree; empty if paths are lists.
    folders: Vec<Folder<'a>>,
}

/// The stored properties of a file.
#[derive(Clone)]
pub(crate) struct Entry<'a> {
    path: Path<'a>,
    is_renamed: bool,
    pub(crate) length: u64,
    pub(crate) offset: u64,
    kind: StoredKind,
    attributes: Attributes,
    /// Byte offset of the file's description in the .torrent file.
    pub(crate) document_offset: usize,
    pub(crate) pieces_root: Option<&'a Node>,
    pub(crate) piece_layer: Option<&'a [Node]>,
}

#[derive(Clone)]
enum Path<'a> {
    /// The bencoded components of the path.
    List(Cow<'a, [u8]>),
    /// The index of the folder, and the file's name.
    Tree(Option<u32>, Cow<'a, [u8]>),
}

#[derive(Clone)]
enum StoredKind {
    Regular,
    Padding,
    /// Holds the bencoded components of the target. Links are rare, so the target need not be
    /// borrowed.
    Symlink(Box<[u8]>),
}

/// One file of a torrent.
#[derive(Clone, Copy)]
pub struct File<'t> {
    files: &'t Files<'t>,
    entry: &'t Entry<'t>,
}

/// The type of a file. A program must know for each type where the bytes are, so a new type is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind<'t> {
    /// A file with content.
    Regular,
    /// Zero bytes up to the next piece boundary, which are not stored on disk. They are marked by
    /// an attribute (`p`, BEP 47), or by the older convention of a name that starts with
    /// `_____padding_file_`.
    Padding,
    /// A symbolic link (`l`, BEP 47), which has no content.
    Symlink {
        /// Target of the link, relative to the content root. Some creators write targets relative
        /// to the link's folder.
        target: TorrentPath<'t>,
    },
}

/// Attributes that change how a file is stored, but not its content (BEP 47).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct Attributes {
    /// The file is executable (`x`).
    pub executable: bool,
    /// The file is hidden (`h`).
    pub hidden: bool,
}

impl Attributes {
    /// Sets whether the file is executable.
    #[must_use]
    pub fn executable(mut self, executable: bool) -> Self {
        self.executable = executable;
        self
    }

    /// Sets whether the file is hidden.
    #[must_use]
    pub fn hidden(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }
}

impl<'a> Files<'a> {
    /// Returns the number of files, including padding and links.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there are no files, which never happens in a torrent.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the file at this position, counted from zero.
    pub fn get(&self, index: usize) -> Option<File<'_>> {
        let entry = self.entries.get(index)?;
        Some(File { files: self, entry })
    }

    /// Returns all files. In a version 1 torrent, each file starts at the end of the previous one.
    /// With version 2, files that are not empty start at a piece boundary.
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
    /// Returns the path of the file, relative to the content root. The path does not start with the torrent's name. In
    /// a single-file torrent, the path is the name.
    ///
    /// The path of padding may not be unique. It is `.pad` if the torrent has no path for it.
    pub fn path(self) -> TorrentPath<'t> {
        match &self.entry.path {
            Path::List(encoded) => TorrentPath::of_list(encoded),
            Path::Tree(folder, name) => TorrentPath::in_tree(&self.files.folders, *folder, name),
        }
    }

    /// Returns `true` if [`Self::path`] differs from the path in the torrent, because that path
    /// cannot be opened safely or belongs to another file. The new path is the one that libtorrent
    /// uses, which most users have on disk: `/` and NUL are removed, unusable names become `_`, and
    /// the second file with the same path becomes `name.1.extension`.
    pub fn is_renamed(self) -> bool {
        self.entry.is_renamed
    }

    /// Returns the length of the file in bytes. Zero for a symbolic link.
    pub fn length(self) -> u64 {
        self.entry.length
    }

    /// Returns the offset of the file in the content, in bytes.
    pub fn offset(self) -> u64 {
        self.entry.offset
    }

    /// Returns the type of the file.
    pub fn kind(self) -> FileKind<'t> {
        match &self.entry.kind {
            StoredKind::Regular => FileKind::Regular,
            StoredKind::Padding => FileKind::Padding,
            StoredKind::Symlink(target) => FileKind::Symlink {
                target: TorrentPath::of_list(target),
            },
        }
    }

    /// Returns the attributes that change how the file is stored.
    pub fn attributes(self) -> Attributes {
        self.entry.attributes
    }

    /// Returns the byte offset of the file's description in the .torrent file.
    pub(crate) fn document_offset(self) -> usize {
        self.entry.document_offset
    }

    /// Returns the root of the file's merkle tree (BEP 52), or `None` for empty files, links and
    /// padding, and in a version 1 torrent.
    pub fn pieces_root(self) -> Option<&'t Node> {
        self.entry.pieces_root
    }

    /// Returns the hash of each of the file's pieces (BEP 52). The hashes have been checked against
    /// the root. Returns `None` if the torrent has no piece layers, as after a magnet link, and for
    /// files of one piece, which need none.
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
    /// Returns the end of the file in the content, in bytes. The addition saturates, which cannot
    /// hide an error: a total length that large is refused.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    /// Returns `true` if the file has bytes on disk.
    pub(crate) fn has_content(&self) -> bool {
        matches!(self.kind, StoredKind::Regular) && self.length > 0
    }

    pub(crate) fn is_padding(&self) -> bool {
        matches!(self.kind, StoredKind::Padding)
    }
}

/// The keys of a file's dictionary that both versions have.
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

    /// Returns the type of the file according to its attributes.
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
            // `length` is ignored, as in libtorrent: some creators write the length of the target
            // there.
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

    /// These are the shortest encodings of files and folders. `Torrent` allocates at most 16 times
    /// the size of its input. One half is for files and folders, and the other half for comparing
    /// names. `tests/it/allocation.rs` checks the sum.
    #[test]
    fn files_and_folders_take_less_than_8_times_their_encoding() {
        let size_of_file = size_of::<Entry<'_>>() + 2 * size_of::<usize>();
        assert!(size_of_file <= 8 * b"d4:attr1:p6:lengthi1ee".len());
        assert!(size_of_file <= 8 * b"1:ad0:d6:lengthi0eee".len());
        assert!(size_of::<Folder<'_>>() <= 8 * b"1:ade".len());
    }
}
