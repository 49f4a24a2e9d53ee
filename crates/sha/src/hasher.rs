//! Hashers of one message that arrives in parts.

use zeroize::Zeroize;

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, kernel_alone, state_to_digest};
use crate::context::Context;
use crate::digests::{Sha1Digest, Sha256Digest};
use crate::engine::Engine;
use crate::kernels::rounds::Rounds as _;
use crate::kernels::sha1::Sha1Compression;
use crate::kernels::sha256::Sha256Compression;
use crate::scheduler::Tail;

/// Returns the digest of one message that is available as a whole, on the best backend of this CPU:
/// [`Engine::digest`] on [`Engine::detect`].
///
/// ```
/// use hashlane_sha::{Sha256, digest};
/// assert!(digest::<Sha256>(b"abc").to_string().starts_with("ba7816bf"));
/// ```
pub fn digest<A: Algorithm>(message: &[u8]) -> A::Digest {
    A::Entries::digest_one(kernel_alone::<A>(), message)
}

impl Engine {
    /// Returns the digest of one message that is available as a whole.
    pub fn digest<A: Algorithm>(&self, message: &[u8]) -> A::Digest {
        A::Entries::digest_one(self.kernel_alone::<A>(), message)
    }
}

impl Context {
    /// Appends `bytes` to the message. Inlined into the caller is only the case that `bytes` fit
    /// into the buffer.
    #[inline]
    pub(crate) fn update<A: Algorithm>(&mut self, bytes: &[u8]) {
        if !self.buffer_bytes(bytes) {
            A::Entries::absorb(self, bytes);
        }
    }

    /// Appends `bytes` that may fill blocks.
    pub(crate) fn update_blocks<A: Algorithm>(&mut self, bytes: &[u8]) {
        let kernel = self.kernel;
        let body = self.absorb(bytes, |state, block| {
            A::Entries::compress(kernel, state, block);
        });
        if !body.is_empty() {
            A::Entries::compress(kernel, &mut self.state, body);
        }
    }

    /// Returns the digest of the message. The context must be [`Self::reset`] before its next use.
    pub(crate) fn finalize<A: Algorithm>(&mut self) -> A::Digest {
        let mut tail = Tail::NONE;
        self.pad(&mut tail);
        A::Entries::compress(self.kernel, &mut self.state, tail.blocks());
        state_to_digest::<A>(&self.state)
    }
}

macro_rules! hasher {
    ($(#[$doc:meta])* $name:ident -> $digest:ident, $compression:ident, $digest_len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub(crate) Context);

        impl $name {
            /// Returns the hasher of an empty message, on the best backend of this CPU: see
            /// [`Engine::detect`].
            pub fn new() -> Self {
                Self(Context::after($compression::IV, 0, kernel_alone::<Self>()))
            }

            /// Returns the hasher of an empty message, on the kernels of `engine`.
            pub fn with_engine(engine: Engine) -> Self {
                Self(Context::after($compression::IV, 0, engine.kernel_alone::<Self>()))
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
                $compression::finish(&mut self.0)
            }

            /// Discards the message. The hasher is empty afterwards, and holds no byte of the
            /// message.
            pub fn reset(&mut self) {
                self.0.reset($compression::IV);
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        /// Wipes the message from memory. The hasher is empty afterwards.
        impl Zeroize for $name {
            fn zeroize(&mut self) {
                self.0.zeroize();
                self.reset();
            }
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $name {}

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

        impl Algorithm for $name {
            type Entries = $compression;
            type Digest = $digest;
            const NAME: &'static str = $compression::NAME;
            const DIGEST_LEN: usize = $digest_len;

            fn digest(message: &[u8]) -> $digest {
                digest::<Self>(message)
            }

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
    Sha1 -> Sha1Digest, Sha1Compression, 20
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
    Sha256 -> Sha256Digest, Sha256Compression, 32
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
