//! Many messages at once, all of them available. For messages that come one by one there is
//! [`LaneQueue`](crate::LaneQueue).

use core::fmt;

use crate::algorithm::Algorithm;
use crate::engine::Engine;
use crate::kernels::compression::Seal;

/// Digests of many messages of any lengths, on the best backends of this CPU: shorthand for
/// [`Engine::digest_many`] of [`Engine::detect`].
///
/// # Errors
/// [`LengthMismatch`] when `digests` is not as long as `messages`; nothing is hashed then.
pub fn digest_many<A: Algorithm>(
    messages: &[&[u8]],
    digests: &mut [A::Digest],
) -> Result<(), LengthMismatch> {
    Engine::detect().digest_many::<A>(messages, digests)
}

/// Two slices that go together, one entry for each message, differ in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// How many entries the first slice has: one for each message.
    pub expected: usize,
    /// How many the other one has.
    pub found: usize,
}

impl LengthMismatch {
    pub(crate) fn check(expected: usize, found: usize) -> Result<(), Self> {
        if expected == found {
            Ok(())
        } else {
            Err(Self { expected, found })
        }
    }
}

impl fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected {} entries, one for each message, found {}",
            self.expected, self.found
        )
    }
}

impl core::error::Error for LengthMismatch {}

impl Engine {
    /// Digests of many messages of any lengths, in the order of the messages.
    ///
    /// More messages are faster: [`Engine::lanes`] or more keep every lane busy.
    /// Order is free, but long messages first waste the least at the end. Nothing is allocated.
    ///
    /// # Errors
    /// [`LengthMismatch`] when `digests` is not as long as `messages`; nothing is hashed then.
    pub fn digest_many<A: Algorithm>(
        &self,
        messages: &[&[u8]],
        digests: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(messages.len(), digests.len())?;
        A::digest_many_after(Seal(()), self, &A::iv(Seal(())), 0, messages, digests);
        Ok(())
    }

    /// Digests of the messages of `message_len` bytes that lie one after the other in `bytes`; the
    /// last one may be shorter.
    ///
    /// This is the fast way for leaves and nodes of merkle trees (BEP 52: leaves of 16 KiB, nodes of
    /// 64 bytes): when `message_len` is a multiple of [`BLOCK_LEN`](crate::BLOCK_LEN), all messages end in the same
    /// block of padding, whose schedule is computed once.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha256, Sha256Digest, digest};
    /// let layer = [[1_u8; 32], [2; 32], [3; 32], [4; 32]];
    /// let mut nodes = [Sha256Digest::default(); 2];
    /// Engine::detect()
    ///     .digest_chunks::<Sha256>(layer.as_flattened(), 64, &mut nodes)
    ///     .expect("two nodes of two hashes");
    /// assert_eq!(nodes[1], digest::<Sha256>(layer[2..].as_flattened()));
    /// ```
    ///
    /// # Errors
    /// [`LengthMismatch`] when `digests` has not one entry for each message; nothing is hashed then.
    ///
    /// # Panics
    /// If `message_len` is 0.
    pub fn digest_chunks<A: Algorithm>(
        &self,
        bytes: &[u8],
        message_len: usize,
        digests: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(bytes.len().div_ceil(message_len), digests.len())?;
        A::digest_chunks(Seal(()), self, bytes, message_len, digests);
        Ok(())
    }

    /// Appends `inputs[i]` to the message of `hashers[i]`, all of them at once.
    ///
    /// This is how many long messages are hashed through short windows. Windows of equal length
    /// that are a multiple of [`BLOCK_LEN`](crate::BLOCK_LEN) are the fast case.
    ///
    /// # Errors
    /// [`LengthMismatch`] when `inputs` is not as long as `hashers`; nothing is hashed then.
    pub fn update_many<A: Algorithm>(
        &self,
        hashers: &mut [A],
        inputs: &[&[u8]],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(hashers.len(), inputs.len())?;
        A::update_many(Seal(()), self, hashers, inputs);
        Ok(())
    }

    /// Writes the digest of each hasher's message, and leaves each hasher empty for the next one.
    ///
    /// # Errors
    /// [`LengthMismatch`] when `digests` is not as long as `hashers`; nothing is hashed then.
    pub fn finalize_many<A: Algorithm>(
        &self,
        hashers: &mut [A],
        digests: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(hashers.len(), digests.len())?;
        A::finalize_many(Seal(()), self, hashers, digests);
        Ok(())
    }
}
