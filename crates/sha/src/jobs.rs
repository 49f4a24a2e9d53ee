//! The jobs for each way to hash many messages, and the loops that run the jobs.
//!
//! The loops are generic and inlined. `entries.rs` compiles each loop once for each algorithm.

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, Messages, Pairs, in_sets, state_to_digest};
use crate::context::Context;
use crate::engine::Engine;
use crate::kernels::rounds::{Padding, Rounds};
use crate::scheduler::{Job, Jobs, Tail, run_lanes};
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, Block, MAX_LANES, MAX_MESSAGES, N_SETS, Part, State};

/// Jobs of messages that are all available.
pub(crate) struct DigestJobs<'m, 'd, A: Algorithm> {
    /// The state that every message starts with, and the number of bytes that led to this state.
    start: &'d State,
    prefix_len: u64,
    messages: Messages<'m, 'd>,
    /// The messages that are not jobs yet: `set[next..end]`.
    set: [&'m [u8]; MAX_LANES],
    next: usize,
    end: usize,
    /// Number of messages in earlier sets.
    n_before: usize,
    digests: &'d mut [A::Digest],
}

impl<'m, 'd, A: Algorithm> DigestJobs<'m, 'd, A> {
    /// Makes a job of each message that follows a prefix. The prefix has `prefix_len` bytes in
    /// whole blocks, and its state is `start`.
    #[inline(always)]
    pub(crate) fn new(
        start: &'d State,
        prefix_len: u64,
        messages: Messages<'m, 'd>,
        digests: &'d mut [A::Digest],
    ) -> Self {
        Self {
            start,
            prefix_len,
            messages,
            set: [&[]; MAX_LANES],
            next: 0,
            end: 0,
            n_before: 0,
            digests,
        }
    }

    /// Replaces the set by the next one.
    #[inline(always)]
    pub(crate) fn fill(&mut self) {
        self.n_before += self.end;
        self.end = (self.messages)(&mut self.set);
        self.next = 0;
    }

    /// Returns `true` if hashing one message after the other is faster than lanes, which take time
    /// to set up. This is the case for one message. On CPUs with SHA instructions it is also the
    /// case for a few messages of one or two blocks: the CPU starts the next message before the
    /// last one is finished.
    #[inline(always)]
    pub(crate) fn are_faster_one_by_one(&self, plan: &[Kernel]) -> bool {
        const FEW: usize = 8;
        let messages = &self.set[..self.end];
        let kernel = plan[messages.len().min(plan.len() - 1)];
        messages.len() == 1
            || messages.len() < FEW
                && (kernel.lanes() == 1 || kernel.backend().has_sha_instructions())
                && messages.iter().all(|message| Tail::holds(message))
    }

    /// Writes the digests without lanes, of messages that fit in one set.
    #[inline(always)]
    pub(crate) fn run_one_by_one(&mut self, kernel: Kernel) {
        let messages = &self.set[..self.end];
        assert_eq!(self.digests.len(), messages.len(), "{NUMBERS_DIFFER}");
        for (message, digest) in messages.iter().zip(&mut *self.digests) {
            *digest = digest_one::<A>(kernel, self.start, self.prefix_len, message);
        }
    }
}

pub(crate) const NUMBERS_DIFFER: &str = "one digest for each message";

impl<'m, A: Algorithm> Jobs<'m> for DigestJobs<'m, '_, A> {
    #[inline(always)]
    fn next(&mut self, tail: &mut Option<Tail>) -> Option<Job<'m>> {
        if self.next == self.end {
            // A set that is not full was the last one.
            if self.end == MAX_LANES {
                self.fill();
            }
            if self.next == self.end {
                let n_messages = self.n_before + self.end;
                assert_eq!(n_messages, self.digests.len(), "{NUMBERS_DIFFER}");
                return None;
            }
        }
        let tag = self.n_before + self.next;
        let message = self.set[self.next];
        self.next += 1;
        Some(Job {
            tag,
            state: *self.start,
            body: tail
                .insert(Tail::NONE)
                .pad_message(self.prefix_len, message),
        })
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        let digest = self.digests.get_mut(tag).expect(NUMBERS_DIFFER);
        *digest = state_to_digest::<A>(state);
    }
}

/// Returns the digest of one message that follows a prefix. The prefix has `prefix_len` bytes in
/// whole blocks, and its state is `start`.
#[inline(always)]
pub(crate) fn digest_one<A: Algorithm>(
    kernel: Kernel,
    start: &State,
    prefix_len: u64,
    message: &[u8],
) -> A::Digest {
    let mut state = *start;
    let mut tail = Tail::NONE;
    let body = tail.pad_message(prefix_len, message);
    if !body.is_empty() {
        A::Entries::compress(kernel, &mut state, body);
    }
    A::Entries::compress(kernel, &mut state, tail.blocks());
    state_to_digest::<A>(&state)
}

