//! One message, in as many parts as it comes in.

use core::fmt;

use zeroize::Zeroize;

use crate::algorithm::{
    Algorithm, BLOCK_LEN, Block, Sha1Digest, Sha256Digest, State, state_to_digest,
};
use crate::backend::{Engine, kernel_alone};
use crate::kernels::{Kernel, Seal};
use crate::scheduler::Tail;

/// Digest of one message that is at hand as a whole.
///
/// ```
/// use hashlane_sha::{Sha256, digest};
/// assert!(digest::<Sha256>(b"abc").to_string().starts_with("ba7816bf"));
/// ```
pub fn digest<A: Algorithm>(message: &[u8]) -> A::Digest {
    let mut hasher = A::new();
    hasher.update(message);
    hasher.finalize()
}

/// Where a message stands: what both hashers and HMAC are made of.
#[derive(Clone)]
pub struct Context {
    pub(crate) state: State,
    /// Bytes that do not fill a block yet: `buffer[..buffered]`.
    pub(crate) buffer: Block,
    pub(crate) buffered: usize,
    /// Length of the message so far in bytes, modulo 2^64. FIPS 180-4 bounds a message to
    /// 2^64 - 1 bits, 2 EiB; the counter cannot be driven there.
    pub(crate) len_bytes: u64,
    /// The one that runs for one message alone.
    pub(crate) kernel: Kernel,
}

impl Context {
    /// An empty message.
    pub(crate) fn new<A: Algorithm>(kernel: Kernel) -> Self {
        Self::after(A::iv(Seal(())), 0, kernel)
    }

    /// A message whose first `len_bytes` bytes, whole blocks, led to `state`.
    pub(crate) fn after(state: State, len_bytes: u64, kernel: Kernel) -> Self {
        debug_assert!(len_bytes.is_multiple_of(BLOCK_LEN as u64));
        Self {
            state,
            buffer: [0; BLOCK_LEN],
            buffered: 0,
            len_bytes,
            kernel,
        }
    }

    pub(crate) fn update<A: Algorithm>(&mut self, bytes: &[u8]) {
        let (head, body) = self.absorb(bytes);
        if let Some(head) = head {
            A::compress(self.kernel, &mut self.state, &[head]);
        }
        A::compress(self.kernel, &mut self.state, body);
    }

    /// The digest of the message. What is left is of no use but to be [`Self::reset`].
    pub(crate) fn finalize<A: Algorithm>(&mut self) -> A::Digest {
        let tail = self.tail();
        A::compress(self.kernel, &mut self.state, tail.blocks());
        state_to_digest::<A>(&self.state)
    }

    /// Forgets the message, as if new.
    pub(crate) fn reset<A: Algorithm>(&mut self) {
        *self = Self::new::<A>(self.kernel);
    }

    /// Counts and buffers `bytes`, and returns what is to be compressed now: the block that the
    /// buffer completes, if it does, and then the whole blocks in `bytes`.
    pub(crate) fn absorb<'m>(&mut self, mut bytes: &'m [u8]) -> (Option<Block>, &'m [Block]) {
        self.len_bytes = self.len_bytes.wrapping_add(bytes.len() as u64);
        let mut head = None;
        if self.buffered > 0 {
            let room = &mut self.buffer[self.buffered..];
            let (first, rest) = bytes.split_at(room.len().min(bytes.len()));
            room[..first.len()].copy_from_slice(first);
            self.buffered += first.len();
            if self.buffered < BLOCK_LEN {
                return (None, &[]);
            }
            self.buffered = 0;
            head = Some(self.buffer);
            bytes = rest;
        }
        let (body, rest) = bytes.as_chunks::<BLOCK_LEN>();
        self.buffer[..rest.len()].copy_from_slice(rest);
        self.buffered = rest.len();
        (head, body)
    }

    /// The padded end of the message as it stands.
    pub(crate) fn tail(&self) -> Tail {
        Tail::pad(&self.buffer[..self.buffered], self.len_bytes)
    }
}

impl Zeroize for Context {
    fn zeroize(&mut self) {
        self.state.zeroize();
        self.buffer.zeroize();
        self.buffered = 0;
        self.len_bytes = 0;
    }
}

#[cfg(feature = "zeroize")]
impl Drop for Context {
    fn drop(&mut self) {
        self.zeroize();
    }
}

/// Shows how much went in, not what: it may be part of a secret.
impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("len_bytes", &self.len_bytes)
            .finish_non_exhaustive()
    }
}

/// Access to a hasher's state, for this crate alone: see `kernels::sealed`.
pub trait HasContext {
    fn context_mut(&mut self, seal: Seal) -> &mut Context;
}

macro_rules! hasher {
    ($(#[$doc:meta])* $name:ident -> $digest:ident, $algorithm:literal, $digest_len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub(crate) Context);

        impl $name {
            /// An empty message, on the best backend of this CPU (or the one that
            /// `HASHLANE_BACKEND` names: see [`Engine::detect`]).
            pub fn new() -> Self {
                Self(Context::new::<Self>(kernel_alone::<Self>()))
            }

            /// An empty message, on the kernels of `engine`.
            pub fn with_engine(engine: Engine) -> Self {
                Self(Context::new::<Self>(engine.kernel_alone::<Self>()))
            }

            /// Appends `bytes` to the message.
            pub fn update(&mut self, bytes: &[u8]) {
                self.0.update::<Self>(bytes);
            }

            /// The digest of the message.
            pub fn finalize(mut self) -> $digest {
                self.0.finalize::<Self>()
            }

            /// Forgets the message, as if new.
            pub fn reset(&mut self) {
                self.0.reset::<Self>();
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
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

            fn update(&mut self, bytes: &[u8]) {
                self.update(bytes);
            }

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
    /// use hashlane_sha::{Sha1, digest};
    /// let mut hasher = Sha1::new();
    /// hasher.update(b"a");
    /// hasher.update(b"bc");
    /// assert_eq!(hasher.finalize(), digest::<Sha1>(b"abc"));
    /// ```
    ///
    /// To feed many hashers at once, see [`Engine::update_many`].
    Sha1 -> Sha1Digest, "sha1", 20
);
hasher!(
    /// SHA-256, FIPS 180-4 section 6.2: digests of 32 bytes, of a message that comes in parts.
    ///
    /// ```
    /// use hashlane_sha::{Sha256, digest};
    /// let mut hasher = Sha256::new();
    /// hasher.update(b"a");
    /// hasher.update(b"bc");
    /// assert_eq!(hasher.finalize(), digest::<Sha256>(b"abc"));
    /// ```
    ///
    /// To feed many hashers at once, see [`Engine::update_many`].
    Sha256 -> Sha256Digest, "sha256", 32
);

#[cfg(test)]
mod tests {
    use super::*;

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
            let n_bits = u128::from(length_field(&Tail::pad(rest, len_bytes)));
            assert_eq!(n_bits, u128::from(len_bytes) * 8, "{len_bytes} bytes");
        }
    }

    #[test]
    fn lengths_carry() {
        let kernel = kernel_alone::<Sha1>();
        for start in [(1 << 29) - 64, (1 << 32) - 64, (1 << 61) - 128] {
            let mut context = Context::after(Sha1::new().0.state, start, kernel);
            context.update::<Sha1>(&[7; 100]);
            assert_eq!(length_field(&context.tail()), (start + 100) * 8);
        }
    }
}
