//! Many messages that come one by one.

use core::fmt;
use core::marker::PhantomData;

use crate::algorithm::{Algorithm, State, state_to_digest};
use crate::backend::{Engine, MAX_LANES};
use crate::kernels::Kernel;
use crate::scheduler::{Job, Lanes};

/// Hashes messages as they come, as many at once as there are lanes.
///
/// Each message is submitted with a tag of the caller's, and its digest comes out with that tag,
/// later and in no promised order: when the lanes are full a message is submitted to, they run
/// until at least one message ends, and its lane is free for the next. So lanes stay busy however
/// unequal the messages are. Nothing is allocated, and messages are borrowed, not copied.
///
/// ```
/// use hashlane_sha::{LaneQueue, Sha1, digest};
///
/// let words = ["one", "two", "three", "and", "so", "on"];
/// let mut digests = [None; 6];
/// let mut queue = LaneQueue::<Sha1, usize>::new();
/// for (i, word) in words.iter().enumerate() {
///     queue.submit(i, word.as_bytes(), |i, digest| digests[i] = Some(digest));
/// }
/// queue.flush(|i, digest| digests[i] = Some(digest));
/// assert_eq!(digests[2], Some(digest::<Sha1>(b"three")));
/// ```
///
/// Messages that are all at hand are rather given to [`Engine::digest_many`]. What is in the queue
/// when it is dropped is forgotten.
pub struct LaneQueue<'m, A: Algorithm, T> {
    engine: Engine,
    lanes: Lanes<'m>,
    /// The tags of the jobs under way; a job knows the place of its tag.
    tags: [Option<T>; MAX_LANES],
    algorithm: PhantomData<A>,
}

impl<'m, A: Algorithm, T> LaneQueue<'m, A, T> {
    /// An empty queue on the best backends of this CPU: see [`Engine::detect`].
    pub fn new() -> Self {
        Self::with_engine(Engine::detect())
    }

    /// An empty queue on the kernels of `engine`.
    pub fn with_engine(engine: Engine) -> Self {
        Self {
            engine,
            lanes: Lanes::new(),
            tags: [const { None }; MAX_LANES],
            algorithm: PhantomData,
        }
    }

    /// Messages submitted whose digests are still to come: never as many as [`Engine::lanes`].
    pub fn len(&self) -> usize {
        self.lanes.busy()
    }

    /// Whether no digest is still to come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a message. If it fills the last lane, the lanes run until at least one message ends;
    /// `done` gets the tag and the digest of each one that does.
    #[expect(clippy::missing_panics_doc, reason = "every call leaves a lane free")]
    pub fn submit(&mut self, tag: T, message: &'m [u8], done: impl FnMut(T, A::Digest)) {
        let free = self.tags.iter().position(Option::is_none);
        let place = free.expect("a full queue runs until a lane is free");
        self.tags[place] = Some(tag);
        self.lanes.start(&Job::message(place, &A::IV, 0, message));
        if self.lanes.busy() == self.engine.lanes::<A>() {
            self.run(self.engine.lanes::<A>() - 1, done);
        }
    }

    /// Runs until every message has ended. The queue is empty afterwards, and can be used again.
    pub fn flush(&mut self, done: impl FnMut(T, A::Digest)) {
        self.run(0, done);
    }

    /// Runs until no more than `n_left` jobs are under way.
    fn run(&mut self, n_left: usize, mut done: impl FnMut(T, A::Digest)) {
        let mut finished = Finished::default();
        while self.lanes.busy() > n_left {
            A::step(&self.engine, &mut self.lanes, &mut finished);
            for (place, state) in finished.take() {
                let tag = self.tags[*place].take().expect("each job has a tag");
                done(tag, state_to_digest::<A>(state));
            }
        }
    }
}

impl<A: Algorithm, T> Default for LaneQueue<'_, A, T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows how many messages are under way, not what is in them.
impl<A: Algorithm, T> fmt::Debug for LaneQueue<'_, A, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneQueue")
            .field("algorithm", &A::NAME)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// The jobs that one step finished: the place of the tag, and the final state.
#[derive(Debug, Default)]
pub struct Finished {
    jobs: [(usize, State); MAX_LANES],
    n: usize,
}

impl Finished {
    fn take(&mut self) -> &[(usize, State)] {
        &self.jobs[..core::mem::take(&mut self.n)]
    }
}

/// One step of a queue, with the plan given.
#[inline(always)]
pub(crate) fn step_on<A: Algorithm>(
    plan: &[Kernel],
    lanes: &mut Lanes<'_>,
    finished: &mut Finished,
) {
    lanes.step::<A>(
        plan,
        #[inline(always)]
        |place, state| {
            finished.jobs[finished.n] = (place, *state);
            finished.n += 1;
        },
    );
}
