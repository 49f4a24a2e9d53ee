//! SHA-1 with the detection of collision attacks, as Git needs it.
//!
//! Attackers can make two messages with one SHA-1 digest. The known attacks leave traces in the
//! blocks of either message, which this module finds. The digest stays the SHA-1 of the message,
//! and an attack is an error of its own.
//!
//! ```
//! use hashlane_sha::{Sha1, Sha1Digest, sha1_checked};
//!
//! let mut hasher = sha1_checked::Sha1Checked::new();
//! hasher.update(b"a").update(b"bc");
//! assert_eq!(hasher.finalize(), Ok(Sha1::digest(b"abc")));
//!
//! let messages: [&[u8]; 3] = [b"", b"abc", b"of any length"];
//! let mut digests = [Sha1Digest::default(); 3];
//! let mut attacks = 0;
//! sha1_checked::digest_many(&messages, &mut digests, |_message| attacks += 1);
//! assert_eq!((digests[1], attacks), (Sha1::digest(b"abc"), 0));
//! ```
//!
//! The test is that of M. Stevens and D. Shumow (USENIX Security 2017), which Git uses, with the
//! same 32 disturbance vectors: a random message is reported with a probability below 2^-90. Attacks
//! of other kinds are not found.

use core::cell::Cell;
use core::fmt;

use crate::algorithm::{Messages, in_sets, state_to_digest};
use crate::context::Context;
use crate::digests::Sha1Digest;
use crate::engine::Engine;
use crate::hasher::Sha1;
use crate::jobs::DigestJobs;
use crate::kernel_name::KernelName;
use crate::kernels::rounds::Rounds as _;
use crate::kernels::sha1::Sha1Compression;
use crate::scheduler::Tail;
use crate::suspects::{Kernels, Suspects, compress_one, last_suspicious, run_checked};
use crate::table::checked::CheckedKernel;
use crate::types::{Block, State};

/// The message contains a block of a collision attack: another message may have the same digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollisionAttack {
    digest: Sha1Digest,
}

impl CollisionAttack {
    /// Returns the SHA-1 of the message, or its safe hash: see [`Sha1Checked::with_safe_hash`].
    /// Another message may have the same SHA-1.
    pub fn digest(&self) -> Sha1Digest {
        self.digest
    }
}

impl fmt::Display for CollisionAttack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the message is part of a SHA-1 collision attack",
            self.digest
        )
    }
}

impl core::error::Error for CollisionAttack {}

/// A SHA-1 hasher for a message that arrives in parts, with the detection of collision attacks.
#[derive(Clone, Debug)]
pub struct Sha1Checked {
    context: Context,
    detection: Detection,
}

/// The detection of attacks in one message.
#[derive(Clone, Debug)]
struct Detection {
    kernels: Kernels,
    safe_hash: bool,
    reduced_rounds: bool,
    is_attack: bool,
}

impl Detection {
    fn new(engine: Engine) -> Self {
        Self {
            kernels: kernels_of(&engine),
            safe_hash: false,
            reduced_rounds: false,
            is_attack: false,
        }
    }

    /// Compresses blocks, and notes whether one of them is part of an attack.
    fn compress(&mut self, state: &mut State, blocks: &[Block]) {
        if blocks.is_empty() {
            return;
        }
        let is_attack = Cell::new(false);
        let mut suspects = Suspects::new(self.kernels.lanes, self.reduced_rounds, |_| {
            is_attack.set(true);
        });
        compress_one(
            self.kernels,
            state,
            blocks,
            |before, block, slots, state| {
                suspects.add(0, before, block, slots);
                if !self.safe_hash {
                    return false;
                }
                suspects.recompute();
                let is_found = is_attack.take();
                if is_found {
                    self.is_attack = true;
                    let kernel = self.kernels.one;
                    kernel.compress::<Sha1Compression>(state, &[*block, *block]);
                }
                is_found
            },
        );
        suspects.recompute();
        self.is_attack |= is_attack.get();
    }
}

impl Sha1Checked {
    /// Returns the hasher of an empty message, on the best backends of this CPU: see
    /// [`Engine::detect`].
    pub fn new() -> Self {
        Self::with_engine(Engine::detect())
    }

    /// Returns the hasher of an empty message, on the kernels of `engine`.
    pub fn with_engine(engine: Engine) -> Self {
        let detection = Detection::new(engine);
        Self {
            context: Context::after(Sha1Compression::IV, 0, detection.kernels.one),
            detection,
        }
    }

    /// Compresses each block of an attack three times, so that the digest of a message with an
    /// attack differs from its SHA-1 and from the digest of the other message. Off by default, as
    /// Git builds its detection.
    #[must_use]
    pub fn with_safe_hash(mut self, is_on: bool) -> Self {
        self.detection.safe_hash = is_on;
        self
    }

    /// Also reports blocks of attacks on SHA-1 with fewer rounds, which researchers publish to test
    /// detectors. Off by default.
    #[must_use]
    pub fn with_reduced_rounds(mut self, is_on: bool) -> Self {
        self.detection.reduced_rounds = is_on;
        self
    }

