//! The jobs for each way to hash many messages, and the loops that run the jobs.
//!
//! The loops are generic and inlined. `entries.rs` compiles each loop once for each algorithm.

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, Pairs, state_to_digest};
use crate::context::Context;
use crate::engine::Engine;
use crate::kernels::rounds::Rounds;
use crate::kernels::states::Padding;
use crate::scheduler::{Job, Jobs, Tail, run_lanes};
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, Block, MAX_LANES, Part, State};

/// Jobs of messages that are all available.
struct DigestJobs<'d, A: Algorithm, I> {
    /// The state that every message starts with, and the number of bytes that led to this state.
    start: &'d State,
    prefix_len: u64,
    /// Messages, numbered from 0.
    messages: core::iter::Enumerate<I>,
    digests: &'d mut [A::Digest],
}

impl<'m, A: Algorithm, I: Iterator<Item = &'m [u8]>> Jobs<'m> for DigestJobs<'_, A, I> {
    #[inline(always)]
    fn next(&mut self, tail: &mut Option<Tail>) -> Option<Job<'m>> {
        let (tag, message) = self.messages.next()?;
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
        self.digests[tag] = state_to_digest::<A>(state);
    }
}

/// Writes one digest for each message that follows a prefix. The prefix has `prefix_len` bytes in
/// whole blocks, and its state is `start`.
#[inline(always)]
pub(crate) fn digest_each<'m, A: Algorithm, I: ExactSizeIterator<Item = &'m [u8]> + Clone>(
    engine: &Engine,
    start: &State,
    prefix_len: u64,
    messages: I,
    digests: &mut [A::Digest],
) {
    assert_eq!(digests.len(), messages.len(), "one digest for each message");
    let plan = engine.plan::<A::Entries>();
    if is_faster_one_by_one(plan, messages.clone()) {
        for (message, digest) in messages.zip(digests) {
            *digest = digest_one::<A>(plan[1], start, prefix_len, message);
        }
        return;
    }
    let jobs = DigestJobs::<A, _> {
        start,
        prefix_len,
        messages: messages.enumerate(),
        digests,
    };
    run_lanes::<A::Entries>(plan, jobs);
}

/// Returns `true` if hashing one message after the other is faster than lanes, which take time to
/// set up. This is the case for one message. On CPUs with SHA instructions it is also the case for
/// a few messages of one or two blocks: the CPU starts the next message before the last one is
/// finished.
#[inline(always)]
fn is_faster_one_by_one<'m>(
    plan: &[Kernel],
    mut messages: impl ExactSizeIterator<Item = &'m [u8]>,
) -> bool {
    const FEW: usize = 8;
    let n_messages = messages.len();
    let kernel = plan[n_messages.min(plan.len() - 1)];
    n_messages == 1
        || n_messages < FEW
            && (kernel.lanes() == 1 || kernel.backend().has_sha_instructions())
            && messages.all(Tail::holds)
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
        let messages = bytes.chunks(message_len);
        digest_each::<A, _>(engine, &A::Entries::IV, 0, messages, digests);
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
    while !digests.is_empty() {
        let kernel = plan[digests.len().min(plan.len() - 1)];
        let (now, later) = digests.split_at_mut(kernel.lanes().min(digests.len()));
        // Lanes without a message of their own repeat the first one.
        let mut inputs: [&[Block]; MAX_LANES] = [&[]; MAX_LANES];
        for lane in 0..now.len() {
            inputs[lane] = messages.next().expect("a message for each digest");
        }
        for lane in now.len()..kernel.lanes() {
            inputs[lane] = inputs[0];
        }
        kernel.compress_equal::<A::Entries>(
            &A::Entries::IV,
            &inputs,
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
    run_lanes::<A>(engine.plan::<A>(), PartJobs { next: 0, parts });
}

/// Jobs that append bytes to the messages of hashers.
struct UpdateJobs<'m, 'p, A: Algorithm> {
    pairs: Pairs<'m, 'p, A>,
    /// The hashers of the running jobs. A job's tag is the index of its hasher.
    contexts: [Option<&'m mut Context>; MAX_LANES],
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
        UpdateJobs {
            pairs,
            contexts: [const { None }; MAX_LANES],
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
        FinalizeJobs {
            next: 0,
            hashers,
            digests,
        },
    );
}
