//! Hashing of inputs side by side, with outcomes in the order of the inputs.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_files::ByteStream;
use hashlane_hashes::{Algorithm, Digest, Hasher};
use hashlane_pipeline::{
    CancelToken, Error, FileFact, FileIndex, FileSet, Found, IoMode, MessageResult, Options,
    Results, WholeFiles, hash_messages,
};
use hashlane_sha::Engine;

use crate::hasher::{Digests, streams};

/// Number of items that are hashed side by side. Their paths and outcomes are kept in memory.
const MAX_ITEMS: usize = 1 << 16;

/// Limit of the total length of paths of items that are hashed side by side, in bytes.
const MAX_PATH_BYTES: usize = 16 << 20;

/// Bytes read at a time from a file that is hashed alone.
const ALONE_LEN: usize = 128 << 10;

/// An input to hash, with a tag that the caller chooses.
#[derive(Debug)]
#[non_exhaustive]
pub struct Item<T> {
    /// The source of the bytes.
    pub source: Source,
    /// The digests to compute. The outcome has them in this order.
    pub algorithms: Arc<[Algorithm]>,
    /// A value that is returned with the outcome.
    pub tag: T,
}

impl<T> Item<T> {
    /// Returns the item with this source and these digests to compute, in this order.
    pub fn new(source: Source, algorithms: impl Into<Arc<[Algorithm]>>, tag: T) -> Self {
        Self {
            source,
            algorithms: algorithms.into(),
            tag,
        }
    }
}

/// The source of the bytes of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A file of any kind, read to its end.
    File(PathBuf),
    /// The standard input stream, read from its current position to its end.
    Stdin,
    /// No source. The item keeps its place in the order.
    Nothing,
}

/// The outcome of an item. A program must not take an outcome that it does not know for a success, so a new outcome is a
/// breaking change.
#[derive(Debug)]
pub enum Outcome {
    /// The digests, in the order of [`Item::algorithms`], and the number of bytes read.
    Digests(Vec<Digest>, u64),
    /// The file could not be opened.
    NotOpened(io::Error),
    /// The input could not be read to its end.
    NotRead(io::Error),
    /// The item has no source.
    Nothing,
}

/// An event of a run. A new event is a breaking change, as for [`Outcome`].
#[derive(Debug)]
pub enum Event<'e, T> {
    /// The outcome of an item, in the order of the items.
    Outcome(&'e Item<T>, Outcome),
    /// All known outcomes were delivered, and the next one may take long, so output should be
    /// flushed.
    Pause {
        /// Number of bytes hashed so far, including those of unfinished files.
        hashed_bytes: u64,
        /// The first item without an outcome: one of those that are being hashed. `None` if
        /// all items that were started have one.
        current: Option<&'e Item<T>>,
    },
}

/// Hashes all items.
///
/// Regular files are hashed side by side on worker threads. A pipe, a device or the standard input
/// stream is opened only after the outcomes of all items before it were delivered. `stdin` is read
/// for [`Source::Stdin`].
///
/// After `cancel` is set, the function returns soon, and the remaining items have no outcome. An
/// error of `receive` sets `cancel`, and `receive` is not called again.
///
/// # Errors
/// The first error of `receive`, or an [`Error`] if nothing can be hashed at all. A file that
/// cannot be read is not an error: its outcome is [`Outcome::NotOpened`] or [`Outcome::NotRead`].
pub fn hash_items<T: Sync, E: From<Error>>(
    items: impl IntoIterator<Item = Item<T>>,
    stdin: &mut dyn Read,
    options: &Options,
    cancel: &CancelToken,
    mut receive: impl FnMut(Event<'_, T>) -> Result<(), E>,
) -> Result<(), E> {
    // Files are read to their end, which no map can do.
    let io = match options.io {
        IoMode::Mmap => IoMode::Pread,
        io => io,
    };
    let options = &options.io(io);
    let mut items = items.into_iter().peekable();
    let mut hashed_bytes = 0;
    while items.peek().is_some() && !cancel.is_cancelled() {
        let segment = next_segment(&mut items);
        let files = segment.iter().enumerate();
        let files: Vec<(usize, &Path)> = files
            .filter_map(|(i, item)| match &item.source {
                Source::File(path) => Some((i, path.as_path())),
                Source::Stdin | Source::Nothing => None,
            })
            .collect();
        let mut order = InOrder {
            segment: &segment,
            outcomes: std::iter::repeat_with(|| None)
                .take(segment.len())
                .collect(),
            next: 0,
            hashed_bytes,
            stdin,
            engine: options.engine,
            cancel,
            receive: &mut receive,
            failure: None,
        };
        order.deliver(0);
        if !files.is_empty() {
            let messages = WholeFiles {
                count: files.len() as u32,
            };
            let algorithms =
                |message: u32| Arc::clone(&segment[files[message as usize].0].algorithms);
            let hasher = |engine| Digests::new(engine, &algorithms);
            let set = Files(&files);
            hash_messages(&messages, &set, hasher, options, cancel, |results| {
                order.take(&files, results);
            })?;
        }
        hashed_bytes = order.finish()?;
    }
    Ok(())
}

/// Returns the next items to hash side by side.
fn next_segment<T>(items: &mut impl Iterator<Item = Item<T>>) -> Vec<Item<T>> {
    let (mut segment, mut n_path_bytes) = (Vec::new(), 0);
    while segment.len() < MAX_ITEMS
        && n_path_bytes < MAX_PATH_BYTES
        && let Some(item) = items.next()
    {
        if let Source::File(path) = &item.source {
            n_path_bytes += path.as_os_str().len();
        }
        segment.push(item);
    }
    segment
}

/// The known outcome of a regular file.
enum Known {
    Outcome(Outcome),
    /// The file is hashed alone when it is its turn.
    Alone,
}

/// A segment of the items, and the order of their outcomes.
struct InOrder<'r, T, R, E> {
    segment: &'r [Item<T>],
    /// Outcomes by item, until they are delivered.
    outcomes: Vec<Option<Known>>,
    /// Index of the next item to deliver.
    next: usize,
    /// Bytes of finished items.
    hashed_bytes: u64,
    stdin: &'r mut dyn Read,
    engine: Engine,
    cancel: &'r CancelToken,
    receive: &'r mut R,
    /// The error of `receive`.
    failure: Option<E>,
}

