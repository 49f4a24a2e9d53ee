//! One thread's work: takes runs of pieces, hashes each, and tells the digests.

use std::sync::Mutex;

use hashlane_metainfo::PieceIndex;
use hashlane_sha::Engine;

use crate::CancelToken;
use crate::content::Places;
use crate::files::{Fault, Files};
use crate::hashing::Hashing;
use crate::layout::Layout;
use crate::news::Outbox;
use crate::piece::PieceDigests;
use crate::schedule::{Grouping, Schedule};
use crate::source::{Buffered, Mapped, Refusal};
use crate::zeros::ZeroDigests;

/// Files of fewer bytes are read, not mapped: a map of each costs more than to copy it, and threads
/// wait for each other to make theirs. 10,000 files of 50 KiB on two cores take 0.15 s read and 0.22 s
/// mapped (version 2; Xeon, Sapphire Rapids, November 2026).
const MIN_MAPPED_LEN: u64 = 256 << 10;

/// What all workers share. They only read it, but for what says otherwise.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) places: &'a dyn Places,
    pub(crate) engine: Engine,
    /// Written once for each run.
    pub(crate) schedule: Schedule,
    /// How pieces are mapped; `None` if nothing is.
    pub(crate) mapped: Option<Grouping>,
    /// How pieces are read where any order will do.
    pub(crate) buffered: Grouping,
    /// How pieces are read from a disk that seeks.
    pub(crate) in_order: Grouping,
    /// How the first pieces are read from a disk that is said to seek.
    pub(crate) probe: Grouping,
    /// Whether the disk wants its files in order, as far as the system knows.
    pub(crate) disk_seeks: bool,
    /// Held while a group is read from a disk that seeks, so that only one worker moves its heads.
    pub(crate) heads: Mutex<()>,
    /// Written twice.
    pub(crate) zeros: ZeroDigests,
    /// How many files a worker may keep open.
    pub(crate) max_open: usize,
    pub(crate) cancel: &'a CancelToken,
}

/// What has to be done to get the digests of a piece.
enum Next {
    Nothing(Result<PieceDigests, Fault>),
    Map,
    Read,
    /// Somebody asked to stop.
    Stop,
}

