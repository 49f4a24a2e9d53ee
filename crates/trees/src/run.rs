//! Hashes files, and delivers the result of each in the order of the files.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{SourceFile, Stamp};
use hashlane_hashes::Algorithm;
use hashlane_pipeline::{
    CancelToken, Error, Fault, FileFact, Found, Frame, FramedDigest, IoMode, LaneDigest,
    MessageHasher, Options, Results, hash_messages,
};
use hashlane_sha::{Engine, Md5, Sha1, Sha256};

use crate::format::{Builder, Format, Leaves};
use crate::hasher::{OneByOne, in_lanes};
use crate::segment::Segment;

/// Maximum number of leaves that are hashed side by side. Their digests take at most 16 MiB.
const MAX_LEAVES: u64 = 1 << 18;

/// Maximum number of files that are hashed side by side.
const MAX_FILES: usize = 1 << 13;

/// A file to hash, with a tag that the caller chooses.
#[derive(Debug)]
#[non_exhaustive]
pub struct Item<T> {
    /// The path of the file.
    pub path: PathBuf,
    /// A value that is returned with the outcome.
    pub tag: T,
}

impl<T> Item<T> {
    /// Returns the item.
    pub fn new(path: impl Into<PathBuf>, tag: T) -> Self {
        let path = path.into();
        Self { path, tag }
    }
}

/// The outcome of a file. A program must not take an outcome that it does not know for a success, so a new outcome is a
/// breaking change.
#[derive(Debug)]
pub enum Outcome<H> {
    /// The result, and the length of the file in bytes.
    Hash(H, u64),
    /// The file could not be opened, or is not a regular file.
    NotOpened(io::Error),
    /// The file could not be read to its end.
    NotRead(io::Error),
    /// The file changed while it was read.
    Changed,
    /// The file is shorter than this number of bytes, the minimum of the format.
    TooShort(u64),
    /// The file is longer than this number of bytes, the limit of the format.
    TooLong(u64),
    /// The length of the file is no multiple of this number of bytes, so that the format would leave its last bytes out.
    NotMultiple(u64),
    /// The file that the tree is written to could not be written.
    NotWritten(io::Error),
}

impl<H> Outcome<H> {
    /// Returns the reason why the file has no result, or an empty text if it has one.
    pub fn problem(&self) -> String {
        match self {
            Self::Hash(..) => String::new(),
            Self::NotOpened(error) | Self::NotRead(error) => error.to_string(),
            Self::Changed => "changed while it was read: hash it again".into(),
            Self::TooShort(1) => "is empty: this tree hash needs at least one byte".into(),
            Self::TooShort(min) => {
                format!("has fewer than {min} bytes, the minimum of this tree hash")
            }
            Self::TooLong(max) => {
                format!("is longer than {max} bytes: choose longer blocks or parts")
            }
            Self::NotMultiple(unit) => {
                format!(
                    "its length is no multiple of {unit} bytes: fill it with zeros, or choose the number of blocks to hash"
                )
            }
            Self::NotWritten(error) => format!("the tree cannot be written: {error}"),
        }
    }
}

/// An event of a run. A new event is a breaking change, as for [`Outcome`].
#[derive(Debug)]
pub enum Event<'e, T, H> {
    /// The outcome of an item, in the order of the items.
    Outcome(&'e T, Outcome<H>),
    /// All known outcomes were delivered, and the next one may take long, so output should be flushed.
    Pause {
        /// Number of bytes hashed so far, including those of unfinished files.
        hashed_bytes: u64,
        /// The first item without an outcome, if it was started.
        current: Option<&'e T>,
    },
}

