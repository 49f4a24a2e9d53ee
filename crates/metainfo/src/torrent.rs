//! A whole .torrent file.

use std::borrow::Cow;
use std::fmt;

use crate::bencode::Value;
use crate::field::Located;
use crate::files::list::FileList;
use crate::files::tree::FileTree;
use crate::merkle::LEAF_LEN;
use crate::{
    Error, File, Files, InfoHashes, Lengths, LengthsError, Metadata, PathComponent, hybrid, path,
    piece_layers,
};

/// The content of a .torrent file, checked, and borrowed from its bytes.
///
/// Reading one allocates at most 16 times its size: for what it holds of each file, and to tell
/// their paths apart. Whatever else it says stays where it is.
#[derive(Clone)]
pub struct Torrent<'a> {
    metainfo: Value<'a>,
    trailing_bytes: &'a [u8],
    info: Located<'a>,
    info_hashes: InfoHashes,
    name: Cow<'a, [u8]>,
    is_single_file: bool,
    files: Files<'a>,
    lengths: Lengths,
    piece_hashes: Option<&'a [[u8; 20]]>,
}

/// Which versions of the protocol a torrent can be used with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// Version 1 (BEP 3).
    V1,
    /// Version 2 (BEP 52).
    V2,
    /// Both (BEP 52, "Upgrade Path").
    Hybrid,
}

impl Version {
    /// Whether pieces have SHA-1 digests (BEP 3).
    pub fn has_v1(self) -> bool {
        matches!(self, Self::V1 | Self::Hybrid)
    }

    /// Whether files have merkle trees (BEP 52).
    pub fn has_v2(self) -> bool {
        matches!(self, Self::V2 | Self::Hybrid)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "version 1",
            Self::V2 => "version 2",
            Self::Hybrid => "hybrid (version 1 and 2)",
        })
    }
}

impl<'a> Torrent<'a> {
    /// Reads a .torrent file (BEP 3, BEP 47 and BEP 52).
    ///
    /// `name.utf-8` and `path.utf-8` are taken instead of `name` and `path` where they are there.
    /// Bytes after the end of the dictionary are left alone: they are part of no hash.
    ///
    /// # Errors
    ///
    /// An [`Error`] that says at which byte and why the file is refused. Whatever two readers
    /// could understand differently is refused, and whatever cannot be verified. What is not part
    /// of the info dictionary, and no hash, is not looked at: see [`Self::metadata`].
    pub fn parse(metainfo: &'a [u8]) -> Result<Self, Error> {
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
            info,
            info_hashes,
            name: read_name(&name, content.is_single_file, info_hashes)?,
            is_single_file: content.is_single_file,
            files,
            lengths,
            piece_hashes,
        })
    }

    /// Which versions of the protocol the torrent can be used with.
    pub fn version(&self) -> Version {
        match self.info_hashes {
            InfoHashes::V1(_) => Version::V1,
            InfoHashes::V2(_) => Version::V2,
            InfoHashes::Hybrid(..) => Version::Hybrid,
        }
    }

    /// The name of the file of a single-file torrent, or of the folder of a multi-file torrent.
    /// One that is no name, such as `..`, is replaced by the info-hash, as by libtorrent.
    pub fn name(&self) -> PathComponent<'_> {
        match self.files.get(0).filter(|_| self.is_single_file) {
            Some(file) => file.path().file_name(),
            None => PathComponent::checked_before(&self.name),
        }
    }

    /// The folder that the file of a single-file torrent can be in as well.
    ///
    /// In version 2 nothing tells a file from a folder with one file. By libtorrent's reading, and
    /// this one, it is a file, and the torrent's name means nothing; but if that is another name than
    /// the file's, whoever made the torrent may have had a folder of that name.
    pub fn possible_folder(&self) -> Option<PathComponent<'_>> {
        let folder = PathComponent::checked_before(&self.name);
        let is_v2_only = self.version() == Version::V2;
        (is_v2_only && self.is_single_file && folder != self.name()).then_some(folder)
    }

    /// Whether the content is one file named [`name`](Self::name), instead of a folder of that
    /// name with files. A folder may have one file only, too.
    pub fn is_single_file(&self) -> bool {
        self.is_single_file
    }

    /// The files in the order of the content. At least one regular file is not empty. No regular
    /// file or symbolic link has the path of another one, or is inside of one.
    pub fn files(&self) -> &Files<'a> {
        &self.files
    }

    /// The file of this position.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn file(&self, index: usize) -> File<'_> {
        self.files.get(index).expect("the file is of this torrent")
    }

    /// The total length of the files, with padding, and the piece length.
    ///
    /// Version 2 has no padding in the torrent, but each file starts at a piece, so that there is
    /// as much between files.
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// The length of all files in bytes, padding left out.
    pub fn content_length(&self) -> u64 {
        let files = self.files.entries().iter();
        files
            .filter(|file| file.has_content())
            .map(|file| file.length)
            .sum()
    }

    /// The SHA-1 digest of each piece, where there is version 1.
    pub fn piece_hashes(&self) -> Option<&'a [[u8; 20]]> {
        self.piece_hashes
    }

    /// The torrent's identity.
    pub fn info_hashes(&self) -> InfoHashes {
        self.info_hashes
    }

    /// The info dictionary as it stands in the file, which is what the info-hash is taken of.
    pub fn info_bytes(&self) -> &'a [u8] {
        self.info.encoded()
    }

    pub(crate) fn info_value(&self) -> Value<'a> {
        self.info.value()
    }

    pub(crate) fn metainfo_value(&self) -> Value<'a> {
        self.metainfo
    }

    /// What follows the dictionary that is the torrent. It means nothing.
    pub fn trailing_bytes(&self) -> &'a [u8] {
        self.trailing_bytes
    }

    /// Where the first key of the info dictionary starts that is not sorted, in bytes. It makes no
    /// difference but for programs that write the dictionary anew, and so change the info-hash.
    pub fn unsorted_key(&self) -> Option<usize> {
        self.info.value().unsorted_key()
    }

    /// What the torrent says besides its content: trackers, comment and the like.
    pub fn metadata(&self) -> Metadata<'a> {
        Metadata::read(self.metainfo, self.info.value())
    }
}

