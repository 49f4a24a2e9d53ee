//! Tests of messages of known and unknown length, compared with other implementations of the
//! digests.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use hashlane_files::ByteStream;
use hashlane_pipeline::{
    CHUNK_LEN, CancelToken, ChunkDigests, ChunkHasher, Error, Extent, Fault, FileIndex, FileSet,
    Found, IoMode, MessageDigest, MessageHasher, MessageLen, Messages, Options, WholeFiles,
    hash_messages, hash_messages_on,
};
use hashlane_sha::{Sha1, Sha1Digest, Sha256, Sha256Digest};
use sha1::Digest as _;

type Digests = (Sha1Digest, Sha256Digest);

/// Files in a folder, and what happens to a file right after it was opened.
struct Files {
    folder: tempfile::TempDir,
    names: Vec<String>,
    after_open: Box<dyn Fn(&Path) + Sync>,
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files").finish_non_exhaustive()
    }
}

impl Files {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("the folder is created"),
            names: Vec::new(),
            after_open: Box::new(|_| ()),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let path = self.add_name(&self.names.len().to_string());
        fs::write(path, bytes).expect("the file is written");
    }

    fn add_name(&mut self, name: &str) -> PathBuf {
        self.names.push(name.to_owned());
        self.folder.path().join(name)
    }

    fn all(&self) -> WholeFiles {
        WholeFiles {
            count: self.names.len() as u32,
        }
    }
}

impl FileSet for Files {
    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.folder.path().join(&self.names[file.get()]))
    }

    fn open_stream(&self, file: FileIndex) -> io::Result<Option<ByteStream>> {
        let path = self.path_of(file)?;
        if path.ends_with("skipped") {
            return Ok(None);
        }
        let stream = ByteStream::open(&path)?;
        (self.after_open)(&path);
        Ok(Some(stream))
    }
}

/// Everything that a run reports, by message.
type Outcomes = HashMap<u32, (u64, Result<Digests, Fault>)>;

fn hash<M: Messages>(messages: &M, files: &Files, options: &Options) -> (Outcomes, Vec<Found>) {
    let (mut outcomes, mut found) = (HashMap::new(), Vec::new());
    let hasher = |engine| {
        let sha1 = MessageDigest::<Sha1>::new(engine);
        (sha1, MessageDigest::<Sha256>::new(engine))
    };
    let cancel = CancelToken::default();
    let run = hash_messages(messages, files, hasher, options, &cancel, |results| {
        for result in results.messages {
            let outcome = (result.len_bytes, result.digest);
            let before = outcomes.insert(result.message, outcome);
            assert!(before.is_none(), "message {} came twice", result.message);
        }
        found.extend(results.facts.into_iter().map(|fact| fact.found));
    });
    run.expect("threads start");
    assert_eq!(outcomes.len() as u32, messages.count());
    (outcomes, found)
}

fn digests(bytes: &[u8]) -> Digests {
    let sha1: [u8; 20] = sha1::Sha1::digest(bytes).into();
    let sha256: [u8; 32] = sha2::Sha256::digest(bytes).into();
    (sha1.into(), sha256.into())
}

fn options() -> impl Iterator<Item = Options> {
    let modes = [IoMode::Auto, IoMode::Mmap, IoMode::Pread];
    let threads = [1, 2, 5].map(NonZeroUsize::new);
    modes.into_iter().flat_map(move |io| {
        let options = Options::default().io(io).allow_signal_handler();
        threads.map(|threads| options.threads(threads))
    })
}

fn noise(seed: usize, len_bytes: usize) -> Vec<u8> {
    (0..len_bytes)
        .map(|at| (at / 3 + at / 1021 + seed * 7 + at * seed) as u8)
        .collect()
}

