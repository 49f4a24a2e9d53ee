//! Many messages at once, all of them at hand. For messages that come one by one there is
//! [`LaneQueue`](crate::LaneQueue).

use core::fmt;

use crate::algorithm::{Algorithm, BLOCK_LEN, Block, State, state_to_digest};
use crate::backend::{Engine, MAX_LANES};
use crate::kernels::{Kernel, LaneStates, Padding, Seal};
use crate::scheduler::{Job, Jobs, Tail, run_lanes};

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
    pub(crate) fn check(expected: usize, found: usize) -> Result<(), Self> {
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
        A::digest_many_after(Seal(()), self, &A::iv(Seal(())), 0, messages, digests);
        Ok(())
    }

    /// Digests of the messages of `message_len` bytes that lie one after the other in `bytes`; the
    /// last one may be shorter.
    ///
    /// This is the fast way for leaves and nodes of merkle trees (BEP 52: leaves of 16 KiB, nodes of
    /// 64 bytes): when `message_len` is a multiple of [`BLOCK_LEN`], all messages end in the same
    /// block of padding, whose schedule is computed once.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha256, Sha256Digest, digest};
    /// let layer = [[1_u8; 32], [2; 32], [3; 32], [4; 32]];
    /// let mut nodes = [Sha256Digest::default(); 2];
    /// Engine::detect()
    ///     .digest_chunks::<Sha256>(layer.as_flattened(), 64, &mut nodes)
    ///     .expect("two nodes of two hashes");
    /// assert_eq!(nodes[1], digest::<Sha256>(layer[2..].as_flattened()));
    /// ```
    ///
    /// # Errors
    /// [`LengthMismatch`] when `digests` has not one entry for each message; nothing is hashed then.
    ///
    /// # Panics
    /// If `message_len` is 0.
    pub fn digest_chunks<A: Algorithm>(
        &self,
        bytes: &[u8],
        message_len: usize,
        digests: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(bytes.len().div_ceil(message_len), digests.len())?;
        A::digest_chunks(Seal(()), self, bytes, message_len, digests);
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
        hashers: &mut [A],
        inputs: &[&[u8]],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(hashers.len(), inputs.len())?;
        A::update_many(Seal(()), self, hashers, inputs);
        Ok(())
    }

    /// Writes the digest of each hasher's message, and leaves each hasher empty for the next one.
    ///
    /// # Errors
    /// [`LengthMismatch`] when `digests` is not as long as `hashers`; nothing is hashed then.
    pub fn finalize_many<A: Algorithm>(
        &self,
        hashers: &mut [A],
        digests: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(hashers.len(), digests.len())?;
        A::finalize_many(Seal(()), self, hashers, digests);
        Ok(())
    }
}

struct DigestJobs<'d, A: Algorithm, I> {
    /// Where every message starts, and how many bytes led there.
    start: &'d State,
    prefix_len: u64,
    /// Messages, numbered from 0.
    messages: core::iter::Enumerate<I>,
    digests: &'d mut [A::Digest],
}

impl<'m, A: Algorithm, I: Iterator<Item = &'m [u8]>> Jobs<'m> for DigestJobs<'_, A, I> {
    #[inline(always)]
    fn next(&mut self) -> Option<Job<'m>> {
        let (tag, message) = self.messages.next()?;
        Some(Job::message(tag, self.start, self.prefix_len, message))
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        self.digests[tag] = state_to_digest::<A>(state);
    }
}

/// What [`Engine::digest_many`] does, with the plan given, after a prefix of whole blocks.
#[inline(always)]
pub(crate) fn digest_many_after_on<A: Algorithm>(
    plan: &[Kernel],
    start: &State,
    prefix_len: u64,
    messages: &[&[u8]],
    digests: &mut [A::Digest],
) {
    // One message alone needs no lanes to be made ready.
    if let ([message], [digest]) = (messages, &mut *digests) {
        let job = Job::message(0, start, prefix_len, message);
        let mut state = job.state;
        plan[1].compress::<A>(&mut state, job.body);
        plan[1].compress::<A>(&mut state, job.tail.blocks());
        *digest = state_to_digest::<A>(&state);
        return;
    }
    let messages = messages.iter().copied().enumerate();
    run_lanes::<A>(
        plan,
        DigestJobs::<A, _> {
            start,
            prefix_len,
            messages,
            digests,
        },
    );
}

