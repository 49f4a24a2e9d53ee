//! Many messages at once: which message sits in which lane, and when.
//!
//! [`run_lanes`] is the only scheduler. It keeps up to [`MAX_LANES`] jobs in the columns of one
//! word-major state table, asks the plan which kernel suits that many, runs the kernel for as
//! many blocks as the shortest of its jobs has left, retires what is finished and takes the next
//! job. Nothing is allocated, and a message is never copied: jobs borrow it.

use core::fmt;

use crate::algorithm::{Algorithm, BLOCK_LEN, Block, State, state_to_digest};
use crate::backend::{Engine, MAX_LANES};
use crate::hasher::Hasher;
use crate::kernels::{Kernel, LaneStates};

/// Digests of many messages of any lengths, on the best backends of this CPU: shorthand for
/// [`Engine::digest_many`] of [`Engine::detect`].
///
/// # Errors
/// [`LengthMismatch`] when `digests` is not as long as `messages`; nothing is hashed then.
pub fn digest_many<A: Algorithm>(
    messages: &[&[u8]],
    digests: &mut [A::Digest],
) -> Result<(), LengthMismatch> {
    Engine::detect().digest_many::<A>(messages, digests)
}

/// Two slices that go together, one entry for each message, differ in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// How many entries the first slice has: one for each message.
    pub expected: usize,
    /// How many the other one has.
    pub found: usize,
}

impl LengthMismatch {
    fn check(expected: usize, found: usize) -> Result<(), Self> {
        if expected == found {
            Ok(())
        } else {
            Err(Self { expected, found })
        }
    }
}

impl fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected {} entries, one for each message, found {}",
            self.expected, self.found
        )
    }
}

impl core::error::Error for LengthMismatch {}

impl Engine {
    /// Digests of many messages of any lengths, in the order of the messages.
    ///
    /// The more of them are at hand the better: [`Engine::lanes`] and more keep every lane busy.
    /// Order is free, but long messages first waste the least at the end. Nothing is allocated.
    ///
    /// # Errors
    /// [`LengthMismatch`] when `digests` is not as long as `messages`; nothing is hashed then.
    pub fn digest_many<A: Algorithm>(
        &self,
        messages: &[&[u8]],
        digests: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(messages.len(), digests.len())?;
        A::digest_many(self, messages, digests);
        Ok(())
    }

    /// Appends `inputs[i]` to the message of `hashers[i]`, all of them at once.
    ///
    /// This is how many long messages are hashed through short windows. Windows of equal length
    /// that are a multiple of [`BLOCK_LEN`] are the fast case.
    ///
    /// # Errors
    /// [`LengthMismatch`] when `inputs` is not as long as `hashers`; nothing is hashed then.
    pub fn update_many<A: Algorithm>(
        &self,
        hashers: &mut [Hasher<A>],
        inputs: &[&[u8]],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(hashers.len(), inputs.len())?;
        A::update_many(self, hashers, inputs);
        Ok(())
    }

    /// Writes the digest of each hasher's message, and leaves each hasher empty for the next one.
    ///
    /// # Errors
    /// [`LengthMismatch`] when `digests` is not as long as `hashers`; nothing is hashed then.
    pub fn finalize_many<A: Algorithm>(
        &self,
        hashers: &mut [Hasher<A>],
        digests: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(hashers.len(), digests.len())?;
        A::finalize_many(self, hashers, digests);
        Ok(())
    }
}

/// The last one or two blocks of a message, padded (FIPS 180-4 section 5.1.1): they hold the
/// rest of the message, a one bit, zeros, and the message's length in bits.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    blocks: [Block; 2],
    n_blocks: usize,
}