/// Hashes files in a format, on all cores.
///
/// After `cancel` is set, the function returns soon, and the remaining items have no outcome. An error of `receive` ends
/// the run.
///
/// # Errors
/// The first error of `receive`, or an [`Error`] if nothing can be hashed at all. A file that cannot be read is not an
/// error: see [`Outcome`].
pub fn hash_files<F: Format, T, E: From<Error>>(
    format: &F,
    items: impl IntoIterator<Item = Item<T>>,
    options: &Options,
    cancel: &CancelToken,
    receive: impl FnMut(Event<'_, T, F::Hash>) -> Result<(), E>,
) -> Result<(), E> {
    let mut run = Run {
        format,
        leaves: Leaves::of(format),
        engine: options.engine,
        cancel: cancel.child(),
        files: VecDeque::new(),
        hashed_bytes: 0,
        receive,
        failure: None,
    };
    let mut items = items.into_iter();
    loop {
        let segment = run.next_segment(&mut items);
        if segment.parts().is_empty() || run.cancel.is_cancelled() {
            break;
        }
        run.hash(&segment, options)?;
        if let Some(failure) = run.failure.take() {
            return Err(failure);
        }
    }
    Ok(())
}

/// Returns the options for hashers that cannot read mapped files.
fn buffered(options: &Options) -> Options {
    match options.io {
        IoMode::Mmap => options.io(IoMode::Pread),
        _ => *options,
    }
}

/// A file whose outcome was not delivered yet.
struct File<F: Format, T> {
    path: PathBuf,
    tag: T,
    len_bytes: u64,
    /// Number of bytes that are hashed.
    content_len: u64,
    /// The state before the first byte was read, or the reason why the file is not read.
    state: Result<Stamp, Outcome<F::Hash>>,
    builder: F::Builder,
    n_leaves: u64,
    /// Number of leaves that are in this segment or an earlier one.
    n_planned: u64,
}

/// The state of a run on the calling thread.
struct Run<'f, F: Format, T, R, E> {
    format: &'f F,
    leaves: Leaves,
    engine: Engine,
    cancel: CancelToken,
    /// The files of the current segment, in order. The last file of a segment can be the first one of the next.
    files: VecDeque<File<F, T>>,
    /// Bytes of the finished messages.
    hashed_bytes: u64,
    receive: R,
    /// The error of `receive`.
    failure: Option<E>,
}

