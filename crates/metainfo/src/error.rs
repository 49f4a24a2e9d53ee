//! The reason why a .torrent file is refused.

use crate::bencode::{Kind, SyntaxError};
use crate::{Difference, Field, LengthsError, MAX_PATH_DEPTH};

/// Number of bytes of another file that an error shows.
pub(crate) const START_LEN: usize = 16;

/// Describes a file that is no .torrent file by its first bytes.
fn described(start: &[u8]) -> String {
    let text = String::from_utf8_lossy(start);
    let trimmed = text.trim_start();
    match start {
        [] => "empty".to_owned(),
        [0x1f, 0x8b, ..] => "compressed by gzip".to_owned(),
        _ if trimmed.starts_with('<') => "a page of HTML or XML".to_owned(),
        _ if trimmed.starts_with("magnet:") => "a magnet link".to_owned(),
        _ => format!("a file that starts with {text:?}"),
    }
}

/// The reason why a .torrent file is refused.
///
/// Offsets are in bytes from the start of the .torrent file. Indexes of files count from zero in
/// the order of the list `files`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is something else than a dictionary in bencode (BEP 3).
    #[error("not a .torrent file: it is {}", described(start))]
    NotATorrent {
        /// The first bytes of the file, at most 16.
        start: Vec<u8>,
    },

    /// The file is not bencode (BEP 3).
    #[error(transparent)]
    Syntax(#[from] SyntaxError),

    /// A required key is missing from a dictionary.
    #[error("byte {offset}: {field} is missing")]
    MissingKey {
        /// Offset of the dictionary.
        offset: usize,
        /// The missing field.
        field: Field,
    },

    /// A key appears twice in its dictionary. One program would use the first value and another the
    /// last, so one info-hash would stand for two different torrents.
    #[error("byte {offset}: {field} appears twice")]
    DuplicateKey {
        /// Offset of the second key.
        offset: usize,
        /// The field that appears twice.
        field: Field,
    },

    /// A value has the wrong bencode type.
    #[error("byte {offset}: {field} is {found}, expected {expected}")]
    WrongType {
        /// Offset of the value.
        offset: usize,
        /// The field of the metainfo that has the value.
        field: Field,
        /// The expected type.
        expected: Kind,
        /// The type that was found.
        found: Kind,
    },

    /// The version of the torrent is not 1 or 2 (BEP 52).
    #[error("byte {offset}: info.meta version is {meta_version}, which is not supported")]
    UnknownMetaVersion {
        /// Position of the number in the file, in bytes.
        offset: usize,
        /// The number that was found.
        meta_version: i64,
    },

    /// A path has no components.
    #[error("byte {offset}: {field} is an empty list")]
    EmptyPath {
        /// Offset of the list.
        offset: usize,
        /// The field of the path.
        field: Field,
    },

    /// A path has more than [`MAX_PATH_DEPTH`] components.
    #[error("byte {offset}: {field} has {depth} components, the limit is {MAX_PATH_DEPTH}")]
    PathTooDeep {
        /// Offset of the list.
        offset: usize,
        /// The field of the path.
        field: Field,
        /// Number of components.
        depth: usize,
    },

    /// The name of the only file of a version 1 or hybrid torrent is empty, or has no usable
    /// characters.
    #[error("byte {offset}: {field} is not usable as a file name")]
    NoName {
        /// Offset of the name.
        offset: usize,
        /// The field of the name.
        field: Field,
    },

    /// Too many files have the same path: 500 attempts to find a free name failed.
    #[error("byte {offset}: too many files have the same path")]
    TooManyDuplicatePaths {
        /// Offset of the list of files, or of the name in the file tree.
        offset: usize,
    },

    /// A name of the file tree (BEP 52) is empty, but does not hold the description of a file.
    #[error("byte {offset}: a name in info.file tree is empty")]
    EmptyTreeName {
        /// Offset of the key.
        offset: usize,
    },

    /// A name of the file tree (BEP 52) is both a file and a folder.
    #[error("byte {offset}: a name in info.file tree is both a file and a folder")]
    FileAndFolder {
        /// Offset of the second key.
        offset: usize,
    },

    /// The file tree (BEP 52) contains padding, which it never needs: every file has pieces of its
    /// own.
    #[error("byte {offset}: info.file tree contains padding, which version 2 does not allow")]
    PaddingInTree {
        /// Offset of the attributes.
        offset: usize,
    },

    /// The keys of a version 2 info dictionary are not sorted, or not distinct. The file tree
    /// defines the order of the content (BEP 52), so a program that sorts would read different
    /// content.
    #[error(
        "byte {offset}: key is not greater than the previous key, but version 2 requires sorted keys"
    )]
    UnsortedKey {
        /// Offset of the key.
        offset: usize,
    },

    /// The piece length is not allowed in version 2 (BEP 52).
    #[error(
        "byte {offset}: the piece length is {piece_length} bytes, expected a power of two of at least 16384 bytes"
    )]
    PieceLengthV2 {
        /// Position of the number in the file, in bytes.
        offset: usize,
        /// The piece length in bytes.
        piece_length: u64,
    },

    /// The root of a merkle tree (BEP 52) does not have the length of a SHA-256 digest.
    #[error("byte {offset}: pieces root is {len_bytes} bytes long, expected 32 bytes")]
    PiecesRootLength {
        /// Offset of the root.
        offset: usize,
        /// Length in bytes.
        len_bytes: usize,
    },

    /// The root of a merkle tree (BEP 52) is all zeros, which stands for a file without bytes.
    #[error("byte {offset}: pieces root is all zeros")]
    ZeroPiecesRoot {
        /// Offset of the root.
        offset: usize,
    },

    /// A piece layer (BEP 52) belongs to no file of more than one piece.
    #[error("byte {offset}: piece layer belongs to no file of more than one piece")]
    UnknownPieceLayer {
        /// Offset of the root.
        offset: usize,
    },

    /// Two piece layers (BEP 52) have the same root.
    #[error("byte {offset}: second piece layer for the same pieces root")]
    DuplicatePieceLayer {
        /// Offset of the root.
        offset: usize,
    },

    /// A piece layer (BEP 52) does not have exactly one hash for each piece of its file.
    #[error("byte {offset}: piece layer is {len_bytes} bytes long, expected {expected} bytes")]
    PieceLayerLength {
        /// Offset of the layer.
        offset: usize,
        /// Length in bytes.
        len_bytes: usize,
        /// Expected length in bytes.
        expected: u64,
    },

    /// The hashes of a piece layer (BEP 52) do not lead to its root.
    #[error("byte {offset}: piece layer does not match its pieces root")]
    PieceLayerMismatch {
        /// Offset of the layer.
        offset: usize,
    },

    /// Version 1 and version 2 of a hybrid torrent describe different content (BEP 52).
    #[error("byte {offset}: versions 1 and 2 disagree: {difference}")]
    VersionsDisagree {
        /// Offset of the description of the file in version 1, or in version 2 if version 1 does
        /// not have the file.
        offset: usize,
        /// The contradiction.
        difference: Difference,
    },

    /// Attributes (BEP 47) make a file both padding, which has content, and a symbolic link, which
    /// has none.
    #[error("byte {offset}: {field} makes the file both padding (p) and a symbolic link (l)")]
    ConflictingAttributes {
        /// Offset of the attributes.
        offset: usize,
        /// The field of the attributes.
        field: Field,
    },

    /// The info dictionary has neither `length`, as in a single-file torrent, nor `files`, as in a
    /// multi-file torrent.
    #[error("byte {offset}: info has neither length nor files")]
    NoLengthNorFiles {
        /// Offset of the info dictionary.
        offset: usize,
    },

    /// The info dictionary has both `length`, as in a single-file torrent, and `files`, as in a
    /// multi-file torrent.
    #[error("byte {offset}: info has both length and files")]
    LengthAndFiles {
        /// Offset of the info dictionary.
        offset: usize,
    },

    /// The list of files or the file tree (BEP 52) is empty.
    #[error("byte {offset}: the torrent has no files")]
    NoFiles {
        /// Offset of the list or the tree.
        offset: usize,
    },

    /// An integer does not fit into `i64`.
    #[error("byte {offset}: {field} is outside {min} to {max}", min = i64::MIN, max = i64::MAX)]
    IntegerOverflow {
        /// Offset of the integer.
        offset: usize,
        /// The field of the integer.
        field: Field,
    },

    /// A length or number is negative.
    #[error("byte {offset}: {field} is negative ({value})")]
    Negative {
        /// Position of the number in the file, in bytes.
        offset: usize,
        /// The key that has the number.
        field: Field,
        /// The number that was found.
        value: i64,
    },

    /// The total length or piece length exceeds a limit of [`Lengths`](crate::Lengths).
    #[error("byte {offset}: {reason}")]
    Lengths {
        /// Offset of the piece length, of the length of the single file, or of the list of files.
        offset: usize,
        /// The limit that is exceeded.
        reason: LengthsError,
    },

    /// The length of the piece hashes is not a multiple of 20 bytes.
    #[error("byte {offset}: info.pieces is {len_bytes} bytes long, not a multiple of 20 bytes")]
    PieceHashesLength {
        /// Offset of the piece hashes.
        offset: usize,
        /// Length in bytes.
        len_bytes: usize,
    },

    /// The number of piece hashes differs from the number of pieces.
    #[error("byte {offset}: info.pieces holds {found} piece hashes, expected {expected}")]
    PieceCountMismatch {
        /// Offset of the piece hashes.
        offset: usize,
        /// Number of pieces that the total length and the piece length result in.
        expected: u32,
        /// Number of piece hashes.
        found: usize,
    },
}
