//! Many messages that are all available. For messages that arrive one by one, see
//! [`LaneQueue`](crate::LaneQueue).

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, in_sets};
use crate::engine::Engine;
use crate::jobs::NUMBERS_DIFFER;
use crate::kernels::rounds::Rounds as _;

/// Writes the digests of many messages of any lengths, in the order of the messages, on the best
/// backends of this CPU: [`Engine::digest_many`] on [`Engine::detect`].
///
/// # Panics
/// If the numbers of messages and of `digests` differ.
pub fn digest_many<'m, A: Algorithm>(
    messages: impl IntoIterator<Item = &'m (impl AsRef<[u8]> + ?Sized + 'm)>,
    digests: &mut [A::Digest],
) {
    Engine::detect().digest_many::<A>(messages, digests);
}

impl Engine {
    /// Writes the digests of many messages of any lengths, in the order of the messages.
    ///
    /// `messages` is a slice or an iterator of references to anything that has bytes: slices,
    /// arrays, `Vec<u8>`, `String` and other types.
    ///
    /// At least [`Engine::lanes`] messages are needed to keep every lane busy. Lanes idle least at
    /// the end if long messages come first. Nothing is allocated.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha256, Sha256Digest};
    /// let engine = Engine::detect();
    /// let mut digests = [Sha256Digest::default(); 2];
    ///
    /// let names = vec![String::from("one"), String::from("three")];
    /// engine.digest_many::<Sha256>(&names, &mut digests);
    /// assert_eq!(digests[1], Sha256::digest(b"three"));
    ///
    /// let lines = "one\nthree".split('\n');
    /// engine.digest_many::<Sha256>(lines, &mut digests);
    /// assert_eq!(digests[1], Sha256::digest(b"three"));
    /// ```
    ///
    /// # Panics
    /// If the numbers of messages and of `digests` differ. The digests are unspecified then.
    pub fn digest_many<'m, A: Algorithm>(
        &self,
        messages: impl IntoIterator<Item = &'m (impl AsRef<[u8]> + ?Sized + 'm)>,
        digests: &mut [A::Digest],
    ) {
        // One message needs no set, which takes 8 to 20 ns to fill (Xeon with AVX-512, 2026-11-24).
        if let [digest] = digests {
            let mut messages = messages.into_iter();
            let message = messages.next().expect(NUMBERS_DIFFER);
            assert!(messages.next().is_none(), "{NUMBERS_DIFFER}");
            *digest = self.digest::<A>(message.as_ref());
            return;
        }
        let mut messages = in_sets(messages);
        A::Entries::digest_many_after(self, &A::Entries::IV, 0, &mut messages, digests);
    }

    /// Writes the digests of consecutive messages of `message_len` bytes in `bytes`. The last
    /// message may be shorter.
    ///
    /// This is the fastest function for leaves and nodes of merkle trees (BEP 52: leaves of 16 KiB,
    /// nodes of 64 bytes). If `message_len` is a multiple of [`BLOCK_LEN`](crate::BLOCK_LEN), all
    /// messages end in the same block of padding, whose schedule is computed once.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha256, Sha256Digest, digest};
    /// let layer = [[1_u8; 32], [2; 32], [3; 32], [4; 32]];
    /// let mut nodes = [Sha256Digest::default(); 2];
    /// Engine::detect().digest_chunks::<Sha256>(layer.as_flattened(), 64, &mut nodes);
    /// assert_eq!(nodes[1], digest::<Sha256>(layer[2..].as_flattened()));
    /// ```
    ///
    /// # Panics
    /// If `digests` does not have one entry for each message, or `message_len` is 0.
    pub fn digest_chunks<A: Algorithm>(
        &self,
        bytes: &[u8],
        message_len: usize,
        digests: &mut [A::Digest],
    ) {
        assert!(message_len > 0, "a message has at least one byte");
        let n_messages = bytes.len().div_ceil(message_len);
        assert_eq!(digests.len(), n_messages, "one digest for each message");
        A::Entries::digest_chunks(self, bytes, message_len, digests);
    }

    /// Appends each input to the message of its hasher, with up to [`Engine::lanes`] messages at
    /// once.
    ///
    /// Use this function to hash many long messages in short windows. Windows of equal length that
    /// is a multiple of [`BLOCK_LEN`](crate::BLOCK_LEN) are fastest. If the iterator panics, the
    /// messages of the hashers that it has returned are unspecified.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha1};
    /// let mut hashers = [Sha1::new(), Sha1::new()];
    /// Engine::detect().update_many(hashers.iter_mut().zip([&b"a"[..], b"abc"]));
    /// assert_eq!(hashers[1].clone().finalize(), Sha1::digest(b"abc"));
    /// ```
    pub fn update_many<'m, A: Algorithm>(
        &self,
        pairs: impl IntoIterator<Item = (&'m mut A, &'m [u8])>,
    ) {
        A::Entries::update_many(self, &mut pairs.into_iter());
    }

    /// Writes the digest of each hasher's message. The hashers are empty afterwards.
    ///
    /// # Panics
    /// If `digests` and `hashers` differ in length.
    pub fn finalize_many<A: Algorithm>(&self, hashers: &mut [A], digests: &mut [A::Digest]) {
        assert_eq!(digests.len(), hashers.len(), "one digest for each hasher");
        A::Entries::finalize_many(self, hashers, digests);
    }
}