impl<F: Format, T, R, E: From<Error>> Run<'_, F, T, R, E>
where
    R: FnMut(Event<'_, T, F::Hash>) -> Result<(), E>,
{
    /// Returns the leaves to hash next, and puts their files into `files`. Empty after the last file.
    fn next_segment(&mut self, items: &mut impl Iterator<Item = Item<T>>) -> Segment {
        let mut segment = Segment::new(self.leaves);
        let mut room = MAX_LEAVES;
        if let Some(file) = self.files.back_mut() {
            file.plan(&mut segment, &mut room);
        }
        while room > 0 && segment.parts().len() < MAX_FILES {
            let Some(item) = items.next() else { break };
            let mut file = self.open(item);
            file.plan(&mut segment, &mut room);
            self.files.push_back(file);
        }
        segment
    }

    fn open(&self, item: Item<T>) -> File<F, T> {
        let opened = stamp_of(&item.path);
        let len_bytes = opened.as_ref().map_or(0, Stamp::length);
        let (min_len, max_len) = (self.format.min_len(), self.format.max_len());
        let content_len = self.format.content_len(len_bytes.min(max_len));
        let state = match opened {
            Ok(_) if len_bytes > max_len => Err(Outcome::TooLong(max_len)),
            Ok(_) if len_bytes < min_len => Err(Outcome::TooShort(min_len)),
            Ok(_) if !len_bytes.is_multiple_of(self.format.len_unit()) => {
                Err(Outcome::NotMultiple(self.format.len_unit()))
            }
            Ok(stamp) => Ok(stamp),
            Err(error) => Err(Outcome::NotOpened(error)),
        };
        File {
            n_leaves: match state {
                Ok(_) => self.leaves.count(content_len),
                Err(_) => 0,
            },
            builder: self.format.builder(self.engine, content_len),
            path: item.path,
            tag: item.tag,
            len_bytes,
            content_len,
            state,
            n_planned: 0,
        }
    }

    /// Hashes the leaves of a segment.
    fn hash(&mut self, segment: &Segment, options: &Options) -> Result<(), E> {
        let (format, leaves) = (self.format, self.leaves);
        let frame = format.frame(leaves.len_bytes);
        let prefix = &frame.prefix;
        let frame_of = |message| format.frame(segment.len_of(message));
        let mut order = InOrder {
            segment,
            digests: Vec::new(),
            next: 0,
            part: 0,
            reasons: HashMap::new(),
            is_complete: false,
            run: self,
        };
        let n_messages = segment.parts().last().map_or(0, |part| part.messages.end);
        order.digests.resize_with(n_messages as usize, || None);
        if n_messages > 0 {
            match (format.leaf_hash(), leaves.chunk_len()) {
                (Algorithm::Sha1, Some(len)) => {
                    order.hash(options, |engine| in_lanes::<Sha1>(engine, len, prefix))
                }
                (Algorithm::Sha256, Some(len)) => {
                    order.hash(options, |engine| in_lanes::<Sha256>(engine, len, prefix))
                }
                (Algorithm::Sha1, None) => order.hash(options, |engine| {
                    FramedDigest::<Sha1>::new(engine, &frame_of)
                }),
                (Algorithm::Sha256, None) => order.hash(options, |engine| {
                    FramedDigest::<Sha256>::new(engine, &frame_of)
                }),
                (Algorithm::Md5, None) if frame == Frame::default() => {
                    order.hash(&buffered(options), |engine| LaneDigest::<Md5>::new(&engine))
                }
                (hash, _) => {
                    let len = leaves.len_bytes;
                    let hasher = |engine| OneByOne::new(engine, hash, len, &frame);
                    order.hash(&buffered(options), hasher)
                }
            }?;
        }
        order.is_complete = true;
        order.deliver(0);
        Ok(())
    }

    fn send(&mut self, event: Event<'_, T, F::Hash>) {
        if self.failure.is_none()
            && let Err(failure) = (self.receive)(event)
        {
            self.failure = Some(failure);
            self.cancel.cancel();
        }
    }
}

impl<F: Format, T> File<F, T> {
    /// Adds the next leaves of the file to a segment, also if there are none.
    fn plan(&mut self, segment: &mut Segment, room: &mut u64) {
        let end = match self.state {
            Ok(_) => self.n_leaves.min(self.n_planned + *room),
            // The rest of a file that cannot be read is not read.
            Err(_) => self.n_planned,
        };
        *room -= end - self.n_planned;
        let leaves = self.n_planned..end;
        segment.push(self.path.clone(), self.content_len, leaves);
        self.n_planned = end;
    }

    /// Returns `true` if no leaves are left.
    fn is_planned(&self) -> bool {
        self.n_planned == self.n_leaves || self.state.is_err()
    }

    fn outcome(self) -> (T, Outcome<F::Hash>) {
        let stamp = match self.state {
            Ok(stamp) => stamp,
            Err(outcome) => return (self.tag, outcome),
        };
        let outcome = if stamp_of(&self.path).is_ok_and(|now| now == stamp) {
            match self.builder.finish() {
                Ok(hash) => Outcome::Hash(hash, self.len_bytes),
                Err(error) => Outcome::NotWritten(error),
            }
        } else {
            Outcome::Changed
        };
        (self.tag, outcome)
    }
}

/// Returns the stamp of a file. Only an empty one is opened: it has no leaves, so nothing else would, and files in /proc have length 0
/// but are not empty.
fn stamp_of(path: &Path) -> io::Result<Stamp> {
    let metadata = path.metadata()?;
    if metadata.is_file() && metadata.len() > 0 {
        return Ok(Stamp::of(&metadata));
    }
    let source = SourceFile::open(path)?;
    let stamp = source.stamp()?;
    if stamp.length() == 0 && source.read_at(&mut [0], 0)? > 0 {
        return Err(io::Error::other("the system does not know its length"));
    }
    Ok(stamp)
}

/// The digests of the messages of a segment, and their order.
struct InOrder<'s, 'f, F: Format, T, R, E> {
    segment: &'s Segment,
    /// The digests of leaves by message, until it is their turn.
    digests: Vec<Option<Result<Vec<u8>, Fault>>>,
    /// The next message.
    next: usize,
    /// The index of its part.
    part: usize,
    /// The first error of each file, by the index of its part, with the offset of the first byte that could not be read.
    reasons: HashMap<usize, (Option<u64>, io::Error)>,
    /// Whether all results have come.
    is_complete: bool,
    run: &'s mut Run<'f, F, T, R, E>,
}

impl<F: Format, T, R, E: From<Error>> InOrder<'_, '_, F, T, R, E>
where
    R: FnMut(Event<'_, T, F::Hash>) -> Result<(), E>,
{
    /// Hashes all messages, and delivers what is next meanwhile.
    fn hash<H: MessageHasher<Digest: AsRef<[u8]>>>(
        &mut self,
        options: &Options,
        hasher: impl Fn(Engine) -> H + Sync,
    ) -> Result<(), Error> {
        let (segment, cancel) = (self.segment, self.run.cancel.clone());
        hash_messages(segment, segment, hasher, options, &cancel, |results| {
            self.take(results);
        })
    }

    fn take(&mut self, results: Results<impl AsRef<[u8]>>) {
        for FileFact { file, found, .. } in results.facts {
            let reason = match found {
                Found::Present(_) | Found::Skipped => continue,
                Found::Absent(error) => (None, error),
                Found::Failed { offset, error } => (offset, error),
            };
            self.reasons.entry(file.get()).or_insert(reason);
        }
        for result in results.messages {
            self.run.hashed_bytes += result.len_bytes;
            self.digests[result.message as usize] =
                Some(result.digest.map(|digests| digests.as_ref().to_vec()));
        }
        self.deliver(results.pending_bytes);
    }

    /// Passes on the digests that are next, and delivers the outcomes of files without further leaves.
    fn deliver(&mut self, pending_bytes: u64) {
        let segment = self.segment;
        while let Some(part) = segment.parts().get(self.part)
            && !self.run.cancel.is_cancelled()
        {
            while self.next < part.messages.end as usize {
                match self.digests[self.next].take() {
                    Some(Ok(digests)) => self.run.files[0].builder.push(&digests),
                    // The reason may come later than the fault.
                    Some(Err(fault)) if !self.is_complete => {
                        self.digests[self.next] = Some(Err(fault));
                        return;
                    }
                    Some(Err(_)) => self.fail(),
                    None => return,
                }
                self.next += 1;
            }
            if !self.run.files[0].is_planned() {
                break;
            }
            if let Some(file) = self.run.files.pop_front() {
                let (tag, outcome) = file.outcome();
                self.run.send(Event::Outcome(&tag, outcome));
            }
            self.part += 1;
        }
        let hashed_bytes = self.run.hashed_bytes + pending_bytes;
        // The event borrows the file, so it is taken out meanwhile.
        let current = self.run.files.pop_front();
        self.run.send(Event::Pause {
            hashed_bytes,
            current: current.as_ref().map(|file| &file.tag),
        });
        if let Some(current) = current {
            self.run.files.push_front(current);
        }
    }

    /// Notes that the next message cannot be read.
    fn fail(&mut self) {
        let file = &mut self.run.files[0];
        if file.state.is_ok() {
            file.state = Err(match self.reasons.remove(&self.part) {
                Some((None, error)) => Outcome::NotOpened(error),
                Some((Some(_), error)) => Outcome::NotRead(error),
                // The file was long enough when it was opened.
                None => Outcome::Changed,
            });
        }
    }
}
