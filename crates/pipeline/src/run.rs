//! Starts the workers and receives their results.

use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, mpsc};
use std::thread;

use hashlane_files::MapArena;
use hashlane_sha::Engine;

use crate::hasher::MessageHasher;
use crate::messages::Messages;
use crate::open_files::{FileSet, OpenFiles};
use crate::plan::Plan;
use crate::results::{Reporter, Results};
use crate::schedule::{MAX_BATCH_MESSAGES, Schedule};
use crate::worker::Worker;
use crate::{CancelToken, Error, IoMode, Options};

/// Hashes every message on threads of its own.
///
/// `new_hasher` makes the hashers of each thread. `receive` is called on this thread, about fifty
/// times per second for each worker. It gets the outcome of each message once, in no fixed order.
/// When `cancel` is set, the function returns soon, and some messages have no outcome.
///
/// # Errors
/// An [`Error`] if nothing can be hashed at all. A file that cannot be read is not an error: its
/// messages have a [`Fault`](crate::Fault).
pub fn hash_messages<M: Messages, H: MessageHasher>(
    messages: &M,
    files: &dyn FileSet,
    new_hasher: impl Fn(Engine) -> H + Sync,
    options: &Options,
    cancel: &CancelToken,
    mut receive: impl FnMut(Results<H::Digest>),
) -> Result<(), Error> {
    let (plan, n_threads) = plan(messages, files, options, cancel)?;
    let new_hasher = || new_hasher(options.engine);
    // Bounded, so that memory is bounded if the receiver is slower than the workers.
    let (sender, receiver) = mpsc::sync_channel::<Results<H::Digest>>(2 * n_threads);
    thread::scope(|scope| {
        for i in 0..n_threads {
            let reporter = Reporter::new(i, sender.clone());
            let (plan, new_hasher) = (&plan, &new_hasher);
            let work = move || Worker::new(plan, new_hasher, reporter).work();
            let thread = thread::Builder::new().name(format!("hashlane-{i}"));
            match thread.spawn_scoped(scope, work) {
                Err(error) if i == 0 => return Err(Error::Thread(error)),
                // The threads that exist do all of the work.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        // The channel closes when the last worker ends.
        drop(sender);
        let mut pending_bytes = vec![0; n_threads];
        for mut results in receiver {
            pending_bytes[results.worker] = results.pending_bytes;
            results.pending_bytes = pending_bytes.iter().sum();
            receive(results);
        }
        Ok(())
    })
}

/// Decides how to read, and on how many threads.
fn plan<'a, M: Messages>(
    messages: &'a M,
    files: &'a dyn FileSet,
    options: &Options,
    cancel: &'a CancelToken,
) -> Result<(Plan<'a, M>, usize), Error> {
    if options.io == IoMode::Mmap
        && let Err(error) = MapArena::new(1)
        && error.kind() == io::ErrorKind::Unsupported
    {
        return Err(Error::MapsUnsupported(error));
    }
    let disk_seeks = options.io == IoMode::Auto && hashlane_files::is_rotational(files.root());
    let threads = options
        .threads
        .or_else(|| thread::available_parallelism().ok());
    let n_threads = threads.map_or(1, NonZeroUsize::get);
    let usual_len = messages.usual_len();
    let schedule = Schedule::new(messages.count(), usual_len, n_threads);
    let n_threads = n_threads.min(schedule.n_runs() as usize);
    let max_busy = match usual_len {
        Some(_) => MAX_BATCH_MESSAGES,
        None => schedule.fair_share(),
    };
    let plan = Plan {
        messages,
        files,
        schedule,
        use_maps: options.io != IoMode::Pread,
        disk_seeks,
        disk_turn: Mutex::new(()),
        max_streams: OpenFiles::max_streams(n_threads),
        max_busy,
        cancel,
    };
    Ok((plan, n_threads))
}