#[test]
fn files_of_all_lengths() {
    let units = [0_usize, 1, 16 << 10, 32 << 10, 64 << 10, 1 << 20, 3 << 20];
    let mut contents = Vec::new();
    for (seed, unit) in units.into_iter().enumerate() {
        for len_bytes in [unit, unit + 1, unit.saturating_sub(1)] {
            contents.push(noise(seed, len_bytes));
        }
    }
    // A long file beside many short ones, whose slots are refilled repeatedly.
    contents.insert(1, noise(9, 6 << 20));
    contents.extend((0..300).map(|seed| noise(seed, seed * 131)));
    let mut files = Files::new();
    for content in &contents {
        files.add(content);
    }
    let expected = contents.iter();
    let expected = expected.map(|content| (content.len() as u64, Ok(digests(content))));
    let expected: Vec<_> = expected.collect();
    for options in options() {
        let (outcomes, found) = hash(&files.all(), &files, &options);
        for (message, expected) in (0..).zip(&expected) {
            assert_eq!(outcomes[&message], *expected, "{message}, {options:?}");
        }
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn ten_thousand_small_files() {
    let mut files = Files::new();
    for seed in 0..10_000 {
        files.add(format!("file {seed}").as_bytes());
    }
    let (outcomes, _) = hash(&files.all(), &files, &Options::default());
    for seed in 0..10_000 {
        let content = format!("file {seed}");
        let expected = (content.len() as u64, Ok(digests(content.as_bytes())));
        assert_eq!(outcomes[&seed], expected, "{seed}");
    }
}

#[test]
fn files_that_cannot_be_read_are_reported() {
    let mut files = Files::new();
    files.add(b"before");
    files.add_name("missing");
    let folder = files.add_name("folder");
    fs::create_dir(folder).expect("the folder is created");
    files.add(b"after");
    files.add_name("skipped");
    for options in options() {
        let (outcomes, found) = hash(&files.all(), &files, &options);
        assert_eq!(outcomes[&0].1, Ok(digests(b"before")));
        assert_eq!(outcomes[&1].1, Err(Fault::Missing));
        assert_eq!(outcomes[&2].1, Err(Fault::Unreadable));
        assert_eq!(outcomes[&3].1, Ok(digests(b"after")));
        assert_eq!(outcomes[&4].1, Err(Fault::Unreadable));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|found| match found {
            Found::Absent(error) => error.kind() == io::ErrorKind::NotFound,
            _ => false,
        }));
        assert!(found.iter().any(|found| matches!(found, Found::Skipped)));
        assert!(found.iter().any(|found| match found {
            Found::Failed { error, .. } => error.kind() == io::ErrorKind::IsADirectory,
            _ => false,
        }));
    }
}

#[test]
fn growing_and_shrinking_files_are_read_to_their_end() {
    for len_bytes in [10, 16 << 10, 70_000, 3 << 20] {
        let content = noise(1, len_bytes);
        let mut files = Files::new();
        files.add(&content);
        files.after_open = Box::new(|path| {
            let mut file = OpenOptions::new()
                .append(true)
                .open(path)
                .expect("it exists");
            file.write_all(&noise(2, 100_000)).expect("it grows");
        });
        let (outcomes, _) = hash(&files.all(), &files, &Options::default());
        let grown = [content.clone(), noise(2, 100_000)].concat();
        assert_eq!(outcomes[&0], (grown.len() as u64, Ok(digests(&grown))));

        let mut files = Files::new();
        files.add(&content);
        files.after_open = Box::new(|path| {
            let file = OpenOptions::new()
                .write(true)
                .open(path)
                .expect("it exists");
            file.set_len(7).expect("it shrinks");
        });
        let (outcomes, _) = hash(&files.all(), &files, &Options::default());
        assert_eq!(outcomes[&0], (7, Ok(digests(&content[..7]))));
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_read_to_their_end() {
    let mut files = Files::new();
    let pipes = ["first", "second"].map(|name| {
        let path = files.add_name(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()));
        path
    });
    files.add(b"a regular file");
    let contents = [noise(3, 300_000), noise(4, 5)];
    let (outcomes, _) = thread::scope(|scope| {
        for (path, content) in pipes.iter().zip(&contents) {
            scope.spawn(move || {
                let mut pipe = File::create(path).expect("the pipe exists");
                for part in content.chunks(1000) {
                    pipe.write_all(part).expect("the pipe is read");
                }
            });
        }
        hash(&files.all(), &files, &Options::default())
    });
    for (message, content) in (0..).zip(&contents) {
        let expected = (content.len() as u64, Ok(digests(content)));
        assert_eq!(outcomes[&message], expected, "pipe {message}");
    }
    assert_eq!(outcomes[&2].1, Ok(digests(b"a regular file")));
}

/// Files in /proc have content but no length.
#[cfg(target_os = "linux")]
#[test]
fn files_without_a_length_are_read_to_their_end() {
    let mut files = Files::new();
    files.add_name("/proc/version");
    let content = fs::read("/proc/version").expect("Linux has this file");
    let (outcomes, _) = hash(&files.all(), &files, &Options::default());
    assert_eq!(outcomes[&0], (content.len() as u64, Ok(digests(&content))));
}

/// Messages that overlap, span files and contain zeros.
struct Ranges(Vec<Vec<Extent>>);

impl Messages for Ranges {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }

    fn usual_len(&self) -> Option<u64> {
        None
    }

    fn len(&self, message: u32) -> MessageLen {
        let extents = self.0[message as usize].iter();
        MessageLen::Bytes(extents.map(|extent| extent.len_bytes).sum())
    }

    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        let mut end = 0;
        self.0[message as usize].iter().filter_map(move |extent| {
            let start = end;
            end += extent.len_bytes;
            let (first, last) = (start.max(range.start), end.min(range.end));
            (first < last).then(|| Extent {
                file: extent.file,
                offset: extent.offset + (first - start) * u64::from(extent.file.is_some()),
                len_bytes: last - first,
            })
        })
    }
}

