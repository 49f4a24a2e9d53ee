//! The scheduler, which assigns jobs to lanes and runs the lanes.
//!
//! [`Lanes`] keeps jobs in the columns of word-major state tables, one for each set of lanes. A step
//! takes the kernel for the current number of jobs from the plan. It runs the kernel for as many
//! blocks as the shortest job has left, and retires the finished jobs to make room for new ones.
//! Lanes therefore stay busy as long as jobs arrive, even if the jobs differ in length. Nothing is
//! allocated, and no message is copied: the caller passes the remaining blocks ([`Bodies`]) to each
//! step.

use crate::kernels::rounds::Rounds;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, Block, LaneStates, MAX_LANES, MAX_MESSAGES, N_SETS, State};

/// The last one or two blocks of a message (FIPS 180-4 section 5.1.1). They hold the rest of the
/// message, a one bit, zeros, and the length of the message in bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    blocks: [Block; 2],
    /// `blocks[done..end]` are not compressed yet.
    done: usize,
    end: usize,
}

impl Tail {
    pub(crate) const NONE: Self = Self {
        blocks: [[0; BLOCK_LEN]; 2],
        done: 0,
        end: 0,
    };

    /// The longest rest of a message that fits, in bytes. It is followed by a one bit and by the
    /// length in 64 bits.
    const MAX_REST: usize = 2 * BLOCK_LEN - 9;

    /// Returns `true` if the whole message fits.
    #[inline(always)]
    pub(crate) fn holds(message: &[u8]) -> bool {
        message.len() <= Self::MAX_REST
    }

    /// Pads the end of a message that follows a prefix, and returns the whole blocks before that
    /// end. The prefix has `prefix_len` bytes in whole blocks. A short message has no blocks before
    /// its end, so one call of a kernel is enough.
    #[inline(always)]
    pub(crate) fn pad_message<'m>(&mut self, prefix_len: u64, message: &'m [u8]) -> &'m [Block] {
        let (body, rest) = if Self::holds(message) {
            (&[][..], message)
        } else {
            message.as_chunks()
        };
        self.pad(rest, prefix_len.wrapping_add(message.len() as u64));
        body
    }

    /// Pads `rest`, the end of a message of `len_bytes` bytes. `rest` has at most
    /// [`Self::MAX_REST`] bytes.
    ///
    /// The padding is written to its final place. A move of a tail that was just written would
    /// stall the CPU, which cannot forward several stores to one load.
    #[inline(always)]
    pub(crate) fn pad(&mut self, rest: &[u8], len_bytes: u64) {
        debug_assert!(rest.len() <= Self::MAX_REST);
        *self = Self::NONE;
        self.end = if rest.len() < BLOCK_LEN - 8 { 1 } else { 2 };
        // A copy of constant length compiles without a call.
        let (block, partial) = rest.as_chunks::<BLOCK_LEN>();
        if let [block] = block {
            self.blocks[0] = *block;
        }
        if !partial.is_empty() {
            self.blocks[block.len()][..partial.len()].copy_from_slice(partial);
        }
        let bytes = self.blocks.as_flattened_mut();
        bytes[rest.len()] = 0x80;
        let end = self.end * BLOCK_LEN;
        bytes[end - 8..end].copy_from_slice(&len_bytes.wrapping_mul(8).to_be_bytes());
    }

    /// Returns the blocks that are not compressed yet.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks[self.done..self.end]
    }
}

/// The work of one lane: to compress `body` and then the lane's tail into `state`.
#[derive(Debug)]
pub(crate) struct Job<'m> {
    /// The caller's number for the message.
    pub(crate) tag: usize,
    pub(crate) state: State,
    pub(crate) body: &'m [Block],
}

/// A source of jobs that receives their results.
pub(crate) trait Jobs<'m> {
    /// Returns the next job, or `None` if there are no more jobs. Writes the job's tail to `tail`,
    /// which is `None` before the call.
    fn next(&mut self, tail: &mut Option<Tail>) -> Option<Job<'m>>;

    /// Receives the final state of the job with this tag, in unspecified order.
    fn done(&mut self, tag: usize, state: &State);
}

