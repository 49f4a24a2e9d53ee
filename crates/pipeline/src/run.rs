//! Starts the workers and receives their results.

use std::io;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use hashlane_files::{DirectQueue, MapArena};
use hashlane_sha::Engine;

use crate::choice::is_chosen;
use crate::hasher::MessageHasher;
use crate::messages::{FileIndex, Messages};
use crate::open_files::{FileSet, OpenFiles};
use crate::read_speed::{ReadOrder, ReadSpeed};
use crate::reading::Reading;
use crate::results::{Receiver, Reporter, Results};
use crate::running::Shared;
use crate::schedule::{DIRECT_BATCH_LEN, IN_ORDER_BATCH_LEN, MAX_BATCH_MESSAGES, Schedule};
use crate::worker::Worker;
use crate::{CancelToken, Error, IoMode, Options};

/// Hashes every message on worker threads, or on the calling thread if one worker is enough or the
/// system refuses to start a thread.
///
/// `new_hasher` returns the hashers of each thread. `receive` runs on the calling thread, about
/// fifty times per second for each worker. It receives the outcome of each message once, in
/// unspecified order. After `cancel` is set, the function returns soon, and some messages have no
/// outcome. If `receive`, a hasher or a file set panics, all workers stop soon, and the panic continues.
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
    receive: impl FnMut(Results<H::Digest>),
) -> Result<(), Error> {
    let run_token = cancel.child();
    let (shared, n_threads) = share::<M, H>(messages, files, options, &run_token)?;
    let mut receiver = Receiver::new(receive, n_threads);
    let new_hasher = || new_hasher(options.engine);
    // The channel is bounded to limit memory if the receiver is slower than the workers.
    let (sender, sent) = mpsc::sync_channel::<Results<H::Digest>>(2 * n_threads);
    // A thread for a single worker would only delay it.
    let n_to_start = if n_threads == 1 { 0 } else { n_threads };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for i in 0..n_to_start {
            let (sender, shared, new_hasher) = (sender.clone(), &shared, &new_hasher);
            let work = move || {
                let _stop = shared.cancel.cancel_on_panic();
                // Cannot fail: the receiver exists until all workers have ended.
                let reporter = Reporter::new(i, |results| drop(sender.send(results)));
                Worker::new(shared, i, new_hasher, reporter).work();
            };
            let thread = thread::Builder::new().name(format!("hashlane-{i}"));
            match thread.spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                // The existing threads do all of the work.
                Err(_) => break,
            }
        }
        // The channel closes when the last worker ends.
        drop(sender);
        if threads.is_empty() {
            let reporter = Reporter::new(0, |results| receiver.receive(results));
            return Worker::new(&shared, 0, new_hasher, reporter).work();
        }
        // If `receive` panics, the scope waits for the workers, which need not go on.
        let _stop = shared.cancel.cancel_on_drop();
        // Workers that send to it end if `receive` panics.
        let sent = sent;
        loop {
            match sent.recv_timeout(options.patience.clamp(MIN_CHECK_INTERVAL, CHECK_INTERVAL)) {
                Ok(results) => receiver.receive(results),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let silent = shared.readings.iter();
            let silent = silent.filter_map(|reading| reading.overdue(options.patience));
            let silent: Vec<FileIndex> = silent.collect();
            if !silent.is_empty() {
                receiver.receive_silent(silent);
            }
        }
        for thread in threads {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    Ok(())
}

/// Interval at which reads are checked that take very long, and the least with a short patience.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// Hashes every message on threads of the caller, such as those of rayon.
///
/// `on_threads` receives the work of one thread, a function that returns when no messages are left. It calls this
/// function on as many threads as it likes, and returns after all calls have returned. At most
/// [`Options::threads`] calls do work. If there are none, the calling thread does the work. `receive` runs on these
/// threads, one call at a time. It must not wait for other work on the same threads: rayon would start a second call of
/// the function inside of the first. All else is as for [`hash_messages`].
///
/// ```
/// use std::thread;
///
/// use hashlane_pipeline::{CancelToken, MessageDigest, Options, Readers, WholeFiles, hash_messages_on};
/// # use hashlane_pipeline::{Extent, FileIndex, MessageLen, Messages};
/// # use hashlane_sha::Sha1;
/// # struct Halves;
/// # impl Messages for Halves {
/// #     fn count(&self) -> u32 { 2 }
/// #     fn usual_len(&self) -> Option<u64> { Some(3) }
/// #     fn len(&self, _: u32) -> MessageLen { MessageLen::Bytes(3) }
/// #     fn extents(&self, message: u32, range: std::ops::Range<u64>) -> impl Iterator<Item = Extent> {
/// #         let offset = u64::from(message) * 3 + range.start;
/// #         [Extent { file: Some(FileIndex::new(0)), offset, len_bytes: range.end - range.start }].into_iter()
/// #     }
/// # }
///
/// # fn main() -> Result<(), hashlane_pipeline::Error> {
/// let files = Readers::new(|_| Ok(Box::new(&b"abcxyz"[..])));
/// let (options, cancel) = (Options::default(), CancelToken::default());
/// // With rayon: `|work| drop(pool.broadcast(|_| work()))`
/// let on_threads = |work: &(dyn Fn() + Sync)| {
///     thread::scope(|scope| {
///         scope.spawn(work);
///         scope.spawn(work);
///     });
/// };
/// let mut digests = Vec::new();
/// // `Halves` are two messages: "abc" and "xyz".
/// let hasher = MessageDigest::<Sha1>::new;
/// hash_messages_on(&Halves, &files, hasher, &options, &cancel, on_threads, |results| {
///     digests.extend(results.messages.into_iter().map(|result| (result.message, result.digest)));
/// })?;
/// digests.sort_by_key(|(message, _)| *message);
/// let expected = [b"abc", b"xyz"].map(|half| Ok(hashlane_sha::digest::<Sha1>(half)));
/// assert_eq!(digests, [(0, expected[0]), (1, expected[1])]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As for [`hash_messages`].
///
/// # Panics
/// If a call of the function panicked and `on_threads` returns all the same: messages are missing then.
pub fn hash_messages_on<M: Messages, H: MessageHasher>(
    messages: &M,
    files: &dyn FileSet,
    new_hasher: impl Fn(Engine) -> H + Sync,
    options: &Options,
    cancel: &CancelToken,
    on_threads: impl FnOnce(&(dyn Fn() + Sync)),
    receive: impl FnMut(Results<H::Digest>) + Send,
) -> Result<(), Error> {
    let run_token = cancel.child();
    let (shared, n_threads) = share::<M, H>(messages, files, options, &run_token)?;
    let receiver = Mutex::new(Receiver::new(receive, n_threads));
    let (next_worker, n_finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let worker = next_worker.fetch_add(1, Ordering::Relaxed);
        if worker >= n_threads {
            return;
        }
        let _stop = shared.cancel.cancel_on_panic();
        let reporter = Reporter::new(worker, |results| match receiver.lock() {
            Ok(mut receiver) => receiver.receive(results),
            // The receiver has panicked.
            Err(_) => shared.cancel.cancel(),
        });
        Worker::new(&shared, worker, || new_hasher(options.engine), reporter).work();
        n_finished.fetch_add(1, Ordering::Relaxed);
    };
    on_threads(&work);
    // A worker works until no messages are left, so messages are left only if no thread has called.
    if next_worker.load(Ordering::Relaxed) == 0 {
        work();
    }
    let n_started = next_worker.load(Ordering::Relaxed).min(n_threads);
    assert_eq!(
        n_finished.load(Ordering::Relaxed),
        n_started,
        "the work of a thread panicked, so messages are missing"
    );
    Ok(())
}

/// Content that one thread hashes before the next one has started.
const SMALL_LEN: u64 = 256 << 10;

/// Number of threads that read past the page cache at the same time, also from a rotational disk: the runs that they read lie
/// next to each other, and the system sorts the reads. With one reader, the disk was idle whenever that thread waited for a
/// processor: 1 GiB took 2.8 s with 2 threads and 1.6 s with 8, as fio did (EPYC, 2 cores, load 12, November 2026).
const DIRECT_READERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Bytes that all threads together read at a time past the page cache.
const MAX_DIRECT_LEN: usize = 64 << 20;

/// Bytes that a thread reads at least at a time past the page cache, on machines with very many processors.
const MIN_DIRECT_BATCH_LEN: usize = 1 << 20;

/// With fewer open files, files are read: those that are mapped stay open.
const MIN_OPEN_FOR_MAPS: usize = 16;

/// Refuses memory maps where they are not possible.
fn check_options<H: MessageHasher>(options: &Options) -> Result<(), Error> {
    if options.io == IoMode::Mmap && !options.allows_signal_handler {
        return Err(Error::SignalHandlerNotAllowed);
    }
    if options.io == IoMode::Mmap && !H::MAPS.are_allowed() {
        return Err(Error::HasherNeedsReads);
    }
    if options.io == IoMode::Mmap
        && let Err(error) = MapArena::new(1)
        && error.kind() == io::ErrorKind::Unsupported
    {
        return Err(Error::MapsUnsupported(error));
    }
    Ok(())
}

/// Returns the state that the workers share, and the number of threads.
fn share<'a, M: Messages, H: MessageHasher>(
    messages: &'a M,
    files: &'a dyn FileSet,
    options: &Options,
    cancel: &'a CancelToken,
) -> Result<(Shared<'a, M>, usize), Error> {
    check_options::<H>(options)?;
    let has_queue = || DirectQueue::new().is_ok();
    let io = match options.io {
        IoMode::Auto if options.speed.is_none() && is_chosen(messages, files) && has_queue() => {
            IoMode::Direct
        }
        io => io,
    };
    let is_direct = io == IoMode::Direct && has_queue();
    let (count, usual_len) = (messages.count(), messages.usual_len());
    let is_small =
        count <= 1 || usual_len.is_some_and(|len| len.saturating_mul(count.into()) <= SMALL_LEN);
    // The questions to the system take longer than a small run.
    let order = || match io {
        IoMode::Auto | IoMode::Direct if count > 1 => files.read_order(),
        _ => ReadOrder::Any,
    };
    let speed = options
        .speed
        .unwrap_or_else(|| ReadSpeed::of_order(order()));
    let threads = match options.threads {
        None if is_small => NonZeroUsize::new(1),
        None if is_direct => thread::available_parallelism()
            .ok()
            .map(|n_cpus| n_cpus.max(DIRECT_READERS)),
        None => thread::available_parallelism().ok(),
        threads => threads,
    };
    let max_open = hashlane_files::max_kept_open();
    // Each worker can keep a file open.
    let n_threads = threads.map_or(1, NonZeroUsize::get).min(max_open);
    // The batches of all threads together have a limit.
    let direct_len = (MAX_DIRECT_LEN / n_threads).clamp(MIN_DIRECT_BATCH_LEN, DIRECT_BATCH_LEN);
    let in_order_len = match io {
        _ if speed.allows_any_order() => None,
        IoMode::Direct if is_direct => Some(direct_len),
        _ => Some(IN_ORDER_BATCH_LEN),
    };
    let schedule = Schedule::new(count, usual_len, n_threads, in_order_len);
    // Without messages, one worker reports that there is nothing to do.
    let n_threads = n_threads.min(schedule.n_runs() as usize).max(1);
    let disk_threads = match options.disk_threads {
        NonZeroUsize::MIN if is_direct => DIRECT_READERS,
        n_threads => n_threads,
    };
    let max_busy = match usual_len {
        Some(_) => MAX_BATCH_MESSAGES,
        None => schedule.fair_share(),
    };
    let shared = Shared {
        messages,
        files,
        schedule,
        use_maps: H::MAPS.are_allowed()
            && options.allows_signal_handler
            && matches!(io, IoMode::Auto | IoMode::Mmap)
            && max_open >= MIN_OPEN_FOR_MAPS,
        direct_len: is_direct.then_some(direct_len),
        speed,
        disk_turns: (0..disk_threads.get().min(n_threads))
            .map(|_| Mutex::new(()))
            .collect(),
        readings: (0..n_threads).map(|_| Reading::default()).collect(),
        max_streams: OpenFiles::max_streams(n_threads),
        max_busy,
        cancel,
    };
    Ok((shared, n_threads))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::ops::Range;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use hashlane_sha::{Sha1, Sha1Digest};
    use sha1::Digest as _;

    use super::*;
    use crate::{Extent, Fault, MessageDigest, MessageLen, ReadAt, Readers};

    /// Files in a folder, named by their numbers.
    #[derive(Debug)]
    struct Folder {
        folder: tempfile::TempDir,
    }

    impl FileSet for Folder {
        fn root(&self) -> &Path {
            self.folder.path()
        }

        fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
            Ok(self.folder.path().join(file.get().to_string()))
        }
    }

    /// Pieces of consecutive files of equal length.
    struct Pieces {
        n_files: u64,
        file_len: u64,
        piece_len: u64,
    }

    impl Messages for Pieces {
        fn count(&self) -> u32 {
            (self.n_files * self.file_len).div_ceil(self.piece_len) as u32
        }

        fn usual_len(&self) -> Option<u64> {
            Some(self.piece_len)
        }

        fn len(&self, message: u32) -> MessageLen {
            let rest = self.n_files * self.file_len - u64::from(message) * self.piece_len;
            MessageLen::Bytes(rest.min(self.piece_len))
        }

        fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
            let start = u64::from(message) * self.piece_len;
            let (mut at, end) = (start + range.start, start + range.end);
            std::iter::from_fn(move || {
                let (file, offset) = (at / self.file_len, at % self.file_len);
                let len_bytes = (end - at).min(self.file_len - offset);
                at += len_bytes;
                (len_bytes > 0).then(|| Extent {
                    file: Some(FileIndex::new(file as usize)),
                    offset,
                    len_bytes,
                })
            })
        }
    }

    fn digests(
        messages: &Pieces,
        files: &Folder,
        speed: ReadSpeed,
        n_threads: usize,
    ) -> BTreeMap<u32, Sha1Digest> {
        let mut options = Options::default().threads(NonZeroUsize::new(n_threads));
        options.speed = Some(speed);
        options.allows_signal_handler = cfg!(all(target_os = "linux", not(hashlane_portable)));
        let mut digests = BTreeMap::new();
        let receive = |results: Results<Sha1Digest>| {
            for result in results.messages {
                let before = digests.insert(result.message, result.digest.unwrap());
                assert_eq!(before, None, "message {} came twice", result.message);
            }
        };
        let cancel = CancelToken::default();
        hash_messages(
            messages,
            files,
            MessageDigest::<Sha1>::new,
            &options,
            &cancel,
            receive,
        )
        .unwrap();
        digests
    }

    #[test]
    fn a_rotational_disk_gives_the_same_digests_in_any_order() {
        for (n_files, file_len, piece_len) in [
            (50, 50 << 10, 64 << 10),
            (50, 50 << 10, 50 << 10),
            (4, (2 << 20) + 77, 256 << 10),
            (2, 9 << 20, 4 << 20),
        ] {
            let messages = Pieces {
                n_files,
                file_len,
                piece_len,
            };
            let content: Vec<u8> = (0..n_files * file_len)
                .map(|at| (at / 3 + at / 1021) as u8)
                .collect();
            let files = Folder {
                folder: tempfile::tempdir().unwrap(),
            };
            for (i, bytes) in content.chunks(file_len as usize).enumerate() {
                fs::write(files.folder.path().join(i.to_string()), bytes).unwrap();
            }
            let pieces = content.chunks(piece_len as usize);
            let expected = pieces.map(|piece| <[u8; 20]>::from(sha1::Sha1::digest(piece)).into());
            let expected: BTreeMap<u32, Sha1Digest> = (0..).zip(expected).collect();
            for n_threads in [1, 3] {
                for speed in [ReadSpeed::always_slow(), ReadSpeed::new(true)] {
                    let found = digests(&messages, &files, speed, n_threads);
                    assert!(found == expected, "{n_files} files, {speed:?}");
                }
            }
        }
    }

    /// Messages that each consist of a file of one byte, padding, and another file of one byte.
    struct Padded {
        n_messages: u32,
        padding: u64,
    }

    impl Messages for Padded {
        fn count(&self) -> u32 {
            self.n_messages
        }

        fn usual_len(&self) -> Option<u64> {
            Some(self.padding + 2)
        }

        fn len(&self, _: u32) -> MessageLen {
            MessageLen::Bytes(self.padding + 2)
        }

        fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
            let first = 2 * message as usize;
            let file = |index| Some(FileIndex::new(index));
            let parts = [
                (file(first), 0..1),
                (None, 1..1 + self.padding),
                (file(first + 1), 1 + self.padding..2 + self.padding),
            ];
            parts.into_iter().filter_map(move |(file, part)| {
                let (start, end) = (part.start.max(range.start), part.end.min(range.end));
                (start < end).then(|| Extent {
                    file,
                    offset: 0,
                    len_bytes: end - start,
                })
            })
        }
    }

    /// A hasher that counts bytes.
    struct Counter<'c>(&'c AtomicUsize);

    impl MessageHasher for Counter<'_> {
        type Digest = ();

        fn start(&mut self, _: usize, _: u32) {}

        fn update(&mut self, windows: &[&[u8]]) {
            let n_bytes = windows.iter().map(|window| window.len()).sum();
            self.0.fetch_add(n_bytes, Ordering::Relaxed);
        }

        fn finish(&mut self, slots: &[usize]) -> Vec<()> {
            vec![(); slots.len()]
        }

        fn zeros(&mut self, _: u32, _: u64, _: &CancelToken) -> Option<()> {
            Some(())
        }
    }

    /// A hasher that is slow after the receiver has panicked, so that the workers notice in time.
    struct SlowAfterPanic<'c> {
        n_messages: &'c AtomicUsize,
        has_panicked: &'c AtomicBool,
    }

    impl MessageHasher for SlowAfterPanic<'_> {
        type Digest = ();

        fn start(&mut self, _: usize, _: u32) {}

        fn update(&mut self, _: &[&[u8]]) {
            if self.has_panicked.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
        }

        fn finish(&mut self, slots: &[usize]) -> Vec<()> {
            self.n_messages.fetch_add(slots.len(), Ordering::Relaxed);
            vec![(); slots.len()]
        }

        fn zeros(&mut self, _: u32, _: u64, _: &CancelToken) -> Option<()> {
            Some(())
        }
    }

    #[test]
    fn a_panic_of_the_receiver_stops_the_workers() {
        let files = Folder {
            folder: tempfile::tempdir().unwrap(),
        };
        let messages = Pieces {
            n_files: 1,
            file_len: 200_000,
            piece_len: 4,
        };
        fs::write(files.folder.path().join("0"), vec![1; 200_000]).unwrap();
        let (n_messages, has_panicked) = (AtomicUsize::new(0), AtomicBool::new(false));
        let hasher = |_| SlowAfterPanic {
            n_messages: &n_messages,
            has_panicked: &has_panicked,
        };
        let options = Options::default().threads(NonZeroUsize::new(2));
        let cancel = CancelToken::default();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            hash_messages(&messages, &files, hasher, &options, &cancel, |_| {
                has_panicked.store(true, Ordering::Relaxed);
                panic!("as a test");
            })
        }));
        assert!(outcome.is_err());
        let n_messages = n_messages.into_inner();
        assert!(n_messages < 40_000, "{n_messages} of 50,000 are hashed");
        assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
    }

    /// A hasher that panics once, and is slow then, so that the other workers notice in time.
    struct Panics<'c> {
        n_messages: &'c AtomicUsize,
        n_to_panic: usize,
    }

    impl MessageHasher for Panics<'_> {
        type Digest = ();

        fn start(&mut self, _: usize, _: u32) {}

        fn update(&mut self, _: &[&[u8]]) {
            if self.n_messages.load(Ordering::Relaxed) > self.n_to_panic {
                thread::sleep(Duration::from_millis(1));
            }
        }

        fn finish(&mut self, slots: &[usize]) -> Vec<()> {
            let before = self.n_messages.fetch_add(slots.len(), Ordering::Relaxed);
            let range = before..before + slots.len();
            assert!(!range.contains(&self.n_to_panic), "as a test");
            vec![(); slots.len()]
        }

        fn zeros(&mut self, _: u32, _: u64, _: &CancelToken) -> Option<()> {
            Some(())
        }
    }

    /// The caller gets the panic of a worker, with its message.
    #[test]
    fn a_panic_of_a_hasher_stops_the_other_workers() {
        let files = Folder {
            folder: tempfile::tempdir().unwrap(),
        };
        let messages = Pieces {
            n_files: 1,
            file_len: 200_000,
            piece_len: 4,
        };
        fs::write(files.folder.path().join("0"), vec![1; 200_000]).unwrap();
        let cancel = CancelToken::default();
        for n_threads in [1, 3] {
            let n_messages = AtomicUsize::new(0);
            let hasher = |_| Panics {
                n_messages: &n_messages,
                n_to_panic: 10_000,
            };
            let options = Options::default().threads(NonZeroUsize::new(n_threads));
            let run = || hash_messages(&messages, &files, hasher, &options, &cancel, |_| ());
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"as a test"), "{n_threads}");
            let n_messages = n_messages.into_inner();
            assert!(n_messages < 40_000, "{n_messages} of 50,000 are hashed");
        }
        assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
    }

    #[test]
    fn padding_beside_an_absent_file_is_not_hashed() {
        let files = Folder {
            folder: tempfile::tempdir().unwrap(),
        };
        let messages = Padded {
            n_messages: 4,
            padding: 1 << 20,
        };
        // Only the last message has both files in full. The second message has an empty file.
        for (name, content) in [
            ("0", "a"),
            ("2", "a"),
            ("3", ""),
            ("4", "a"),
            ("6", "a"),
            ("7", "b"),
        ] {
            fs::write(files.folder.path().join(name), content).unwrap();
        }
        let (n_bytes, mut results) = (AtomicUsize::new(0), BTreeMap::new());
        hash_messages(
            &messages,
            &files,
            |_| Counter(&n_bytes),
            &Options::default(),
            &CancelToken::default(),
            |received| {
                for result in received.messages {
                    results.insert(result.message, result.digest);
                }
            },
        )
        .unwrap();
        let missing = Err(Fault::Missing);
        let expected = [missing, missing, missing, Ok(())];
        assert_eq!(results, (0..).zip(expected).collect());
        assert_eq!(
            n_bytes.into_inner(),
            (1 << 20) + 2,
            "only one message is hashed"
        );
    }

    /// Files that count how often they are opened.
    #[derive(Debug)]
    struct Counted {
        folder: Folder,
        n_opened: AtomicUsize,
    }

    impl FileSet for Counted {
        fn root(&self) -> &Path {
            self.folder.root()
        }

        fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
            self.n_opened.fetch_add(1, Ordering::Relaxed);
            self.folder.path_of(file)
        }
    }

    /// Without maps, the length of a file does not matter before the file is read. A batch has more files than a worker keeps open.
    #[test]
    fn a_file_of_a_short_message_is_opened_once() {
        let messages = Pieces {
            n_files: 100,
            file_len: 1000,
            piece_len: 1000,
        };
        let folder = Folder {
            folder: tempfile::tempdir().unwrap(),
        };
        for file in 0..98 {
            let len = if file == 7 { 999 } else { 1000 };
            fs::write(folder.path_of(FileIndex::new(file)).unwrap(), vec![7; len]).unwrap();
        }
        let files = Counted {
            folder,
            n_opened: AtomicUsize::new(0),
        };
        let (options, cancel) = (Options::default(), CancelToken::default());
        let (mut faults, mut absent) = (BTreeMap::new(), 0);
        let hasher = MessageDigest::<Sha1>::new;
        hash_messages(&messages, &files, hasher, &options, &cancel, |results| {
            let facts = results.facts.iter();
            absent += facts
                .filter(|fact| matches!(fact.found, crate::Found::Absent(_)))
                .count();
            let messages = results.messages.into_iter();
            faults.extend(messages.filter_map(|it| Some((it.message, it.digest.err()?))));
        })
        .unwrap();
        assert_eq!(files.n_opened.into_inner(), 100);
        let missing = [7, 98, 99].map(|message| (message, Fault::Missing));
        assert_eq!((faults, absent), (BTreeMap::from(missing), 2));
    }

    /// A file whose disk answers when `is_released` is set.
    struct Silent<'r> {
        is_released: &'r AtomicBool,
    }

    impl ReadAt for Silent<'_> {
        fn len_bytes(&self) -> u64 {
            1000
        }

        fn read_at(&self, buffer: &mut [u8], _: u64) -> io::Result<usize> {
            for _ in 0..10_000 {
                if self.is_released.load(Ordering::Relaxed) {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
            buffer.fill(7);
            Ok(buffer.len())
        }
    }

    /// A read that does not end is reported, while the other workers read all other files.
    #[test]
    fn a_silent_disk_is_named_and_others_are_read() {
        let messages = Pieces {
            n_files: 6000,
            file_len: 1000,
            piece_len: 1000,
        };
        let is_released = AtomicBool::new(false);
        let bytes = [7; 1000];
        let files = Readers::new(|file| {
            Ok(match file.get() {
                3000 => Box::new(Silent {
                    is_released: &is_released,
                }) as Box<dyn ReadAt>,
                _ => Box::new(&bytes[..]),
            })
        });
        let options = Options::default()
            .threads(NonZeroUsize::new(4))
            .patience(Duration::from_millis(1));
        let expected = hashlane_sha::digest::<Sha1>(&bytes);
        let (mut silent, mut n_done) = (Vec::new(), 0);
        let cancel = CancelToken::default();
        let hasher = MessageDigest::<Sha1>::new;
        hash_messages(&messages, &files, hasher, &options, &cancel, |results| {
            silent.extend(results.silent);
            for result in results.messages {
                assert_eq!(result.digest, Ok(expected));
                n_done += 1;
            }
            // The messages that the waiting worker has taken may follow.
            if n_done >= 2000 && silent.contains(&FileIndex::new(3000)) {
                is_released.store(true, Ordering::Relaxed);
            }
        })
        .unwrap();
        assert!(is_released.load(Ordering::Relaxed), "{n_done} {silent:?}");
        assert_eq!(n_done, 6000);
        // Its opening can take longer than a millisecond, too.
        let n_reports = silent.iter().filter(|file| file.get() == 3000).count();
        assert!((1..=2).contains(&n_reports), "{silent:?}");
    }
}