/// One thread's hands.
pub(crate) struct Worker<'a> {
    job: &'a Job<'a>,
    files: Files<'a>,
    hashing: Hashing,
    mapped: Option<(Mapped, Grouping)>,
    buffered: Buffered,
    to_map: Vec<PieceIndex>,
    to_read: Vec<PieceIndex>,
    outbox: Outbox,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(job: &'a Job<'a>, outbox: Outbox) -> Self {
        // Without a map (addresses can be limited), reading does it.
        let mapped = job.mapped.and_then(|grouping| {
            let batch_len = grouping.n_pieces * grouping.window_len;
            Some((Mapped::new(batch_len, job.max_open).ok()?, grouping))
        });
        Self {
            job,
            files: Files::new(job.places, job.max_open, job.cancel),
            hashing: Hashing::new(job),
            mapped,
            buffered: Buffered::default(),
            to_map: Vec::new(),
            to_read: Vec::new(),
            outbox,
        }
    }

    /// Works until there are no more runs, or somebody asks to stop.
    pub(crate) fn work(mut self) {
        let job = self.job;
        while let Some(run) = job.schedule.next_run() {
            for piece in run.filter_map(|index| job.layout.lengths().piece(index)) {
                if job.cancel.is_cancelled() {
                    return self.tell();
                }
                self.take(piece);
            }
            if self.outbox.is_due() {
                self.tell();
            }
        }
        // What one road refuses goes to the end of the other one.
        while !(self.to_map.is_empty() && self.to_read.is_empty() || job.cancel.is_cancelled()) {
            self.map_group();
            self.read_group();
        }
        self.tell();
    }

    fn tell(&mut self) {
        self.outbox.files(self.files.take_facts());
        self.outbox.send();
    }

    fn take(&mut self, piece: PieceIndex) {
        match self.next_for(piece) {
            Next::Nothing(result) => self.outbox.piece(piece, result),
            Next::Map => self.queue_to_map(piece),
            Next::Read => self.queue_to_read(piece),
            Next::Stop => {}
        }
    }

    /// Gets the digests of a piece without its bytes, if that can be done.
    fn next_for(&mut self, piece: PieceIndex) -> Next {
        let layout = &self.job.layout;
        let mut extents = layout
            .extents(piece)
            .filter_map(|extent| Some((extent.file?, extent)));
        let Some((file, extent)) = extents.next() else {
            return self.zeros(piece);
        };
        if extents.next().is_some() {
            // Small files, or the border of large ones. To look at them twice costs more than it
            // can save.
            return Next::Read;
        }
        let opened = match self.files.open(file) {
            Ok(opened) => opened,
            Err(fault) => return Next::Nothing(Err(fault)),
        };
        let end = extent.offset + extent.len_bytes;
        if opened.source.len_bytes() < end {
            return Next::Nothing(Err(Fault::Missing));
        }
        if opened.is_hole(extent.offset..end) {
            return self.zeros(piece);
        }
        let is_whole = extent.len_bytes == u64::from(layout.piece_len(piece))
            && opened.source.len_bytes() >= MIN_MAPPED_LEN;
        if is_whole && self.mapped.is_some() && self.hashing.allows_any_order() {
            Next::Map
        } else {
            Next::Read
        }
    }

    fn zeros(&self, piece: PieceIndex) -> Next {
        match self.job.zeros.of_piece(self.job, piece) {
            Some(digests) => Next::Nothing(Ok(digests)),
            None => Next::Stop,
        }
    }

    fn map_group(&mut self) {
        let pieces = std::mem::take(&mut self.to_map);
        let any_order = self.hashing.allows_any_order();
        let Some((mapped, grouping)) = self.mapped.as_mut().filter(|_| any_order) else {
            return pieces
                .into_iter()
                .for_each(|piece| self.queue_to_read(piece));
        };
        let (files, outbox) = (&mut self.files, &mut self.outbox);
        let results = self
            .hashing
            .group(self.job, files, mapped, *grouping, &pieces, outbox);
        self.settle(&pieces, results, Self::queue_to_read);
    }

    fn read_group(&mut self) {
        let pieces = std::mem::take(&mut self.to_read);
        let grouping = self.read_grouping();
        // More than a group of them may be waiting: the disk can have slowed down meanwhile.
        for pieces in pieces.chunks(grouping.n_pieces) {
            let (files, outbox, buffered) = (&mut self.files, &mut self.outbox, &mut self.buffered);
            let results = self
                .hashing
                .group(self.job, files, buffered, grouping, pieces, outbox);
            self.settle(pieces, results, Self::queue_to_map);
        }
    }

    /// Notes what became of a group of pieces. `other_road` takes those that were refused.
    fn settle(
        &mut self,
        pieces: &[PieceIndex],
        results: Vec<Result<PieceDigests, Refusal>>,
        other_road: fn(&mut Self, PieceIndex),
    ) {
        self.outbox.pending(0);
        for (&piece, result) in pieces.iter().zip(results) {
            match result {
                Ok(digests) => self.outbox.piece(piece, Ok(digests)),
                Err(Refusal::Fault(fault)) => self.outbox.piece(piece, Err(fault)),
                Err(Refusal::TryOther) => other_road(self, piece),
            }
        }
    }

    fn queue_to_map(&mut self, piece: PieceIndex) {
        let Some((_, grouping)) = self.mapped else {
            return self.queue_to_read(piece);
        };
        self.to_map.push(piece);
        if self.to_map.len() >= grouping.n_pieces {
            self.map_group();
        }
    }

    fn queue_to_read(&mut self, piece: PieceIndex) {
        self.to_read.push(piece);
        if self.to_read.len() >= self.read_grouping().n_pieces {
            self.read_group();
        }
    }

    fn read_grouping(&self) -> Grouping {
        match (self.hashing.allows_any_order(), self.hashing.knows_pace()) {
            (true, _) => self.job.buffered,
            (false, true) => self.job.in_order,
            (false, false) => self.job.probe,
        }
    }
}
