//! The only scheduler: which job sits in which lane, and when.
//!
//! [`Lanes`] keeps up to [`MAX_LANES`] jobs in the columns of one word-major state table. A step asks
//! the plan which kernel suits that many, runs it for as many blocks as the shortest of its jobs has
//! left, and retires what is finished; then there is room for the next job. So lanes stay busy as
//! long as there are jobs, however unequal. Nothing is allocated, and a message is never copied:
//! jobs borrow it.

use crate::algorithm::{Algorithm, BLOCK_LEN, Block, State};
use crate::backend::MAX_LANES;
use crate::kernels::{Kernel, LaneStates};

/// The last one or two blocks of a message, padded (FIPS 180-4 section 5.1.1): they hold the
/// rest of the message, a one bit, zeros, and the message's length in bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    blocks: [Block; 2],
    n_blocks: usize,
}

impl Tail {
    pub(crate) const NONE: Self = Self {
        blocks: [[0; BLOCK_LEN]; 2],
        n_blocks: 0,
    };

    /// Pads `rest`, the end of a message of `len_bytes` bytes that fills no block.
    pub(crate) fn pad(rest: &[u8], len_bytes: u64) -> Self {
        debug_assert!(rest.len() < BLOCK_LEN);
        let mut tail = Self {
            n_blocks: if rest.len() < BLOCK_LEN - 8 { 1 } else { 2 },
            ..Self::NONE
        };
        let bytes = tail.blocks.as_flattened_mut();
        bytes[..rest.len()].copy_from_slice(rest);
        bytes[rest.len()] = 0x80;
        let end = tail.n_blocks * BLOCK_LEN;
        bytes[end - 8..end].copy_from_slice(&len_bytes.wrapping_mul(8).to_be_bytes());
        tail
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks[..self.n_blocks]
    }
}

/// What one lane has to do: run `state` over `body`, then over `tail`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'m> {
    /// Which message it is, for whoever submitted it.
    tag: usize,
    state: State,
    body: &'m [Block],
    tail: Tail,
    /// Blocks of the tail that are done.
    tail_done: usize,
}

impl<'m> Job<'m> {
    const IDLE: Self = Self {
        tag: 0,
        state: [0; 8],
        body: &[],
        tail: Tail::NONE,
        tail_done: 0,
    };

    pub(crate) fn new(tag: usize, state: State, body: &'m [Block], tail: Tail) -> Self {
        Self {
            tag,
            state,
            body,
            tail,
            tail_done: 0,
        }
    }

    /// A message that comes after a prefix: `prefix_len` bytes, whole blocks, that led to `start`.
    #[inline(always)]
    pub(crate) fn message(tag: usize, start: &State, prefix_len: u64, message: &'m [u8]) -> Self {
        let (body, rest) = message.as_chunks::<BLOCK_LEN>();
        let len_bytes = prefix_len + message.len() as u64;
        Self::new(tag, *start, body, Tail::pad(rest, len_bytes))
    }

    /// Contiguous blocks that come next. Empty only when the job is finished.
    fn blocks(&self) -> &[Block] {
        if self.body.is_empty() {
            &self.tail.blocks()[self.tail_done..]
        } else {
            self.body
        }
    }

    /// Notes that `n_blocks` of [`Self::blocks`] are compressed.
    fn advance(&mut self, n_blocks: usize) {
        if self.body.is_empty() {
            self.tail_done += n_blocks;
        } else {
            self.body = &self.body[n_blocks..];
        }
    }
}

/// Where jobs come from and where their results go.
pub(crate) trait Jobs<'m> {
    /// The next job, if there is one left.
    fn next(&mut self) -> Option<Job<'m>>;

    /// Takes the final state of the job with this tag. The order is not promised.
    fn done(&mut self, tag: usize, state: &State);
}

/// Up to [`MAX_LANES`] jobs under way.
#[derive(Debug)]
pub struct Lanes<'m> {
    /// The first `busy` ones are under way, job `i` in lane `i`.
    jobs: [Job<'m>; MAX_LANES],
    states: LaneStates,
    busy: usize,
}

impl<'m> Lanes<'m> {
    pub(crate) fn new() -> Self {
        Self {
            jobs: [Job::IDLE; MAX_LANES],
            states: LaneStates::default(),
            busy: 0,
        }
    }

    pub(crate) fn busy(&self) -> usize {
        self.busy
    }

    /// Takes a job that has blocks to compress.
    ///
    /// # Panics
    /// If [`MAX_LANES`] are busy.
    #[inline(always)]
    pub(crate) fn start(&mut self, job: &Job<'m>) {
        debug_assert!(!job.blocks().is_empty());
        self.states.set_lane(self.busy, &job.state);
        self.jobs[self.busy] = *job;
        self.busy += 1;
    }

    /// Compresses as many blocks as the shortest job has left, with the kernel that suits as many
    /// jobs as there are, and passes what is finished to `done`: tag and final state.
    #[inline(always)]
    pub(crate) fn step<A: Algorithm>(
        &mut self,
        plan: &[Kernel],
        mut done: impl FnMut(usize, &State),
    ) {
        let Self { jobs, states, busy } = self;
        let kernel = plan[*busy];
        let active = kernel.lanes().min(*busy);
        // Lanes without a job of their own repeat the first one; nobody looks at their state.
        let mut inputs = [jobs[0].blocks(); MAX_LANES];
        let mut n_blocks = usize::MAX;
        for (input, job) in inputs.iter_mut().zip(&jobs[..active]) {
            *input = job.blocks();
            n_blocks = n_blocks.min(input.len());
        }
        kernel.compress_lanes::<A>(states, &inputs, n_blocks);

        // Backwards, so that the job that fills a gap, the last one, is not finished itself.
        for lane in (0..active).rev() {
            jobs[lane].advance(n_blocks);
            if jobs[lane].blocks().is_empty() {
                done(jobs[lane].tag, &states.lane(lane));
                *busy -= 1;
                jobs[lane] = jobs[*busy];
                states.move_lane(*busy, lane);
            }
        }
    }
}

/// Runs every job. `plan[n]` is the kernel for `n` busy lanes; `plan.len() - 1` lanes are used.
#[inline(always)]
pub(crate) fn run_lanes<'m, A: Algorithm>(plan: &[Kernel], mut work: impl Jobs<'m>) {
    let mut lanes = Lanes::new();
    loop {
        while lanes.busy < plan.len() - 1 {
            let Some(job) = work.next() else { break };
            if job.blocks().is_empty() {
                work.done(job.tag, &job.state);
            } else {
                lanes.start(&job);
            }
        }
        if lanes.busy == 0 {
            return;
        }
        lanes.step::<A>(
            plan,
            #[inline(always)]
            |tag, state| work.done(tag, state),
        );
    }
}