/// The whole blocks that the job in each lane has left.
pub(crate) type Bodies<'m, const N: usize> = [[&'m [Block]; MAX_LANES]; N];

/// Up to [`MAX_LANES`] running jobs in each of `N` sets; job `i` runs in lane `i`, for `i` less than
/// `busy`. A struct of arrays, because its initialisation must not take longer than hashing a few
/// short messages.
#[derive(Debug)]
pub struct Lanes<const N: usize> {
    tags: [[usize; MAX_LANES]; N],
    states: [LaneStates; N],
    tails: [[Option<Tail>; MAX_LANES]; N],
    busy: usize,
}

impl<const N: usize> Lanes<N> {
    pub(crate) fn new() -> Self {
        Self {
            tags: [[0; MAX_LANES]; N],
            states: [LaneStates::default(); N],
            tails: [const { [const { None }; MAX_LANES] }; N],
            busy: 0,
        }
    }

    /// Returns the tags of the running jobs by lane.
    pub(crate) fn tags(&self) -> &[usize] {
        &self.tags.as_flattened()[..self.busy]
    }

    /// Returns the tail of the first free lane, for the job that is passed to [`Self::start`] next.
    ///
    /// # Panics
    /// If all lanes are busy.
    #[inline(always)]
    pub(crate) fn free_tail(&mut self) -> &mut Option<Tail> {
        let tail = &mut self.tails.as_flattened_mut()[self.busy];
        *tail = None;
        tail
    }

    /// Puts a job, with the tail in [`Self::free_tail`], into the first free lane. Returns `false`
    /// if the job has no blocks: its state is final, and the lane stays free.
    ///
    /// # Panics
    /// If all lanes are busy.
    #[inline(always)]
    pub(crate) fn start(&mut self, job: &Job<'_>) -> bool {
        let lane = self.busy;
        if next_blocks(job.body, self.tails.as_flattened()[lane].as_ref()).is_empty() {
            return false;
        }
        self.tags.as_flattened_mut()[lane] = job.tag;
        self.states[lane / MAX_LANES].set_lane(lane % MAX_LANES, &job.state);
        self.busy += 1;
        true
    }

    /// Compresses as many blocks as the shortest job has left, with the kernel for the current
    /// number of jobs. Passes the tag and the final state of each finished job to `done`.
    /// Afterwards `bodies` holds the remaining blocks, in the lane that each job has then.
    #[inline(always)]
    pub(crate) fn step<A: Rounds>(
        &mut self,
        plan: &[Kernel],
        bodies: &mut Bodies<'_, N>,
        done: impl FnMut(usize, &State),
    ) {
        let kernel = plan[self.busy];
        self.step_with(
            kernel.lanes(),
            bodies,
            #[inline(always)]
            |states, inputs, n_blocks, _| {
                kernel.compress_lanes::<A>(states, inputs, n_blocks);
            },
            done,
        );
    }

