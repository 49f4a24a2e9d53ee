//! Pieces as byte ranges of files.

use std::ops::Range;

use hashlane_metainfo::merkle::{self, LEAF_LEN, Node};
use hashlane_metainfo::{File, FileKind, Lengths, PieceIndex, Torrent, Version};
use hashlane_pipeline::{Extent, FileIndex, MessageLen, Messages};

/// A set of hash versions to verify or create: SHA-1 digests of pieces (version 1, BEP 3), SHA-256
/// merkle trees of files (version 2, BEP 52), or both in one pass over the bytes. There are no other versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashVersions {
    /// SHA-1 digests of pieces.
    pub v1: bool,
    /// SHA-256 merkle trees of files.
    pub v2: bool,
}

impl HashVersions {
    /// Returns all hash versions that a torrent of this version has.
    pub fn of(version: Version) -> Self {
        Self {
            v1: version.has_v1(),
            v2: version.has_v2(),
        }
    }

    /// Returns the hash versions that are in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            v1: self.v1 && other.v1,
            v2: self.v2 && other.v2,
        }
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(self) -> bool {
        !self.v1 && !self.v2
    }
}

/// Returns the files of a torrent with their indexes, in order.
pub fn files_of(torrent: &Torrent) -> impl Iterator<Item = (FileIndex, File<'_>)> {
    let files = torrent.files().iter().enumerate();
    files.map(|(index, file)| (FileIndex::new(index), file))
}

/// Maps pieces to extents of files.
///
/// Version 1 strings all files together, in order and without gaps, and cuts the result into
/// pieces (BEP 3): a piece may span files, and a file may share its first and last piece. Padding
/// (BEP 47) is the zeros between files.
///
/// With version 2 each file starts a piece (BEP 52), so that a piece belongs to one file. Bytes between files belong to
/// the pieces if version 1 is verified too, and otherwise to no piece.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Files with content, in order.
    spans: Vec<Span>,
    lengths: Lengths,
    versions: HashVersions,
    /// The pieces that are messages; `None` for all pieces.
    messages: Option<Vec<u32>>,
}

/// The place of a file in the content.
#[derive(Clone, Copy, Debug)]
struct Span {
    file: FileIndex,
    start: u64,
    len_bytes: u64,
}

impl Span {
    fn end(&self) -> u64 {
        self.start + self.len_bytes
    }
}

impl Layout {
    /// Returns the layout of a torrent's content for these hash versions.
    pub fn new(torrent: &Torrent, versions: HashVersions) -> Self {
        let files = torrent.files().iter();
        let places = files.map(|file| match file.kind() {
            FileKind::Regular => (file.offset(), file.length()),
            FileKind::Padding | FileKind::Symlink { .. } => (file.offset(), 0),
        });
        Self::of_places(places, torrent.lengths(), versions)
    }

    /// Returns the layout of files with these offsets in the content and lengths, in bytes. The files
    /// do not overlap, and lie within the total length.
    pub(crate) fn of_places(
        places: impl IntoIterator<Item = (u64, u64)>,
        lengths: Lengths,
        versions: HashVersions,
    ) -> Self {
        let spans = places.into_iter().enumerate();
        let spans = spans.filter(|(_, (_, len_bytes))| *len_bytes > 0);
        let spans = spans.map(|(index, (start, len_bytes))| Span {
            file: FileIndex::new(index),
            start,
            len_bytes,
        });
        Self {
            spans: spans.collect(),
            lengths,
            versions,
            messages: None,
        }
    }

    /// Returns the same layout with fewer messages: the pieces for which `is_message` returns `true`.
    pub(crate) fn with_messages(self, is_message: impl Fn(u32) -> bool) -> Self {
        let pieces = 0..self.lengths.piece_count();
        Self {
            messages: Some(pieces.filter(|piece| is_message(*piece)).collect()),
            ..self
        }
    }

    /// Returns the lengths of the content and of its pieces.
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// Returns the hash versions that are verified.
    pub fn hash_versions(&self) -> HashVersions {
        self.versions
    }

    /// Returns the number of bytes to verify: with version 1 all of the content and its padding,
    /// otherwise the bytes of files.
    pub fn total_bytes(&self) -> u64 {
        if self.versions.v1 {
            self.lengths.total_length()
        } else {
            self.content_bytes()
        }
    }

    /// Returns the number of bytes of all files.
    pub fn content_bytes(&self) -> u64 {
        self.spans.iter().map(|span| span.len_bytes).sum()
    }

    /// Returns the number of bytes of a piece that lie in files, without its padding.
    ///
    /// # Panics
    /// Panics if the piece belongs to another torrent, with more pieces.
    pub fn content_len(&self, piece: PieceIndex) -> u64 {
        let in_files = self.extents(piece).filter(|extent| extent.file.is_some());
        in_files.map(|extent| extent.len_bytes).sum()
    }

    /// Returns the number of bytes of a piece to verify. Never zero.
    ///
    /// # Panics
    /// Panics if the piece belongs to another torrent, with more pieces.
    #[inline]
    pub fn piece_len(&self, piece: PieceIndex) -> u32 {
        let range = self.range_of(piece);
        // At most the piece length, which is a u32.
        (range.end - range.start) as u32
    }

