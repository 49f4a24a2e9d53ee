//! Which bytes of which files a piece is made of.

use std::ops::Range;

use hashlane_metainfo::{File, FileKind, Lengths, PieceIndex, Torrent};

/// Which file of a torrent, in the order of [`Torrent::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(usize);

impl FileIndex {
    /// The position in [`Torrent::files`].
    pub fn get(self) -> usize {
        self.0
    }
}

/// A run of bytes that lies in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The file; `None` for padding (BEP 47), which is zeros and no file.
    pub file: Option<FileIndex>,
    /// Where the bytes begin in the file, in bytes.
    pub offset: u64,
    /// How many there are. Never zero.
    pub len_bytes: u64,
}

/// Maps pieces to extents of files.
///
/// Version 1 strings all files together, in order and without gaps, and cuts the result into
/// pieces (BEP 3): a piece may span files, and a file may share its first and last piece.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'t> {
    files: &'t [File<'t>],
    lengths: Lengths,
}

impl<'t> Layout<'t> {
    /// The layout of a torrent's content.
    pub fn new(torrent: &'t Torrent<'t>) -> Self {
        Self {
            files: torrent.files(),
            lengths: torrent.lengths(),
        }
    }

    /// The lengths of the content and of its pieces.
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// The files, with the index of each.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (FileIndex, &'t File<'t>)> + use<'t> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, file)| (FileIndex(i), file))
    }

    /// The file of that index.
    ///
    /// # Panics
    /// If the index is of another torrent that has more files.
    pub fn file(&self, file: FileIndex) -> &'t File<'t> {
        &self.files[file.0]
    }

    /// The extents that a piece is made of, in order.
    ///
    /// # Panics
    /// If the piece is of another torrent that has more pieces.
    pub fn extents(&self, piece: PieceIndex) -> impl Iterator<Item = Extent> + use<'t> {
        self.extents_of(self.window(piece, 0, u64::MAX))
    }

    /// The pieces that a file has bytes in, as a range of indexes: empty for an empty file.
    pub fn pieces_of(&self, file: FileIndex) -> Range<u32> {
        let file = self.file(file);
        let piece_at = |offset| self.lengths.piece_at(offset).map(PieceIndex::get);
        let last = file
            .length()
            .checked_sub(1)
            .and_then(|last| piece_at(file.offset() + last));
        match (piece_at(file.offset()), last) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    /// Which bytes of the content the part of a piece from `begin` on is, at most `max_len` bytes.
    /// It is empty past the end of the piece.
    pub(crate) fn window(&self, piece: PieceIndex, begin: u64, max_len: u64) -> Range<u64> {
        let start = self.lengths.piece_offset(piece);
        let end = start + u64::from(self.lengths.piece_len(piece));
        let begin = start.saturating_add(begin).min(end);
        begin..begin.saturating_add(max_len).min(end)
    }

    /// The extents of a range of bytes of the content, in order.
    pub(crate) fn extents_of(&self, content: Range<u64>) -> impl Iterator<Item = Extent> + use<'t> {
        let end = |file: &File<'_>| file.offset() + file.length();
        let first = self
            .files
            .partition_point(|file| end(file) <= content.start);
        let files = self.files.iter().enumerate().skip(first);
        files
            .take_while(move |(_, file)| file.offset() < content.end)
            .filter_map(move |(i, file)| {
                let start = content.start.max(file.offset());
                let len_bytes = content.end.min(end(file)).checked_sub(start)?;
                let file_index = (file.kind() != FileKind::Padding).then_some(FileIndex(i));
                let offset = start - file.offset();
                (len_bytes > 0).then_some(Extent {
                    file: file_index,
                    offset,
                    len_bytes,
                })
            })
    }
}
