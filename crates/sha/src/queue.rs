//! Many messages that arrive one by one, whole or in parts.

use core::fmt;

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, state_to_digest};
use crate::engine::Engine;
use crate::kernels::rounds::Rounds as _;
use crate::scheduler::{Bodies, Finished, Job, Lanes, Tail};
use crate::types::{BLOCK_LEN, Block, MAX_LANES, MAX_MESSAGES, N_SETS, State};

/// A queue that hashes messages as they arrive, in up to [`Engine::lanes`] lanes at once.
///
/// Each message is submitted with a tag that the caller chooses. `done` receives the tag, the
/// message and the digest later, in unspecified order. When a call fills the last lane, all lanes
/// run until at least one message ends, which frees its lane. Lanes therefore stay busy even if the
/// messages differ in length. Nothing is allocated. The queue owns the messages and does not copy
/// them: `M` is a slice, a `Vec<u8>` or any other buffer. `done` gets the buffer back, to be filled
/// again.
///
/// ```
/// use hashlane_sha::{LaneQueue, Sha1, digest};
///
/// let words = ["one", "two", "three", "and", "so", "on"];
/// let mut digests = [None; 6];
/// let mut queue = LaneQueue::<Sha1, usize, &str>::new();
/// for (i, word) in words.into_iter().enumerate() {
///     queue.submit(i, word, |hashed| digests[hashed.tag] = hashed.digest());
/// }
/// queue.flush(|hashed| digests[hashed.tag] = hashed.digest());
/// assert_eq!(digests[2], Some(digest::<Sha1>(b"three")));
/// ```
///
/// A message can also arrive in parts, for example a file that is read through one buffer. A part
/// is submitted with the hasher of its message. `done` gets the hasher back, ready for the next
/// part:
///
/// ```
/// use hashlane_sha::{LaneQueue, Outcome, Sha256, digest};
///
/// let mut parts = [vec![1; 100], vec![2; 100]].into_iter();
/// let mut queue = LaneQueue::<Sha256, (), Vec<u8>>::new();
/// let mut hasher = Some(Sha256::new());
/// let mut digest_of_parts = None;
/// while let Some(current) = hasher.take() {
///     match parts.next() {
///         Some(part) => queue.submit_part((), current, part, |_| {}),
///         None => queue.submit_last((), current, Vec::new(), |_| {}),
///     }
///     queue.flush(|hashed| match hashed.outcome {
///         Outcome::Hasher(next) => hasher = Some(next),
///         Outcome::Digest(digest) => digest_of_parts = Some(digest),
///     });
/// }
/// assert_eq!(digest_of_parts, Some(digest::<Sha256>(&[[1; 100], [2; 100]].concat())));
/// ```
///
/// If `done` panics, the queue stays usable: the next call passes the remaining results to its
/// `done`.
///
/// For messages that are all available, use [`Engine::digest_many`]. Dropping a queue drops the
/// messages in it.
pub struct LaneQueue<A: Algorithm, T, M> {
    engine: Engine,
    lanes: Lanes<N_SETS>,
    /// The entries of the running and the `finished` jobs. A job's tag is its index here.
    entries: [Option<Entry<A, T, M>>; MAX_MESSAGES],
    finished: Finished,
}

/// A message, or a part of a message, that a [`LaneQueue`] has hashed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Hashed<A: Algorithm, T, M> {
    /// The tag that the message or the part was submitted with.
    pub tag: T,
    /// The submitted message or part.
    pub bytes: M,
    /// The digest, or the hasher for the next part.
    pub outcome: Outcome<A>,
}

impl<A: Algorithm, T, M> Hashed<A, T, M> {
    /// Returns the digest of the message, or `None` if this was not the last part.
    pub fn digest(&self) -> Option<A::Digest> {
        match self.outcome {
            Outcome::Digest(digest) => Some(digest),
            Outcome::Hasher(_) => None,
        }
    }
}

