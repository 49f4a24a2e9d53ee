//! One thread's work: takes runs of pieces, looks at each, and says what it found.

use std::sync::mpsc::Sender;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use hashlane_metainfo::{PieceIndex, Torrent};
use hashlane_sha::{Engine, Hasher, Sha1, Sha1Digest};

use crate::files::{Fault, FileFact, Files};
use crate::layout::Layout;
use crate::schedule::{Grouping, Schedule};
use crate::source::{Buffered, Mapped, Refusal, Source};
use crate::{CancelToken, Content, PieceState};

/// How long a worker keeps what it found to itself: often enough for a progress bar, and seldom
/// enough that nobody is woken up for each run.
const NEWS_INTERVAL: Duration = Duration::from_millis(20);

/// What all workers share, and only read.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) torrent: &'a Torrent<'a>,
    pub(crate) layout: Layout<'a>,
    pub(crate) content: &'a Content<'a>,
    pub(crate) engine: Engine,
    pub(crate) schedule: Schedule,
    /// How pieces are mapped; `None` if nothing is.
    pub(crate) mapped: Option<Grouping>,
    /// How pieces are read.
    pub(crate) buffered: Grouping,
    /// Held while a batch is read, where the disk can do only one thing at a time.
    pub(crate) one_reader: Option<Mutex<()>>,
    pub(crate) zeros: ZeroDigests,
    pub(crate) cancel: &'a CancelToken,
}

impl Job<'_> {
    /// What a piece with this digest is.
    fn judge(&self, piece: PieceIndex, digest: Sha1Digest) -> PieceState {
        let expected = &self.torrent.piece_hashes()[piece.get() as usize];
        if digest.as_ref() == expected {
            PieceState::Have
        } else {
            PieceState::Bad
        }
    }
}

/// What a worker found since it told the last time.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) pieces: Vec<(PieceIndex, PieceState)>,
    pub(crate) facts: Vec<FileFact>,
}

/// Digests of pieces of zeros, each computed when it is first needed: there are two lengths.
#[derive(Debug, Default)]
pub(crate) struct ZeroDigests {
    full: OnceLock<Sha1Digest>,
    last: OnceLock<Sha1Digest>,
}

impl ZeroDigests {
    fn of_piece(&self, job: &Job<'_>, piece: PieceIndex) -> Sha1Digest {
        let lengths = job.layout.lengths();
        let len_bytes = lengths.piece_len(piece);
        let cell = if len_bytes == lengths.piece_length().get() {
            &self.full
        } else {
            &self.last
        };
        *cell.get_or_init(|| {
            static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
            let mut hasher = Hasher::<Sha1>::with_engine(job.engine);
            let mut rest = len_bytes as usize;
            while rest > 0 {
                let n = rest.min(ZEROS.len());
                hasher.update(&ZEROS[..n]);
                rest -= n;
            }
            hasher.finalize()
        })
    }
}

/// What has to be done to judge a piece.
enum Next {
    Nothing(PieceState),
    Map,
    Read,
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
    news: News,
    last_news: Instant,
    coordinator: Sender<News>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(job: &'a Job<'a>, coordinator: Sender<News>) -> Self {
        // Without a map (addresses can be limited), reading does it.
        let mapped = job.mapped.and_then(|grouping| {
            let batch_len = grouping.n_pieces * grouping.window_len;
            Some((Mapped::new(batch_len).ok()?, grouping))
        });
        Self {
            job,
            files: Files::new(job.content),
            hashing: Hashing::new(job.engine),
            mapped,
            buffered: Buffered::default(),
            to_map: Vec::new(),
            to_read: Vec::new(),
            news: News::default(),
            last_news: Instant::now(),
            coordinator,
        }
    }

    /// Works until there are no more runs, or somebody asks to stop.
    pub(crate) fn work(mut self) {
        let job = self.job;
        while let Some(run) = job.schedule.next_run() {
            for piece in run.filter_map(|index| job.layout.lengths().piece(index)) {
                self.take(piece);
                if job.cancel.is_cancelled() {
                    return self.tell();
                }
            }
            if self.last_news.elapsed() >= NEWS_INTERVAL {
                self.tell();
            }
        }
        self.map_group();
        self.read_group();
        self.tell();
    }

    fn tell(&mut self) {
        self.news.facts = self.files.take_facts();
        // The coordinator listens until all workers are done.
        let _ = self.coordinator.send(std::mem::take(&mut self.news));
        self.last_news = Instant::now();
    }

    fn take(&mut self, piece: PieceIndex) {
        match self.next_for(piece) {
            Next::Nothing(state) => self.news.pieces.push((piece, state)),
            Next::Map => {
                self.to_map.push(piece);
                if self
                    .mapped
                    .as_ref()
                    .is_some_and(|(_, full)| self.to_map.len() == full.n_pieces)
                {
                    self.map_group();
                }
            }
            Next::Read => self.queue_to_read(piece),
        }
    }

