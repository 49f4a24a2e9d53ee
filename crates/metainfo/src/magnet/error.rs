//! Why a magnet link is refused.

use super::FileSelectionError;

/// Why a magnet link is refused.
///
/// Offsets are in bytes from the start of the link, and are those of the value of the parameter
/// that is named. No text of the link reaches a message unescaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MagnetError {
    /// It does not start with `magnet:`.
    #[error("byte 0: expected \"magnet:\"")]
    NotMagnet,

    /// There is no `?` after `magnet:`, and so there are no parameters.
    #[error("byte {offset}: expected \"?\" after \"magnet:\"")]
    NoParameters {
        /// Where it should be.
        offset: usize,
    },

    /// No `xt` is an info-hash of `BitTorrent`. There may be some of other networks.
    #[error("xt is missing: the link has neither urn:btih nor urn:btmh")]
    NoInfoHash,

    /// An info-hash of the wrong number of characters.
    #[error("byte {offset}: xt={urn} has {found} characters, expected {expected}")]
    InfoHashLength {
        /// Where the value starts.
        offset: usize,
        /// Which kind of `xt`: `urn:btih:` or `urn:btmh:`.
        urn: &'static str,
        /// How many characters it should have, in words.
        expected: &'static str,
        /// How many bytes follow the `urn`, after percent-decoding.
        found: usize,
    },

    /// A character in an info-hash that is no digit of its encoding.
    #[error("byte {offset}: xt={urn} is not {encoding}")]
    InfoHashDigit {
        /// Where the value starts.
        offset: usize,
        /// Which kind of `xt`: `urn:btih:` or `urn:btmh:`.
        urn: &'static str,
        /// The encoding that the length calls for, in words.
        encoding: &'static str,
    },

    /// A multihash of another kind than SHA-256 of 32 bytes, the only one that names torrents
    /// (BEP 52).
    #[error("byte {offset}: xt=urn:btmh: does not start with 1220, which stands for SHA-256")]
    UnknownMultihash {
        /// Where the value starts.
        offset: usize,
    },

    /// Two different info-hashes of one version: one client would take the first torrent, and
    /// another the last.
    #[error("byte {offset}: xt={urn} differs from the one before")]
    ConflictingInfoHashes {
        /// Where the later value starts.
        offset: usize,
        /// Which kind of `xt`: `urn:btih:` or `urn:btmh:`.
        urn: &'static str,
    },

    /// A selection of files that is not a list of indexes and ranges (BEP 53).
    #[error("byte {offset}: so: {reason}")]
    SelectOnly {
        /// Where the value starts.
        offset: usize,
        /// What is wrong with it.
        reason: FileSelectionError,
    },
}
