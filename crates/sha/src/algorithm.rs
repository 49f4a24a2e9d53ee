//! The two algorithms as types, and their digests.

use core::fmt;

use crate::kernels::sealed;

/// Bytes in one block, the unit that both compression functions eat (FIPS 180-4, figure 1).
pub const BLOCK_LEN: usize = 64;

/// One block of a message: 64 bytes.
pub(crate) type Block = [u8; BLOCK_LEN];

/// The chaining value between blocks. SHA-1 uses the first five words.
pub(crate) type State = [u32; 8];

/// SHA-1 or SHA-256. Sealed: the kernels know these two.
pub trait Algorithm: sealed::Kernels + Copy + fmt::Debug + Send + Sync + 'static {
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
}

/// SHA-1, FIPS 180-4 section 6.1: digests of 20 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sha1;

/// SHA-256, FIPS 180-4 section 6.2: digests of 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sha256;

impl Algorithm for Sha1 {
    type Digest = Sha1Digest;
    const NAME: &'static str = "sha1";
    const DIGEST_LEN: usize = 20;
}

impl Algorithm for Sha256 {
    type Digest = Sha256Digest;
    const NAME: &'static str = "sha256";
    const DIGEST_LEN: usize = 32;
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
