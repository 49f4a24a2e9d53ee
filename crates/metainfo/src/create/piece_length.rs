//! Piece lengths for new torrents.

use std::num::NonZeroU32;

use crate::merkle::LEAF_LEN;

/// Minimum piece length of new torrents. Smaller pieces would make very large torrents.
pub const MIN_PIECE_LENGTH: u32 = 1 << 10;

/// Maximum piece length of new torrents: 256 MiB, the largest power of two that libtorrent 2.1.1
/// loads.
pub const MAX_PIECE_LENGTH: u32 = 1 << 28;

/// The choice of a piece length by the length of the content.
///
/// Larger pieces make smaller torrents. Smaller pieces are available and replaced sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceLengthGoal {
    /// Maximum number of pieces to aim for.
    pub pieces: NonZeroU32,
    /// Maximum piece length in bytes, which takes precedence over the number of pieces.
    pub max: u32,
}

impl Default for PieceLengthGoal {
    /// Aims for at most 2048 pieces of at most 16 MiB. Some programs do not support larger pieces.
    fn default() -> Self {
        Self {
            pieces: const { NonZeroU32::new(2048).expect("it is not zero") },
            max: 16 << 20,
        }
    }
}

impl PieceLengthGoal {
    /// Returns the smallest power of two from 16 KiB to the maximum that results in at most this many pieces, or the
    /// maximum if none does.
    pub fn piece_length(self, content_length: u64) -> u32 {
        let length = content_length.div_ceil(self.pieces.get().into()).max(1);
        let length = length.checked_next_power_of_two().unwrap_or(u64::MAX);
        length.max(LEAF_LEN.into()).min(self.max.into()) as u32
    }
}
