//! The only scheduler: which job sits in which lane, and when.
//!
//! [`Lanes`] keeps up to [`MAX_LANES`] jobs in the columns of one word-major state table. A step asks
//! the plan which kernel suits that many, runs it for as many blocks as the shortest of its jobs has
//! left, and retires what is finished; then there is room for the next job. So lanes stay busy as
//! long as there are jobs, however unequal. Nothing is allocated, and a message is never copied: the
//! caller passes the blocks that are left ([`Bodies`]) to each step.

use crate::kernels::compression::Compression;
use crate::kernels::states::LaneStates;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, Block, MAX_LANES, State};

/// The last one or two blocks of a message, padded (FIPS 180-4 section 5.1.1): they hold the
/// rest of the message, a one bit, zeros, and the message's length in bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    blocks: [Block; 2],
    /// `blocks[done..end]` are to be compressed.
    done: usize,
    end: usize,
}

impl Tail {
    pub(crate) const NONE: Self = Self {
        blocks: [[0; BLOCK_LEN]; 2],
        done: 0,
        end: 0,
    };

    /// The longest end of a message for which there is room, in bytes: a one bit and the length in
    /// 64 bits come after it.
    const MAX_REST: usize = 2 * BLOCK_LEN - 9;

    /// Returns `true` if there is room for the whole message.
    #[inline(always)]
    pub(crate) fn holds(message: &[u8]) -> bool {
        message.len() <= Self::MAX_REST
    }

    /// Pads the end of a message that comes after a prefix of `prefix_len` bytes, whole blocks, and returns the whole
    /// blocks before it. A short message is all end, so that one call of a kernel is enough.
    #[inline(always)]
    pub(crate) fn pad_message<'m>(&mut self, prefix_len: u64, message: &'m [u8]) -> &'m [Block] {
        let (body, rest) = if Self::holds(message) {
            (&[][..], message)
        } else {
            message.as_chunks()
        };
        self.pad(rest, prefix_len + message.len() as u64);
        body
    }

    /// Pads `rest`, the end of a message of `len_bytes` bytes, of no more than
    /// [`Self::MAX_REST`] bytes.
    ///
    /// It is padded where it will be read. To move a tail right after it was written makes the CPU wait, because it
    /// cannot forward several stores to one load.
    #[inline(always)]
    pub(crate) fn pad(&mut self, rest: &[u8], len_bytes: u64) {
        debug_assert!(rest.len() <= Self::MAX_REST);
        *self = Self::NONE;
        self.end = if rest.len() < BLOCK_LEN - 8 { 1 } else { 2 };
        // A copy of a constant length needs no call.
        let (block, part) = rest.as_chunks::<BLOCK_LEN>();
        if let [block] = block {
            self.blocks[0] = *block;
        }
        if !part.is_empty() {
            self.blocks[block.len()][..part.len()].copy_from_slice(part);
        }
        let bytes = self.blocks.as_flattened_mut();
        bytes[rest.len()] = 0x80;
        let end = self.end * BLOCK_LEN;
        bytes[end - 8..end].copy_from_slice(&len_bytes.wrapping_mul(8).to_be_bytes());
    }

    /// What is left to be compressed.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks[self.done..self.end]
    }
}

/// What one lane has to do: run `state` over `body`, then over the tail of the lane.
#[derive(Debug)]
pub(crate) struct Job<'m> {
    /// Identifies the message for the caller.
    pub(crate) tag: usize,
    pub(crate) state: State,
    pub(crate) body: &'m [Block],
}

/// Where jobs come from and where their results go.
pub(crate) trait Jobs<'m> {
    /// The next job, if there is one left. Writes its tail to `tail`, which is `None` before.
    fn next(&mut self, tail: &mut Option<Tail>) -> Option<Job<'m>>;

    /// Takes the final state of the job with this tag. The order is not promised.
    fn done(&mut self, tag: usize, state: &State);
}

/// The whole blocks that the job in each lane has left.
pub(crate) type Bodies<'m> = [&'m [Block]; MAX_LANES];