impl<T, E, R: FnMut(Event<'_, T>) -> Result<(), E>> InOrder<'_, T, R, E> {
    /// Returns the number of bytes hashed so far, or the error of `receive`.
    fn finish(self) -> Result<u64, E> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        assert!(
            self.next == self.segment.len() || self.cancel.is_cancelled(),
            "each item has an outcome"
        );
        Ok(self.hashed_bytes)
    }

    /// Records results of the pipeline, and delivers the outcomes that are next in order.
    fn take(&mut self, files: &[(usize, &Path)], results: Results<Vec<Digest>>) {
        let pending_bytes = results.pending_bytes;
        for MessageResult {
            message,
            len_bytes,
            digest,
            ..
        } in results.messages
        {
            self.hashed_bytes += len_bytes;
            // If there is no digest, a fact about the file has the reason.
            if let Ok(digests) = digest {
                let outcome = Outcome::Digests(digests, len_bytes);
                self.outcomes[files[message as usize].0] = Some(Known::Outcome(outcome));
            }
        }
        for FileFact { file, found, .. } in results.facts {
            let outcome = match found {
                Found::Present(_) => continue,
                Found::Skipped => Known::Alone,
                Found::Absent(error)
                | Found::Failed {
                    offset: None,
                    error,
                } => Known::Outcome(Outcome::NotOpened(error)),
                Found::Failed { error, .. } => Known::Outcome(Outcome::NotRead(error)),
            };
            self.outcomes[files[file.get()].0] = Some(outcome);
        }
        self.deliver(pending_bytes);
    }

    /// Delivers the outcomes that are next in order.
    fn deliver(&mut self, pending_bytes: u64) {
        let segment = self.segment;
        while let Some(item) = segment.get(self.next)
            && !self.cancel.is_cancelled()
        {
            let outcome = match &item.source {
                Source::Nothing => Outcome::Nothing,
                Source::Stdin => {
                    self.pause(pending_bytes);
                    self.hash_alone(item, None)
                }
                Source::File(path) => match self.outcomes[self.next].take() {
                    None => break,
                    Some(Known::Outcome(outcome)) => outcome,
                    Some(Known::Alone) => {
                        self.pause(pending_bytes);
                        self.hash_alone(item, Some(path))
                    }
                },
            };
            self.send(Event::Outcome(item, outcome));
            self.next += 1;
        }
        self.pause(pending_bytes);
    }

    fn pause(&mut self, pending_bytes: u64) {
        let segment = self.segment;
        self.send(Event::Pause {
            hashed_bytes: self.hashed_bytes + pending_bytes,
            current: segment.get(self.next),
        });
    }

    fn send(&mut self, event: Event<'_, T>) {
        if self.failure.is_none()
            && let Err(failure) = (self.receive)(event)
        {
            self.failure = Some(failure);
            self.cancel.cancel();
        }
    }

    /// Hashes a file or the standard input stream on this thread.
    fn hash_alone(&mut self, item: &Item<T>, path: Option<&Path>) -> Outcome {
        let file = match path.map(ByteStream::open).transpose() {
            Ok(file) => file,
            Err(error) => return Outcome::NotOpened(error),
        };
        let mut streams = streams(&item.algorithms, self.engine);
        let mut len_bytes = 0;
        let hashed = self.read_alone(file, |bytes| {
            len_bytes += bytes.len() as u64;
            for stream in &mut streams {
                stream.update(bytes);
            }
        });
        self.hashed_bytes += len_bytes;
        match hashed {
            Ok(()) => {
                let digests = streams.into_iter().map(Hasher::finalize).collect();
                Outcome::Digests(digests, len_bytes)
            }
            Err(error) => Outcome::NotRead(error),
        }
    }

    /// Reads a file or the standard input stream to its end.
    fn read_alone(
        &mut self,
        mut file: Option<ByteStream>,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut buffer = vec![0; ALONE_LEN];
        loop {
            let result = match &mut file {
                Some(file) => file.read(&mut buffer),
                None => self.stdin.read(&mut buffer),
            };
            match result {
                Ok(0) => return Ok(()),
                Ok(n) => take(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.cancel.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }
}

/// The files of a segment, each with its index in the segment.
#[derive(Debug)]
struct Files<'p>(&'p [(usize, &'p Path)]);

impl FileSet for Files<'_> {
    /// Returns the first file. Most lists have files on a single disk.
    fn root(&self) -> &Path {
        self.0.first().map_or(Path::new(""), |(_, path)| path)
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.0[file.get()].1.to_owned())
    }

    /// Opens a regular file. The calling thread reads all others.
    fn open_stream(&self, file: FileIndex) -> io::Result<Option<ByteStream>> {
        ByteStream::open_regular(self.0[file.get()].1)
    }
}
