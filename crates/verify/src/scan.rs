//! Hashes every piece of a layout, on all cores: what verification and creation have in common.

use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, mpsc};
use std::thread;

use hashlane_files::MapArena;
use hashlane_sha::Engine;

use crate::content::Places;
use crate::files::Files;
use crate::layout::Layout;
use crate::news::{News, Outbox};
use crate::pace::MIN_SAMPLE_LEN;
use crate::schedule::{Grouping, HOT_BATCH_LEN, IN_ORDER_BATCH_LEN, MAPPED_BATCH_LEN, Schedule};
use crate::worker::{Job, Worker};
use crate::zeros::ZeroDigests;
use crate::{CancelToken, Error};

/// How to read and hash. The default is what suits the machine.
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
    /// Mapped into memory, except what lies in several files, and small files.
    Mmap,
    /// Read with positioned reads.
    Pread,
}

/// Hashes every piece of a layout, on threads of its own. What they find is handed to `listen`, on
/// this thread and some fifty times a second from each of them. Each piece comes once, unless
/// somebody asks to stop.
pub(crate) fn scan(
    layout: &Layout,
    places: &dyn Places,
    options: &Options,
    cancel: &CancelToken,
    mut listen: impl FnMut(News, u64),
) -> Result<(), Error> {
    let (job, n_threads) = plan(layout, places, options, cancel)?;
    // Bounded, so that memory is, should the workers be faster than what listens to them.
    let (sender, receiver) = mpsc::sync_channel::<News>(2 * n_threads);
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
            listen(news, pending_bytes.iter().sum());
        }
        Ok(())
    })
}

/// Decides how to go about it, and with how many threads.
pub(crate) fn plan<'a>(
    layout: &'a Layout,
    places: &'a dyn Places,
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
    let disk_seeks = options.io == IoMode::Auto && hashlane_files::is_rotational(places.root());
    let threads = options
        .threads
        .or_else(|| thread::available_parallelism().ok());
    let n_threads = threads.map_or(1, NonZeroUsize::get);
    let schedule = Schedule::new(lengths, n_threads);
    let n_threads = n_threads.min(schedule.n_runs() as usize);
    let job = Job {
        layout,
        places,
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
