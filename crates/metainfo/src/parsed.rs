//! Parses a .torrent file. The result borrows from its bytes.

use std::borrow::Cow;

use crate::bencode::Value;
use crate::files::list::FileList;
use crate::files::tree::FileTree;
use crate::located::Located;
use crate::merkle::LEAF_LEN;
use crate::{
    Difference, Error, Files, InfoHashV1, InfoHashes, Lengths, LengthsError, Version, hybrid, path,
    piece_layers,
};

/// The checked content of a .torrent file, borrowed from its bytes.
pub(crate) struct Parsed<'a> {
    pub(crate) metainfo: Value<'a>,
    pub(crate) trailing_bytes: &'a [u8],
    pub(crate) info: Value<'a>,
    pub(crate) info_hashes: InfoHashes,
    pub(crate) name: Cow<'a, [u8]>,
    pub(crate) is_single_file: bool,
    pub(crate) files: Files<'a>,
    pub(crate) lengths: Lengths,
    pub(crate) piece_hashes: Option<&'a [[u8; 20]]>,
}

impl<'a> Parsed<'a> {
    /// Parses and checks a .torrent file, see [`Torrent::parse`](crate::Torrent::parse).
    pub(crate) fn read(metainfo: &'a [u8]) -> Result<Self, Error> {
        let (metainfo, rest) = Value::parse_prefix(metainfo)?;
        let root = Located::metainfo(metainfo);
        let [info, layers] = root.pick(["info", "piece layers"])?;
        let info = info.ok_or_else(|| root.missing("info"))?;
        let has_v2 = is_v2(&info)?;

        let [name, name_utf8, piece_length, pieces] =
            info.pick(["name", "name.utf-8", "piece length", "pieces"])?;
        let name = name_utf8.or(name).ok_or_else(|| info.missing("name"))?;
        let piece_length = piece_length.ok_or_else(|| info.missing("piece length"))?;
        if has_v2 {
            check_piece_length_v2(&piece_length)?;
        }

        let content = Content::read(&info, &name, &piece_length, has_v2)?;
        let lengths = content.lengths(&piece_length)?;
        let mut files = content.files;
        let piece_hashes = if content.version.has_v1() {
            let pieces = pieces.ok_or_else(|| info.missing("pieces"))?;
            Some(piece_hashes(&pieces, lengths)?)
        } else {
            None
        };
        if let Some(layers) = layers.filter(|_| has_v2) {
            piece_layers::read(&layers, &mut files, lengths.piece_length().get().into())?;
        }
        let info_hashes = InfoHashes::of(info.encoded(), content.version);
        Ok(Self {
            metainfo,
            trailing_bytes: rest,
            info: info.value(),
            info_hashes,
            name: read_name(
                &name,
                info.encoded(),
                content.is_single_file,
                content.version,
            )?,
            is_single_file: content.is_single_file,
            files,
            lengths,
            piece_hashes,
        })
    }
}

/// Determines the version before anything else is checked, as BEP 52 demands: a torrent of a newer
/// version must be reported as such, and not as a damaged old one.
fn is_v2(info: &Located<'_>) -> Result<bool, Error> {
    let [meta_version, file_tree] = info.pick(["meta version", "file tree"])?;
    let is_v2 = match meta_version {
        None => false,
        Some(number) => match number.integer()? {
            // BEP 52 leaves 1 unassigned. libtorrent treats it like a missing version.
            1 => false,
            2 => true,
            meta_version => {
                return Err(Error::UnknownMetaVersion {
                    offset: number.offset(),
                    meta_version,
                });
            }
        },
    };
    match (is_v2, file_tree, info.value().unsorted_key()) {
        (false, Some(_), _) => Err(info.missing("meta version")),
        (true, _, Some(offset)) => Err(Error::UnsortedKey { offset }),
        _ => Ok(is_v2),
    }
}

/// "It must be a power of two and at least 16KiB" (BEP 52).
fn check_piece_length_v2(piece_length: &Located<'_>) -> Result<(), Error> {
    let length = piece_length.unsigned()?;
    if length.is_power_of_two() && length >= LEAF_LEN.into() {
        return Ok(());
    }
    Err(Error::PieceLengthV2 {
        offset: piece_length.offset(),
        piece_length: length,
    })
}

