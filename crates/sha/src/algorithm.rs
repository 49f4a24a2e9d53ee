//! The trait `Algorithm` for callers, and the entry points that its implementations need.

use core::fmt;

use crate::context::HasContext;
#[cfg(not(feature = "std"))]
use crate::engine::Plan;
use crate::engine::{Engine, KernelName};
use crate::table::Kernel;
use crate::types::{Seal, State};

/// SHA-1 or SHA-256, for code that is generic over the algorithm.
///
/// [`Sha1`](crate::Sha1) and [`Sha256`](crate::Sha256) have the same functions as inherent methods.
/// The trait is sealed, because the kernels implement only these two algorithms.
///
/// ```
/// use hashlane_sha::{Algorithm, Sha1, Sha256};
///
/// fn digest_of_parts<A: Algorithm>(parts: &[&[u8]]) -> A::Digest {
///     let mut hasher = A::new();
///     parts.iter().for_each(|part| hasher.update(part));
///     hasher.finalize()
/// }
///
/// assert!(digest_of_parts::<Sha1>(&[b"a", b"bc"]).to_string().starts_with("a9993e36"));
/// assert!(digest_of_parts::<Sha256>(&[b"a", b"bc"]).to_string().starts_with("ba7816bf"));
/// ```
pub trait Algorithm:
    sealed::Entries + HasContext + Clone + Default + fmt::Debug + Send + Sync + 'static
{
    /// The digest type.
    type Digest: AsRef<[u8]>
        + AsMut<[u8]>
        + Copy
        + Default
        + Eq
        + Ord
        + fmt::Debug
        + fmt::Display
        + Send
        + Sync;

    /// The name of the algorithm in lower case without a hyphen, as in kernel names: `sha1`,
    /// `sha256`.
    const NAME: &'static str;

    /// The length of a digest in bytes.
    const DIGEST_LEN: usize;

    /// Returns the hasher of an empty message, on the best backend of this CPU: see
    /// [`Engine::detect`].
    fn new() -> Self;

    /// Returns the hasher of an empty message, on the kernels of `engine`.
    fn with_engine(engine: Engine) -> Self;

    /// Appends `bytes` to the message.
    fn update(&mut self, bytes: &[u8]);

    /// Returns the digest of the message.
    fn finalize(self) -> Self::Digest;

    /// Discards the message. The hasher is empty afterwards.
    fn reset(&mut self);
}

/// Hashers, each with the next bytes of its message. A trait object, so that the loop over the
/// pairs is compiled once and not once per iterator type.
pub(crate) type Pairs<'m, 'p, A> = &'p mut dyn Iterator<Item = (&'m mut A, &'m [u8])>;

/// The entry points of an algorithm. They seal [`Algorithm`].
///
/// Methods of a supertrait can be called through a generic bound, even where the trait cannot be
/// named. Every method here therefore takes an argument that only this crate can make: a [`Seal`],
/// a [`Kernel`] or [`Lanes`]. The methods of the associated type cannot be called where their trait
/// is not in scope.
///
/// [`Lanes`]: crate::scheduler::Lanes
///
/// ```compile_fail,E0061
/// # use hashlane_sha::Algorithm;
/// fn initial_state<A: Algorithm>() -> [u32; 8] {
///     A::iv()
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use hashlane_sha::{Algorithm, Engine};
/// fn kernels<A: Algorithm>(engine: &Engine) -> usize {
///     A::plan(engine).len()
/// }
/// ```
///
/// ```compile_fail,E0599
/// # use hashlane_sha::Algorithm;
/// fn schedule<A: Algorithm>(block: &[u8; 64]) -> [u32; 80] {
///     A::Compression::schedule(block)
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use hashlane_sha::{Algorithm, Engine};
/// fn unchecked_lengths<A: Algorithm>(engine: &Engine, digests: &mut [A::Digest]) {
///     A::digest_many_after(engine, &[0; 8], 0, &[b"abc"], digests);
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use hashlane_sha::Algorithm;
/// fn state_of<A: Algorithm>(hasher: &mut A) {
///     hasher.context_mut();
/// }
/// ```
///
/// ```compile_fail,E0425
/// let seal = hashlane_sha::Seal(());
/// ```
pub(crate) mod sealed {
    use crate::context::Context;
    use crate::engine::Engine;
    use crate::kernels::compression::Compression;
    use crate::scheduler::{Bodies, Finished, Lanes};
    use crate::table::Kernel;
    use crate::types::{Block, Part, Seal, State};

    use super::{Algorithm, Pairs};

    /// The entry points, compiled once for each algorithm: see `entries.rs`.
    pub trait Entries: Sized {
        /// The compression function.
        type Compression: Compression;

        /// Returns the initial hash value (FIPS 180-4 section 5.3).
        fn iv(seal: Seal) -> State;

