//! Hashing of inputs side by side, with outcomes in the order of the inputs.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_files::ByteStream;
use hashlane_hashes::{Algorithm, Digest, Hasher};
use hashlane_pipeline::{
    CancelToken, Error, Event, Events, Failure, FileIndex, FileSet, IoMode, Options, Ordered,
    Outcome, Results, Turn, WholeFiles, hash_messages,
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
    /// No source: the item has no digests. It keeps its place in the order.
    Nothing,
}

/// Hashes all items.
///
/// Regular files are hashed side by side on worker threads. A pipe, a device or the standard input
/// stream is opened only after the outcomes of all items before it were delivered. `stdin` is read
/// for [`Source::Stdin`].
///
/// After `cancel` is set, the function returns soon, and the remaining items have no outcome. An
/// error of `receive` ends the run, and `receive` is not called again.
///
/// # Errors
/// The first error of `receive`, or an [`Error`] if nothing can be hashed at all. A file that
/// cannot be read is not an error: its outcome is a [`Failure`].
pub fn hash_items<T: Sync, E: From<Error>>(
    items: impl IntoIterator<Item = Item<T>>,
    stdin: &mut dyn Read,
    options: &Options,
    cancel: &CancelToken,
    receive: impl FnMut(Event<'_, Item<T>, Vec<Digest>>) -> Result<(), E>,
) -> Result<(), E> {
    // Files are read to their end, which no map can do.
    let io = match options.io {
        IoMode::Mmap => IoMode::Pread,
        io => io,
    };
    let options = &options.io(io);
    let (mut events, cancel) = Events::new(receive, cancel);
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
            next: 0,
            ordered: Ordered::new(files.len() as u32),
            hashed_bytes,
            stdin,
            engine: options.engine,
            cancel: &cancel,
            events: &mut events,
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
            hash_messages(&messages, &set, hasher, options, &cancel, |results| {
                order.take(results);
            })?;
            order.ordered.complete();
            order.deliver(0);
        }
        hashed_bytes = order.finish();
        events.check()?;
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

/// A segment of the items, and the order of their outcomes.
struct InOrder<'r, T, R, E> {
    segment: &'r [Item<T>],
    /// Index of the next item to deliver.
    next: usize,
    /// The digests of the files. Each is one message.
    ordered: Ordered<Vec<Digest>>,
    /// Bytes of finished messages.
    hashed_bytes: u64,
    stdin: &'r mut dyn Read,
    engine: Engine,
    cancel: &'r CancelToken,
    events: &'r mut Events<R, E>,
}

impl<T, E, R: FnMut(Event<'_, Item<T>, Vec<Digest>>) -> Result<(), E>> InOrder<'_, T, R, E> {
    /// Returns the number of bytes of finished messages.
    fn finish(self) -> u64 {
        let is_done = self.next == self.segment.len() || self.cancel.is_cancelled();
        assert!(is_done, "each item has an outcome");
        self.hashed_bytes
    }

    /// Records results of the pipeline, and delivers the outcomes that are next in order.
    fn take(&mut self, results: Results<Vec<Digest>>) {
        let pending_bytes = results.pending_bytes;
        self.hashed_bytes += self.ordered.take(results, |digests| digests);
        self.deliver(pending_bytes);
    }

    /// Delivers the outcomes that are next in order.
    fn deliver(&mut self, pending_bytes: u64) {
        let segment = self.segment;
        while let Some(item) = segment.get(self.next)
            && !self.cancel.is_cancelled()
        {
            let outcome = match &item.source {
                Source::Nothing => Ok((Vec::new(), 0)),
                Source::Stdin => {
                    self.pause(pending_bytes);
                    self.hash_alone(item, None)
                }
                Source::File(path) => {
                    let file = FileIndex::new(self.ordered.next_message() as usize);
                    match self.ordered.next(file) {
                        None => break,
                        Some(Turn::Digest(digests, len_bytes)) => Ok((digests, len_bytes)),
                        Some(Turn::Failed(failure)) => Err(failure),
                        Some(Turn::Skipped) => {
                            self.pause(pending_bytes);
                            self.hash_alone(item, Some(path))
                        }
                    }
                }
            };
            self.events.send(Event::Outcome(item, outcome));
            self.next += 1;
        }
        self.pause(pending_bytes);
    }

    fn pause(&mut self, pending_bytes: u64) {
        let segment = self.segment;
        self.events.send(Event::Pause {
            hashed_bytes: self.hashed_bytes + pending_bytes,
            current: segment.get(self.next),
        });
    }

    /// Hashes a file or the standard input stream on this thread.
    fn hash_alone(&mut self, item: &Item<T>, path: Option<&Path>) -> Outcome<Vec<Digest>> {
        let file = path.map(ByteStream::open).transpose();
        let file = file.map_err(Failure::NotOpened)?;
        let mut streams = streams(&item.algorithms, self.engine);
        let mut len_bytes = 0;
        let hashed = self.read_alone(file, |bytes| {
            len_bytes += bytes.len() as u64;
            for stream in &mut streams {
                stream.update(bytes);
            }
        });
        self.hashed_bytes += len_bytes;
        hashed.map_err(Failure::NotRead)?;
        let digests = streams.into_iter().map(Hasher::finalize).collect();
        Ok((digests, len_bytes))
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