/// Runs [`Engine::digest_chunks`].
#[inline(always)]
pub(crate) fn digest_chunks<A: Algorithm>(
    engine: &Engine,
    bytes: &[u8],
    message_len: usize,
    digests: &mut [A::Digest],
) {
    // For a few messages, computing the schedule of the padding costs more than it saves.
    if !message_len.is_multiple_of(BLOCK_LEN) || digests.len() < 4 {
        let mut messages = in_sets(bytes.chunks(message_len));
        A::Entries::digest_many_after(engine, &A::Entries::IV, 0, &mut messages, digests);
        return;
    }
    let plan = engine.plan::<A::Entries>();
    let messages = bytes.chunks_exact(message_len);
    let rest = messages.remainder();
    let (mut digests, last) = digests.split_at_mut(messages.len());
    if let [last] = last {
        *last = digest_one::<A>(plan[1], &A::Entries::IV, 0, rest);
    }
    let mut messages = messages.map(|message| message.as_chunks::<BLOCK_LEN>().0);
    let n_blocks = message_len / BLOCK_LEN;
    let mut padding = Tail::NONE;
    padding.pad(&[], message_len as u64);
    let [block] = padding.blocks() else {
        panic!("messages of whole blocks end in one more block");
    };
    let padding = Padding::new::<A::Entries>(block);
    let mut sets: [[&[Block]; MAX_LANES]; N_SETS] = [[&[]; MAX_LANES]; N_SETS];
    while !digests.is_empty() {
        let kernel = plan[digests.len().min(plan.len() - 1)];
        let (now, later) = digests.split_at_mut(kernel.lanes().min(digests.len()));
        // Lanes without a message of their own repeat the first one.
        let inputs = sets.as_flattened_mut();
        for lane in 0..now.len() {
            inputs[lane] = messages.next().expect("a message for each digest");
        }
        for lane in now.len()..kernel.lanes() {
            inputs[lane] = inputs[0];
        }
        kernel.compress_equal::<A::Entries>(
            &A::Entries::IV,
            &sets,
            n_blocks,
            &padding,
            #[inline(always)]
            |lane, state| {
                if let Some(digest) = now.get_mut(lane) {
                    *digest = state_to_digest::<A>(state);
                }
            },
        );
        digests = later;
    }
}

/// Jobs that compress parts of messages.
struct PartJobs<'p, 'm> {
    next: usize,
    parts: &'p mut [Part<'m>],
}

impl<'m> Jobs<'m> for PartJobs<'_, 'm> {
    #[inline(always)]
    fn next(&mut self, tail: &mut Option<Tail>) -> Option<Job<'m>> {
        let tag = self.next;
        let part = self.parts.get(tag)?;
        self.next += 1;
        let body = if part.is_last {
            let tail = tail.insert(Tail::NONE);
            tail.pad_message(part.prefix_len, part.bytes)
        } else {
            let (blocks, rest) = part.bytes.as_chunks();
            assert!(rest.is_empty(), "a part before the last is whole blocks");
            blocks
        };
        Some(Job {
            tag,
            state: part.state,
            body,
        })
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        self.parts[tag].state = *state;
    }
}

/// Runs [`hazmat::compress_many`](crate::hazmat::compress_many).
#[inline(always)]
pub(crate) fn compress_many<A: Rounds>(engine: &Engine, parts: &mut [Part<'_>]) {
    run_lanes::<A>(engine.plan::<A>(), &mut PartJobs { next: 0, parts });
}

/// Jobs that append bytes to the messages of hashers.
struct UpdateJobs<'m, 'p, A: Algorithm> {
    pairs: Pairs<'m, 'p, A>,
    /// The hashers of the running jobs. A job's tag is the index of its hasher.
    contexts: [Option<&'m mut Context>; MAX_MESSAGES],
    /// The kernel for the block in a hasher's buffer.
    single: Kernel,
}

impl<'m, A: Algorithm> Jobs<'m> for UpdateJobs<'m, '_, A> {
    #[inline(always)]
    fn next(&mut self, _: &mut Option<Tail>) -> Option<Job<'m>> {
        let (hasher, input) = self.pairs.next()?;
        let context = A::Entries::context_mut(hasher);
        let single = self.single;
        let body = context.absorb(
            input,
            #[inline(always)]
            |state, block| single.compress::<A::Entries>(state, block),
        );
        let state = context.state;
        let free = self.contexts.iter().position(Option::is_none);
        let tag = free.expect("there is a place for each lane");
        self.contexts[tag] = Some(context);
        Some(Job { tag, state, body })
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        let context = self.contexts[tag].take();
        context.expect("a job ends once").state = *state;
    }
}

/// Runs [`Engine::update_many`].
#[inline(always)]
pub(crate) fn update_many<A: Algorithm>(engine: &Engine, pairs: Pairs<'_, '_, A>) {
    let plan = engine.plan::<A::Entries>();
    run_lanes::<A::Entries>(
        plan,
        &mut UpdateJobs {
            pairs,
            contexts: [const { None }; MAX_MESSAGES],
            single: plan[1],
        },
    );
}

/// Jobs that write the digests of hashers.
struct FinalizeJobs<'h, A: Algorithm> {
    next: usize,
    hashers: &'h mut [A],
    digests: &'h mut [A::Digest],
}

impl<A: Algorithm> Jobs<'static> for FinalizeJobs<'_, A> {
    #[inline(always)]
    fn next(&mut self, tail: &mut Option<Tail>) -> Option<Job<'static>> {
        let tag = self.next;
        let hasher = A::Entries::context_mut(self.hashers.get_mut(tag)?);
        self.next += 1;
        let job = Job {
            tag,
            state: hasher.state,
            body: &[],
        };
        hasher.pad(tail.insert(Tail::NONE));
        hasher.reset(A::Entries::IV);
        Some(job)
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        self.digests[tag] = state_to_digest::<A>(state);
    }
}

/// Runs [`Engine::finalize_many`].
#[inline(always)]
pub(crate) fn finalize_many<A: Algorithm>(
    engine: &Engine,
    hashers: &mut [A],
    digests: &mut [A::Digest],
) {
    run_lanes::<A::Entries>(
        engine.plan::<A::Entries>(),
        &mut FinalizeJobs {
            next: 0,
            hashers,
            digests,
        },
    );
}
