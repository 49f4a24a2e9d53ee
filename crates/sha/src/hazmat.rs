//! Steps of the algorithms, for callers that keep the state of a message themselves. Nothing here
//! checks that a result is the digest of a message.
//!
//! [`compress`] is the compression function, for callers that own the state, such as a kernel
//! module. [`compress_many`] compresses parts of many messages. [`update`] and [`pad`] do what a
//! hasher does, for callers that own all of its memory, such as a C library with a fixed layout of
//! its contexts. [`verify_tag`] checks MACs that another library has computed.
//!
//! ```
//! use hashlane_sha::{Engine, Sha256, Sha256Digest, hazmat};
//!
//! // FIPS 180-4 section 5.1.1: "abc", a one bit, zeros, and the length in bits.
//! let mut block = [0; 64];
//! block[..4].copy_from_slice(b"abc\x80");
//! block[63] = 24;
//! let mut state = hazmat::initial_state::<Sha256>();
//! hazmat::compress::<Sha256>(&Engine::detect(), &mut state, &[block]);
//! let digest: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
//! assert_eq!(digest, Sha256::digest(b"abc").as_ref());
//! ```

pub use crate::hmac::{min_tag_len, verify_tag};
pub use crate::types::Part;

use core::array::from_mut;

use hashlane_simd::Simd;

use crate::algorithm::Algorithm;
use crate::algorithm::sealed::Entries as _;
use crate::context::{absorb, buffered};
use crate::engine::Engine;
use crate::kernels::rounds::{Rounds as _, compress_block};
#[cfg(target_arch = "aarch64")]
use crate::kernels::sha_streams::{ShaToken, compress_streams};
use crate::kernels::sha256::Sha256Compression;
use crate::scheduler::Tail;
use crate::types::BLOCK_LEN;

/// Returns the initial hash value (FIPS 180-4 section 5.3). SHA-1 uses the first five words; the
/// remaining words are zero.
#[inline(always)]
pub fn initial_state<A: Algorithm>() -> [u32; 8] {
    A::Entries::IV
}

/// Compresses `blocks` of one message into `state` (FIPS 180-4 sections 6.1.2 and 6.2.2). SHA-1
/// uses the first five words and leaves the remaining words unchanged.
pub fn compress<A: Algorithm>(engine: &Engine, state: &mut [u32; 8], blocks: &[[u8; BLOCK_LEN]]) {
    A::Entries::compress(engine.kernel_alone::<A>(), state, blocks);
}

/// Appends `bytes` to a message whose memory the caller owns, and returns the length of the message
/// afterwards. `rest` starts with the `len_bytes % 64` bytes after the whole blocks of the message.
/// `compress` receives the blocks that become whole, in one call or in two, and compresses them
/// into the state. Lengths are in bytes modulo 2^64.
///
/// ```
/// use hashlane_sha::{Engine, Sha1, hazmat};
///
/// let engine = Engine::detect();
/// let (mut state, mut rest) = (hazmat::initial_state::<Sha1>(), [0; 64]);
/// let mut compress = |blocks: &[_]| hazmat::compress::<Sha1>(&engine, &mut state, blocks);
/// let len = hazmat::update(&mut rest, 0, b"a", &mut compress);
/// let len = hazmat::update(&mut rest, len, b"bc", &mut compress);
/// hazmat::pad(&mut rest, len, compress);
/// assert_eq!(state[0].to_be_bytes(), Sha1::digest(b"abc").as_ref()[..4]);
/// ```
#[inline]
pub fn update(
    rest: &mut [u8; BLOCK_LEN],
    mut len_bytes: u64,
    bytes: &[u8],
    mut compress: impl FnMut(&[[u8; BLOCK_LEN]]),
) -> u64 {
    let blocks = absorb(rest, &mut len_bytes, bytes, &mut compress);
    if !blocks.is_empty() {
        compress(blocks);
    }
    len_bytes
}

/// Ends a message whose memory the caller owns: see [`update`]. `compress` receives the last one or
/// two blocks, after which the state is the digest. `rest` becomes the last block (FIPS 180-4
/// section 5.1.1).
pub fn pad(rest: &mut [u8; BLOCK_LEN], len_bytes: u64, compress: impl FnOnce(&[[u8; BLOCK_LEN]])) {
    let mut tail = Tail::NONE;
    tail.pad(&rest[..buffered::<BLOCK_LEN>(len_bytes)], len_bytes);
    compress(tail.blocks());
    if let Some(last) = tail.blocks().last() {
        *rest = *last;
    }
}

/// Compresses parts of many messages, as many at once as there are lanes, and replaces the state of
/// each part by the state after it. A part that ends its message gets the padding, so that its
/// state is the digest.
///
/// Long messages can be hashed in steps of bounded time, without memory of their own for each
/// message:
///
/// ```
/// use hashlane_sha::{Engine, Sha1, hazmat};
///
/// let message = [7; 100];
/// let (first, last) = message.split_at(64);
/// let mut part = hazmat::Part {
///     state: hazmat::initial_state::<Sha1>(),
///     prefix_len: 0,
///     bytes: first,
///     is_last: false,
/// };
/// hazmat::compress_many::<Sha1>(&Engine::detect(), core::slice::from_mut(&mut part));
/// let mut parts = [hazmat::Part { prefix_len: 64, bytes: last, is_last: true, ..part }];
/// hazmat::compress_many::<Sha1>(&Engine::detect(), &mut parts);
/// assert_eq!(parts[0].state[0].to_be_bytes(), Sha1::digest(&message).as_ref()[..4]);
/// ```
///
/// # Panics
/// If a part that does not end its message is not whole blocks.
pub fn compress_many<A: Algorithm>(engine: &Engine, parts: &mut [Part<'_>]) {
    A::Entries::compress_many(engine, parts);
}

/// Runs the rounds of SHA-256 on one block in every lane, inside a kernel of another crate. `w`
/// holds the words of the blocks, and is overwritten.
///
/// Hidden, because the kernels of `hashlane-base58` and this function change together.
#[doc(hidden)]
#[inline(always)]
pub fn sha256_lanes<S: Simd>(s: S, state: &mut [S::V; 8], w: &mut [S::V; 16]) {
    compress_block::<Sha256Compression, S, 1>(s, from_mut(state), from_mut(w));
}

/// Returns the first word of the double SHA-256 of `N` messages, inside a kernel of another crate
/// with the CPU's SHA instructions. A message is the words of its only block, which is padded. Its
/// words from `WORDS` to 14 are zero, and `WORDS` is at most 12. Hidden like [`sha256_lanes`].
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[doc(hidden)]
#[inline(always)]
pub fn sha256d_first_words<const N: usize, const WORDS: usize>(
    s: hashlane_simd::ShaNi,
    messages: &[[u32; 16]; N],
) -> [u32; N] {
    crate::kernels::x86_sha::sha256d_first_words::<N, WORDS>(s, messages)
}

/// Compresses `n_blocks` blocks of `N` messages with SHA-256 and the CPU's SHA instructions, inside
/// a kernel of another crate. Hidden like [`sha256_lanes`].
///
/// # Panics
/// If one of the inputs is shorter than `n_blocks`.
#[cfg(target_arch = "aarch64")]
#[doc(hidden)]
#[inline(always)]
pub fn sha256_streams<const N: usize>(
    s: ShaToken,
    states: &mut [[u32; 8]; N],
    inputs: [&[[u8; BLOCK_LEN]]; N],
    n_blocks: usize,
) {
    compress_streams::<Sha256Compression, N>(s, states, inputs, n_blocks);
}