/// The result of hashing a message or a part in a [`LaneQueue`]. A message ends or continues: there
/// is no third result.
#[derive(Clone, Debug)]
pub enum Outcome<A: Algorithm> {
    /// The digest of a whole message.
    Digest(A::Digest),
    /// The hasher of a message whose last part was not submitted yet.
    Hasher(A),
}

/// The caller's side of a job.
struct Entry<A, T, M> {
    tag: T,
    bytes: M,
    /// The end of the whole blocks in `bytes`.
    end: usize,
    /// Number of blocks before `end` that are not hashed yet.
    blocks_left: usize,
    /// The hasher to hand back, or `None` if the message ends with this job.
    hasher: Option<A>,
}

impl<A, T, M: AsRef<[u8]>> Entry<A, T, M> {
    fn body(&self) -> &[Block] {
        let start = self.end - self.blocks_left * BLOCK_LEN;
        let (blocks, _) = self.bytes.as_ref()[start..self.end].as_chunks();
        blocks
    }
}

impl<A: Algorithm, T, M> Entry<A, T, M> {
    fn into_hashed(self, state: &State) -> Hashed<A, T, M> {
        let outcome = match self.hasher {
            None => Outcome::Digest(state_to_digest::<A>(state)),
            Some(mut hasher) => {
                A::Entries::context_mut(&mut hasher).state = *state;
                Outcome::Hasher(hasher)
            }
        };
        Hashed {
            tag: self.tag,
            bytes: self.bytes,
            outcome,
        }
    }
}

impl<A: Algorithm, T, M: AsRef<[u8]>> LaneQueue<A, T, M> {
    /// Returns an empty queue on the best backends of this CPU: see [`Engine::detect`].
    pub fn new() -> Self {
        Self::with_engine(Engine::detect())
    }

    /// Returns an empty queue on the kernels of `engine`.
    pub fn with_engine(engine: Engine) -> Self {
        Self {
            engine,
            lanes: Lanes::new(),
            entries: [const { None }; MAX_MESSAGES],
            finished: Finished::default(),
        }
    }

    /// Adds a message. If the message fills the last lane, the lanes run until at least one job
    /// ends. `done` then receives every job that has ended. Before that, and without a flush, it
    /// receives none: a part without a whole block ends at once, and is reported then too.
    pub fn submit(&mut self, tag: T, message: M, mut done: impl FnMut(Hashed<A, T, M>)) {
        self.run_if_full(&mut done);
        let place = self.free_place();
        let job = Job {
            tag: place,
            state: A::Entries::IV,
            body: self
                .lanes
                .free_tail()
                .insert(Tail::NONE)
                .pad_message(0, message.as_ref()),
        };
        let blocks_left = job.body.len();
        self.lanes.start(&job);
        self.entries[place] = Some(Entry {
            tag,
            bytes: message,
            end: blocks_left * BLOCK_LEN,
            blocks_left,
            hasher: None,
        });
        self.run_if_full(done);
    }

    /// Adds a part of a message, after the parts that were added to `hasher`. `done` receives the
    /// hasher in [`Outcome::Hasher`]. Otherwise like [`Self::submit`].
    ///
    /// Parts whose lengths are multiples of [`BLOCK_LEN`] are fastest.
    pub fn submit_part(&mut self, tag: T, hasher: A, part: M, done: impl FnMut(Hashed<A, T, M>)) {
        self.add(tag, hasher, part, false, done);
    }

    /// Adds the last part of a message, which may be empty, after the parts that were added to
    /// `hasher`. `done` receives the digest in [`Outcome::Digest`]. Otherwise like
    /// [`Self::submit`].
    pub fn submit_last(&mut self, tag: T, hasher: A, part: M, done: impl FnMut(Hashed<A, T, M>)) {
        self.add(tag, hasher, part, true, done);
    }