#[test]
fn ranges_of_files_and_zeros() {
    let contents = [noise(5, 700_000), noise(6, 100), noise(7, 5 << 20)];
    let mut files = Files::new();
    for content in &contents {
        files.add(content);
    }
    let extent = |file: Option<usize>, offset, len_bytes| Extent {
        file: file.map(FileIndex::new),
        offset,
        len_bytes,
    };
    let messages = Ranges(vec![
        vec![],
        vec![extent(Some(0), 0, 700_000)],
        vec![extent(Some(2), 1, (5 << 20) - 1)],
        vec![extent(None, 0, 123_456)],
        vec![extent(Some(0), 600_000, 100_000), extent(Some(1), 3, 97)],
        vec![
            extent(Some(1), 0, 50),
            extent(None, 0, 99),
            extent(Some(2), 9, 1 << 20),
        ],
        vec![extent(Some(1), 50, 51)],
    ]);
    for options in options() {
        let (outcomes, _) = hash(&messages, &files, &options);
        for (message, extents) in (0..).zip(&messages.0) {
            let bytes = extents.iter().flat_map(|extent| match extent.file {
                None => vec![0; extent.len_bytes as usize],
                Some(file) => {
                    let end = (extent.offset + extent.len_bytes) as usize;
                    let content = &contents[file.get()];
                    content[extent.offset as usize..end.min(content.len())].to_vec()
                }
            });
            let bytes: Vec<u8> = bytes.collect();
            let expected = match message {
                6 => Err(Fault::Missing),
                _ => Ok(digests(&bytes)),
            };
            assert_eq!(outcomes[&message].1, expected, "{message}, {options:?}");
        }
    }
}

#[test]
fn a_cancelled_run_ends() {
    let mut files = Files::new();
    files.add(b"never read");
    let cancel = CancelToken::default();
    cancel.cancel();
    let hasher = |engine| Some(MessageDigest::<Sha1>::new(engine));
    let run = hash_messages(
        &files.all(),
        &files,
        hasher,
        &Options::default(),
        &cancel,
        |results| {
            assert!(results.messages.is_empty());
        },
    );
    assert!(run.is_ok());
}

/// A hasher outside of the crate, which hashes with another implementation.
#[derive(Default)]
struct Foreign {
    slots: Vec<sha1::Sha1>,
}

impl MessageHasher for Foreign {
    type Digest = [u8; 20];

    fn start(&mut self, slot: usize, _: u32) {
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, sha1::Sha1::default);
        }
        self.slots[slot].reset();
    }

    fn update(&mut self, windows: &[&[u8]]) {
        for (slot, window) in self.slots.iter_mut().zip(windows) {
            slot.update(window);
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<[u8; 20]> {
        let slots = slots.iter();
        slots
            .map(|slot| self.slots[*slot].clone().finalize().into())
            .collect()
    }

    fn zeros(&mut self, _: u32, len_bytes: u64, _: &CancelToken) -> Option<[u8; 20]> {
        Some(sha1::Sha1::digest(vec![0; len_bytes as usize]).into())
    }
}

/// One message: all bytes of the first file. Notes whether the threads that open files have an arena of maps, which comes
/// with a handler of SIGBUS.
struct OneFile<'f> {
    files: &'f Files,
    len_bytes: u64,
    has_arena: AtomicBool,
}

impl std::fmt::Debug for OneFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneFile").finish_non_exhaustive()
    }
}

impl FileSet for OneFile<'_> {
    fn root(&self) -> &Path {
        self.files.root()
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        // A thread has one arena.
        let has_arena = hashlane_files::MapArena::new(1).is_err();
        self.has_arena.fetch_or(has_arena, Ordering::Relaxed);
        self.files.path_of(file)
    }
}