/// Up to [`MAX_LANES`] jobs under way: job `i` of the first `busy` ones in lane `i`. Array by array,
/// because to make one ready for few short messages must take no longer than these.
#[derive(Debug)]
pub struct Lanes {
    tags: [usize; MAX_LANES],
    states: LaneStates,
    tails: [Option<Tail>; MAX_LANES],
    busy: usize,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self {
            tags: [0; MAX_LANES],
            states: LaneStates::default(),
            tails: [const { None }; MAX_LANES],
            busy: 0,
        }
    }

    /// The tags of the jobs under way, lane by lane.
    pub(crate) fn tags(&self) -> &[usize] {
        &self.tags[..self.busy]
    }

    /// The tail of the first free lane. [`Self::start`] takes what is written there.
    ///
    /// # Panics
    /// If [`MAX_LANES`] are busy.
    #[inline(always)]
    pub(crate) fn free_tail(&mut self) -> &mut Option<Tail> {
        let tail = &mut self.tails[self.busy];
        *tail = None;
        tail
    }

    /// Takes a job and the tail in [`Self::free_tail`] into the first free lane. Returns `false` if there is nothing to
    /// compress: the state is final, and the lane stays free.
    ///
    /// # Panics
    /// If [`MAX_LANES`] are busy.
    #[inline(always)]
    pub(crate) fn start(&mut self, job: &Job<'_>) -> bool {
        let lane = self.busy;
        if next_blocks(job.body, self.tails[lane].as_ref()).is_empty() {
            return false;
        }
        self.tags[lane] = job.tag;
        self.states.set_lane(lane, &job.state);
        self.busy += 1;
        true
    }

    /// Compresses as many blocks as the shortest job has left, with the kernel that suits as many
    /// jobs as there are, and passes what is finished to `done`: tag and final state. `bodies` is
    /// left with what remains, in the lane that each job has afterwards.
    #[inline(always)]
    pub(crate) fn step<A: Compression>(
        &mut self,
        plan: &[Kernel],
        bodies: &mut Bodies<'_>,
        mut done: impl FnMut(usize, &State),
    ) {
        let Self {
            tags,
            states,
            tails,
            busy,
        } = self;
        let kernel = plan[*busy];
        let active = kernel.lanes().min(*busy);
        // Lanes without a job of their own repeat the first one; their state is not used.
        let mut inputs = [next_blocks(bodies[0], tails[0].as_ref()); MAX_LANES];
        let mut n_blocks = inputs[0].len();
        for lane in 1..active {
            inputs[lane] = next_blocks(bodies[lane], tails[lane].as_ref());
            n_blocks = n_blocks.min(inputs[lane].len());
        }
        kernel.compress_lanes::<A>(states, &inputs, n_blocks);

        let mut finished = [false; MAX_LANES];
        for lane in 0..active {
            if !bodies[lane].is_empty() {
                bodies[lane] = &bodies[lane][n_blocks..];
            } else if let Some(tail) = &mut tails[lane] {
                tail.done += n_blocks;
            }
            if next_blocks(bodies[lane], tails[lane].as_ref()).is_empty() {
                done(tags[lane], &states.lane(lane));
                finished[lane] = true;
            }
        }
        // The last job that is not finished fills the first gap.
        for lane in 0..active {
            while *busy > 0 && finished[*busy - 1] {
                *busy -= 1;
            }
            if finished[lane] && lane < *busy {
                *busy -= 1;
                tags[lane] = tags[*busy];
                states.move_lane(*busy, lane);
                bodies[lane] = bodies[*busy];
                tails[lane] = tails[*busy];
                finished[lane] = false;
            }
        }
    }
}

/// Contiguous blocks that come next in a lane: none if its job is finished.
#[inline(always)]
fn next_blocks<'b>(body: &'b [Block], tail: Option<&'b Tail>) -> &'b [Block] {
    match tail {
        Some(tail) if body.is_empty() => tail.blocks(),
        _ => body,
    }
}

/// Runs every job. `plan[n]` is the kernel for `n` busy lanes; `plan.len() - 1` lanes are used.
#[inline(always)]
pub(crate) fn run_lanes<'m, A: Compression>(plan: &[Kernel], mut work: impl Jobs<'m>) {
    let mut lanes = Lanes::new();
    let mut bodies: Bodies<'m> = [&[]; MAX_LANES];
    loop {
        while lanes.busy < plan.len() - 1 {
            let lane = lanes.busy;
            let Some(job) = work.next(lanes.free_tail()) else {
                break;
            };
            if lanes.start(&job) {
                bodies[lane] = job.body;
            } else {
                work.done(job.tag, &job.state);
            }
        }
        if lanes.busy == 0 {
            return;
        }
        lanes.step::<A>(
            plan,
            &mut bodies,
            #[inline(always)]
            |tag, state| work.done(tag, state),
        );
    }
}

/// Finished jobs of a queue: the place of each one's entry, and its final state.
#[derive(Debug, Default)]
pub struct Finished {
    jobs: [(usize, State); MAX_LANES],
    n: usize,
}

impl Finished {
    pub(crate) fn push(&mut self, place: usize, state: &State) {
        self.jobs[self.n] = (place, *state);
        self.n += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<(usize, State)> {
        let (job, _) = self.jobs[..self.n].split_last()?;
        self.n -= 1;
        Some(*job)
    }

    pub(crate) fn len(&self) -> usize {
        self.n
    }
}