impl fmt::Debug for Torrent<'_> {
    /// Leaves out what can be very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torrent")
            .field("name", &self.name())
            .field("info_hashes", &self.info_hashes)
            .field("is_single_file", &self.is_single_file)
            .field("lengths", &self.lengths)
            .finish_non_exhaustive()
    }
}

/// Finds out the version before anything else is checked, as BEP 52 demands: a newer torrent is
/// to be called that, and not a broken old one.
fn is_v2(info: &Located<'_>) -> Result<bool, Error> {
    let [meta_version, file_tree] = info.pick(["meta version", "file tree"])?;
    let is_v2 = match meta_version {
        None => false,
        Some(number) => match number.integer()? {
            // BEP 52 leaves 1 unassigned; libtorrent reads it like a missing one.
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

/// The torrent's name, which is also that of the file in a single-file torrent.
fn read_name<'a>(
    name: &Located<'a>,
    is_single_file: bool,
    info_hashes: InfoHashes,
) -> Result<Cow<'a, [u8]>, Error> {
    let bytes = name.bytes()?;
    // Nothing that can be part of a name is in it, or dots, which are a name from three on.
    let mut kept = bytes.iter().filter(|byte| !matches!(byte, 0 | b'/'));
    let is_no_name = kept.clone().all(|byte| *byte == b'.') && kept.nth(2).is_none();
    if is_no_name && is_single_file && info_hashes.v1().is_some() {
        return Err(Error::NoName {
            offset: name.offset(),
            field: name.field(),
        });
    }
    // libtorrent calls a folder `_` if the name is empty, and by the info-hash if it is no name.
    if !is_no_name || bytes.is_empty() {
        return path::read_name(name);
    }
    let info_hash = match info_hashes {
        InfoHashes::V1(v1) | InfoHashes::Hybrid(v1, _) => v1.to_string(),
        InfoHashes::V2(v2) => v2.to_string(),
    };
    Ok(Cow::Owned(info_hash.into_bytes()))
}

/// The files, from one or both of the two views.
struct Content<'a> {
    version: Version,
    /// Where the length of the single file, the list of files or the file tree starts, in bytes.
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
        hybrid::unite(&mut list.files, &tree.files, piece_length)?;
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
        // Padding alone is as empty as nothing at all: nothing of it can be verified.
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
