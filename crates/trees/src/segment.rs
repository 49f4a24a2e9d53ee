//! Leaves of several files as messages of the pipeline.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hashlane_pipeline::{Extent, FileIndex, FileSet, MessageLen, Messages};

use crate::format::Leaves;

/// Leaves of several files, as numbered messages.
#[derive(Debug)]
pub(crate) struct Segment {
    leaves: Leaves,
    parts: Vec<Part>,
    n_messages: u32,
}

/// Consecutive leaves of a file.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    /// Number of bytes of the file that are hashed.
    pub(crate) file_len: u64,
    pub(crate) leaves: Range<u64>,
    /// The numbers of the messages. Empty for an empty file.
    pub(crate) messages: Range<u32>,
}

impl Segment {
    pub(crate) fn new(leaves: Leaves) -> Self {
        Self {
            leaves,
            parts: Vec::new(),
            n_messages: 0,
        }
    }

    /// Adds leaves of a file.
    pub(crate) fn push(&mut self, path: PathBuf, file_len: u64, leaves: Range<u64>) {
        let n_messages = (leaves.end - leaves.start).div_ceil(self.leaves.per_message());
        let end = self.n_messages + n_messages as u32;
        self.parts.push(Part {
            path,
            file_len,
            leaves,
            messages: self.n_messages..end,
        });
        self.n_messages = end;
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the index of the part that contains a message.
    fn part_of(&self, message: u32) -> usize {
        let is_before = |part: &Part| part.messages.end <= message;
        self.parts.partition_point(is_before)
    }

    /// Returns the bytes of the leaves of a message, as positions in the file. The end can lie after the end of the file.
    fn range_of(&self, message: u32) -> (usize, Range<u64>) {
        let index = self.part_of(message);
        let part = &self.parts[index];
        let per_message = self.leaves.per_message();
        let first = part.leaves.start + u64::from(message - part.messages.start) * per_message;
        let end = part.leaves.end.min(first + per_message);
        let file_len = part.file_len;
        (
            index,
            self.leaves.end(first, file_len)..self.leaves.end(end, file_len),
        )
    }
}

impl Segment {
    /// Returns the length of a message in bytes.
    pub(crate) fn len_of(&self, message: u32) -> u64 {
        let (_, range) = self.range_of(message);
        range.end - range.start
    }
}

impl Messages for Segment {
    fn count(&self) -> u32 {
        self.n_messages
    }

    fn usual_len(&self) -> Option<u64> {
        // `None` for leaves that are whole files.
        self.leaves
            .len_bytes
            .checked_mul(self.leaves.per_message())
            .filter(|len_bytes| *len_bytes < u64::MAX)
    }

    fn len(&self, message: u32) -> MessageLen {
        MessageLen::Bytes(self.len_of(message))
    }

    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        let (index, bytes) = self.range_of(message);
        let start = bytes.start + range.start;
        let end = bytes.start + range.end;
        let data_end = end.min(self.parts[index].file_len).max(start);
        let data = Extent {
            file: Some(FileIndex::new(index)),
            offset: start,
            len_bytes: data_end - start,
        };
        let padding = Extent {
            file: None,
            offset: 0,
            len_bytes: end - data_end,
        };
        let extents = [data, padding].into_iter();
        extents.filter(|extent| extent.len_bytes > 0)
    }
}

impl FileSet for Segment {
    /// Returns the first file. Most lists have files on a single disk.
    fn root(&self) -> &Path {
        self.parts.first().map_or(Path::new(""), |part| &part.path)
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.parts[file.get()].path.clone())
    }
}
