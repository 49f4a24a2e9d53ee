//! The coordinator: starts workers, listens to them, and makes the report.

use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Instant;

use hashlane_disk::MapArena;
use hashlane_sha::Engine;

use crate::files::Files;
use crate::news::{News, Outbox};
use crate::pace::MIN_SAMPLE_LEN;
use crate::report::ReportBuilder;
use crate::schedule::{Grouping, HOT_BATCH_LEN, IN_ORDER_BATCH_LEN, MAPPED_BATCH_LEN, Schedule};
use crate::worker::{Job, Worker};
use crate::zeros::ZeroDigests;
use crate::{CancelToken, Content, Error, Layout, PieceCounts, Report};

/// How to verify. The default is what suits the machine.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many threads hash: as many as the process may use if `None`.
    pub threads: Option<NonZeroUsize>,
    /// How bytes come from files to memory.
    pub io: IoMode,
    /// Which kernels hash.
    pub engine: Engine,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: None,
            io: IoMode::Auto,
            engine: Engine::detect(),
        }
    }
}

/// How bytes come from files to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// Mapped into memory where the system can do that, and read otherwise; but read in the order
    /// of the files where the system says that the disk rotates, and the bytes come as slowly as
    /// from such a disk.
    #[default]
    Auto,
    /// Mapped into memory, except what lies in several files.
    Mmap,
    /// Read with positioned reads.
    Pread,
}

/// How far a verification is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes that are behind us: of the pieces whose state is known, and of what is hashed of others.
    pub hashed_bytes: u64,
    /// Bytes of the whole content.
    pub total_bytes: u64,
    /// How many pieces are in each state.
    pub counts: PieceCounts,
}

/// Finds out which pieces of a torrent are in its `content`, reading and nothing else.
///
/// `progress` is called on this thread, some fifty times a second for each worker. When `cancel`
/// asks to stop, the report comes at once, with what is known by then.
///
/// # Errors
/// Only if nothing could be verified at all. Files that are absent or cannot be read are in the
/// report.
pub fn verify(
    content: &Content<'_>,
    options: &Options,
    cancel: &CancelToken,
    mut progress: impl FnMut(&Progress),
) -> Result<Report, Error> {
    let started = Instant::now();
    let layout = Layout::new(content.torrent());
    let (job, n_threads) = plan(layout, content, options, cancel)?;
    let mut builder = ReportBuilder::new(layout);

    let (sender, receiver) = mpsc::channel::<News>();
    thread::scope(|scope| {
        for i in 0..n_threads {
            let (job, outbox) = (&job, Outbox::new(i, sender.clone()));
            let name = format!("hashlane-{i}");
            let thread = thread::Builder::new().name(name);
            match thread.spawn_scoped(scope, move || Worker::new(job, outbox).work()) {
                // The runs are shared out among however many there are.
                Err(error) if i == 0 => return Err(Error::Thread(error)),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        // Without ours, the channel closes when the last worker ends.
        drop(sender);
        let mut pending_bytes = vec![0; n_threads];
        for news in receiver {
            pending_bytes[news.worker] = news.pending_bytes;
            for (piece, state) in news.pieces {
                builder.piece(piece, state);
            }
            for fact in news.facts {
                builder.file(fact);
            }
            progress(&Progress {
                hashed_bytes: builder.checked_bytes() + pending_bytes.iter().sum::<u64>(),
                total_bytes: layout.lengths().total_length(),
                counts: builder.counts(),
            });
        }
        Ok(())
    })?;

    let mut is_cut_short = builder.counts().unchecked > 0;
    let mut files = Files::new(content, 1, cancel);
    for file in builder.unheard() {
        if cancel.is_cancelled() {
            is_cut_short = true;
            break;
        }
        // What comes of it is among the facts.
        let _ = files.open(file);
        files
            .take_facts()
            .into_iter()
            .for_each(|fact| builder.file(fact));
    }
    Ok(builder.build(started.elapsed(), is_cut_short))
}

/// Decides how to go about it, and with how many threads.
fn plan<'a>(
    layout: Layout<'a>,
    content: &'a Content<'a>,
    options: &Options,
    cancel: &'a CancelToken,
) -> Result<(Job<'a>, usize), Error> {
    let lengths = layout.lengths();
    if options.io == IoMode::Mmap
        && let Err(error) = MapArena::new(1)
        && error.kind() == io::ErrorKind::Unsupported
    {
        return Err(Error::MapsUnsupported(error));
    }
    let disk_seeks = options.io == IoMode::Auto && hashlane_disk::is_rotational(content.root());
    let threads = options
        .threads
        .or_else(|| thread::available_parallelism().ok());
    let n_threads = threads.map_or(1, NonZeroUsize::get);
    let schedule = Schedule::new(lengths, n_threads);
    let n_threads = n_threads.min(schedule.n_runs() as usize);
    let job = Job {
        layout,
        content,
        engine: options.engine,
        schedule,
        mapped: (options.io != IoMode::Pread)
            .then(|| Grouping::side_by_side(lengths, MAPPED_BATCH_LEN)),
        buffered: Grouping::side_by_side(lengths, HOT_BATCH_LEN),
        in_order: Grouping::in_file_order(lengths, IN_ORDER_BATCH_LEN),
        probe: Grouping::in_file_order(lengths, 2 * MIN_SAMPLE_LEN as usize),
        disk_seeks,
        heads: Mutex::new(()),
        zeros: ZeroDigests::default(),
        max_open: Files::share_of(n_threads),
        cancel,
    };
    Ok((job, n_threads))
}