    /// Appends `bytes` to the message. Returns the hasher, so that calls can be chained.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) -> &mut Self {
        if !self.context.buffer_bytes(bytes) {
            self.update_blocks(bytes);
        }
        self
    }

    fn update_blocks(&mut self, bytes: &[u8]) {
        let Self { context, detection } = self;
        let body = context.absorb(bytes, |state, block| detection.compress(state, block));
        detection.compress(&mut context.state, body);
    }

    /// Returns the SHA-1 of the message.
    ///
    /// # Errors
    /// The message contains a block of a collision attack. The error has the digest.
    pub fn finalize(self) -> Result<Sha1Digest, CollisionAttack> {
        let Self {
            context,
            mut detection,
        } = self;
        let mut tail = Tail::NONE;
        context.pad(&mut tail);
        let mut state = context.state;
        detection.compress(&mut state, tail.blocks());
        let digest = state_to_digest::<Sha1>(&state);
        if detection.is_attack {
            return Err(CollisionAttack { digest });
        }
        Ok(digest)
    }

    /// Discards the message. The hasher is empty afterwards.
    pub fn reset(&mut self) {
        self.context.reset(Sha1Compression::IV);
        self.detection.is_attack = false;
    }
}

impl Default for Sha1Checked {
    fn default() -> Self {
        Self::new()
    }
}

/// Appends the written bytes to the message. Never fails. Requires the feature `std`.
#[cfg(feature = "std")]
impl std::io::Write for Sha1Checked {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the SHA-1 of one message that is available as a whole, on the best backends of this CPU.
///
/// # Errors
/// The message contains a block of a collision attack. The error has the digest.
pub fn digest(message: &[u8]) -> Result<Sha1Digest, CollisionAttack> {
    let mut hasher = Sha1Checked::new();
    hasher.update(message);
    hasher.finalize()
}

/// Writes the digests of many messages of any lengths, in the order of the messages, on the best
/// backends of this CPU: [`Engine::digest_many_checked`] on [`Engine::detect`].
///
/// # Panics
/// If the numbers of messages and of `digests` differ.
pub fn digest_many<'m>(
    messages: impl IntoIterator<Item = &'m (impl AsRef<[u8]> + ?Sized + 'm)>,
    digests: &mut [Sha1Digest],
    on_attack: impl FnMut(usize),
) {
    Engine::detect().digest_many_checked(messages, digests, on_attack);
}

impl Engine {
    /// Writes the SHA-1 digests of many messages of any lengths, in the order of the messages, and
    /// detects collision attacks. Calls `on_attack` with the number of each message that contains a
    /// block of an attack, at least once. Nothing is allocated.
    ///
    /// # Panics
    /// If the numbers of messages and of `digests` differ. The digests are unspecified then.
    pub fn digest_many_checked<'m>(
        &self,
        messages: impl IntoIterator<Item = &'m (impl AsRef<[u8]> + ?Sized + 'm)>,
        digests: &mut [Sha1Digest],
        mut on_attack: impl FnMut(usize),
    ) {
        let mut messages = in_sets(messages);
        digest_sets(self, &mut messages, digests, &mut on_attack);
    }
}

/// Hashes many messages: not generic, so that it is compiled in this crate.
#[inline(never)]
fn digest_sets(
    engine: &Engine,
    messages: Messages<'_, '_>,
    digests: &mut [Sha1Digest],
    on_attack: &mut dyn FnMut(usize),
) {
    let kernels = kernels_of(engine);
    let mut jobs = DigestJobs::<Sha1>::new(&Sha1Compression::IV, 0, messages, digests);
    jobs.fill();
    let mut suspects = Suspects::new(kernels.lanes, false, on_attack);
    run_checked(kernels, &mut jobs, &mut suspects);
}

/// Returns the kernels for many messages that this CPU can run, from the fastest to the slowest. An
/// engine of [`Engine::with`] that has only the kernel's backend uses this kernel.
pub fn kernels() -> impl Iterator<Item = KernelName> {
    CheckedKernel::available().map(|kernel| KernelName {
        algorithm: "sha1_checked",
        lanes: kernel.lanes(),
        backend: kernel.backend(),
    })
}

/// Returns the kernels of an engine.
fn kernels_of(engine: &Engine) -> Kernels {
    Kernels {
        one: engine.kernel_alone::<Sha1>(),
        lanes: engine.checked,
    }
}

/// Returns `true` if a message contains a block of a collision attack, for a message whose digest is
/// already known.
///
/// The conditions of all blocks are tested first. Nothing more is computed for a message without a
/// suspicious block: for half of the messages of one KiB. Otherwise, the message is hashed up to its last
/// suspicious block.
pub fn contains_attack(message: &[u8]) -> bool {
    let mut detection = Detection::new(Engine::detect());
    let mut tail = Tail::NONE;
    let body = tail.pad_message(0, message);
    let mut state = Sha1Compression::IV;
    if let Some(last) = last_suspicious(detection.kernels, tail.blocks()) {
        detection.compress(&mut state, body);
        detection.compress(&mut state, &tail.blocks()[..=last]);
    } else if let Some(last) = last_suspicious(detection.kernels, body) {
        detection.compress(&mut state, &body[..=last]);
    }
    detection.is_attack
}