impl Messages for OneFile<'_> {
    fn count(&self) -> u32 {
        1
    }

    fn usual_len(&self) -> Option<u64> {
        Some(self.len_bytes)
    }

    fn len(&self, _: u32) -> MessageLen {
        MessageLen::Bytes(self.len_bytes)
    }

    fn extents(&self, _: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        std::iter::once(Extent {
            file: Some(FileIndex::new(0)),
            offset: range.start,
            len_bytes: range.end - range.start,
        })
    }
}

/// Hashes one file of 1 MiB. Returns the digest, and whether the thread could map it.
fn hash_one<H: MessageHasher>(
    new_hasher: impl Fn(hashlane_sha::Engine) -> H + Sync,
    options: &Options,
) -> Result<(H::Digest, bool), Error> {
    let mut files = Files::new();
    files.add(&noise(1, 1 << 20));
    let file = OneFile {
        files: &files,
        len_bytes: 1 << 20,
        has_arena: AtomicBool::new(false),
    };
    let (mut digest, cancel) = (None, CancelToken::default());
    hash_messages(&file, &file, new_hasher, options, &cancel, |results| {
        digest = digest.take().or(results.messages.into_iter().next());
    })?;
    let digest = digest.expect("one message").digest;
    Ok((
        digest.expect("the file is read"),
        file.has_arena.into_inner(),
    ))
}

#[cfg(all(target_os = "linux", not(hashlane_portable)))]
#[test]
fn maps_and_their_signal_handler_need_the_permission_of_the_program() {
    for threads in [1, 2].map(NonZeroUsize::new) {
        let run = |options: &Options| {
            hash_one(MessageDigest::<Sha1>::new, options).map(|(_, has_arena)| has_arena)
        };
        let options = Options::default().threads(threads);
        assert!(!run(&options).expect("files can be read"));
        let refused = run(&options.io(IoMode::Mmap));
        assert!(matches!(refused, Err(Error::SignalHandlerNotAllowed)));
        assert!(run(&options.allow_signal_handler()).expect("files can be mapped"));
    }
}

#[test]
fn only_hashers_of_the_crate_see_bytes_that_can_change() {
    let options = Options::default().allow_signal_handler();
    let (sha1, _) = digests(&noise(1, 1 << 20));
    let expected = <[u8; 20]>::from(sha1);
    let foreign = |_| Foreign::default();
    let (digest, has_arena) = hash_one(foreign, &options).expect("the file is read");
    assert_eq!((digest, has_arena), (expected, false));
    // A pair is read as a whole.
    let pair = |engine| (MessageDigest::<Sha1>::new(engine), Some(Foreign::default()));
    let (digest, has_arena) = hash_one(pair, &options).expect("the file is read");
    assert_eq!((digest, has_arena), ((sha1, Some(expected)), false));
    let refused = hash_one(foreign, &options.io(IoMode::Mmap));
    assert!(matches!(
        refused,
        Err(Error::HasherNeedsReads | Error::MapsUnsupported(_))
    ));
}

/// Digests of chunks as they come, after the number of bytes in each call.
struct Chunks(Vec<Vec<Sha256Digest>>, u64);

impl ChunkDigests for Chunks {
    type ChunkHash = Sha256;
    type Digest = Vec<Sha256Digest>;

    fn start(&mut self, slot: usize, _: u32) -> u64 {
        if slot >= self.0.len() {
            self.0.resize(slot + 1, Vec::new());
        }
        self.0[slot].clear();
        self.1
    }