        /// Returns the rate of `kernel` on Intel and unknown CPUs. For one message, the order of
        /// the kernels by rate is the same on all CPUs.
        fn rate(kernel: Kernel) -> f32;

        /// Returns the kernels by number of messages: `[n]` is the kernel for `n` available
        /// messages.
        fn plan(seal: Seal, engine: &Engine) -> &[Kernel];

        /// Returns the digest of one message.
        fn digest_one(seal: Seal, message: &[u8]) -> Self::Digest
        where
            Self: Algorithm;

        /// Appends `bytes` to a message.
        fn absorb(seal: Seal, context: &mut Context, bytes: &[u8]);

        /// Returns the digest of the message.
        fn finish(seal: Seal, context: &mut Context) -> Self::Digest
        where
            Self: Algorithm;

        /// Compresses `blocks` of one message into `state`.
        fn compress(kernel: Kernel, state: &mut State, blocks: &[Block]);

        /// Compresses parts of many messages, each into its state.
        fn compress_many(seal: Seal, engine: &Engine, parts: &mut [Part<'_>]);

        /// Runs [`Engine::digest_chunks`].
        fn digest_chunks(
            seal: Seal,
            engine: &Engine,
            bytes: &[u8],
            message_len: usize,
            digests: &mut [Self::Digest],
        ) where
            Self: Algorithm;

        /// Runs one step of a queue whose jobs have the blocks in `bodies` left.
        fn step(
            engine: &Engine,
            lanes: &mut Lanes,
            bodies: &mut Bodies<'_>,
            finished: &mut Finished,
        );

        /// Writes the digest of each message.
        fn digest_many(
            seal: Seal,
            engine: &Engine,
            messages: &[&[u8]],
            digests: &mut [Self::Digest],
        ) where
            Self: Algorithm;

        /// Writes the digests of messages that follow a common prefix. The prefix has `prefix_len`
        /// bytes in whole blocks, and its state is `start`.
        fn digest_many_after(
            seal: Seal,
            engine: &Engine,
            start: &State,
            prefix_len: u64,
            messages: &[&[u8]],
            digests: &mut [Self::Digest],
        ) where
            Self: Algorithm;

        /// Runs [`Engine::update_many`].
        fn update_many(seal: Seal, engine: &Engine, pairs: Pairs<'_, '_, Self>)
        where
            Self: Algorithm;

        /// Runs [`Engine::finalize_many`].
        fn finalize_many(
            seal: Seal,
            engine: &Engine,
            hashers: &mut [Self],
            digests: &mut [Self::Digest],
        ) where
            Self: Algorithm;
    }
}

impl Engine {
    /// Returns the number of messages of `A` that keep every lane busy.
    pub fn lanes<A: Algorithm>(&self) -> usize {
        A::plan(Seal(()), self).len() - 1
    }

    /// Returns the kernel that runs while `n_messages` of `A` are available.
    pub fn kernel<A: Algorithm>(&self, n_messages: usize) -> KernelName {
        let plan = A::plan(Seal(()), self);
        KernelName::new::<A>(plan[n_messages.clamp(1, plan.len() - 1)])
    }

    /// Returns the kernel for a single message of `A`.
    pub(crate) fn kernel_alone<A: Algorithm>(&self) -> Kernel {
        A::plan(Seal(()), self)[1]
    }
}

impl KernelName {
    /// Returns the kernels of `A` that this CPU can run.
    pub fn available<A: Algorithm>() -> impl Iterator<Item = Self> {
        Kernel::available().map(Self::new::<A>)
    }

    pub(crate) fn new<A: Algorithm>(kernel: Kernel) -> Self {
        Self {
            algorithm: A::NAME,
            lanes: kernel.lanes(),
            backend: kernel.backend(),
        }
    }
}

/// Returns the kernel that [`Engine::detect`] uses for a single message of `A`.
///
/// Every new hasher calls this function. Without `std` the result is not cached: a cache would need
/// an allocator or a spin lock, and an interrupt handler may use neither. On bare metal the
/// compiler knows the CPU features, so the result is a constant. Elsewhere the call compares the
/// rates of the kernels: 30 ns, while hashing a message of one block takes 70 ns (Xeon, Sapphire
/// Rapids generation, 2026-11).
pub(crate) fn kernel_alone<A: Algorithm>() -> Kernel {
    #[cfg(feature = "std")]
    {
        Engine::detect().kernel_alone::<A>()
    }
    #[cfg(not(feature = "std"))]
    Plan::best(A::rate, 1, |_| true)
}

/// Returns the first words of a final state, big-endian, as a digest.
pub(crate) fn state_to_digest<A: Algorithm>(state: &State) -> A::Digest {
    let mut digest = A::Digest::default();
    for (bytes, word) in digest.as_mut().chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}
