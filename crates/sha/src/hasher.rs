//! Hashers of one message that arrives in parts.

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
    /// Appends `bytes` to the message. Inlined into the caller is only the case that `bytes` fit
    /// into the buffer.
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

    /// Returns the digest of the message. The context must be [`Self::reset`] before its next use.
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
            /// Returns the hasher of an empty message, on the best backend of this CPU or on the
            /// one that `HASHLANE_BACKEND` names: see [`Engine::detect`].
            pub fn new() -> Self {
                Self(Context::after(Self::iv(Seal(())), 0, kernel_alone::<Self>()))
            }

            /// Returns the hasher of an empty message, on the kernels of `engine`.
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

            /// Returns the digest of the message.
            #[inline]
            pub fn finalize(mut self) -> $digest {
                Self::finish(Seal(()), &mut self.0)
            }

            /// Discards the message. The hasher is empty afterwards, and holds no byte of the
            /// message.
            pub fn reset(&mut self) {
                self.0.reset(Self::iv(Seal(())));
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        /// Appends the written bytes to the message. Never fails. Requires the feature `std`.
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
    /// A SHA-1 hasher (FIPS 180-4 section 6.1) for a message that arrives in parts. Digests have 20
    /// bytes.
    ///
    /// ```
    /// use hashlane_sha::Sha1;
    /// let mut hasher = Sha1::new();
    /// hasher.update(b"a").update(b"bc");
    /// assert_eq!(hasher.finalize(), Sha1::digest(b"abc"));
    /// ```
    ///
    /// To update many hashers at once, see [`Engine::update_many`].
    Sha1 -> Sha1Digest, SHA1, 20
);
hasher!(
    /// A SHA-256 hasher (FIPS 180-4 section 6.2) for a message that arrives in parts. Digests have
    /// 32 bytes.
    ///
    /// ```
    /// use hashlane_sha::Sha256;
    /// let mut hasher = Sha256::new();
    /// hasher.update(b"a").update(b"bc");
    /// assert_eq!(hasher.finalize(), Sha256::digest(b"abc"));
    /// ```
    ///
    /// To update many hashers at once, see [`Engine::update_many`].
    Sha256 -> Sha256Digest, SHA256, 32
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::Tail;

    /// Returns the last eight bytes of the padding: the length in bits, big-endian.
    fn length_field(tail: &Tail) -> u64 {
        let last = tail.blocks().last().expect("a tail has blocks");
        u64::from_be_bytes(*last.last_chunk().expect("a block has eight bytes"))
    }

    #[test]
    fn lengths_fill_all_of_their_field() {
        for len_bytes in [
            0,
            1,
            (1 << 29) - 1, // The last whose number of bits fits into 32 bits.
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
