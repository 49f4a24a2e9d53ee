//! Parts of the algorithms, for callers that keep the state of a message themselves. Nothing here checks
//! that what is computed is the digest of a message.
//!
//! [`compress`] is the compression function, for interfaces that own the state: a kernel module, or a
//! C library with a fixed layout of its contexts. [`Sha256dKernel`] searches for Base58Check strings.
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

pub use crate::search::{Addends, MAX_MESSAGE_WORDS, Match, Query, Shape};
pub use crate::sha256d::Sha256dKernel;

use crate::algorithm::Algorithm;
use crate::engine::Engine;
use crate::types::{BLOCK_LEN, Seal};

/// Returns the initial hash value (FIPS 180-4 section 5.3). SHA-1 uses the first five words; the others
/// are zero.
pub fn initial_state<A: Algorithm>() -> [u32; 8] {
    A::iv(Seal(()))
}

/// Compresses `blocks` of one message into `state` (FIPS 180-4 sections 6.1.2 and 6.2.2). SHA-1 uses the
/// first five words and leaves the others as they are.
pub fn compress<A: Algorithm>(engine: &Engine, state: &mut [u32; 8], blocks: &[[u8; BLOCK_LEN]]) {
    A::compress(engine.kernel_alone::<A>(), state, blocks);
}
