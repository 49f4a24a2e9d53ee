//! The trait of every hash function: many messages in lanes, whole or in parts.

use core::fmt;

use zeroize::Zeroize;

use crate::engine::Engine;
use crate::in_lanes::{Message, SET};
use crate::md5::Md5;
use crate::sha512::{Sha384, Sha512, Sha512_256};

/// A hash function. Many messages are hashed at once, in lanes, and each can arrive in parts.
///
/// SHA-1 and SHA-256 also have the trait [`Algorithm`](crate::Algorithm). This trait is sealed.
///
/// ```
/// use hashlane_sha::{Engine, LaneHash, Sha512};
///
/// let engine = Engine::detect();
/// let mut messages = [Sha512::default(), Sha512::default()];
/// LaneHash::update_many(&engine, &mut messages, &[b"abc", b""]);
/// let mut digests = [[0; 64]; 2];
/// LaneHash::finalize_many(&engine, &mut messages, &mut digests);
/// assert_eq!(digests[0][..4], [0xdd, 0xaf, 0x35, 0xa1]);
///
/// let mut whole = [[0; 64]; 2];
/// Sha512::digest_many(&engine, &[b"abc", b""], &mut whole);
/// assert_eq!(whole, digests);
/// ```
pub trait LaneHash:
    Clone + Default + Zeroize + fmt::Debug + Send + Sync + sealed::Sealed + 'static
{
    /// The digest.
    type Digest: AsRef<[u8]> + AsMut<[u8]> + Copy + fmt::Debug + Send + Sync + 'static;

    /// A digest of zeros.
    const ZERO: Self::Digest;

    /// The name in lower case without a hyphen, as in kernel names: `sha1`, `sha256`.
    const NAME: &'static str;

    /// The length of a digest in bytes.
    const DIGEST_LEN: usize;

    /// The length of a block in bytes, and of the block of a key of HMAC.
    const BLOCK_LEN: usize;

    /// Returns the hasher of an empty message. SHA-1, SHA-224 and SHA-256 use the kernels of
    /// `engine`; other hashes have one kernel for a single message.
    fn with_engine(engine: Engine) -> Self {
        let _ = engine;
        Self::default()
    }

    /// Appends `bytes` to the message.
    fn update(&mut self, bytes: &[u8]);

    /// Returns the digest of the message.
    fn finalize(self) -> Self::Digest;

    /// Returns the digest of the message, which is unspecified afterwards.
    #[doc(hidden)]
    fn finish(&mut self) -> Self::Digest;

    /// Returns the number of messages that keep every lane busy.
    fn lanes(engine: &Engine) -> usize;

    /// Returns the number of messages that are hashed in the time of one. More threads for them
    /// would leave lanes empty. It is 1 where kernels with fewer lanes are faster per lane.
    fn in_time_of_one(engine: &Engine) -> usize {
        let _ = engine;
        1
    }

    /// Appends a window to each of the first messages, as many at once as there are lanes.
    ///
    /// # Panics
    /// If there are more windows than messages.
    fn update_many(engine: &Engine, messages: &mut [Self], windows: &[&[u8]]);

    /// Writes the digest of each message, and makes the messages empty.
    ///
    /// # Panics
    /// If there are more messages than digests.
    fn finalize_many(engine: &Engine, messages: &mut [Self], digests: &mut [Self::Digest]);

    /// Writes the digests of whole messages of any lengths, in their order. Nothing is allocated.
    ///
    /// # Panics
    /// If the numbers of messages and of `digests` differ.
    fn digest_many(engine: &Engine, messages: &[&[u8]], digests: &mut [Self::Digest]) {
        Self::digest_many_after(engine, &Self::default(), messages, digests);
    }

    /// Writes the digests of whole messages, each after the bytes that `start` has taken, for
    /// example a salt.
    ///
    /// # Panics
    /// If the numbers of messages and of `digests` differ.
    fn digest_many_after(
        engine: &Engine,
        start: &Self,
        messages: &[&[u8]],
        digests: &mut [Self::Digest],
    ) {
        in_parts(engine, start, messages, digests);
    }

    /// Writes the digests of consecutive messages of `message_len` bytes in `bytes`, each after the
    /// bytes that `start` has taken. The last message may be shorter.
    ///
    /// # Panics
    /// If `digests` does not have one entry for each message, or `message_len` is 0.
    fn digest_chunks_after(
        engine: &Engine,
        start: &Self,
        bytes: &[u8],
        message_len: usize,
        digests: &mut [Self::Digest],
    ) {
        in_sets_of_chunks(engine, start, bytes, message_len, digests);
    }
}

