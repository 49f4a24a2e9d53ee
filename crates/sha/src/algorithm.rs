//! What the two algorithms have in common, and their digests.

use core::fmt;

use crate::backend::Engine;
use crate::hasher::HasContext;
use crate::kernels::sealed;

/// Bytes in one block, the unit that both compression functions eat (FIPS 180-4, figure 1).
pub const BLOCK_LEN: usize = 64;

/// One block of a message: 64 bytes.
pub(crate) type Block = [u8; BLOCK_LEN];

/// The chaining value between blocks. SHA-1 uses the first five words.
pub(crate) type State = [u32; 8];

/// SHA-1 or SHA-256, for code that is generic over them: [`Sha1`](crate::Sha1) and
/// [`Sha256`](crate::Sha256) have these functions without it too. Sealed: the kernels know these
/// two.
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
    sealed::Kernels + HasContext + Clone + Default + fmt::Debug + Send + Sync + 'static
{
    /// What a message is reduced to.
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

    /// The name in lower case without a hyphen, as in kernel names: `sha1`, `sha256`.
    const NAME: &'static str;

    /// Bytes in a digest.
    const DIGEST_LEN: usize;

    /// An empty message, on the best backend of this CPU: see [`Engine::detect`].
    fn new() -> Self;

    /// An empty message, on the kernels of `engine`.
    fn with_engine(engine: Engine) -> Self;

    /// Appends `bytes` to the message.
    fn update(&mut self, bytes: &[u8]);

    /// The digest of the message.
    fn finalize(self) -> Self::Digest;

    /// Forgets the message, as if new.
    fn reset(&mut self);
}

/// Writes the words of a final state big-endian, as many as the digest holds.
pub(crate) fn state_to_digest<A: Algorithm>(state: &State) -> A::Digest {
    let mut digest = A::Digest::default();
    for (bytes, word) in digest.as_mut().chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

macro_rules! digest_type {
    ($(#[$doc:meta])* $name:ident, $len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $len]);

        impl From<[u8; $len]> for $name {
            fn from(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }
        }

        impl From<$name> for [u8; $len] {
            fn from(digest: $name) -> Self {
                digest.0
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl AsMut<[u8]> for $name {
            fn as_mut(&mut self) -> &mut [u8] {
                &mut self.0
            }
        }

        /// Lower-case hexadecimal.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

digest_type!(
    /// A SHA-1 digest: 20 bytes, shown in hexadecimal.
    Sha1Digest,
    20
);
digest_type!(
    /// A SHA-256 digest: 32 bytes, shown in hexadecimal.
    Sha256Digest,
    32
);