    fn append(&mut self, lens: &[usize], mut digests: &[Sha256Digest]) {
        for (slot, len_bytes) in self.0.iter_mut().zip(lens) {
            let own = digests.split_off(..len_bytes.div_ceil(CHUNK_LEN));
            slot.extend(own.expect("a digest of each chunk"));
        }
        assert!(digests.is_empty());
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Vec<Sha256Digest>> {
        slots.iter().map(|slot| self.0[*slot].clone()).collect()
    }

    fn zeros(&mut self, _: u32, _: u64, _: &CancelToken) -> Option<Vec<Sha256Digest>> {
        None
    }
}

#[test]
fn chunks_are_hashed_up_to_the_length_that_their_receiver_chooses() {
    let content = noise(1, 1 << 20);
    for len_bytes in [0, 1, CHUNK_LEN, CHUNK_LEN + 1, 600_000, 1 << 20] {
        let hasher = |engine| ChunkHasher::new(Chunks(Vec::new(), len_bytes as u64), engine);
        for io in [IoMode::Auto, IoMode::Pread] {
            let options = Options::default().io(io).allow_signal_handler();
            let (found, _) = hash_one(hasher, &options).expect("the file is read");
            let expected = content[..len_bytes].chunks(CHUNK_LEN);
            let expected: Vec<_> = expected.map(hashlane_sha::digest::<Sha256>).collect();
            assert_eq!(found, expected, "{len_bytes}, {io:?}");
        }
    }
}

#[test]
fn the_threads_of_the_caller_do_all_of_the_work() {
    let mut files = Files::new();
    for seed in 0..40 {
        files.add(&noise(seed, seed * 5_000));
    }
    for n_calls in [0, 1, 2, 7] {
        let (own_threads, hashers) = (Mutex::new(HashSet::new()), Mutex::new(HashSet::new()));
        own_threads.lock().unwrap().insert(thread::current().id());
        // An executor that counts its threads.
        let on_threads = |work: &(dyn Fn() + Sync)| {
            own_threads.lock().unwrap().clear();
            if n_calls == 0 {
                own_threads.lock().unwrap().insert(thread::current().id());
            }
            thread::scope(|scope| {
                for _ in 0..n_calls {
                    scope.spawn(|| {
                        own_threads.lock().unwrap().insert(thread::current().id());
                        work();
                    });
                }
            });
        };
        let hasher = |engine| {
            hashers.lock().unwrap().insert(thread::current().id());
            MessageDigest::<Sha1>::new(engine)
        };
        let options = Options::default().threads(NonZeroUsize::new(3));
        let (mut found, cancel) = (HashMap::new(), CancelToken::default());
        let all = files.all();
        let run = hash_messages_on(
            &all,
            &files,
            hasher,
            &options,
            &cancel,
            on_threads,
            |results| {
                for result in results.messages {
                    let before = found.insert(result.message, result.digest.expect("it is read"));
                    assert!(before.is_none(), "message {} came twice", result.message);
                }
            },
        );
        run.expect("files can be read");
        assert_eq!(found.len(), 40);
        for (message, digest) in found {
            let seed = message as usize;
            assert_eq!(
                digest,
                digests(&noise(seed, seed * 5_000)).0,
                "message {message}"
            );
        }
        let (own_threads, hashers) = (
            own_threads.into_inner().unwrap(),
            hashers.into_inner().unwrap(),
        );
        assert!(hashers.is_subset(&own_threads), "no other thread is used");
        assert_eq!(
            hashers.len(),
            n_calls.clamp(1, 3),
            "at most the threads of the options work"
        );
    }
}

#[test]
fn a_panic_of_the_receiver_stops_the_threads_of_the_caller() {
    let mut files = Files::new();
    for seed in 0..200 {
        files.add(&noise(seed, 3));
    }
    let (cancel, n_calls) = (CancelToken::default(), AtomicUsize::new(0));
    let options = Options::default().threads(NonZeroUsize::new(2));
    let run = catch_unwind(AssertUnwindSafe(|| {
        let on_threads = |work: &(dyn Fn() + Sync)| {
            // The first call panics, and the second finds the receiver in that state.
            assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
            work();
        };
        let hasher = MessageDigest::<Sha1>::new;
        let all = files.all();
        hash_messages_on(&all, &files, hasher, &options, &cancel, on_threads, |_| {
            n_calls.fetch_add(1, Ordering::Relaxed);
            panic!("as a test");
        })
    }));
    // The caller caught the panic, but a result without all messages must not look whole.
    let panic = run.expect_err("messages are missing");
    let message = panic
        .downcast_ref::<String>()
        .expect("the message is formatted");
    assert!(message.contains("messages are missing"), "{message}");
    assert_eq!(n_calls.into_inner(), 1, "the receiver is not called again");
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}

#[test]
fn a_run_without_messages_reports_its_end() {
    let files = Files::new();
    let (options, cancel) = (Options::default(), CancelToken::default());
    let (mut n_reports, mut n_reports_on) = (0, 0);
    let hasher = MessageDigest::<Sha1>::new;
    let run = hash_messages(&files.all(), &files, hasher, &options, &cancel, |_| {
        n_reports += 1;
    });
    run.expect("there is nothing to read");
    let (all, on_threads) = (files.all(), |work: &(dyn Fn() + Sync)| work());
    let run = hash_messages_on(&all, &files, hasher, &options, &cancel, on_threads, |_| {
        n_reports_on += 1;
    });
    run.expect("there is nothing to read");
    assert_eq!((n_reports, n_reports_on), (1, 1));
}
