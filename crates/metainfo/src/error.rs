//! Why a .torrent file is refused.

use crate::bencode::{Kind, SyntaxError};
use crate::{ComponentError, Field, LengthsError, Version};

/// Why a .torrent file is refused.
///
/// Offsets are in bytes from the start of the .torrent file, and indexes of files count from zero
/// in the order of the list `files`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not bencode (BEP 3).
    #[error(transparent)]
    Syntax(#[from] SyntaxError),

    /// A dictionary lacks a key that it must have.
    #[error("byte {offset}: {field} is missing")]
    MissingKey {
        /// Where the dictionary starts.
        offset: usize,
        /// What is missing.
        field: Field,
    },

    /// A key that we read appears twice in its dictionary. One reader would take the first value
    /// and another the last, and so one info-hash would name two different torrents.
    #[error("byte {offset}: {field} appears twice")]
    DuplicateKey {
        /// Where the second key starts.
        offset: usize,
        /// What appears twice.
        field: Field,
    },

    /// A value of the wrong bencode type.
    #[error("byte {offset}: {field} is {found}, expected {expected}")]
    WrongType {
        /// Where the value starts.
        offset: usize,
        /// Which value.
        field: Field,
        /// What it must be.
        expected: Kind,
        /// What it is.
        found: Kind,
    },

    /// A version of torrents that this reader does not read yet.
    #[error("{version} torrents are not supported yet")]
    UnsupportedVersion {
        /// The version.
        version: Version,
    },

    /// A version of torrents that BEP 52 leaves to the future.
    #[error("byte {offset}: info.meta version is {meta_version}, which is unknown")]
    UnknownMetaVersion {
        /// Where the number starts.
        offset: usize,
        /// The number.
        meta_version: i64,
    },

    /// A component of a path that is unsafe to open.
    #[error("byte {offset}: {field} {}", reason.predicate())]
    UnsafePath {
        /// Where the component starts.
        offset: usize,
        /// Which component.
        field: Field,
        /// What is wrong with it.
        reason: ComponentError,
    },

    /// A path without components.
    #[error("byte {offset}: {field} is an empty list")]
    EmptyPath {
        /// Where the list starts.
        offset: usize,
        /// Which path.
        field: Field,
    },

    /// Two files (padding aside) of the same path: only one of them can be on the disk.
    #[error("byte {offset}: info.files[{second}] has the path of info.files[{first}]")]
    DuplicatePath {
        /// Where the second file's dictionary starts.
        offset: usize,
        /// Index of the file that comes first.
        first: usize,
        /// Index of the file that comes later.
        second: usize,
    },

    /// A file inside of another file, which would have to be a folder as well.
    #[error("byte {offset}: info.files[{inner}] is inside of info.files[{outer}], which is a file")]
    PathThroughFile {
        /// Where the inner file's dictionary starts.
        offset: usize,
        /// Index of the file whose path is the start of the other path.
        outer: usize,
        /// Index of the file with the longer path.
        inner: usize,
    },

    /// Attributes (BEP 47) that make a file both padding, which has content, and a symbolic link,
    /// which has none.
    #[error("byte {offset}: {field} makes the file both padding (p) and a symbolic link (l)")]
    ContradictoryAttributes {
        /// Where the attributes start.
        offset: usize,
        /// Which attributes.
        field: Field,
    },

    /// Neither `length`, as in a single-file torrent, nor `files`, as in a multi-file torrent.
    #[error("byte {offset}: info has neither length nor files")]
    NoLengthNorFiles {
        /// Where the info dictionary starts.
        offset: usize,
    },

    /// Both `length`, as in a single-file torrent, and `files`, as in a multi-file torrent.
    #[error("byte {offset}: info has both length and files")]
    LengthAndFiles {
        /// Where the info dictionary starts.
        offset: usize,
    },

    /// An empty list of files.
    #[error("byte {offset}: info.files is an empty list")]
    NoFiles {
        /// Where the list starts.
        offset: usize,
    },

    /// A length or a number that cannot be negative.
    #[error("byte {offset}: {field} is negative ({value})")]
    Negative {
        /// Where the number starts.
        offset: usize,
        /// Which number.
        field: Field,
        /// The number.
        value: i64,
    },

    /// A total length or piece length outside of the limits of [`Lengths`](crate::Lengths).
    #[error("byte {offset}: {reason}")]
    Lengths {
        /// Where the piece length, the length of the single file, or the list of files starts.
        offset: usize,
        /// The limit.
        reason: LengthsError,
    },

    /// The piece hashes are not a whole number of SHA-1 digests.
    #[error("byte {offset}: info.pieces is {len_bytes} bytes long, not a multiple of 20 bytes")]
    PieceHashesLength {
        /// Where the piece hashes start.
        offset: usize,
        /// Their length in bytes.
        len_bytes: usize,
    },

    /// There are more pieces than piece hashes, or fewer.
    #[error("byte {offset}: info.pieces holds {found} piece hashes, expected {expected}")]
    PieceCountMismatch {
        /// Where the piece hashes start.
        offset: usize,
        /// The number of pieces after total length and piece length.
        expected: u32,
        /// The number of piece hashes.
        found: usize,
    },
}