    /// Judges a piece without its bytes, if that can be done.
    fn next_for(&mut self, piece: PieceIndex) -> Next {
        let piece_length = u64::from(self.job.layout.lengths().piece_length().get());
        let mut is_zeros = true;
        let mut n_extents = 0;
        for extent in self.job.layout.extents(piece) {
            n_extents += 1;
            let Some(file) = extent.file else { continue };
            let opened = match self.files.open(file) {
                Ok(opened) => opened,
                Err(fault) => return Next::Nothing(fault.into()),
            };
            let end = extent.offset + extent.len_bytes;
            let len_bytes = opened.source.len_bytes();
            if len_bytes < end {
                return Next::Nothing(PieceState::Missing);
            }
            // To ask for holes costs more than to read, where files are small.
            is_zeros &= len_bytes >= piece_length && opened.is_hole(extent.offset..end);
        }
        if is_zeros {
            let digest = self.job.zeros.of_piece(self.job, piece);
            Next::Nothing(self.job.judge(piece, digest))
        } else if n_extents == 1 && self.mapped.is_some() {
            Next::Map
        } else {
            Next::Read
        }
    }

    fn map_group(&mut self) {
        let Some((mapped, grouping)) = &mut self.mapped else {
            return;
        };
        let pieces = std::mem::take(&mut self.to_map);
        let results = self
            .hashing
            .group(self.job, &mut self.files, mapped, *grouping, &pieces);
        self.settle(&pieces, results);
    }

    fn read_group(&mut self) {
        let pieces = std::mem::take(&mut self.to_read);
        let grouping = self.job.buffered;
        let (files, buffered) = (&mut self.files, &mut self.buffered);
        let results = self
            .hashing
            .group(self.job, files, buffered, grouping, &pieces);
        self.settle(&pieces, results);
    }

    /// Notes what became of a group of pieces. What could not be mapped is read later.
    fn settle(&mut self, pieces: &[PieceIndex], results: Vec<Result<Sha1Digest, Refusal>>) {
        for (&piece, result) in pieces.iter().zip(results) {
            match result {
                Ok(digest) => self
                    .news
                    .pieces
                    .push((piece, self.job.judge(piece, digest))),
                Err(Refusal::Fault(fault)) => self.news.pieces.push((piece, fault.into())),
                Err(Refusal::TryOther) => self.queue_to_read(piece),
            }
        }
    }

    fn queue_to_read(&mut self, piece: PieceIndex) {
        self.to_read.push(piece);
        if self.to_read.len() == self.job.buffered.n_pieces {
            self.read_group();
        }
    }
}

/// Hashers for a group of pieces, kept from group to group.
struct Hashing {
    engine: Engine,
    hashers: Vec<Hasher<Sha1>>,
}

impl Hashing {
    fn new(engine: Engine) -> Self {
        Self {
            engine,
            hashers: Vec::new(),
        }
    }

    /// The digests of pieces, read side by side through windows, or why there is none. Nothing at
    /// all if somebody asked to stop before the end.
    fn group(
        &mut self,
        job: &Job<'_>,
        files: &mut Files<'_>,
        source: &mut impl Source,
        grouping: Grouping,
        pieces: &[PieceIndex],
    ) -> Vec<Result<Sha1Digest, Refusal>> {
        if self.hashers.len() < pieces.len() {
            self.hashers
                .resize(pieces.len(), Hasher::with_engine(self.engine));
        }
        let hashers = &mut self.hashers[..pieces.len()];
        hashers.iter_mut().for_each(Hasher::reset);

        let lengths = job.layout.lengths();
        let longest = pieces
            .iter()
            .map(|piece| lengths.piece_len(*piece))
            .max()
            .unwrap_or(0);
        let mut refusals: Vec<Option<Refusal>> = vec![None; pieces.len()];
        for begin in (0..u64::from(longest)).step_by(grouping.window_len) {
            if job.cancel.is_cancelled() {
                return Vec::new();
            }
            let windows = pieces
                .iter()
                .zip(&refusals)
                .map(|(&piece, refusal)| match refusal {
                    None => job.layout.window(piece, begin, grouping.window_len as u64),
                    Some(_) => 0..0,
                });
            let windows: Vec<_> = windows.collect();
            {
                let _turn = job
                    .one_reader
                    .as_ref()
                    .map(|reader| reader.lock().unwrap_or_else(PoisonError::into_inner));
                source.load(&job.layout, files, &windows, |i, refusal| {
                    refusals[i] = Some(refusal);
                });
            }
            let inputs: Vec<&[u8]> = (0..pieces.len()).map(|i| source.bytes(i)).collect();
            self.engine
                .update_many(hashers, &inputs)
                .expect("there is an input for each hasher");
            if !source.is_intact() {
                refusals.fill(Some(Refusal::TryOther));
                break;
            }
        }

        let mut digests = vec![Sha1Digest::default(); pieces.len()];
        self.engine
            .finalize_many(hashers, &mut digests)
            .expect("there is a digest for each hasher");
        let results = digests.into_iter().zip(refusals);
        results
            .map(|(digest, refusal)| refusal.map_or(Ok(digest), Err))
            .collect()
    }
}

impl From<Fault> for PieceState {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Missing => Self::Missing,
            Fault::Unreadable => Self::Unreadable,
        }
    }
}
