//! Hashes files, and delivers the result of each in the order of the files.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{SourceFile, Stamp};
use hashlane_hashes::Algorithm;
use hashlane_pipeline::{
    CancelToken, Error, Event, Events, Failure, FileIndex, Frame, FramedDigest, IoMode, LaneDigest,
    MessageHasher, Options, Ordered, Outcome, Results, Turn, hash_messages,
};
use hashlane_sha::{Engine, Md5, Sha1, Sha256, Sha512};

use crate::format::{Builder, Format, Leaves};
use crate::hasher::{LaneLeaves, OneByOne, in_lanes};
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

/// Hashes files in a format, on all cores.
///
/// After `cancel` is set, the function returns soon, and the remaining items have no outcome. An error of `receive` ends
/// the run.
///
/// # Errors
/// The first error of `receive`, or an [`Error`] if nothing can be hashed at all. A file that cannot be read is not an
/// error: its outcome is a [`Failure`].
pub fn hash_files<H, T, E: From<Error>>(
    format: &dyn Format<Hash = H>,
    items: impl IntoIterator<Item = Item<T>>,
    options: &Options,
    cancel: &CancelToken,
    receive: impl FnMut(Event<'_, T, H>) -> Result<(), E>,
) -> Result<(), E> {
    let (events, cancel) = Events::new(receive, cancel);
    let mut run = Run {
        format,
        leaves: Leaves::of(format),
        engine: options.engine,
        cancel,
        files: VecDeque::new(),
        hashed_bytes: 0,
        events,
    };
    let mut items = items.into_iter();
    loop {
        let segment = run.next_segment(&mut items);
        if segment.parts().is_empty() || run.cancel.is_cancelled() {
            break;
        }
        run.hash(&segment, options)?;
        run.events.check()?;
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
struct File<H, T> {
    path: PathBuf,
    tag: T,
    len_bytes: u64,
    /// Number of bytes that are hashed.
    content_len: u64,
    /// The state before the first byte was read, or the reason why the file is not read.
    state: Result<Stamp, Failure>,
    builder: Box<dyn Builder<H>>,
    n_leaves: u64,
    /// Number of leaves that are in this segment or an earlier one.
    n_planned: u64,
}

/// The state of a run on the calling thread.
struct Run<'f, H, T, R, E> {
    format: &'f dyn Format<Hash = H>,
    leaves: Leaves,
    engine: Engine,
    cancel: CancelToken,
    /// The files of the current segment, in order. The last file of a segment can be the first one of the next.
    files: VecDeque<File<H, T>>,
    /// Bytes of the finished messages.
    hashed_bytes: u64,
    events: Events<R, E>,
}

impl<H, T, R, E: From<Error>> Run<'_, H, T, R, E>
where
    R: FnMut(Event<'_, T, H>) -> Result<(), E>,
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

    fn open(&self, item: Item<T>) -> File<H, T> {
        let opened = stamp_of(&item.path);
        let len_bytes = opened.as_ref().map_or(0, Stamp::length);
        let (min_len, max_len) = (self.format.min_len(), self.format.max_len());
        let content_len = self.format.content_len(len_bytes.min(max_len));
        let state = match opened {
            Ok(_) if len_bytes > max_len => Err(Failure::TooLong(max_len)),
            Ok(_) if len_bytes < min_len => Err(Failure::TooShort(min_len)),
            Ok(_) if !len_bytes.is_multiple_of(self.format.len_unit()) => {
                Err(Failure::NotMultiple(self.format.len_unit()))
            }
            Ok(stamp) => Ok(stamp),
            Err(error) => Err(Failure::NotOpened(error)),
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
        let n_messages = segment.parts().last().map_or(0, |part| part.messages.end);
        let mut order = InOrder {
            segment,
            ordered: Ordered::new(n_messages),
            part: 0,
            run: self,
        };
        if n_messages > 0 {
            match (format.leaf_hash(), leaves.chunk_len()) {
                (Algorithm::Sha1, Some(len)) => {
                    order.hash(options, |engine| in_lanes::<Sha1>(engine, len, prefix))
                }
                (Algorithm::Sha256, Some(len)) => {
                    order.hash(options, |engine| in_lanes::<Sha256>(engine, len, prefix))
                }
                (Algorithm::Sha512, Some(len)) => order.hash(&buffered(options), |engine| {
                    LaneLeaves::<Sha512>::new(&engine, len, prefix)
                }),
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
        order.ordered.complete();
        order.deliver(0);
        Ok(())
    }
}

impl<H, T> File<H, T> {
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

    fn outcome(self) -> (T, Outcome<H>) {
        let Self {
            path,
            tag,
            state,
            builder,
            len_bytes,
            ..
        } = self;
        let outcome = state.and_then(|stamp| {
            if !stamp_of(&path).is_ok_and(|now| now == stamp) {
                return Err(Failure::Changed);
            }
            let hash = builder.finish().map_err(Failure::NotWritten)?;
            Ok((hash, len_bytes))
        });
        (tag, outcome)
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
struct InOrder<'s, 'f, H, T, R, E> {
    segment: &'s Segment,
    /// The digests of the leaves of each message.
    ordered: Ordered<Vec<u8>>,
    /// The index of the part that the next message lies in.
    part: usize,
    run: &'s mut Run<'f, H, T, R, E>,
}

impl<H, T, R, E: From<Error>> InOrder<'_, '_, H, T, R, E>
where
    R: FnMut(Event<'_, T, H>) -> Result<(), E>,
{
    /// Hashes all messages, and delivers what is next meanwhile.
    fn hash<M: MessageHasher<Digest: AsRef<[u8]>>>(
        &mut self,
        options: &Options,
        hasher: impl Fn(Engine) -> M + Sync,
    ) -> Result<(), Error> {
        let (segment, cancel) = (self.segment, self.run.cancel.clone());
        hash_messages(segment, segment, hasher, options, &cancel, |results| {
            self.take(results);
        })
    }

    fn take(&mut self, results: Results<impl AsRef<[u8]>>) {
        let pending_bytes = results.pending_bytes;
        let taken = self
            .ordered
            .take(results, |digests| digests.as_ref().to_vec());
        self.run.hashed_bytes += taken;
        self.deliver(pending_bytes);
    }

    /// Passes on the digests that are next, and delivers the outcomes of files without further leaves.
    fn deliver(&mut self, pending_bytes: u64) {
        let segment = self.segment;
        while let Some(part) = segment.parts().get(self.part)
            && !self.run.cancel.is_cancelled()
        {
            while self.ordered.next_message() < part.messages.end {
                let file = &mut self.run.files[0];
                match self.ordered.next(FileIndex::new(self.part)) {
                    None => return,
                    Some(Turn::Digest(digests, _)) => file.builder.push(&digests),
                    Some(turn) => {
                        file.state = Err(match turn {
                            Turn::Failed(failure) => failure,
                            _ => Failure::Changed,
                        });
                        self.ordered.skip_to(part.messages.end);
                    }
                }
            }
            if !self.run.files[0].is_planned() {
                break;
            }
            if let Some(file) = self.run.files.pop_front() {
                let (tag, outcome) = file.outcome();
                self.run.events.send(Event::Outcome(&tag, outcome));
            }
            self.part += 1;
        }
        let hashed_bytes = self.run.hashed_bytes + pending_bytes;
        self.run.events.send(Event::Pause {
            hashed_bytes,
            current: self.run.files.front().map(|file| &file.tag),
        });
    }
}
