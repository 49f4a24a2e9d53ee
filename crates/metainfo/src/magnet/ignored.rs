//! Hints of a magnet link that are ignored.

use super::FileSelectionError;

/// A hint of a magnet link that is ignored because it is invalid. The displayed text contains no
/// unescaped text of the link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct IgnoredHint {
    /// Offset of the value in the link, in bytes.
    pub offset: usize,
    /// The reason.
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
