//! One message, in as many parts as it comes in.

use core::fmt;

use crate::algorithm::{Algorithm, BLOCK_LEN, Block, State, state_to_digest};
use crate::backend::Engine;
use crate::scheduler::Tail;

/// Digest of one message that is at hand as a whole.
///
/// ```
/// use hashlane_sha::{Sha256, digest};
/// assert!(digest::<Sha256>(b"abc").to_string().starts_with("ba7816bf"));
/// ```
pub fn digest<A: Algorithm>(message: &[u8]) -> A::Digest {
    let mut hasher = Hasher::<A>::new();
    hasher.update(message);
    hasher.finalize()
}

/// The digest of a message that comes in parts.
///
/// ```
/// use hashlane_sha::{Hasher, Sha1, digest};
/// let mut hasher = Hasher::<Sha1>::new();
/// hasher.update(b"a");
/// hasher.update(b"bc");
/// assert_eq!(hasher.finalize(), digest::<Sha1>(b"abc"));
/// ```
///
/// To feed many hashers at once, see [`Engine::update_many`].
#[derive(Clone)]
pub struct Hasher<A: Algorithm> {
    pub(crate) state: State,
    /// Bytes that do not fill a block yet: `buffer[..buffered]`.
    pub(crate) buffer: Block,
    pub(crate) buffered: usize,
    /// Length of the message so far in bytes, modulo 2^64. FIPS 180-4 bounds a message to
    /// 2^64 - 1 bits, 2 EiB; the counter cannot be driven there.
    pub(crate) len_bytes: u64,
    engine: Engine,
    algorithm: core::marker::PhantomData<A>,
}

impl<A: Algorithm> Hasher<A> {
    /// An empty message, on the best backend of this CPU (or the one that `HASHLANE_BACKEND`
    /// names: see [`Engine::detect`]).
    pub fn new() -> Self {
        Self::with_engine(Engine::detect())
    }

    /// An empty message, on the kernels of `engine`.
    pub fn with_engine(engine: Engine) -> Self {
        Self {
            state: A::IV,
            buffer: [0; BLOCK_LEN],
            buffered: 0,
            len_bytes: 0,
            engine,
            algorithm: core::marker::PhantomData,
        }
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        let (head, body) = self.absorb(bytes);
        if let Some(head) = head {
            A::compress(&self.engine, &mut self.state, &[head]);
        }
        A::compress(&self.engine, &mut self.state, body);
    }

    /// The digest of the message.
    pub fn finalize(mut self) -> A::Digest {
        let tail = self.tail();
        A::compress(&self.engine, &mut self.state, tail.blocks());
        state_to_digest::<A>(&self.state)
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

    /// Forgets the message, as if new.
    pub fn reset(&mut self) {
        self.state = A::IV;
        self.buffered = 0;
        self.len_bytes = 0;
    }

    /// The padded end of the message as it stands.
    pub(crate) fn tail(&self) -> Tail {
        Tail::pad(&self.buffer[..self.buffered], self.len_bytes)
    }
}

impl<A: Algorithm> Default for Hasher<A> {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows how much went in, not what: a hasher may hold part of a secret.
impl<A: Algorithm> fmt::Debug for Hasher<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher")
            .field("algorithm", &A::NAME)
            .field("len_bytes", &self.len_bytes)
            .finish_non_exhaustive()
    }
}