    /// Runs until every job has ended. The queue is empty afterwards and can be used again.
    pub fn flush(&mut self, done: impl FnMut(Hashed<A, T, M>)) {
        self.run(0, done);
    }

    fn add(
        &mut self,
        tag: T,
        mut hasher: A,
        part: M,
        is_last: bool,
        mut done: impl FnMut(Hashed<A, T, M>),
    ) {
        self.run_if_full(&mut done);
        let place = self.free_place();
        let bytes = part.as_ref();
        let context = A::Entries::context_mut(&mut hasher);
        let kernel = context.kernel;
        let body = context.absorb(bytes, |state, block| {
            A::Entries::compress(kernel, state, block);
        });
        let tail = self.lanes.free_tail();
        if is_last {
            context.pad(tail.insert(Tail::NONE));
        }
        let job = Job {
            tag: place,
            state: context.state,
            body,
        };
        // The bytes after the whole blocks are in the hasher's buffer.
        let end = bytes.len()
            - if body.is_empty() {
                0
            } else {
                context.buffered()
            };
        let blocks_left = body.len();
        if !self.lanes.start(&job) {
            self.finished.push(place, &job.state);
        }
        self.entries[place] = Some(Entry {
            tag,
            bytes: part,
            end,
            blocks_left,
            hasher: (!is_last).then_some(hasher),
        });
        self.run_if_full(done);
    }

    fn free_place(&self) -> usize {
        let free = self.entries.iter().position(Option::is_none);
        free.expect("every call makes room before it adds a job")
    }

    /// A queue is full after a job was added, or if `as_ref` of a message panicked then.
    fn run_if_full(&mut self, done: impl FnMut(Hashed<A, T, M>)) {
        let n_lanes = self.engine.lanes::<A>();
        if self.len() >= n_lanes {
            self.run(n_lanes - 1, done);
        }
    }

    /// Runs until at most `n_left` jobs are running and `done` has received all finished jobs.
    fn run(&mut self, n_left: usize, mut done: impl FnMut(Hashed<A, T, M>)) {
        loop {
            // The entry leaves the queue before `done` runs, because `done` may panic.
            while let Some((place, state)) = self.finished.pop() {
                let entry = self.entries[place].take().expect("each job has an entry");
                done(entry.into_hashed(&state));
            }
            if self.lanes.tags().len() <= n_left {
                return;
            }
            self.step();
        }
    }

    fn step(&mut self) {
        // `as_ref` may panic, so all calls come before anything changes.
        let mut bodies: Bodies<'_, N_SETS> = [[&[]; MAX_LANES]; N_SETS];
        for (body, place) in bodies.as_flattened_mut().iter_mut().zip(self.lanes.tags()) {
            *body = self.entries[*place].as_ref().map_or(&[], Entry::body);
        }
        A::Entries::step(
            &self.engine,
            &mut self.lanes,
            &mut bodies,
            &mut self.finished,
        );
        let blocks_left = bodies.map(|set| set.map(<[Block]>::len));
        let blocks_left = blocks_left.as_flattened().iter();
        for (place, blocks_left) in self.lanes.tags().iter().zip(blocks_left) {
            if let Some(entry) = &mut self.entries[*place] {
                entry.blocks_left = *blocks_left;
            }
        }
    }
}

impl<A: Algorithm, T, M> LaneQueue<A, T, M> {
    /// Returns the number of messages and parts that `done` has not received yet: less than
    /// [`Engine::lanes`] after each call that returned, and at most as many after one that panicked.
    pub fn len(&self) -> usize {
        self.lanes.tags().len() + self.finished.len()
    }

    /// Returns `true` if `done` has received all messages and parts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<A: Algorithm, T, M: AsRef<[u8]>> Default for LaneQueue<A, T, M> {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the number of messages and hides their contents.
impl<A: Algorithm, T, M> fmt::Debug for LaneQueue<A, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneQueue")
            .field("algorithm", &A::NAME)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