    /// Returns the extents of a piece, in order.
    ///
    /// # Panics
    /// Panics if the piece belongs to another torrent, with more pieces.
    pub fn extents(&self, piece: PieceIndex) -> impl Iterator<Item = Extent> + '_ {
        self.extents_of(self.range_of(piece))
    }

    /// Returns the extents of `len_bytes` bytes of a piece from `begin` on, in order. The extents end with the piece at
    /// the latest.
    ///
    /// # Panics
    /// Panics if the piece belongs to another torrent, with more pieces.
    pub fn extents_in(
        &self,
        piece: PieceIndex,
        begin: u32,
        len_bytes: u32,
    ) -> impl Iterator<Item = Extent> + '_ {
        self.extents_of(self.window(piece, begin.into(), len_bytes.into()))
    }

    /// Returns the indexes of the pieces that contain bytes of a file. The range is empty for an empty file.
    pub fn pieces_of(&self, file: FileIndex) -> Range<u32> {
        let Ok(index) = self.spans.binary_search_by_key(&file, |span| span.file) else {
            return 0..0;
        };
        let span = &self.spans[index];
        let piece_at = |offset| self.lengths.piece_at(offset).map(PieceIndex::get);
        match (piece_at(span.start), piece_at(span.end() - 1)) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    /// Returns the file that a piece belongs to, if version 2 is verified.
    pub(crate) fn file_of(&self, piece: PieceIndex) -> FileIndex {
        self.span_of(piece).file
    }

    /// Returns the bytes of the content that are verified as this piece.
    #[inline]
    fn range_of(&self, piece: PieceIndex) -> Range<u64> {
        let start = self.lengths.piece_offset(piece);
        let end = start + u64::from(self.lengths.piece_len(piece));
        if self.versions.v1 {
            start..end
        } else {
            start..end.min(self.span_of(piece).end())
        }
    }

    /// Returns the bytes of the content that a piece has from `begin` on: at most `max_len` bytes, and
    /// none past the end of the piece.
    #[inline]
    pub(crate) fn window(&self, piece: PieceIndex, begin: u64, max_len: u64) -> Range<u64> {
        let Range { start, end } = self.range_of(piece);
        let begin = start.saturating_add(begin).min(end);
        begin..begin.saturating_add(max_len).min(end)
    }

    /// Returns the offset in the content at which the files' bytes in a piece end. The leaves (BEP 52) end there too,
    /// because no leaf contains padding.
    pub(crate) fn data_end(&self, piece: PieceIndex) -> u64 {
        let end = self.lengths.piece_offset(piece) + u64::from(self.lengths.piece_len(piece));
        end.min(self.span_of(piece).end())
    }

    /// Returns the root of the merkle tree over a piece, if the torrent has one (BEP 52): a hash of the file's piece layer, or
    /// the root of a file that has only this piece.
    ///
    /// # Panics
    /// Panics if the piece belongs to another torrent, with more pieces.
    pub fn root_of<'t>(&self, torrent: &'t Torrent, piece: PieceIndex) -> Option<&'t Node> {
        let file = self.file_of(piece);
        let pieces = self.pieces_of(file);
        let file = torrent.file(file.get());
        match (file.piece_layer(), pieces.len()) {
            (Some(layer), _) => layer.get((piece.get() - pieces.start) as usize),
            (None, 1) => file.pieces_root(),
            (None, _) => None,
        }
    }

    /// Returns the height of the merkle tree over a piece. For a file of one piece it is the height
    /// that its leaves need, otherwise the height for a whole piece, even if the last one is shorter.
    pub(crate) fn tree_height(&self, piece: PieceIndex) -> u32 {
        let piece_length = u64::from(self.lengths.piece_length().get());
        let len_bytes = self.span_of(piece).len_bytes.min(piece_length);
        merkle::height_of(len_bytes.div_ceil(LEAF_LEN.into()))
    }

    /// Returns the piece of a message.
    pub(crate) fn piece(&self, message: u32) -> PieceIndex {
        let piece = match &self.messages {
            Some(pieces) => pieces[message as usize],
            None => message,
        };
        let piece = self.lengths.piece(piece);
        piece.expect("messages are pieces of the layout")
    }

    /// The file of a piece, if version 2 is verified.
    fn span_of(&self, piece: PieceIndex) -> &Span {
        let start = self.lengths.piece_offset(piece);
        let next = self.spans.partition_point(|span| span.start <= start);
        &self.spans[next.saturating_sub(1)]
    }

    /// Returns the extents of a range of bytes of the content, in order.
    #[inline]
    pub(crate) fn extents_of(&self, content: Range<u64>) -> impl Iterator<Item = Extent> + '_ {
        let mut next = self
            .spans
            .partition_point(|span| span.end() <= content.start);
        let mut at = content.start;
        std::iter::from_fn(move || {
            if at >= content.end {
                return None;
            }
            let span = self.spans.get(next).filter(|span| span.start < content.end);
            let extent = match span {
                Some(span) if span.start <= at => {
                    next += 1;
                    Extent {
                        file: Some(span.file),
                        offset: at - span.start,
                        len_bytes: content.end.min(span.end()) - at,
                    }
                }
                // The padding ends at the next file, or at the end of the content.
                span => Extent {
                    file: None,
                    offset: 0,
                    len_bytes: span.map_or(content.end, |span| span.start) - at,
                },
            };
            at += extent.len_bytes;
            Some(extent)
        })
    }
}

/// All pieces, or some of them, are the messages.
impl Messages for Layout {
    fn count(&self) -> u32 {
        match &self.messages {
            // There are at most as many messages as pieces.
            Some(pieces) => pieces.len() as u32,
            None => self.lengths.piece_count(),
        }
    }

    fn usual_len(&self) -> Option<u64> {
        Some(self.lengths.piece_length().get().into())
    }

    fn len(&self, message: u32) -> MessageLen {
        MessageLen::Bytes(self.piece_len(self.piece(message)).into())
    }

    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        let len_bytes = range.end - range.start;
        self.extents_of(self.window(self.piece(message), range.start, len_bytes))
    }
}
