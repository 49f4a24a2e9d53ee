//! One message in progress: its state, and the bytes that do not fill a block yet.

use core::fmt;

use zeroize::Zeroize;

use crate::scheduler::Tail;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, Block, Seal, State};

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

    /// Forgets the message, as if new.
    pub(crate) fn reset(&mut self, iv: State) {
        *self = Self::after(iv, 0, self.kernel);
    }

    /// Buffers `bytes` and returns `true`, if they do not fill a block.
    #[inline]
    pub(crate) fn buffer_bytes(&mut self, bytes: &[u8]) -> bool {
        let Some(room) = self.buffer[self.buffered..].get_mut(..bytes.len()) else {
            return false;
        };
        if self.buffered + bytes.len() == BLOCK_LEN {
            return false;
        }
        room.copy_from_slice(bytes);
        self.buffered += bytes.len();
        self.len_bytes = self.len_bytes.wrapping_add(bytes.len() as u64);
        true
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

/// Access to a hasher's state, for this crate alone: see `algorithm::sealed`.
pub trait HasContext {
    fn context_mut(&mut self, seal: Seal) -> &mut Context;
}
