//! The files of a torrent, and their attributes (BEP 47).

use crate::field::Located;
use crate::{Error, TorrentPath};

/// How `BitComet` named padding before BEP 47 gave it an attribute, and some still do.
const PADDING_PREFIX: &[u8] = b"_____padding_file_";

/// One file of a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'a> {
    path: TorrentPath<'a>,
    length: u64,
    offset: u64,
    kind: FileKind<'a>,
    attributes: Attributes,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind<'a> {
    /// A file with content.
    Regular,
    /// Zero bytes that fill the space up to the next piece and are not stored on the disk: by
    /// attribute (`p`, BEP 47), or by the older convention of a name that starts with
    /// `_____padding_file_`.
    Padding,
    /// A symbolic link, which has no content (`l`, BEP 47).
    Symlink {
        /// What it points to, relative to the content root.
        target: TorrentPath<'a>,
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

impl<'a> File<'a> {
    /// Reads a dictionary of the list `files`. The file starts at `offset` of the content.
    pub(crate) fn from_item(item: &Located<'a>, offset: u64) -> Result<Self, Error> {
        let [path, path_utf8] = item.pick(["path", "path.utf-8"])?;
        let path = path_utf8
            .or(path)
            .map(|list| TorrentPath::from_list(&list))
            .transpose()?;
        Self::read(item, path, offset)
    }

    /// Reads the info dictionary of a single-file torrent, whose name is the path of the file.
    pub(crate) fn from_info(info: &Located<'a>, path: TorrentPath<'a>) -> Result<Self, Error> {
        Self::read(info, Some(path), 0)
    }

    /// Reads what is the same for both.
    fn read(
        dictionary: &Located<'a>,
        path: Option<TorrentPath<'a>>,
        offset: u64,
    ) -> Result<Self, Error> {
        let [attr, length, target] = dictionary.pick(["attr", "length", "symlink path"])?;
        let letters = attr
            .as_ref()
            .map(Located::bytes)
            .transpose()?
            .unwrap_or_default();
        let has = |letter| letters.contains(&letter);

        let path = match path {
            Some(path) => path,
            // As libtorrent does; the path of padding is of no use.
            None if has(b'p') => TorrentPath::PADDING,
            None => return Err(dictionary.missing("path")),
        };
        let kind = match attr {
            Some(attr) if has(b'l') && has(b'p') => {
                let (offset, field) = (attr.offset(), attr.field());
                return Err(Error::ContradictoryAttributes { offset, field });
            }
            _ if has(b'l') => {
                let target = target.ok_or_else(|| dictionary.missing("symlink path"))?;
                FileKind::Symlink {
                    target: TorrentPath::from_list(&target)?,
                }
            }
            _ if has(b'p') || is_named_padding(path) => FileKind::Padding,
            _ => FileKind::Regular,
        };
        let length = match kind {
            // Whatever `length` says: some creators write the length of the target there, and
            // libtorrent ignores it as well.
            FileKind::Symlink { .. } => 0,
            _ => length
                .ok_or_else(|| dictionary.missing("length"))?
                .unsigned()?,
        };
        let attributes = Attributes {
            executable: has(b'x'),
            hidden: has(b'h'),
        };
        Ok(Self {
            path,
            length,
            offset,
            kind,
            attributes,
        })
    }

    /// Where the file is, relative to the content root: without the torrent's name in front,
    /// except in a single-file torrent, where it is the name.
    ///
    /// The path of padding need not be unique, and is `.pad` if the torrent gives none.
    pub fn path(&self) -> TorrentPath<'a> {
        self.path
    }

    /// How many bytes of the content this file is. Zero for a symbolic link.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Where the file starts in the content, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Where the file ends in the content, in bytes. Beyond the limit of a total length it may
    /// stop short, but stays beyond: such a total is refused, and no such file is ever seen.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    /// What the file is.
    pub fn kind(&self) -> FileKind<'a> {
        self.kind
    }

    /// Attributes that change how the file is stored.
    pub fn attributes(&self) -> Attributes {
        self.attributes
    }
}

/// Whether the last component of a path has the name of padding.
fn is_named_padding(path: TorrentPath<'_>) -> bool {
    path.components()
        .last()
        .is_some_and(|name| name.as_bytes().starts_with(PADDING_PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shortest file is padding without a path. A `File` of more than 3 times that length
    /// would break the promise of `Torrent` to allocate at most 4 times the size of its input.
    #[test]
    fn a_file_takes_less_than_3_times_its_encoding() {
        assert!(size_of::<File<'_>>() <= 3 * b"d4:attr1:p6:lengthi1ee".len());
    }
}