pub(crate) mod sealed {
    use zeroize::Zeroize;

    /// The half of a hash function that only this crate can use.
    pub trait Sealed {
        /// A hasher without its buffer: the chaining value, and the kernel if there is a choice.
        type Midstate: Clone + Zeroize + Send + Sync;

        /// Returns the midstate after the first block of a message. This hasher is empty.
        fn first_block(&self, block: &[u8]) -> Self::Midstate;

        /// Returns the hasher of a message whose first block led to this midstate.
        fn after_block(midstate: &Self::Midstate) -> Self;

        /// Overwrites what the hasher holds. It must not be used afterwards.
        fn wipe(&mut self);
    }
}

impl Engine {
    /// Returns the number of messages that keep every lane busy.
    pub fn lanes<H: LaneHash>(&self) -> usize {
        H::lanes(self)
    }
}

macro_rules! lane_hash {
    ($hash:ident, name: $name:literal, word: $word:ident, kernel: $kernel:ident, block_len: $block_len:literal, digest_len: $len:literal) => {
        impl sealed::Sealed for $hash {
            type Midstate = [$word; 8];

            fn first_block(&self, block: &[u8]) -> [$word; 8] {
                let mut hash = self.clone();
                hash.update(block);
                hash.0.state
            }

            fn after_block(midstate: &[$word; 8]) -> Self {
                Self(Message::after(*midstate, $block_len))
            }

            fn wipe(&mut self) {
                self.0.zeroize();
            }
        }

        impl LaneHash for $hash {
            type Digest = [u8; $len];
            const ZERO: [u8; $len] = [0; $len];
            const NAME: &'static str = $name;
            const DIGEST_LEN: usize = $len;
            const BLOCK_LEN: usize = $block_len;

            fn update(&mut self, bytes: &[u8]) {
                self.update(bytes);
            }

            fn finalize(self) -> [u8; $len] {
                self.finalize()
            }

            fn finish(&mut self) -> [u8; $len] {
                core::mem::take(self).finalize()
            }

            fn lanes(engine: &Engine) -> usize {
                engine.$kernel().lanes()
            }

            fn in_time_of_one(engine: &Engine) -> usize {
                engine.$kernel().lanes()
            }

            fn update_many(engine: &Engine, messages: &mut [Self], windows: &[&[u8]]) {
                Self::update_many_on(engine.$kernel(), messages, windows);
            }

            fn finalize_many(engine: &Engine, messages: &mut [Self], digests: &mut [[u8; $len]]) {
                Self::finalize_many_on(engine.$kernel(), messages, digests);
            }
        }
    };
}

lane_hash!(Md5, name: "md5", word: u32, kernel: md5_kernel, block_len: 64, digest_len: 16);
lane_hash!(Sha384, name: "sha384", word: u64, kernel: sha512_kernel, block_len: 128, digest_len: 48);
lane_hash!(Sha512, name: "sha512", word: u64, kernel: sha512_kernel, block_len: 128, digest_len: 64);
lane_hash!(Sha512_256, name: "sha512_256", word: u64, kernel: sha512_kernel, block_len: 128, digest_len: 32);

/// Writes the digests of whole messages, each after the bytes that `start` has taken.
pub(crate) fn in_parts<H: LaneHash>(
    engine: &Engine,
    start: &H,
    messages: &[&[u8]],
    digests: &mut [H::Digest],
) {
    assert_eq!(digests.len(), messages.len(), "{NUMBERS_DIFFER}");
    for (messages, digests) in messages.chunks(SET).zip(digests.chunks_mut(SET)) {
        let mut states: [H; SET] = core::array::from_fn(|_| start.clone());
        let states = &mut states[..messages.len()];
        H::update_many(engine, states, messages);
        H::finalize_many(engine, states, digests);
    }
}

