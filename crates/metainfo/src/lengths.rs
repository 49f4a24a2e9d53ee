//! Lengths of content and pieces (BEP 3, BEP 52).

use std::num::{NonZeroU32, NonZeroU64};

/// Maximum length of content in bytes. Operating systems use signed 64-bit offsets in files, and
/// libtorrent reads bencoded lengths as such.
const MAX_TOTAL_LENGTH: u64 = i64::MAX as u64;

/// Maximum length of a piece in bytes. Lengths and offsets inside a piece are 32-bit numbers on the
/// wire (BEP 3), and libtorrent and others store them as signed numbers.
const MAX_PIECE_LENGTH: u64 = i32::MAX as u64;

/// Maximum number of pieces, twice the limit of libtorrent: 64 TiB in pieces of 16 MiB. A version 2
/// torrent can declare pieces without storing a byte for each, but verification needs memory for
/// each piece.
const MAX_PIECE_COUNT: u32 = 1 << 22;

/// Maximum number of pieces that libtorrent 2.1.1 loads, unless a program raises the limit.
const LIBTORRENT_MAX_PIECE_COUNT: u32 = 1 << 21;

/// Maximum piece length that libtorrent 2.1.1 loads, in bytes.
const LIBTORRENT_MAX_PIECE_LENGTH: u32 = (1 << 29) - (16 << 10);

/// The total length of content and the length of its pieces, in bytes.
///
/// Content has at least one byte. All pieces have the same length, except that the last may be
/// shorter. [`Lengths::new`] checks the limits, so that no calculation can overflow:
///
/// ```
/// use hashlane_metainfo::Lengths;
///
/// let lengths = Lengths::new(100_000, 16_384)?;
/// assert_eq!(lengths.piece_count(), 7);
/// let last = lengths.piece(6).expect("the last of 7 pieces");
/// assert_eq!(lengths.piece_offset(last), 98_304);
/// assert_eq!(lengths.piece_len(last), 1_696);
/// assert_eq!(lengths.piece(7), None);
/// # Ok::<(), hashlane_metainfo::LengthsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    total_length: NonZeroU64,
    piece_length: NonZeroU32,
    piece_count: NonZeroU32,
}

impl Lengths {
    /// Checks the two lengths, which are in bytes.
    ///
    /// # Errors
    ///
    /// Returns a [`LengthsError`] unless `total_length` is 1 to `i64::MAX` bytes, `piece_length` is
    /// 1 to `i32::MAX` bytes, and there are at most 4,194,304 pieces.
    pub fn new(total_length: u64, piece_length: u64) -> Result<Self, LengthsError> {
        let piece_length = Some(piece_length)
            .filter(|&length| length <= MAX_PIECE_LENGTH)
            .and_then(|length| NonZeroU32::new(length as u32))
            .ok_or(LengthsError::PieceLength { piece_length })?;
        if total_length > MAX_TOTAL_LENGTH {
            return Err(LengthsError::TotalLength);
        }
        let total_length = NonZeroU64::new(total_length).ok_or(LengthsError::NoContent)?;
        let pieces = total_length.get().div_ceil(u64::from(piece_length.get()));
        let piece_count = u32::try_from(pieces)
            .ok()
            .filter(|&count| count <= MAX_PIECE_COUNT)
            .and_then(NonZeroU32::new)
            .ok_or(LengthsError::PieceCount { pieces })?;
        Ok(Self {
            total_length,
            piece_length,
            piece_count,
        })
    }

    /// Returns the length of the whole content in bytes, including padding. Never zero.
    pub fn total_length(self) -> u64 {
        self.total_length.get()
    }

    /// Returns the length in bytes of every piece except the last.
    pub fn piece_length(self) -> NonZeroU32 {
        self.piece_length
    }

    /// Returns the number of pieces. Never zero.
    pub fn piece_count(self) -> u32 {
        self.piece_count.get()
    }

    /// Returns the limit that libtorrent refuses to exceed, if these lengths do.
    pub fn libtorrent_limit(self) -> Option<LibtorrentLimit> {
        if self.piece_length.get() > LIBTORRENT_MAX_PIECE_LENGTH {
            Some(LibtorrentLimit::PieceLength)
        } else if self.piece_count() > LIBTORRENT_MAX_PIECE_COUNT {
            Some(LibtorrentLimit::PieceCount)
        } else {
            None
        }
    }

    /// Returns the piece with this index, counted from zero, or `None` after the last one.
    pub fn piece(self, index: u32) -> Option<PieceIndex> {
        (index < self.piece_count()).then_some(PieceIndex(index))
    }

    /// Returns all pieces from the first to the last.
    pub fn pieces(self) -> impl DoubleEndedIterator<Item = PieceIndex> {
        (0..self.piece_count()).map(PieceIndex)
    }

    /// Returns the piece that contains this byte of the content, or `None` after the last byte.
    pub fn piece_at(self, offset: u64) -> Option<PieceIndex> {
        let index = offset / u64::from(self.piece_length.get());
        // An offset within the content has an index below piece_count, which is a u32.
        (offset < self.total_length()).then_some(PieceIndex(index as u32))
    }

    /// Returns the offset of a piece in the content, in bytes.
    ///
    /// # Panics
    ///
    /// Panics if `piece` comes from other lengths that have more pieces.
    #[inline]
    pub fn piece_offset(self, piece: PieceIndex) -> u64 {
        assert!(
            piece.0 < self.piece_count(),
            "piece {} is of another torrent",
            piece.0
        );
        u64::from(piece.0) * u64::from(self.piece_length.get())
    }

