//! Reasons to refuse a magnet link, and to ignore a part of it.

use super::FileSelectionError;

/// Reasons to refuse a magnet link.
///
/// Offsets are in bytes from the start of the link to the value of the named parameter. Messages
/// contain no unescaped text of the link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MagnetError {
    /// The text does not start with `magnet:`, and is no bare info-hash.
    #[error("byte 0: expected \"magnet:\" or an info-hash")]
    NotMagnet,

    /// There is no `?` after `magnet:`, so there are no parameters.
    #[error("byte {offset}: expected \"?\" after \"magnet:\"")]
    NoParameters {
        /// Offset of the missing `?`.
        offset: usize,
    },

    /// No `xt` is an info-hash of `BitTorrent`. There may be hashes of other networks.
    #[error("xt is missing: the link has neither urn:btih nor urn:btmh")]
    NoInfoHash,

    /// An info-hash has the wrong number of characters.
    #[error("byte {offset}: xt={urn} has {found} characters, expected {expected}")]
    InfoHashLength {
        /// Offset of the value.
        offset: usize,
        /// The kind of `xt`: `urn:btih:` or `urn:btmh:`.
        urn: &'static str,
        /// Expected number of characters, in words.
        expected: &'static str,
        /// Number of bytes after the `urn`, after percent-decoding.
        found: usize,
    },

    /// A character of an info-hash is not a digit of its encoding.
    #[error("byte {offset}: xt={urn} is not {encoding}")]
    InfoHashDigit {
        /// Offset of the value.
        offset: usize,
        /// The kind of `xt`: `urn:btih:` or `urn:btmh:`.
        urn: &'static str,
        /// The encoding that the length implies, in words.
        encoding: &'static str,
    },

    /// A multihash is not SHA-256 with 32 bytes, the only one that identifies torrents (BEP 52).
    #[error("byte {offset}: xt=urn:btmh: does not start with 1220, the code of SHA-256")]
    UnknownMultihash {
        /// Offset of the value.
        offset: usize,
    },

    /// There are two different info-hashes of one version. One client would use the first, and
    /// another the last.
    #[error("byte {offset}: xt={urn} differs from the previous one")]
    ConflictingInfoHashes {
        /// Offset of the second value.
        offset: usize,
        /// The kind of `xt`: `urn:btih:` or `urn:btmh:`.
        urn: &'static str,
    },
}

/// A hint of a magnet link that is ignored because it is invalid. The displayed text contains no
/// unescaped text of the link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
#[non_exhaustive]
pub struct IgnoredHint {
    /// Offset of the value in the link, in bytes.
    pub offset: usize,
    /// The problem of the value.
    pub reason: IgnoredReason,
}

/// The reason why a hint of a magnet link is ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IgnoredReason {
    /// A tracker or web seed is not a URL.
    #[error("not a URL")]
    Url,
    /// A peer or DHT node is not a host and a port.
    #[error("not a host and port")]
    Address,
    /// A length is not a number of bytes.
    #[error("not a number of bytes")]
    Length,
    /// A file selection is not a list of indexes and ranges (BEP 53).
    #[error(transparent)]
    Selection(FileSelectionError),
}