/// Writes the digests of consecutive messages, each after the bytes that `start` has taken.
pub(crate) fn in_sets_of_chunks<H: LaneHash>(
    engine: &Engine,
    start: &H,
    bytes: &[u8],
    message_len: usize,
    digests: &mut [H::Digest],
) {
    assert_chunks(bytes, message_len, digests);
    let mut messages = bytes.chunks(message_len);
    for digests in digests.chunks_mut(SET) {
        let mut set = [&[][..]; SET];
        for (place, message) in set.iter_mut().zip(messages.by_ref().take(digests.len())) {
            *place = message;
        }
        H::digest_many_after(engine, start, &set[..digests.len()], digests);
    }
}

/// # Panics
/// If `digests` does not have one entry for each message of `message_len` bytes, or that is 0.
pub(crate) fn assert_chunks<D>(bytes: &[u8], message_len: usize, digests: &[D]) {
    assert!(message_len > 0, "a message has at least one byte");
    let n_messages = bytes.len().div_ceil(message_len);
    assert_eq!(digests.len(), n_messages, "{NUMBERS_DIFFER}");
}

pub(crate) const NUMBERS_DIFFER: &str = "one digest for each message";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hasher::{Sha1, Sha256};
    use crate::hmac::{HmacKey, Mac};
    use crate::sha224::Sha224;

    /// Messages of equal and of unequal lengths, around the ends of blocks, in more than one set.
    fn messages() -> Vec<Vec<u8>> {
        (0..3 * SET + 5).map(|i| vec![i as u8; i * 3]).collect()
    }

    /// Digests after a prefix of every length, and MACs under keys of every length, against an independent implementation.
    fn equals_another_implementation<H, D, M>()
    where
        H: LaneHash,
        D: sha2::Digest,
        M: hmac::Mac + hmac::KeyInit,
    {
        let engine = Engine::detect();
        assert!(H::lanes(&engine) >= H::in_time_of_one(&engine));
        let messages = messages();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut digests = vec![H::ZERO; messages.len()];
        for len in [0, 1, 63, 64, 65, 128, 200] {
            let prefix = vec![7; len];
            let mut start = H::default();
            start.update(&prefix);
            H::digest_many_after(&engine, &start, &messages, &mut digests);
            for (message, digest) in messages.iter().zip(&digests) {
                let expected = D::new_with_prefix(&prefix).chain_update(message).finalize();
                assert_eq!(
                    digest.as_ref(),
                    expected.as_slice(),
                    "{len} bytes, then {}",
                    message.len()
                );
            }
            let key = HmacKey::<H>::new(&prefix);
            let mut macs = vec![Mac::placeholder(); messages.len()];
            engine.hmac_many(&key, &messages, &mut macs);
            for (message, mac) in messages.iter().zip(&macs) {
                let mut parts = key.start();
                let (first, rest) = message.split_at(message.len() / 3);
                parts.update(first);
                parts.update(rest);
                assert_eq!(parts.finalize(), *mac, "in parts");
                let mut expected =
                    <M as hmac::KeyInit>::new_from_slice(&prefix).expect("any length");
                expected.update(message);
                let expected = expected.finalize().into_bytes();
                assert_eq!(
                    mac.as_bytes(),
                    expected.as_slice(),
                    "key of {len} bytes, then {}",
                    message.len()
                );
            }
        }
        H::digest_many(&engine, &messages[..1], &mut digests[..1]);
        assert_eq!(digests[0].as_ref(), D::digest([]).as_slice());
    }

    #[test]
    fn whole_messages_have_the_digests_and_macs_of_another_implementation() {
        equals_another_implementation::<Md5, md5::Md5, hmac::Hmac<md5::Md5>>();
        equals_another_implementation::<Sha1, sha1::Sha1, hmac::Hmac<sha1::Sha1>>();
        equals_another_implementation::<Sha256, sha2::Sha256, hmac::Hmac<sha2::Sha256>>();
        equals_another_implementation::<Sha224, sha2::Sha224, hmac::Hmac<sha2::Sha224>>();
        equals_another_implementation::<Sha384, sha2::Sha384, hmac::Hmac<sha2::Sha384>>();
        equals_another_implementation::<Sha512, sha2::Sha512, hmac::Hmac<sha2::Sha512>>();
        equals_another_implementation::<Sha512_256, sha2::Sha512_256, hmac::Hmac<sha2::Sha512_256>>(
        );
    }

    #[test]
    #[should_panic(expected = "one digest for each message")]
    fn each_message_needs_a_digest() {
        Sha512::digest_many(&Engine::detect(), &[b"a", b"b"], &mut [Sha512::ZERO]);
    }
}