    /// Compresses as many blocks as the shortest of the first `n_lanes` jobs has left. `compress`
    /// receives the states, the inputs, the number of blocks and the tags of these jobs. See
    /// [`Self::step`] for `done` and `bodies`.
    #[inline(always)]
    pub(crate) fn step_with(
        &mut self,
        n_lanes: usize,
        bodies: &mut Bodies<'_, N>,
        compress: impl FnOnce(&mut [LaneStates; N], &Bodies<'_, N>, usize, &[usize]),
        mut done: impl FnMut(usize, &State),
    ) {
        let Self {
            tags,
            states,
            tails,
            busy,
        } = self;
        let tags = tags.as_flattened_mut();
        let tails = tails.as_flattened_mut();
        let bodies = bodies.as_flattened_mut();
        let active = n_lanes.min(*busy);
        // Lanes without a job repeat the first input; their state is not used.
        let first = next_blocks(bodies[0], tails[0].as_ref());
        let mut inputs = [[first; MAX_LANES]; N];
        let mut n_blocks = first.len();
        for lane in 1..active {
            let input = next_blocks(bodies[lane], tails[lane].as_ref());
            inputs.as_flattened_mut()[lane] = input;
            n_blocks = n_blocks.min(input.len());
        }
        compress(states, &inputs, n_blocks, &tags[..active]);

        let mut finished = [[false; MAX_LANES]; N];
        let finished = finished.as_flattened_mut();
        for lane in 0..active {
            if !bodies[lane].is_empty() {
                bodies[lane] = &bodies[lane][n_blocks..];
            } else if let Some(tail) = &mut tails[lane] {
                tail.done += n_blocks;
            }
            if next_blocks(bodies[lane], tails[lane].as_ref()).is_empty() {
                done(tags[lane], &states[lane / MAX_LANES].lane(lane % MAX_LANES));
                finished[lane] = true;
            }
        }
        // The last unfinished job moves to the first lane that is free.
        for lane in 0..active {
            while *busy > 0 && finished[*busy - 1] {
                *busy -= 1;
            }
            if finished[lane] && lane < *busy {
                *busy -= 1;
                tags[lane] = tags[*busy];
                let moved = states[*busy / MAX_LANES].lane(*busy % MAX_LANES);
                states[lane / MAX_LANES].set_lane(lane % MAX_LANES, &moved);
                bodies[lane] = bodies[*busy];
                tails[lane] = tails[*busy];
                finished[lane] = false;
            }
        }
    }
}

/// Returns the next contiguous blocks of a lane. Empty if the job is finished.
#[inline(always)]
fn next_blocks<'b>(body: &'b [Block], tail: Option<&'b Tail>) -> &'b [Block] {
    match tail {
        Some(tail) if body.is_empty() => tail.blocks(),
        _ => body,
    }
}

/// Runs every job. `plan[n]` is the kernel for `n` busy lanes; at most `plan.len() - 1` lanes are
/// used.
///
/// One set of lanes is prepared, unless the plan needs more.
#[inline(always)]
pub(crate) fn run_lanes<'m, A: Rounds>(plan: &[Kernel], work: &mut impl Jobs<'m>) {
    if N_SETS > 1 && plan.len() - 1 > MAX_LANES {
        run_sets::<A, N_SETS>(plan, work);
    } else {
        run_sets::<A, 1>(plan, work);
    }
}

/// Runs every job in `N` sets of lanes.
///
/// Not inlined, so that the stack frames of single messages have no room for lanes.
#[inline(never)]
fn run_sets<'m, A: Rounds, const N: usize>(plan: &[Kernel], work: &mut impl Jobs<'m>) {
    run::<_, N>(
        plan.len() - 1,
        work,
        #[inline(always)]
        |lanes, bodies, work| {
            lanes.step::<A>(
                plan,
                bodies,
                #[inline(always)]
                |tag, state| work.done(tag, state),
            );
        },
    );
}

/// Runs every job in up to `n_lanes` lanes, by calls of `step`.
#[inline(always)]
pub(crate) fn run<'m, W: Jobs<'m>, const N: usize>(
    n_lanes: usize,
    work: &mut W,
    mut step: impl FnMut(&mut Lanes<N>, &mut Bodies<'m, N>, &mut W),
) {
    let mut lanes = Lanes::new();
    let mut bodies: Bodies<'m, N> = [[&[]; MAX_LANES]; N];
    loop {
        while lanes.busy < n_lanes {
            let lane = lanes.busy;
            let Some(job) = work.next(lanes.free_tail()) else {
                break;
            };
            if lanes.start(&job) {
                bodies.as_flattened_mut()[lane] = job.body;
            } else {
                work.done(job.tag, &job.state);
            }
        }
        if lanes.busy == 0 {
            return;
        }
        step(&mut lanes, &mut bodies, work);
    }
}

/// Finished jobs of a queue: the index of each job's entry, and its final state.
#[derive(Debug, Default)]
pub struct Finished {
    jobs: [(usize, State); MAX_MESSAGES],
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
