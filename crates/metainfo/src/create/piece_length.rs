//! Piece lengths for new torrents.

use crate::merkle::LEAF_LEN;

/// Minimum piece length of new torrents. Smaller pieces would make very large torrents.
pub const MIN_PIECE_LENGTH: u32 = 1 << 10;

/// Maximum piece length of new torrents: 256 MiB, the largest power of two that libtorrent 2.1.1
/// loads.
pub const MAX_PIECE_LENGTH: u32 = 1 << 28;

/// Maximum number of pieces that [`piece_length_for`] aims for.
const MANY_PIECES: u64 = 2048;

/// Returns the piece length for content of this length: the smallest power of two from 16 KiB to 16
/// MiB that results in at most 2048 pieces.
///
/// Larger pieces make smaller torrents. Smaller pieces are available and replaced sooner. Some
/// programs do not support pieces of more than 16 MiB.
pub fn piece_length_for(content_length: u64) -> u32 {
    let length = content_length.div_ceil(MANY_PIECES).max(1);
    let length = length.checked_next_power_of_two().unwrap_or(u64::MAX);
    length.clamp(LEAF_LEN.into(), 16 << 20) as u32
}
