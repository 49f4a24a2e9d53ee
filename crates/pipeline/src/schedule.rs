//! The messages for each worker, and the bytes for each batch.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use hashlane_sha::MAX_LANES;

use crate::chunks::CHUNK_LEN;

/// Bytes that a worker maps at a time. This and the length of the buffer limit the memory of a
/// thread.
pub(crate) const MAPPED_BATCH_LEN: usize = 4 << 20;

/// Bytes that a worker reads at a time from a rotational disk: enough that the time of a seek
/// hardly counts.
pub(crate) const IN_ORDER_BATCH_LEN: usize = 2 << 20;

/// Bytes that a worker reads into its buffer at a time from other disks. They are still in the
/// cache of the core when they are hashed.
pub(crate) const HOT_BATCH_LEN: usize = 512 << 10;

/// Bytes that a worker reads at a time past the page cache. The disk works on all of them at the same time, so a shorter
/// batch would leave it idle between two reads.
pub(crate) const DIRECT_BATCH_LEN: usize = 8 << 20;

/// Maximum number of messages in a batch. With tiny messages, a batch need not be full.
pub(crate) const MAX_BATCH_MESSAGES: usize = 1024;

/// Unit of the length of windows. Only the last window of a message has another length.
pub(crate) const WINDOW_UNIT: u64 = CHUNK_LEN as u64;

/// The bytes of a batch, and how messages share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// All messages progress together, each in windows of a sixteenth of the batch, so that all
    /// lanes are busy. Short messages are read whole, as many as fit. The reader alternates between
    /// sixteen positions, which costs nothing on flash disks and in memory.
    SideBySide(usize),
    /// Whole messages in the order of their numbers, as many as fit, for rotational disks. A
    /// message that is longer than the batch is read alone, in windows of the whole batch.
    InOrder(usize),
}

impl Batch {
    /// Returns the maximum number of bytes.
    pub(crate) fn len_bytes(self) -> u64 {
        let (Self::SideBySide(len) | Self::InOrder(len)) = self;
        len as u64
    }

    /// Returns `true` if messages are read in the order of their numbers.
    pub(crate) fn is_in_order(self) -> bool {
        matches!(self, Self::InOrder(_))
    }

    /// Returns the length of the next window of a message with `rest` bytes left. `is_alone` means
    /// that no other message is in the batch.
    pub(crate) fn window_len(self, rest: u64, is_alone: bool) -> u64 {
        match self {
            Self::SideBySide(len) => rest.min((len / MAX_LANES) as u64),
            Self::InOrder(len) if is_alone => rest.min(len as u64),
            Self::InOrder(_) => rest,
        }
    }
}

/// A counter that hands out runs of consecutive messages, each once.
#[derive(Debug)]
pub(crate) struct Schedule {
    n_messages: u32,
    run_len: u32,
    has_usual_len: bool,
    /// Maximum number of messages that a thread should process at the same time.
    fair: u32,
    /// Incremented by all threads, once per run.
    next_run: AtomicU32,
}

impl Schedule {
    /// Divides messages of this usual length among threads. A run fills a batch. Where any order is allowed, it has at least one
    /// message for each lane; otherwise the workers would read from places far apart. If there are too few runs for all
    /// threads, the messages are divided evenly. Without a usual length, a run is one message. `in_order_len` is the length of
    /// a batch that is read in order.
    pub(crate) fn new(
        n_messages: u32,
        usual_len: Option<u64>,
        n_threads: usize,
        in_order_len: Option<usize>,
    ) -> Self {
        let (batch_len, min) = match in_order_len {
            // A run of unequal messages should not need a second batch.
            Some(len) => (len / 8 * 7, 1),
            None => (MAPPED_BATCH_LEN, MAX_LANES),
        };
        let n_threads = u32::try_from(n_threads).unwrap_or(u32::MAX);
        let fair = n_messages.div_ceil(n_threads).max(1);
        let run_len = usual_len.map_or(1, |len| {
            let fitting = batch_len as u64 / len.max(1);
            fitting.clamp(min as u64, MAX_BATCH_MESSAGES as u64) as u32
        });
        Self {
            n_messages,
            run_len: run_len.min(fair),
            has_usual_len: usual_len.is_some(),
            fair,
            next_run: AtomicU32::new(0),
        }
    }

    /// Returns `true` if a run fills a batch. Without a usual length, a run is one message, which can be short.
    pub(crate) fn runs_are_batches(&self) -> bool {
        self.has_usual_len
    }

    /// Returns the number of runs. The last one can be shorter.
    pub(crate) fn n_runs(&self) -> u32 {
        self.n_messages.div_ceil(self.run_len)
    }

    /// Returns the maximum number of messages that one thread should process at the same time, so
    /// that the other threads have work too.
    pub(crate) fn fair_share(&self) -> usize {
        self.fair as usize
    }

    /// Returns the numbers of the messages of the next run.
    pub(crate) fn next_run(&self) -> Option<Range<u32>> {
        // Each worker asks at most once after the last run, so the counter cannot wrap around.
        let run = self.next_run.fetch_add(1, Ordering::Relaxed);
        let start = run
            .checked_mul(self.run_len)
            .filter(|start| *start < self.n_messages)?;
        Some(start..start.saturating_add(self.run_len).min(self.n_messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_handed_out_once() {
        for (n_messages, usual_len, n_threads) in [
            (1, Some(1), 1),
            (4096, Some(1 << 18), 2),
            (7, Some(16 << 20), 4),
            (1667, Some(3), 64),
            (7, Some(1), 3),
            (0, Some(1), 3),
            (5, None, 2),
            (100, None, 200),
        ] {
            let schedule = Schedule::new(
                n_messages,
                usual_len,
                n_threads,
                (n_messages == 7).then_some(IN_ORDER_BATCH_LEN),
            );
            let runs: Vec<_> = std::iter::from_fn(|| schedule.next_run()).collect();
            assert_eq!(runs.len() as u32, schedule.n_runs());
            let messages: Vec<u32> = runs.into_iter().flatten().collect();
            assert_eq!(messages, (0..n_messages).collect::<Vec<_>>());
            assert_eq!(schedule.next_run(), None);
        }
    }

    #[test]
    fn windows_are_multiples_of_a_unit_unless_they_end_their_message() {
        for batch in [
            Batch::SideBySide(MAPPED_BATCH_LEN),
            Batch::SideBySide(HOT_BATCH_LEN),
            Batch::InOrder(IN_ORDER_BATCH_LEN),
        ] {
            for rest in [1, 1000, WINDOW_UNIT, 256 << 10, (256 << 10) + 1, 256 << 20] {
                let window_len = batch.window_len(rest, true);
                assert!(window_len > 0 && window_len <= batch.len_bytes());
                assert!(window_len == rest || window_len.is_multiple_of(WINDOW_UNIT));
            }
            let window_len = batch.window_len(1 << 40, false);
            let n_lanes = MAX_LANES as u64;
            assert!(batch.is_in_order() || window_len * n_lanes <= batch.len_bytes());
        }
    }
}
