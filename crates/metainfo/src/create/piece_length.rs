//! Piece lengths for new torrents.

use crate::merkle::LEAF_LEN;

/// The shortest piece length that is made: below it there is more hash than content.
pub const MIN_PIECE_LENGTH: u32 = 1 << 10;

/// The longest piece length that is made: 1 GiB. Nobody wants to have it fetched again for one bad byte.
pub const MAX_PIECE_LENGTH: u32 = 1 << 30;

/// How many pieces [`piece_length_for`] makes of content that is neither small nor huge.
const MANY_PIECES: u64 = 2048;

/// The piece length for content of so many bytes: the smallest power of two from 16 KiB to 16 MiB
/// that makes no more than 2048 pieces.
///
/// Larger pieces make smaller torrents, smaller ones are had and replaced sooner. Some programs do
/// not take pieces of more than 16 MiB.
pub fn piece_length_for(content_length: u64) -> u32 {
    let length = content_length.div_ceil(MANY_PIECES).max(1);
    let length = length.checked_next_power_of_two().unwrap_or(u64::MAX);
    length.clamp(LEAF_LEN.into(), 16 << 20) as u32
}