    /// Returns the length of a piece in bytes. Never zero.
    ///
    /// # Panics
    ///
    /// Panics if `piece` comes from other lengths that have more pieces.
    #[inline]
    pub fn piece_len(self, piece: PieceIndex) -> u32 {
        let rest = self.total_length() - self.piece_offset(piece);
        // At most piece_length, which is a u32.
        rest.min(u64::from(self.piece_length.get())) as u32
    }
}

/// The index of a piece, counted from zero.
///
/// Only [`Lengths`] can make one, because they know the number of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PieceIndex(u32);

impl PieceIndex {
    /// Returns the index as a number.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// A limit of libtorrent 2.1.1, which programs that use it share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LibtorrentLimit {
    /// Pieces are longer than 536,854,528 bytes.
    PieceLength,
    /// There are more than 2,097,152 pieces.
    PieceCount,
}

impl std::fmt::Display for LibtorrentLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::PieceLength => write!(
                f,
                "libtorrent refuses pieces of more than {LIBTORRENT_MAX_PIECE_LENGTH} bytes"
            ),
            Self::PieceCount => write!(
                f,
                "libtorrent refuses more than {LIBTORRENT_MAX_PIECE_COUNT} pieces"
            ),
        }
    }
}

/// The limit of [`Lengths`] that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LengthsError {
    /// The content is empty. There is nothing to verify, and "0 of 0 pieces" must never look like a
    /// success.
    #[error("the content is empty: 0 bytes without padding")]
    NoContent,
    /// The total length is more than `i64::MAX` bytes.
    #[error("the total length is more than {MAX_TOTAL_LENGTH} bytes")]
    TotalLength,
    /// The piece length is zero or more than `i32::MAX` bytes.
    #[error("the piece length is {piece_length} bytes, expected 1 to {MAX_PIECE_LENGTH} bytes")]
    PieceLength {
        /// The piece length in bytes.
        piece_length: u64,
    },
    /// There are more than 4,194,304 pieces.
    #[error("the content has {pieces} pieces, the limit is {MAX_PIECE_COUNT}")]
    PieceCount {
        /// Number of pieces that the lengths give.
        pieces: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let max_total = i64::MAX as u64;
        let max_piece = i32::MAX as u64;
        assert!(Lengths::new(1, 1).is_ok());
        assert!(Lengths::new(1 << 22, 1).is_ok());
        assert!(Lengths::new(max_piece << 22, max_piece).is_ok());
        for (total, piece, error) in [
            (0, 1, LengthsError::NoContent),
            (1, 0, LengthsError::PieceLength { piece_length: 0 }),
            (
                1,
                max_piece + 1,
                LengthsError::PieceLength {
                    piece_length: max_piece + 1,
                },
            ),
            // Truncated to 32 bits, this would be a piece length of 1.
            (
                1,
                (1 << 32) + 1,
                LengthsError::PieceLength {
                    piece_length: (1 << 32) + 1,
                },
            ),
            (max_total + 1, max_piece, LengthsError::TotalLength),
            (u64::MAX, max_piece, LengthsError::TotalLength),
            (
                (1 << 22) + 1,
                1,
                LengthsError::PieceCount {
                    pieces: (1 << 22) + 1,
                },
            ),
            (1 << 32, 1, LengthsError::PieceCount { pieces: 1 << 32 }),
            (
                max_total,
                max_piece,
                LengthsError::PieceCount {
                    pieces: (1 << 32) + 3,
                },
            ),
        ] {
            assert_eq!(Lengths::new(total, piece), Err(error), "{total} / {piece}");
        }
    }

    /// These limits were measured with libtorrent's Python binding.
    #[test]
    fn limits_of_libtorrent() {
        let limit = |total, piece| Lengths::new(total, piece).unwrap().libtorrent_limit();
        assert_eq!(limit(1, 536_854_528), None);
        assert_eq!(limit(1, 536_854_529), Some(LibtorrentLimit::PieceLength));
        assert_eq!(limit(16_384 << 21, 16_384), None);
        assert_eq!(
            limit((16_384 << 21) + 1, 16_384),
            Some(LibtorrentLimit::PieceCount)
        );
    }

    #[test]
    fn pieces_cover_the_content() {
        for total in 1..40 {
            for piece_length in 1..=total + 1 {
                let lengths = Lengths::new(total, piece_length).unwrap();
                let mut end = 0;
                for piece in lengths.pieces() {
                    assert_eq!(lengths.piece_offset(piece), end);
                    assert_eq!(lengths.piece(piece.get()), Some(piece));
                    let next = end + u64::from(lengths.piece_len(piece));
                    assert!(next - end == piece_length || next == total && next > end);
                    for offset in end..next {
                        assert_eq!(lengths.piece_at(offset), Some(piece));
                    }
                    end = next;
                }
                assert_eq!(end, total);
                assert_eq!(lengths.piece(lengths.piece_count()), None);
                assert_eq!(lengths.piece_at(total), None);
                assert_eq!(lengths.piece_at(u64::MAX), None);
            }
        }
    }

    #[test]
    #[should_panic(expected = "piece 6 is of another torrent")]
    fn a_piece_of_other_lengths_is_not_silently_taken() {
        let foreign = Lengths::new(7, 1).unwrap().piece(6).unwrap();
        let _ = Lengths::new(7, 2).unwrap().piece_len(foreign);
    }
}
