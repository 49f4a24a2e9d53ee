//! One message, in as many parts as it comes in.

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, kernel_alone, state_to_digest};
use crate::context::{Context, HasContext};
use crate::digests::{Sha1Digest, Sha256Digest};
use crate::engine::Engine;
use crate::scheduler::Tail;
use crate::types::{SHA1, SHA256, Seal};

/// Returns the digest of one message that is available as a whole.
///
/// ```
/// use hashlane_sha::{Sha256, digest};
/// assert!(digest::<Sha256>(b"abc").to_string().starts_with("ba7816bf"));
/// ```
pub fn digest<A: Algorithm>(message: &[u8]) -> A::Digest {
    A::digest_one(Seal(()), message)
}

impl Context {
    /// Appends `bytes` to the message. The part that is inlined into the caller is for bytes that fit into the buffer.
    #[inline]
    pub(crate) fn update<A: Algorithm>(&mut self, bytes: &[u8]) {
        if !self.buffer_bytes(bytes) {
            A::absorb(Seal(()), self, bytes);
        }
    }

    /// Appends `bytes` that may fill blocks.
    pub(crate) fn update_blocks<A: Algorithm>(&mut self, bytes: &[u8]) {
        let kernel = self.kernel;
        let body = self.absorb(bytes, |state, block| A::compress(kernel, state, block));
        if !body.is_empty() {
            A::compress(kernel, &mut self.state, body);
        }
    }

    /// The digest of the message. What is left is of no use but to be [`Self::reset`].
    pub(crate) fn finalize<A: Algorithm>(&mut self) -> A::Digest {
        let mut tail = Tail::NONE;
        self.pad(&mut tail);
        A::compress(self.kernel, &mut self.state, tail.blocks());
        state_to_digest::<A>(&self.state)
    }
}

macro_rules! hasher {
    ($(#[$doc:meta])* $name:ident -> $digest:ident, $algorithm:ident, $digest_len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub(crate) Context);

        impl $name {
            /// An empty message, on the best backend of this CPU (or the one that
            /// `HASHLANE_BACKEND` names: see [`Engine::detect`]).
            pub fn new() -> Self {
                Self(Context::after(Self::iv(Seal(())), 0, kernel_alone::<Self>()))
            }

            /// An empty message, on the kernels of `engine`.
            pub fn with_engine(engine: Engine) -> Self {
                Self(Context::after(Self::iv(Seal(())), 0, engine.kernel_alone::<Self>()))
            }

            /// Returns the digest of one message that is available as a whole.
            pub fn digest(message: &[u8]) -> $digest {
                digest::<Self>(message)
            }

            /// Appends `bytes` to the message. Returns the hasher, so that calls can be chained.
            #[inline]
            pub fn update(&mut self, bytes: &[u8]) -> &mut Self {
                self.0.update::<Self>(bytes);
                self
            }

            /// The digest of the message.
            #[inline]
            pub fn finalize(mut self) -> $digest {
                Self::finish(Seal(()), &mut self.0)
            }

            /// Forgets the message, as if new.
            pub fn reset(&mut self) {
                self.0.reset(Self::iv(Seal(())));
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        /// Appends what is written to the message. Never fails. Needs the feature `std`.
        #[cfg(feature = "std")]
        impl std::io::Write for $name {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.update(bytes);
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        impl HasContext for $name {
            fn context_mut(&mut self, _: Seal) -> &mut Context {
                &mut self.0
            }
        }

        impl Algorithm for $name {
            type Digest = $digest;
            const NAME: &'static str = $algorithm;
            const DIGEST_LEN: usize = $digest_len;

            fn new() -> Self {
                Self::new()
            }

            fn with_engine(engine: Engine) -> Self {
                Self::with_engine(engine)
            }

            #[inline]
            fn update(&mut self, bytes: &[u8]) {
                self.update(bytes);
            }

            #[inline]
            fn finalize(self) -> $digest {
                self.finalize()
            }

            fn reset(&mut self) {
                self.reset();
            }
        }
    };
}

hasher!(
    /// SHA-1, FIPS 180-4 section 6.1: digests of 20 bytes, of a message that comes in parts.
    ///
    /// ```
    /// use hashlane_sha::Sha1;
    /// let mut hasher = Sha1::new();
    /// hasher.update(b"a").update(b"bc");
    /// assert_eq!(hasher.finalize(), Sha1::digest(b"abc"));
    /// ```
    ///
    /// To feed many hashers at once, see [`Engine::update_many`].
    Sha1 -> Sha1Digest, SHA1, 20
);
hasher!(
    /// SHA-256, FIPS 180-4 section 6.2: digests of 32 bytes, of a message that comes in parts.
    ///
    /// ```
    /// use hashlane_sha::Sha256;
    /// let mut hasher = Sha256::new();
    /// hasher.update(b"a").update(b"bc");
    /// assert_eq!(hasher.finalize(), Sha256::digest(b"abc"));
    /// ```
    ///
    /// To feed many hashers at once, see [`Engine::update_many`].
    Sha256 -> Sha256Digest, SHA256, 32
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::Tail;

    /// The last eight bytes of the padding: the length in bits, big-endian.
    fn length_field(tail: &Tail) -> u64 {
        let last = tail.blocks().last().expect("a tail has blocks");
        u64::from_be_bytes(*last.last_chunk().expect("a block has eight bytes"))
    }

    #[test]
    fn lengths_fill_all_of_their_field() {
        for len_bytes in [
            0,
            1,
            (1 << 29) - 1, // The last that has 32 bits of bits.
            1 << 29,
            (1 << 32) - 1,
            1 << 32,
            (1 << 32) + 101,
            (1 << 61) - 1, // The last that FIPS 180-4 allows.
        ] {
            let rest = &[7; 63][..(len_bytes % 64) as usize];
            let mut tail = Tail::NONE;
            tail.pad(rest, len_bytes);
            let n_bits = u128::from(length_field(&tail));
            assert_eq!(n_bits, u128::from(len_bytes) * 8, "{len_bytes} bytes");
        }
    }

    #[test]
    fn lengths_carry() {
        let kernel = kernel_alone::<Sha1>();
        for start in [(1 << 29) - 64, (1 << 32) - 64, (1 << 61) - 128] {
            let mut context = Context::after(Sha1::new().0.state, start, kernel);
            context.update::<Sha1>(&[7; 100]);
            let mut tail = Tail::NONE;
            context.pad(&mut tail);
            assert_eq!(length_field(&tail), (start + 100) * 8);
        }
    }
}
