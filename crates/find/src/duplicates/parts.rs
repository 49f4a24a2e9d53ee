//! Parts of files as messages.

use std::ops::Range;

use hashlane_pipeline::{Extent, FileIndex, MessageLen, Messages};

use super::file::DuplicateFile;

/// Bytes of the first block and of the last block of a file. A file that has no more is one message.
pub(super) const ENDS_LEN: u64 = 2 * BLOCK_LEN;

/// Most files of a tree are not longer than two of these blocks, and are read once. With blocks of 16 KiB, 17,023 files up to
/// 60 kB were opened 34,700 times and read 27,290 times (strace, November 2026).
const BLOCK_LEN: u64 = 64 << 10;

/// Bytes of a piece of a file with at most [`MAX_PIECES`] of them. Sixteen pieces fill the lanes and the batch of a worker.
const PIECE_LEN: u64 = 256 << 10;

/// Maximum number of pieces of a file, which limits the digests in memory. A file that is longer has longer pieces.
const MAX_PIECES: u64 = 1 << 16;

/// Maximum number of messages in a round.
const MAX_MESSAGES: u64 = 1 << 31;

/// Messages that each belong to one file.
pub(super) trait Parts: Messages {
    /// Returns the index of the file of a message.
    fn file(&self, message: u32) -> u32;
}

/// The first and the last block of each file.
pub(super) struct Ends<'f> {
    list: Vec<u32>,
    files: &'f [DuplicateFile],
}

impl<'f> Ends<'f> {
    pub(super) fn of(list: Vec<u32>, files: &'f [DuplicateFile]) -> Self {
        Self { list, files }
    }
}

impl Parts for Ends<'_> {
    fn file(&self, message: u32) -> u32 {
        self.list[message as usize]
    }
}

impl Messages for Ends<'_> {
    fn count(&self) -> u32 {
        self.list.len() as u32
    }

    fn usual_len(&self) -> Option<u64> {
        Some(ENDS_LEN)
    }

    fn len(&self, message: u32) -> MessageLen {
        let len_bytes = self.files[self.file(message) as usize].stamp.length();
        MessageLen::Bytes(len_bytes.min(ENDS_LEN))
    }

    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        let file = self.file(message);
        let len_bytes = self.files[file as usize].stamp.length();
        // The second half of a long file's message is at its end.
        let (middle, skipped) = if len_bytes > ENDS_LEN {
            (BLOCK_LEN, len_bytes - ENDS_LEN)
        } else {
            (len_bytes, 0)
        };
        let first = range.start..range.end.min(middle);
        let last = range.start.max(middle)..range.end;
        [(first, 0), (last, skipped)]
            .into_iter()
            .filter(|(range, _)| !range.is_empty())
            .map(move |(range, skipped)| Extent {
                file: Some(FileIndex::new(file as usize)),
                offset: range.start + skipped,
                len_bytes: range.end - range.start,
            })
    }
}

/// All bytes of each file, in pieces of one length for all files of one length.
pub(super) struct Pieces<'f> {
    list: Vec<u32>,
    /// The first message of each file of the list, and the number of all messages.
    starts: Vec<u32>,
    files: &'f [DuplicateFile],
}

impl<'f> Pieces<'f> {
    /// Splits a list of files into lists that a run can have.
    pub(super) fn rounds(list: Vec<u32>, files: &[DuplicateFile]) -> Vec<Vec<u32>> {
        let mut rounds: Vec<Vec<u32>> = Vec::new();
        let mut left = 0;
        for file in list {
            let n_pieces = n_pieces(&files[file as usize]);
            if n_pieces > left {
                rounds.push(Vec::new());
                left = MAX_MESSAGES;
            }
            left -= n_pieces;
            rounds.last_mut().expect("a round was begun").push(file);
        }
        rounds
    }

    /// Returns the pieces of the files of a round.
    pub(super) fn of(list: Vec<u32>, files: &'f [DuplicateFile]) -> Self {
        let mut starts = vec![0];
        for file in &list {
            let start = starts[starts.len() - 1];
            starts.push(start + n_pieces(&files[*file as usize]) as u32);
        }
        Self {
            list,
            starts,
            files,
        }
    }

    /// Returns the position of a message among the pieces of its file, and their number.
    pub(super) fn position(&self, message: u32) -> (usize, usize) {
        let place = self.place(message);
        let (start, end) = (self.starts[place], self.starts[place + 1]);
        ((message - start) as usize, (end - start) as usize)
    }

    fn place(&self, message: u32) -> usize {
        self.starts.partition_point(|start| *start <= message) - 1
    }

    /// Returns the bytes of the file that a message has.
    fn range(&self, message: u32) -> Range<u64> {
        let file = &self.files[self.file(message) as usize];
        let (position, _) = self.position(message);
        let start = position as u64 * piece_len(file);
        start..file.stamp.length().min(start + piece_len(file))
    }
}

impl Parts for Pieces<'_> {
    fn file(&self, message: u32) -> u32 {
        self.list[self.place(message)]
    }
}

impl Messages for Pieces<'_> {
    fn count(&self) -> u32 {
        self.starts[self.list.len()]
    }

    fn usual_len(&self) -> Option<u64> {
        Some(PIECE_LEN)
    }

    fn len(&self, message: u32) -> MessageLen {
        let range = self.range(message);
        MessageLen::Bytes(range.end - range.start)
    }

    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        std::iter::once(Extent {
            file: Some(FileIndex::new(self.file(message) as usize)),
            offset: self.range(message).start + range.start,
            len_bytes: range.end - range.start,
        })
    }
}

fn piece_len(file: &DuplicateFile) -> u64 {
    let wanted = file.stamp.length().div_ceil(MAX_PIECES);
    wanted.next_power_of_two().max(PIECE_LEN)
}

fn n_pieces(file: &DuplicateFile) -> u64 {
    file.stamp.length().div_ceil(piece_len(file))
}
