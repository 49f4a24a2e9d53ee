//! Messages as byte ranges of files.

use std::ops::Range;

/// Index of a file in a [`FileSet`](crate::FileSet).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(usize);

impl FileIndex {
    /// Returns the index with this position in the set.
    pub fn new(index: usize) -> Self {
        Self(index)
    }

    /// Returns the position in the set.
    pub fn get(self) -> usize {
        self.0
    }
}

/// A run of bytes in one file, or a run of zeros. Callers make extents, so a new field is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// The file, or `None` for zeros that are not stored, such as padding.
    pub file: Option<FileIndex>,
    /// Offset of the first byte in the file, or 0 for zeros.
    pub offset: u64,
    /// Number of bytes. Never zero.
    pub len_bytes: u64,
}

/// Length of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageLen {
    /// A length in bytes that is known before the message is read.
    Bytes(u64),
    /// All bytes of one file, from the first byte to the end. The file may be a pipe or a device,
    /// and may grow while it is read.
    UntilEnd(FileIndex),
}

/// The messages to hash, numbered from zero.
///
/// Nothing is stored per message: an implementation computes lengths and extents on request. Ten
/// million pieces of a torrent then need no memory.
pub trait Messages: Sync {
    /// Returns the number of messages.
    fn count(&self) -> u32;

    /// Returns the length in bytes that almost all messages have, or `None` if there is no such
    /// length. With a usual length, threads take runs of messages; otherwise they take one message
    /// at a time.
    fn usual_len(&self) -> Option<u64>;

    /// Returns the length of a message.
    fn len(&self, message: u32) -> MessageLen;

    /// Returns the extents of a range of bytes of a message, in order and without gaps. Called only
    /// for messages with [`MessageLen::Bytes`], with a range within the message.
    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent>;
}

/// Messages that are whole files: message `i` is the file with index `i`, from its first byte to
/// its end. Such messages have no other property, so no field will be added.
#[derive(Clone, Copy, Debug)]
pub struct WholeFiles {
    /// Number of files.
    pub count: u32,
}

impl Messages for WholeFiles {
    fn count(&self) -> u32 {
        self.count
    }

    fn usual_len(&self) -> Option<u64> {
        None
    }

    fn len(&self, message: u32) -> MessageLen {
        MessageLen::UntilEnd(FileIndex::new(message as usize))
    }

    fn extents(&self, _: u32, _: Range<u64>) -> impl Iterator<Item = Extent> {
        std::iter::empty()
    }
}
