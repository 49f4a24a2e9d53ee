//! Reads past the page cache.

use std::ops::Range;

use crate::file::SourceFile;

/// Unit of the offsets, lengths and addresses of direct reads in bytes. Disks have sectors of 512 or 4,096 bytes.
pub const DIRECT_UNIT: usize = 4096;

/// A read into a part of a buffer.
///
/// While the read is performed, no other thread may read from the file: reads of other offsets and lengths would fail.
#[derive(Debug)]
pub struct DirectRead<'f> {
    /// The file.
    pub file: &'f SourceFile,
    /// Offset of the first byte in the file, a multiple of [`DIRECT_UNIT`].
    pub offset: u64,
    /// The part of the buffer. Its length and its address are multiples of [`DIRECT_UNIT`].
    pub part: Range<usize>,
}
