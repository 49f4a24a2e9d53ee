//! Why a .torrent file is refused.

use crate::bencode::{Kind, SyntaxError};
use crate::{Difference, Field, LengthsError, MAX_PATH_DEPTH};

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

    /// A version of torrents that BEP 52 leaves to the future.
    #[error("byte {offset}: info.meta version is {meta_version}, which is unknown")]
    UnknownMetaVersion {
        /// Where the number starts.
        offset: usize,
        /// The number.
        meta_version: i64,
    },

    /// A path without components.
    #[error("byte {offset}: {field} is an empty list")]
    EmptyPath {
        /// Where the list starts.
        offset: usize,
        /// Which path.
        field: Field,
    },

    /// A path of more folders than [`MAX_PATH_DEPTH`].
    #[error("byte {offset}: {field} has {depth} components, more than {MAX_PATH_DEPTH}")]
    PathTooDeep {
        /// Where the list starts.
        offset: usize,
        /// Which path.
        field: Field,
        /// How many components it has.
        depth: usize,
    },

    /// The name of the only file of a version 1 or hybrid torrent that is empty, or has nothing in
    /// it that could be a name.
    #[error("byte {offset}: {field} is no name for a file")]
    NoName {
        /// Where the name starts.
        offset: usize,
        /// Which name.
        field: Field,
    },

    /// More than 500 attempts to tell files of one path apart.
    #[error("byte {offset}: too many files have the same path")]
    TooManyDuplicatePaths {
        /// Where the list of files, or the name in the file tree, starts.
        offset: usize,
    },

    /// A name of the file tree (BEP 52) that is empty, where no file's description can be.
    #[error("byte {offset}: a name in info.file tree is empty")]
    EmptyTreeName {
        /// Where the key starts.
        offset: usize,
    },

    /// A name of the file tree (BEP 52) that is a file and has something inside.
    #[error("byte {offset}: what is described as a file in info.file tree has more entries")]
    FileAndFolder {
        /// Where the second key starts.
        offset: usize,
    },

    /// Padding in the file tree (BEP 52), where each file has pieces of its own and needs none.
    #[error("byte {offset}: padding in info.file tree, where there is none")]
    PaddingInTree {
        /// Where the attributes start.
        offset: usize,
    },

    /// Keys of a version 2 info dictionary that are not sorted, or not different. The order of the
    /// file tree is that of the content (BEP 52), and programs that sort would read another one.
    #[error("byte {offset}: key is not greater than the one before it, as version 2 demands")]
    UnsortedKey {
        /// Where the key starts.
        offset: usize,
    },

    /// A piece length that version 2 (BEP 52) does not allow.
    #[error(
        "byte {offset}: the piece length is {piece_length} bytes, which is no power of two of at least 16384"
    )]
    PieceLengthV2 {
        /// Where the number starts.
        offset: usize,
        /// The piece length in bytes.
        piece_length: u64,
    },

    /// The root of a merkle tree (BEP 52) that is no SHA-256 digest.
    #[error("byte {offset}: pieces root is {len_bytes} bytes long, not 32 bytes")]
    PiecesRootLength {
        /// Where the root starts.
        offset: usize,
        /// Its length in bytes.
        len_bytes: usize,
    },

    /// The root of a merkle tree (BEP 52) that is all zeros, which stands for no bytes at all.
    #[error("byte {offset}: pieces root is all zeros")]
    ZeroPiecesRoot {
        /// Where the root starts.
        offset: usize,
    },

    /// A piece layer (BEP 52) whose root is that of no file of more than one piece.
    #[error("byte {offset}: piece layer is of no file that needs one")]
    UnknownPieceLayer {
        /// Where the root starts.
        offset: usize,
    },

    /// A second piece layer (BEP 52) of the same root.
    #[error("byte {offset}: second piece layer of the same root")]
    DuplicatePieceLayer {
        /// Where the root starts.
        offset: usize,
    },

    /// A piece layer (BEP 52) that does not have one hash for each piece of its file.
    #[error("byte {offset}: piece layer is {len_bytes} bytes long, expected {expected} bytes")]
    PieceLayerLength {
        /// Where the layer starts.
        offset: usize,
        /// Its length in bytes.
        len_bytes: usize,
        /// The length that it must have.
        expected: u64,
    },

    /// A piece layer (BEP 52) whose hashes do not lead to the root that it is given for.
    #[error("byte {offset}: piece layer does not lead to its pieces root")]
    PieceLayerMismatch {
        /// Where the layer starts.
        offset: usize,
    },

    /// Version 1 and version 2 say different things of the content of a hybrid torrent (BEP 52).
    #[error("byte {offset}: versions 1 and 2 disagree: {difference}")]
    VersionsDisagree {
        /// Where the file of version 1, or else of version 2, is described.
        offset: usize,
        /// What they disagree about.
        difference: Difference,
    },

    /// Attributes (BEP 47) that make a file both padding, which has content, and a symbolic link,
    /// which has none.
    #[error("byte {offset}: {field} makes the file both padding (p) and a symbolic link (l)")]
    ConflictingAttributes {
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

    /// An empty list of files, or an empty file tree (BEP 52).
    #[error("byte {offset}: there are no files")]
    NoFiles {
        /// Where the list or the tree starts.
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
