//! Many messages that lie in memory in other ways than a slice of slices.

use core::fmt;

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, in_sets};
use crate::context::Context;
use crate::engine::Engine;
use crate::types::MAX_LANES;

impl Engine {
    /// Writes the digests of rows of `len` bytes in `bytes`. The first row begins at 0, and each
    /// further row begins `stride` bytes after the one before, as in a matrix. Rows do not overlap:
    /// `stride` is at least `len`. There are as many rows as `digests`; further bytes are ignored.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha1, Sha1Digest};
    /// let mut digests = [Sha1Digest::default(); 3];
    /// Engine::detect().digest_rows::<Sha1>(b"abc.def.ghi", 4, 3, &mut digests);
    /// assert_eq!(digests[2], Sha1::digest(b"ghi"));
    /// ```
    ///
    /// # Panics
    /// If `stride` is less than `len`, as when the two are swapped, or if a row ends after the end
    /// of `bytes`.
    pub fn digest_rows<A: Algorithm>(
        &self,
        bytes: &[u8],
        stride: usize,
        len: usize,
        digests: &mut [A::Digest],
    ) {
        assert!(
            stride >= len,
            "rows of {len} bytes overlap in a stride of {stride}"
        );
        let Some(last) = digests.len().checked_sub(1) else {
            return;
        };
        let end = last
            .checked_mul(stride)
            .and_then(|begin| begin.checked_add(len));
        let end = end.filter(|end| *end <= bytes.len());
        let end = end.expect("a row for each digest");
        if stride == len && len > 0 {
            return self.digest_chunks::<A>(&bytes[..end], len, digests);
        }
        let rows = (0..digests.len()).map(|row| &bytes[row * stride..][..len]);
        self.digest_many::<A>(rows, digests);
    }

    /// Writes the digests of consecutive messages of any lengths in `bytes`. Message `i` begins at
    /// `offsets[i]` and ends at `offsets[i + 1]`, so there is one offset more than messages. This
    /// is the layout of strings in Apache Arrow. Offsets are `u32`, `u64`, `i32` or `i64`, for
    /// example.
    ///
    /// ```
    /// use hashlane_sha::{Engine, OffsetsError, Sha1, Sha1Digest};
    /// let engine = Engine::detect();
    /// let mut digests = [Sha1Digest::default(); 2];
    /// engine.digest_offsets::<Sha1, u32>(b"onethree", &[0, 3, 8], &mut digests)?;
    /// assert_eq!(digests[1], Sha1::digest(b"three"));
    ///
    /// let hostile = engine.digest_offsets::<Sha1, u32>(b"onethree", &[0, 9, 8], &mut digests);
    /// assert!(hostile.is_err());
    /// # Ok::<(), OffsetsError>(())
    /// ```
    ///
    /// # Errors
    /// An offset is negative, beyond the end of `bytes`, or less than the offset before it. No
    /// digest is written then.
    ///
    /// # Panics
    /// If `digests` does not have one entry for each message.
    pub fn digest_offsets<A: Algorithm, O: Copy + TryInto<usize>>(
        &self,
        bytes: &[u8],
        offsets: &[O],
        digests: &mut [A::Digest],
    ) -> Result<(), OffsetsError> {
        let n_messages = offsets.len().saturating_sub(1);
        assert_eq!(digests.len(), n_messages, "one digest for each message");
        let mut previous = 0;
        for (index, offset) in offsets.iter().enumerate() {
            let offset = (*offset).try_into().ok();
            let valid = offset.filter(|offset| (previous..=bytes.len()).contains(offset));
            previous = valid.ok_or(OffsetsError { index })?;
        }
        let offset = |index: usize| offsets[index].try_into().ok().expect("valid, see above");
        let messages = (0..n_messages).map(|i| &bytes[offset(i)..offset(i + 1)]);
        self.digest_many::<A>(messages, digests);
        Ok(())
    }

    /// Writes the digests of consecutive messages of `message_len` bytes in `bytes`, each after the
    /// bytes that `prefix` has taken, for example a salt. The last message may be shorter.
    ///
    /// A prefix of whole blocks costs nothing per message: pad the salt to
    /// [`BLOCK_LEN`](crate::BLOCK_LEN) bytes if the format is yours.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha256, Sha256Digest};
    /// let mut salt = Sha256::new();
    /// salt.update(b"salt");
    /// let mut digests = [Sha256Digest::default(); 2];
    /// Engine::detect().digest_chunks_after(&salt, b"onetwo", 3, &mut digests);
    /// assert_eq!(digests[1], Sha256::digest(b"salttwo"));
    /// ```
    ///
    /// # Panics
    /// If `digests` does not have one entry for each message, or `message_len` is 0.
    pub fn digest_chunks_after<A: Algorithm>(
        &self,
        prefix: &A,
        bytes: &[u8],
        message_len: usize,
        digests: &mut [A::Digest],
    ) {
        let messages = bytes.chunks(message_len);
        assert_eq!(digests.len(), messages.len(), "one digest for each message");
        let mut start = prefix.clone();
        let start = A::Entries::context_mut(&mut start);
        if start.buffered() == 0 {
            let mut messages = in_sets(messages);
            let Context {
                state, len_bytes, ..
            } = start;
            A::Entries::digest_many_after(self, state, *len_bytes, &mut messages, digests);
            return;
        }
        let sets = bytes.chunks(message_len.saturating_mul(MAX_LANES));
        for (set, digests) in sets.zip(digests.chunks_mut(MAX_LANES)) {
            let mut hashers: [A; MAX_LANES] = core::array::from_fn(|_| prefix.clone());
            let hashers = &mut hashers[..digests.len()];
            self.update_many(hashers.iter_mut().zip(set.chunks(message_len)));
            self.finalize_many(hashers, digests);
        }
    }
}

/// An offset in [`Engine::digest_offsets`] is negative, beyond the end of the bytes, or less than
/// the offset before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffsetsError {
    /// The index of the first offset that is wrong.
    pub index: usize,
}

impl fmt::Display for OffsetsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "offset {}: negative, beyond the end, or less than the offset before it",
            self.index
        )
    }
}

impl core::error::Error for OffsetsError {}
