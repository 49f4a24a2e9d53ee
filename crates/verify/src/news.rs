//! What workers tell the coordinator, and how often.

use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use hashlane_metainfo::PieceIndex;

use crate::files::{Fault, FileFact};
use crate::piece::PieceDigests;

/// How long a worker keeps what it found to itself: often enough for a progress bar, and seldom
/// enough that nobody is woken up for each run.
const INTERVAL: Duration = Duration::from_millis(20);

/// How many pieces a worker keeps to itself: of a hole they come by the hundred thousand in that
/// time.
const MAX_PIECES: usize = 4096;

/// What a worker found since it told the last time.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Which worker.
    pub(crate) worker: usize,
    pub(crate) pieces: Vec<(PieceIndex, Result<PieceDigests, Fault>)>,
    pub(crate) facts: Vec<FileFact>,
    /// Bytes that are hashed of pieces that are not told of yet.
    pub(crate) pending_bytes: u64,
}

/// Collects a worker's news, and sends them when it is time.
#[derive(Debug)]
pub(crate) struct Outbox {
    news: News,
    last_sent: Instant,
    coordinator: SyncSender<News>,
}

impl Outbox {
    pub(crate) fn new(worker: usize, coordinator: SyncSender<News>) -> Self {
        let news = News {
            worker,
            ..News::default()
        };
        Self {
            news,
            last_sent: Instant::now(),
            coordinator,
        }
    }

    /// Notes the digests of a piece, or why there are none.
    pub(crate) fn piece(&mut self, piece: PieceIndex, result: Result<PieceDigests, Fault>) {
        self.news.pieces.push((piece, result));
    }

    /// Notes what was found out about files.
    pub(crate) fn files(&mut self, facts: Vec<FileFact>) {
        self.news.facts.extend(facts);
    }

    /// Notes how many bytes are hashed of pieces that are not told of yet.
    pub(crate) fn pending(&mut self, n_bytes: u64) {
        self.news.pending_bytes = n_bytes;
    }

    pub(crate) fn is_due(&self) -> bool {
        self.news.pieces.len() >= MAX_PIECES || self.last_sent.elapsed() >= INTERVAL
    }

    pub(crate) fn send(&mut self) {
        let News {
            worker,
            pending_bytes,
            ..
        } = self.news;
        let next = News {
            worker,
            pending_bytes,
            ..News::default()
        };
        // The coordinator listens until all workers are done.
        let _ = self
            .coordinator
            .send(std::mem::replace(&mut self.news, next));
        self.last_sent = Instant::now();
    }
}