/// Reads the torrent's name, which is also the file's name in a single-file torrent.
fn read_name<'a>(
    name: &Located<'a>,
    info: &[u8],
    is_single_file: bool,
    version: Version,
) -> Result<Cow<'a, [u8]>, Error> {
    let bytes = name.bytes()?;
    // Without `/` and NUL, such a name is empty, `.` or `..`. Three or more dots are a valid name.
    let mut kept = bytes.iter().filter(|byte| !matches!(byte, 0 | b'/'));
    let is_no_name = kept.clone().all(|byte| *byte == b'.') && kept.nth(2).is_none();
    if is_no_name && is_single_file && version.has_v1() {
        return Err(Error::NoName {
            offset: name.offset(),
            field: name.field(),
        });
    }
    // libtorrent calls a folder `_` if the name is empty. For other unusable names, it uses the
    // SHA-1 digest of the info dictionary, also if the torrent has only version 2.
    if !is_no_name || bytes.is_empty() {
        return path::read::name(name);
    }
    Ok(Cow::Owned(InfoHashV1::of(info).to_string().into_bytes()))
}

/// The files of one version, or of both versions merged.
struct Content<'a> {
    version: Version,
    /// Byte offset of the length of the single file, of the list of files or of the file tree.
    offset: usize,
    is_single_file: bool,
    files: Files<'a>,
}

impl<'a> Content<'a> {
    fn read(
        info: &Located<'a>,
        name: &Located<'a>,
        piece_length: &Located<'a>,
        has_v2: bool,
    ) -> Result<Self, Error> {
        let list = FileList::read(info, name)?;
        if !has_v2 {
            let list = list.ok_or(Error::NoLengthNorFiles {
                offset: info.offset(),
            })?;
            return Ok(Self::of_list(Version::V1, list));
        }
        let [tree] = info.pick(["file tree"])?;
        let tree = tree.ok_or_else(|| info.missing("file tree"))?;
        let piece_length = piece_length.unsigned()?;
        let tree = FileTree::read(&tree, piece_length)?;
        let Some(mut list) = list else {
            return Ok(Self {
                version: Version::V2,
                offset: tree.offset,
                is_single_file: tree.is_single_file,
                files: tree.files,
            });
        };
        hybrid::merge(&mut list.files, &tree.files, piece_length)?;
        // An empty folder beside the only file means that the tree is a folder. The opposite is no contradiction: a
        // tree of one file can describe a folder with one file.
        if list.is_single_file && !tree.is_single_file {
            return Err(Error::VersionsDisagree {
                offset: tree.offset,
                difference: Difference::Folder,
            });
        }
        Ok(Self::of_list(Version::Hybrid, list))
    }

    fn of_list(version: Version, list: FileList<'a>) -> Self {
        Self {
            version,
            offset: list.offset,
            is_single_file: list.is_single_file,
            files: list.files,
        }
    }

    fn lengths(&self, piece_length: &Located<'_>) -> Result<Lengths, Error> {
        let entries = self.files.entries();
        let end = entries.last().map_or(0, super::files::Entry::end);
        // A torrent with nothing but padding counts as empty: there is nothing to verify.
        let total_length = if entries.iter().any(super::files::Entry::has_content) {
            end
        } else {
            0
        };
        Lengths::new(total_length, piece_length.unsigned()?).map_err(|reason| {
            let is_piece_length = matches!(reason, LengthsError::PieceLength { .. });
            let offset = if is_piece_length {
                piece_length.offset()
            } else {
                self.offset
            };
            Error::Lengths { offset, reason }
        })
    }
}

fn piece_hashes<'a>(pieces: &Located<'a>, lengths: Lengths) -> Result<&'a [[u8; 20]], Error> {
    let offset = pieces.offset();
    let bytes = pieces.bytes()?;
    let (hashes, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(Error::PieceHashesLength {
            offset,
            len_bytes: bytes.len(),
        });
    }
    let (expected, found) = (lengths.piece_count(), hashes.len());
    if u32::try_from(found) != Ok(expected) {
        return Err(Error::PieceCountMismatch {
            offset,
            expected,
            found,
        });
    }
    Ok(hashes)
}