/// What [`Engine::digest_chunks`] does, with the plan given.
#[inline(always)]
pub(crate) fn digest_chunks_on<A: Algorithm>(
    plan: &[Kernel],
    bytes: &[u8],
    message_len: usize,
    digests: &mut [A::Digest],
) {
    // For a few messages the schedule of the padding is not worth its time.
    if !message_len.is_multiple_of(BLOCK_LEN) || digests.len() < 4 {
        if digests.len() == 1 {
            digest_many_after_on::<A>(plan, &A::iv(Seal(())), 0, &[bytes], digests);
            return;
        }
        run_lanes::<A>(
            plan,
            DigestJobs::<A, _> {
                start: &A::iv(Seal(())),
                prefix_len: 0,
                messages: bytes.chunks(message_len).enumerate(),
                digests,
            },
        );
        return;
    }
    let messages = bytes.chunks_exact(message_len);
    let rest = messages.remainder();
    let (mut digests, last) = digests.split_at_mut(messages.len());
    if let [last] = last {
        digest_many_after_on::<A>(
            plan,
            &A::iv(Seal(())),
            0,
            &[rest],
            core::slice::from_mut(last),
        );
    }
    let mut messages = messages.map(|message| message.as_chunks::<BLOCK_LEN>().0);
    let n_blocks = message_len / BLOCK_LEN;
    let padding = Padding::new::<A>(&Tail::pad(&[], message_len as u64));
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
        let mut states = LaneStates::all(&A::iv(Seal(())));
        kernel.compress_lanes::<A>(&mut states, &inputs, n_blocks);
        kernel.compress_padding::<A>(&mut states, &padding);
        for (lane, digest) in now.iter_mut().enumerate() {
            *digest = state_to_digest::<A>(&states.lane(lane));
        }
        digests = later;
    }
}

struct UpdateJobs<'m, 'h, A: Algorithm> {
    inputs: core::iter::Enumerate<core::slice::Iter<'h, &'m [u8]>>,
    hashers: &'h mut [A],
    /// For the single blocks that a hasher's buffer completes.
    single: Kernel,
}

impl<'m, A: Algorithm> Jobs<'m> for UpdateJobs<'m, '_, A> {
    #[inline(always)]
    fn next(&mut self) -> Option<Job<'m>> {
        let (tag, input) = self.inputs.next()?;
        let hasher = self.hashers[tag].context_mut(Seal(()));
        let (head, body) = hasher.absorb(input);
        if let Some(head) = head {
            self.single.compress::<A>(&mut hasher.state, &[head]);
        }
        Some(Job {
            tag,
            state: hasher.state,
            body,
            tail: Tail::NONE,
        })
    }

    #[inline(always)]
    fn done(&mut self, tag: usize, state: &State) {
        self.hashers[tag].context_mut(Seal(())).state = *state;
    }
}

/// What [`Engine::update_many`] does, with the plan given.
#[inline(always)]
pub(crate) fn update_many_on<A: Algorithm>(plan: &[Kernel], hashers: &mut [A], inputs: &[&[u8]]) {
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
    hashers: &'h mut [A],
    digests: &'h mut [A::Digest],
}

impl<A: Algorithm> Jobs<'static> for FinalizeJobs<'_, A> {
    #[inline(always)]
    fn next(&mut self) -> Option<Job<'static>> {
        let tag = self.next;
        let hasher = self.hashers.get_mut(tag)?.context_mut(Seal(()));
        self.next += 1;
        let job = Job {
            tag,
            state: hasher.state,
            body: &[],
            tail: hasher.tail(),
        };
        hasher.reset::<A>();
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
    hashers: &mut [A],
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
