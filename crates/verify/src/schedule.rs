//! Which worker looks at which pieces, and how many bytes at a time.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use hashlane_metainfo::Lengths;
use hashlane_sha::MAX_LANES;

/// Bytes that a worker has mapped at a time. With its buffer it bounds the memory of a thread.
pub(crate) const MAPPED_BATCH_LEN: usize = 4 << 20;

/// Bytes that a worker reads at a time from a disk that seeks: long enough that the way to the next
/// place hardly counts.
pub(crate) const IN_ORDER_BATCH_LEN: usize = 2 << 20;

/// Bytes that a worker reads into its buffer at a time where the disk does not care: small enough
/// that they are still in the core's own cache when they are hashed.
pub(crate) const HOT_BATCH_LEN: usize = 512 << 10;

/// The most pieces in a group: for tiny pieces a batch need not be full.
const MAX_GROUP: usize = 1024;

/// Pieces that are hashed side by side, through windows of equal length.
///
/// Pieces that fit in the batch are read whole, as many as fit. Of larger ones there are sixteen,
/// so that all lanes are busy, and each has its share of the batch: a window of it is read, then
/// the window of the next one. That is sixteen streams, which memory and flash do not mind. A disk
/// that rotates wants [`Self::in_file_order`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grouping {
    /// How many pieces make a full group.
    pub(crate) n_pieces: usize,
    /// Bytes of each piece that are read at a time.
    pub(crate) window_len: usize,
}

impl Grouping {
    /// All lanes busy, in batches of `batch_len` bytes.
    pub(crate) fn side_by_side(lengths: Lengths, batch_len: usize) -> Self {
        let piece_len = lengths.piece_length().get() as usize;
        Self {
            n_pieces: (batch_len / piece_len).clamp(MAX_LANES, MAX_GROUP),
            window_len: piece_len.min(batch_len / MAX_LANES),
        }
    }

    /// Whole pieces in the order of the content, as many as fit in the batch; and where not even
    /// one fits, one after the other, each through windows of the whole batch.
    pub(crate) fn in_file_order(lengths: Lengths, batch_len: usize) -> Self {
        let piece_len = lengths.piece_length().get() as usize;
        Self {
            n_pieces: (batch_len / piece_len).clamp(1, MAX_GROUP),
            window_len: piece_len.min(batch_len),
        }
    }
}

/// Hands out runs of consecutive pieces, each once.
#[derive(Debug)]
pub(crate) struct Schedule {
    n_pieces: u32,
    run_len: u32,
    /// Shared and written, once for each run: some 4 MiB of content.
    next_run: AtomicU32,
}

impl Schedule {
    /// Runs of a batch, or of one piece for each lane if that is more. Where that makes too few
    /// runs for all threads, the pieces are divided evenly.
    pub(crate) fn new(lengths: Lengths, n_threads: usize) -> Self {
        let n_pieces = lengths.piece_count();
        let fair = n_pieces.div_ceil(u32::try_from(n_threads).unwrap_or(u32::MAX));
        let batch = Grouping::side_by_side(lengths, MAPPED_BATCH_LEN).n_pieces as u32;
        Self {
            n_pieces,
            run_len: batch.min(fair),
            next_run: AtomicU32::new(0),
        }
    }

    pub(crate) fn n_runs(&self) -> u32 {
        self.n_pieces.div_ceil(self.run_len)
    }

    /// The indexes of the pieces of a run that nobody has had.
    pub(crate) fn next_run(&self) -> Option<Range<u32>> {
        // Each of the workers asks at most once after the last run; this cannot wrap around.
        let run = self.next_run.fetch_add(1, Ordering::Relaxed);
        let start = run
            .checked_mul(self.run_len)
            .filter(|start| *start < self.n_pieces)?;
        Some(start..start.saturating_add(self.run_len).min(self.n_pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(total: u64, piece: u64) -> Lengths {
        Lengths::new(total, piece).unwrap()
    }

    #[test]
    fn every_piece_is_handed_out_once() {
        for (total, piece, n_threads) in [
            (1, 1, 1),
            (1 << 30, 1 << 18, 2),
            (100 << 20, 16 << 20, 4),
            (5000, 3, 64),
            (7, 1, 3),
        ] {
            let schedule = Schedule::new(lengths(total, piece), n_threads);
            let runs: Vec<_> = std::iter::from_fn(|| schedule.next_run()).collect();
            assert_eq!(runs.len() as u32, schedule.n_runs());
            let pieces: Vec<u32> = runs.into_iter().flatten().collect();
            assert_eq!(
                pieces,
                (0..lengths(total, piece).piece_count()).collect::<Vec<_>>()
            );
            assert_eq!(schedule.next_run(), None);
        }
    }

    #[test]
    fn a_batch_never_exceeds_its_bound() {
        for piece_len in [
            1,
            1000,
            16 << 10,
            256 << 10,
            (256 << 10) + 1,
            16 << 20,
            256 << 20,
        ] {
            let lengths = lengths(1000 * piece_len, piece_len);
            for (grouping, bound) in [
                (
                    Grouping::side_by_side(lengths, MAPPED_BATCH_LEN),
                    MAPPED_BATCH_LEN,
                ),
                (
                    Grouping::side_by_side(lengths, HOT_BATCH_LEN),
                    HOT_BATCH_LEN,
                ),
                (
                    Grouping::in_file_order(lengths, IN_ORDER_BATCH_LEN),
                    IN_ORDER_BATCH_LEN,
                ),
            ] {
                assert!(
                    grouping.n_pieces * grouping.window_len <= bound,
                    "{piece_len}"
                );
                assert!(
                    grouping.window_len > 0 && grouping.n_pieces > 0,
                    "{piece_len}"
                );
                let whole = grouping.window_len as u64 == piece_len;
                assert!(
                    whole || grouping.window_len.is_multiple_of(64),
                    "{piece_len}"
                );
            }
        }
    }
}
