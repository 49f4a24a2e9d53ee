//! A whole .torrent file.

mod unique;

use std::fmt;

use crate::TorrentPath;
use crate::field::Located;
use crate::path::component;
use crate::{Error, File, FileKind, InfoHashV1, InfoHashes, Lengths, LengthsError, PathComponent};

/// The content of a .torrent file, checked, and borrowed from its bytes.
///
/// Besides those bytes it holds one [`File`] for each file: reading a .torrent file allocates at
/// most 4 times its size.
#[derive(Clone)]
pub struct Torrent<'a> {
    info: &'a [u8],
    info_hash: InfoHashV1,
    name: PathComponent<'a>,
    is_single_file: bool,
    files: Vec<File<'a>>,
    lengths: Lengths,
    piece_hashes: &'a [[u8; 20]],
}

/// Which versions of the protocol a torrent can be used with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// Version 1 (BEP 3).
    V1,
    /// Version 2 (BEP 52).
    V2,
    /// Both (BEP 52, "Upgrade Path").
    Hybrid,
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
    /// Reads a .torrent file (BEP 3 and BEP 47).
    ///
    /// `name.utf-8` and `path.utf-8` are taken instead of `name` and `path` where they are there.
    ///
    /// # Errors
    ///
    /// An [`Error`] that says at which byte and why the file is refused. Whatever two readers
    /// could understand differently, and whatever is unsafe to open, is refused.
    pub fn parse(metainfo: &'a [u8]) -> Result<Self, Error> {
        let root = Located::parse(metainfo)?;
        let [info] = root.pick(["info"])?;
        let info = info.ok_or_else(|| root.missing("info"))?;
        refuse_other_versions(&info)?;

        let [name, name_utf8, piece_length, pieces] =
            info.pick(["name", "name.utf-8", "piece length", "pieces"])?;
        let name = name_utf8.or(name).ok_or_else(|| info.missing("name"))?;
        let piece_length = piece_length.ok_or_else(|| info.missing("piece length"))?;
        let pieces = pieces.ok_or_else(|| info.missing("pieces"))?;

        let content = Content::read(&info, &name)?;
        let lengths = content.lengths(&piece_length)?;
        Ok(Self {
            info: info.encoded(),
            info_hash: InfoHashV1::of(info.encoded()),
            name: component(&name)?,
            is_single_file: content.is_single_file,
            files: content.files,
            lengths,
            piece_hashes: piece_hashes(&pieces, lengths)?,
        })
    }

    /// Which versions of the protocol the torrent can be used with.
    pub fn version(&self) -> Version {
        Version::V1
    }

    /// The name of the file of a single-file torrent, or of the folder of a multi-file torrent.
    pub fn name(&self) -> PathComponent<'a> {
        self.name
    }

    /// Whether the content is one file named [`name`](Self::name), instead of a folder of that
    /// name with files. A folder may have one file only, too.
    pub fn is_single_file(&self) -> bool {
        self.is_single_file
    }

    /// The files in the order of the content: each starts where the one before ends. At least one
    /// regular file is not empty. No regular file or symbolic link has the path of another one,
    /// or is inside of one.
    pub fn files(&self) -> &[File<'a>] {
        &self.files
    }

    /// The total length of the files, padding included, and the piece length.
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// The SHA-1 digest of each piece.
    pub fn piece_hashes(&self) -> &'a [[u8; 20]] {
        self.piece_hashes
    }

    /// The torrent's identity.
    pub fn info_hashes(&self) -> InfoHashes {
        InfoHashes::V1(self.info_hash)
    }

    /// The info dictionary as it stands in the file, which is what the info-hash is taken of.
    pub fn info_bytes(&self) -> &'a [u8] {
        self.info
    }
}

impl fmt::Debug for Torrent<'_> {
    /// Leaves out what can be very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torrent")
            .field("name", &self.name)
            .field("info_hash", &self.info_hash)
            .field("is_single_file", &self.is_single_file)
            .field("lengths", &self.lengths)
            .finish_non_exhaustive()
    }
}

/// Finds out the version before anything else is checked, as BEP 52 demands: a newer torrent is
/// to be called that, and not a broken old one.
fn refuse_other_versions(info: &Located<'_>) -> Result<(), Error> {
    let [meta_version, file_tree, pieces] = info.pick(["meta version", "file tree", "pieces"])?;
    let is_v2 = match meta_version {
        None => file_tree.is_some(),
        Some(number) => match number.integer()? {
            // BEP 52 leaves 1 unassigned; libtorrent reads it like a missing one.
            1 => file_tree.is_some(),
            2 => true,
            meta_version => {
                return Err(Error::UnknownMetaVersion {
                    offset: number.offset(),
                    meta_version,
                });
            }
        },
    };
    match (is_v2, pieces) {
        (false, _) => Ok(()),
        (true, None) => Err(Error::UnsupportedVersion {
            version: Version::V2,
        }),
        (true, Some(_)) => Err(Error::UnsupportedVersion {
            version: Version::Hybrid,
        }),
    }
}

/// The files, from whichever of the two forms of BEP 3.
struct Content<'a> {
    /// Where the length of the single file or the list of files starts, in bytes.
    offset: usize,
    is_single_file: bool,
    files: Vec<File<'a>>,
}

impl<'a> Content<'a> {
    fn read(info: &Located<'a>, name: &Located<'a>) -> Result<Self, Error> {
        let [length, files] = info.pick(["length", "files"])?;
        match (length, files) {
            (None, None) => Err(Error::NoLengthNorFiles {
                offset: info.offset(),
            }),
            (Some(_), Some(_)) => Err(Error::LengthAndFiles {
                offset: info.offset(),
            }),
            (Some(length), None) => {
                let file = File::from_info(info, TorrentPath::from_name(name)?)?;
                Ok(Self {
                    offset: length.offset(),
                    is_single_file: true,
                    files: vec![file],
                })
            }
            (None, Some(list)) => {
                let files = read_files(&list)?;
                Ok(Self {
                    offset: list.offset(),
                    is_single_file: false,
                    files,
                })
            }
        }
    }

    fn lengths(&self, piece_length: &Located<'_>) -> Result<Lengths, Error> {
        let has_content = |file: &File<'_>| file.kind() == FileKind::Regular && file.length() > 0;
        let end = self.files.last().map_or(0, File::end);
        // Padding alone is as empty as nothing at all: nothing of it can be verified.
        let total_length = if self.files.iter().any(has_content) {
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

fn read_files<'a>(list: &Located<'a>) -> Result<Vec<File<'a>>, Error> {
    // Counted first, so that the vector is never larger than its content.
    let mut files = Vec::with_capacity(list.items()?.count());
    for item in list.items()? {
        let offset = files.last().map_or(0, File::end);
        files.push(File::from_item(&item, offset)?);
    }
    if files.is_empty() {
        return Err(Error::NoFiles {
            offset: list.offset(),
        });
    }
    unique::check(list, &files)?;
    Ok(files)
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
