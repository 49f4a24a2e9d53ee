//! The trait `Algorithm` for callers, and the entry points that its implementations need.

use core::array::TryFromSliceError;
use core::fmt;
use core::hash::Hash;
use core::str::FromStr;

use crate::digests::ParseDigestError;
use crate::engine::Engine;
#[cfg(not(feature = "std"))]
use crate::engine::Plan;
use crate::table::Kernel;
use crate::types::{MAX_LANES, State};

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
pub trait Algorithm: Clone + Default + fmt::Debug + Send + Sync + 'static {
    /// The half of the algorithm that only this crate can use.
    #[doc(hidden)]
    type Entries: sealed::Entries<Self>;

    /// The digest type.
    type Digest: AsRef<[u8]>
        + AsMut<[u8]>
        + Copy
        + Default
        + Eq
        + Ord
        + Hash
        + fmt::Debug
        + fmt::Display
        + fmt::LowerHex
        + fmt::UpperHex
        + FromStr<Err = ParseDigestError>
        + for<'a> TryFrom<&'a [u8], Error = TryFromSliceError>
        + Send
        + Sync
        + 'static;

    /// The name of the algorithm in lower case without a hyphen, as in kernel names: `sha1`,
    /// `sha256`.
    const NAME: &'static str;

    /// The length of a digest in bytes.
    const DIGEST_LEN: usize;

    /// Returns the digest of one message that is available as a whole, on the best backend of this
    /// CPU: see [`Engine::detect`].
    fn digest(message: &[u8]) -> Self::Digest;

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

/// Messages to hash: writes the next ones to the array and returns their number. Fewer than
/// [`MAX_LANES`] are the last ones. A trait object for the same reason as [`Pairs`]. The call
/// serves sixteen messages, so it takes no measurable time.
pub(crate) type Messages<'m, 'p> = &'p mut dyn FnMut(&mut [&'m [u8]; MAX_LANES]) -> usize;

/// Returns the source of the messages of an iterator.
#[inline(always)]
pub(crate) fn in_sets<'m, T: AsRef<[u8]> + ?Sized + 'm>(
    messages: impl IntoIterator<Item = &'m T>,
) -> impl FnMut(&mut [&'m [u8]; MAX_LANES]) -> usize {
    let mut messages = messages.into_iter();
    move |set| {
        let mut n = 0;
        for (slot, message) in set.iter_mut().zip(&mut messages) {
            *slot = message.as_ref();
            n += 1;
        }
        n
    }
}

pub(crate) mod sealed {
    use crate::context::Context;
    use crate::engine::Engine;
    use crate::kernels::rounds::Rounds;
    use crate::scheduler::{Bodies, Finished, Lanes};
    use crate::table::Kernel;
    use crate::types::{Block, N_SETS, Part, State};

    use super::{Algorithm, Messages, Pairs};

    /// The private half of an algorithm: its rounds, and the entry points that `entries.rs`
    /// compiles once for each algorithm.
    ///
    /// The trait seals [`Algorithm`]: other crates cannot name it, so they cannot implement it for
    /// their types. For the same reason they cannot call its methods, which need the trait in
    /// scope:
    ///
    /// ```compile_fail,E0599
    /// # use hashlane_sha::{Algorithm, Engine};
    /// fn unchecked_lengths<A: Algorithm>(engine: &Engine, digests: &mut [A::Digest]) {
    ///     A::Entries::digest_many_after(engine, &[0; 8], 0, &mut |_| 0, digests);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0599
    /// # use hashlane_sha::Algorithm;
    /// fn state_of<A: Algorithm>(hasher: &mut A) {
    ///     A::Entries::context_mut(hasher);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0599
    /// # use hashlane_sha::{Algorithm, Sha1};
    /// fn initial_state() -> [u32; 8] {
    ///     <Sha1 as Algorithm>::Entries::IV
    /// }
    /// ```
    pub trait Entries<A: Algorithm>: Rounds {
        /// Returns the state of a hasher.
        fn context_mut(hasher: &mut A) -> &mut Context;

        /// Returns the digest of one message, by the kernel for a single message.
        fn digest_one(kernel: Kernel, message: &[u8]) -> A::Digest;

        /// Appends `bytes` to a message.
        fn absorb(context: &mut Context, bytes: &[u8]);

        /// Returns the digest of the message.
        fn finish(context: &mut Context) -> A::Digest;

        /// Compresses `blocks` of one message into `state`.
        fn compress(kernel: Kernel, state: &mut State, blocks: &[Block]);

        /// Compresses parts of many messages, each into its state.
        fn compress_many(engine: &Engine, parts: &mut [Part<'_>]);

        /// Runs [`Engine::digest_chunks`].
        fn digest_chunks(
            engine: &Engine,
            bytes: &[u8],
            message_len: usize,
            digests: &mut [A::Digest],
        );

        /// Runs one step of a queue whose jobs have the blocks in `bodies` left.
        fn step(
            engine: &Engine,
            lanes: &mut Lanes<N_SETS>,
            bodies: &mut Bodies<'_, N_SETS>,
            finished: &mut Finished,
        );

        /// Writes the digests of messages that follow a common prefix. The prefix has `prefix_len`
        /// bytes in whole blocks, and its state is `start`.
        fn digest_many_after(
            engine: &Engine,
            start: &State,
            prefix_len: u64,
            messages: Messages<'_, '_>,
            digests: &mut [A::Digest],
        );

        /// Runs [`Engine::update_many`].
        fn update_many(engine: &Engine, pairs: Pairs<'_, '_, A>);

        /// Runs [`Engine::finalize_many`].
        fn finalize_many(engine: &Engine, hashers: &mut [A], digests: &mut [A::Digest]);
    }
}

impl Engine {
    /// Returns the number of messages of `A` that keep every lane busy.
    pub fn lanes<A: Algorithm>(&self) -> usize {
        self.plan::<A::Entries>().len() - 1
    }

    /// Returns the kernel for a single message of `A`.
    pub(crate) fn kernel_alone<A: Algorithm>(&self) -> Kernel {
        self.plan::<A::Entries>()[1]
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
    Plan::best_alone::<A::Entries>()
}

/// Returns the first words of a final state, big-endian, as a digest.
pub(crate) fn state_to_digest<A: Algorithm>(state: &State) -> A::Digest {
    let mut digest = A::Digest::default();
    for (bytes, word) in digest.as_mut().chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}