impl Tail {
    const NONE: Self = Self {
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
#[derive(Clone, Copy)]
struct Job<'m> {
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

    fn new(tag: usize, state: State, body: &'m [Block], tail: Tail) -> Self {
        Self {
            tag,
            state,
            body,
            tail,
            tail_done: 0,
        }
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
trait Jobs<'m> {
    /// The next job, if there is one left.
    fn next(&mut self) -> Option<Job<'m>>;

    /// Takes the final state of the job with this tag. The order is not promised.
    fn done(&mut self, tag: usize, state: &State);
}

/// Runs every job. `plan[n]` is the kernel for `n` busy lanes; `plan.len() - 1` lanes are used.
#[inline(always)]
fn run_lanes<'m, A: Algorithm>(plan: &[Kernel], mut work: impl Jobs<'m>) {
    let max_busy = plan.len() - 1;
    let mut jobs = [Job::IDLE; MAX_LANES];
    let mut states = LaneStates::default();
    let mut busy = 0;
    loop {
        while busy < max_busy {
            let Some(job) = work.next() else { break };
            if job.blocks().is_empty() {
                work.done(job.tag, &job.state);
                continue;
            }
            states.set_lane(busy, &job.state);
            jobs[busy] = job;
            busy += 1;
        }
        if busy == 0 {
            return;
        }

        let kernel = plan[busy];
        let active = kernel.lanes().min(busy);
        // Lanes without a job of their own repeat the first one; nobody looks at their state.
        let mut inputs = [jobs[0].blocks(); MAX_LANES];
        let mut n_blocks = usize::MAX;
        for (input, job) in inputs.iter_mut().zip(&jobs[..active]) {
            *input = job.blocks();
            n_blocks = n_blocks.min(input.len());
        }
        kernel.compress_lanes::<A>(&mut states, &inputs, n_blocks);

        // Backwards, so that the job that fills a gap, the last one, is not finished itself.
        for lane in (0..active).rev() {
            jobs[lane].advance(n_blocks);
            if jobs[lane].blocks().is_empty() {
                work.done(jobs[lane].tag, &states.lane(lane));
                busy -= 1;
                jobs[lane] = jobs[busy];
                states.move_lane(busy, lane);
            }
        }
    }
}

struct DigestJobs<'m, 'd, A: Algorithm> {
    messages: core::iter::Enumerate<core::slice::Iter<'d, &'m [u8]>>,
    digests: &'d mut [A::Digest],
}

impl<'m, A: Algorithm> Jobs<'m> for DigestJobs<'m, '_, A> {
    #[inline(always)]
    fn next(&mut self) -> Option<Job<'m>> {
        let (tag, message) = self.messages.next()?;
        let (body, rest) = message.as_chunks::<BLOCK_LEN>();
        Some(Job::new(
            tag,
            A::IV,
            body,
            Tail::pad(rest, message.len() as u64),
        ))
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        self.digests[tag] = state_to_digest::<A>(state);
    }
}

/// What [`Engine::digest_many`] does, with the plan given.
#[inline(always)]
pub(crate) fn digest_many_on<A: Algorithm>(
    plan: &[Kernel],
    messages: &[&[u8]],
    digests: &mut [A::Digest],
) {
    run_lanes::<A>(
        plan,
        DigestJobs::<A> {
            messages: messages.iter().enumerate(),
            digests,
        },
    );
}

struct UpdateJobs<'m, 'h, A: Algorithm> {
    inputs: core::iter::Enumerate<core::slice::Iter<'h, &'m [u8]>>,
    hashers: &'h mut [Hasher<A>],
    /// For the single blocks that a hasher's buffer completes.
    single: Kernel,
}

impl<'m, A: Algorithm> Jobs<'m> for UpdateJobs<'m, '_, A> {
    #[inline(always)]
    fn next(&mut self) -> Option<Job<'m>> {
        let (tag, input) = self.inputs.next()?;
        let hasher = &mut self.hashers[tag];
        let (head, body) = hasher.absorb(input);
        if let Some(head) = head {
            self.single.compress::<A>(&mut hasher.state, &[head]);
        }
        Some(Job::new(tag, hasher.state, body, Tail::NONE))
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        self.hashers[tag].state = *state;
    }
}

/// What [`Engine::update_many`] does, with the plan given.
#[inline(always)]
pub(crate) fn update_many_on<A: Algorithm>(
    plan: &[Kernel],
    hashers: &mut [Hasher<A>],
    inputs: &[&[u8]],
) {
    let inputs = inputs.iter().enumerate();
    run_lanes::<A>(
        plan,
        UpdateJobs {
            inputs,
            hashers,
            single: plan[1],
        },
    );
}

struct FinalizeJobs<'h, A: Algorithm> {
    next: usize,
    hashers: &'h mut [Hasher<A>],
    digests: &'h mut [A::Digest],
}

impl<A: Algorithm> Jobs<'static> for FinalizeJobs<'_, A> {
    #[inline(always)]
    fn next(&mut self) -> Option<Job<'static>> {
        let tag = self.next;
        let hasher = self.hashers.get_mut(tag)?;
        self.next += 1;
        let job = Job::new(tag, hasher.state, &[], hasher.tail());
        hasher.reset();
        Some(job)
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        self.digests[tag] = state_to_digest::<A>(state);
    }
}

/// What [`Engine::finalize_many`] does, with the plan given.
#[inline(always)]
pub(crate) fn finalize_many_on<A: Algorithm>(
    plan: &[Kernel],
    hashers: &mut [Hasher<A>],
    digests: &mut [A::Digest],
) {
    run_lanes::<A>(
        plan,
        FinalizeJobs {
            next: 0,
            hashers,
            digests,
        },
    );
}
