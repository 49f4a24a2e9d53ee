//! One message in progress: its state, and the bytes that do not fill a block yet.

use core::fmt;

use zeroize::Zeroize;

use crate::scheduler::Tail;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, Block, State};

/// The position in a message, used by both hashers and by HMAC.
#[derive(Clone)]
pub struct Context {
    pub(crate) state: State,
    /// Bytes that do not fill a block yet: `buffer[..buffered()]`.
    pub(crate) buffer: Block,
    /// Length of the message so far in bytes, modulo 2^64. FIPS 180-4 limits a message to 2^64 - 1
    /// bits (2 EiB), which no caller can reach in practice.
    pub(crate) len_bytes: u64,
    /// The kernel for a single message.
    pub(crate) kernel: Kernel,
}

impl Context {
    /// Returns the context of a message whose first `len_bytes` bytes are whole blocks with the
    /// state `state`.
    pub(crate) fn after(state: State, len_bytes: u64, kernel: Kernel) -> Self {
        debug_assert!(len_bytes.is_multiple_of(BLOCK_LEN as u64));
        Self {
            state,
            buffer: [0; BLOCK_LEN],
            len_bytes,
            kernel,
        }
    }

    /// Discards the message, and overwrites the state and the whole buffer.
    pub(crate) fn reset(&mut self, iv: State) {
        *self = Self::after(iv, 0, self.kernel);
    }

    /// Returns the number of bytes in the buffer. This number is not a field of its own: the CPU
    /// cannot forward two separate stores to one load that reads both fields.
    #[inline]
    pub(crate) fn buffered(&self) -> usize {
        buffered::<BLOCK_LEN>(self.len_bytes)
    }

    /// Buffers `bytes` and returns `true` if they do not fill a block.
    #[inline]
    pub(crate) fn buffer_bytes(&mut self, bytes: &[u8]) -> bool {
        buffer_bytes(&mut self.buffer, &mut self.len_bytes, bytes)
    }

    /// Counts and buffers `bytes`, and returns the whole blocks in them, which the caller must
    /// compress. If the buffer becomes full, `compress` runs on it first.
    #[inline(always)]
    pub(crate) fn absorb<'m>(
        &mut self,
        bytes: &'m [u8],
        compress: impl FnOnce(&mut State, &[Block]),
    ) -> &'m [Block] {
        let Self {
            state,
            buffer,
            len_bytes,
            ..
        } = self;
        absorb(buffer, len_bytes, bytes, |block| compress(state, block))
    }

    /// Writes the rest of the message and its padding to `tail`.
    #[inline(always)]
    pub(crate) fn pad(&self, tail: &mut Tail) {
        tail.pad(&self.buffer[..self.buffered()], self.len_bytes);
    }
}

/// Returns the number of bytes in the buffer of a message of `len_bytes` bytes, with blocks of `B` bytes.
#[inline(always)]
pub(crate) fn buffered<const B: usize>(len_bytes: u64) -> usize {
    (len_bytes % B as u64) as usize
}

/// [`Context::buffer_bytes`], for a buffer anywhere.
#[inline(always)]
fn buffer_bytes<const B: usize>(buffer: &mut [u8; B], len_bytes: &mut u64, bytes: &[u8]) -> bool {
    let room = &mut buffer[buffered::<B>(*len_bytes)..];
    if bytes.len() >= room.len() {
        return false;
    }
    copy(&mut room[..bytes.len()], bytes);
    *len_bytes = len_bytes.wrapping_add(bytes.len() as u64);
    true
}

/// Copies a slice of the same length. Below [`BLOCK_LEN`] bytes, a call of memcpy takes longer than the
/// rest of a short update (`bench/README.md`, Short updates).
#[inline(always)]
fn copy(to: &mut [u8], from: &[u8]) {
    if let [byte] = *from {
        to[0] = byte;
    } else if !(copy_ends::<2>(to, from)
        || copy_ends::<4>(to, from)
        || copy_ends::<8>(to, from)
        || copy_ends::<16>(to, from)
        || copy_ends::<32>(to, from))
    {
        to.copy_from_slice(from);
    }
}

/// Copies the first `N` and the last `N` bytes of a slice of the same length and returns `true`, if the
/// slice has at least `N` and less than twice as many bytes. At twice as many, kernels would load bytes
/// of two stores, which the CPU cannot forward.
#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
    if from.len() >= 2 * N {
        return false;
    }
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else {
        return false;
    };
    let (first, last) = (*first, *last);
    let len = to.len();
    to[..N].copy_from_slice(&first);
    to[len - N..].copy_from_slice(&last);
    true
}

/// [`Context::absorb`], for a buffer anywhere.
#[inline(always)]
pub(crate) fn absorb<'m, const B: usize>(
    buffer: &mut [u8; B],
    len_bytes: &mut u64,
    mut bytes: &'m [u8],
    compress: impl FnOnce(&[[u8; B]]),
) -> &'m [[u8; B]] {
    if buffer_bytes(buffer, len_bytes, bytes) {
        return &[];
    }
    let buffered = buffered::<B>(*len_bytes);
    *len_bytes = len_bytes.wrapping_add(bytes.len() as u64);
    if buffered > 0 {
        let room = &mut buffer[buffered..];
        let (first, rest) = bytes.split_at(room.len());
        copy(room, first);
        compress(core::slice::from_ref(buffer));
        bytes = rest;
    }
    let (body, rest) = bytes.as_chunks::<B>();
    copy(&mut buffer[..rest.len()], rest);
    body
}

impl Zeroize for Context {
    fn zeroize(&mut self) {
        self.state.zeroize();
        self.buffer.zeroize();
        self.len_bytes = 0;
    }
}

#[cfg(feature = "zeroize")]
impl Drop for Context {
    fn drop(&mut self) {
        self.zeroize();
    }
}

/// Shows only the length of the message: its bytes may be secret.
impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("len_bytes", &self.len_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_simd::Portable;

    #[test]
    fn copies_of_all_lengths_are_exact() {
        let from: [u8; 64] = core::array::from_fn(|i| i as u8 + 1);
        for len in 0..from.len() {
            let mut to = [0; 64];
            copy(&mut to[..len], &from[..len]);
            assert_eq!(to[..len], from[..len]);
            assert_eq!(to[len..], [0; 64][len..]);
        }
    }

    #[test]
    fn a_wiped_context_has_no_byte_of_the_message() {
        let mut context = Context::after([0x0101_0101; 8], 64, Kernel::Portable(Portable));
        assert!(context.buffer_bytes(&[7; 63]));
        assert_ne!(context.buffer, [0; BLOCK_LEN]);
        context.zeroize();
        assert_eq!(context.state, [0; 8]);
        assert_eq!(context.buffer, [0; BLOCK_LEN]);
        assert_eq!(context.len_bytes, 0);
    }
}
