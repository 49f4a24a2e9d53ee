//! SHA-224 (FIPS 180-4 section 6.3): SHA-256 from another initial hash value, and the first 28 bytes of its result.

use zeroize::Zeroize;

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, in_sets, kernel_alone};
use crate::context::Context;
use crate::digests::Sha256Digest;
use crate::engine::Engine;
use crate::hasher::Sha256;
use crate::in_lanes::SET;
use crate::types::{MAX_LANES, State};

/// FIPS 180-4 section 5.3.2.
const IV: State = [
    0xc105_9ed8,
    0x367c_d507,
    0x3070_dd17,
    0xf70e_5939,
    0xffc0_0b31,
    0x6858_1511,
    0x64f9_8fa7,
    0xbefa_4fa4,
];

/// A SHA-224 message that arrives in parts, on the kernels of SHA-256.
///
/// ```
/// use hashlane_sha::Sha224;
/// let mut sha224 = Sha224::default();
/// sha224.update(b"ab");
/// sha224.update(b"c");
/// assert_eq!(sha224.finalize()[..4], [0x23, 0x09, 0x7d, 0x22]);
/// ```
#[derive(Clone, Debug)]
pub struct Sha224(Sha256);

impl Default for Sha224 {
    fn default() -> Self {
        Self(Sha256(Context::after(IV, 0, kernel_alone::<Sha256>())))
    }
}

impl Sha224 {
    /// Returns the hasher of an empty message, on the kernels of `engine`.
    pub fn with_engine(engine: Engine) -> Self {
        Self(Sha256(Context::after(
            IV,
            0,
            engine.kernel_alone::<Sha256>(),
        )))
    }

    /// Discards the message. The hasher is empty afterwards.
    pub fn reset(&mut self) {
        self.0.0.reset(IV);
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of the message.
    pub fn finalize(self) -> [u8; 28] {
        first_bytes(&self.0.finalize())
    }

    /// Appends a window to each of the first messages, as many at once as there are lanes.
    ///
    /// # Panics
    /// If there are more windows than messages.
    pub fn update_many(engine: Engine, messages: &mut [Self], windows: &[&[u8]]) {
        let messages = &mut messages[..windows.len()];
        let hashers = messages.iter_mut().map(|message| &mut message.0);
        engine.update_many(hashers.zip(windows.iter().copied()));
    }

    /// Writes the digest of each message, and makes the messages empty.
    ///
    /// # Panics
    /// If there are more messages than digests.
    pub fn finalize_many(engine: Engine, messages: &mut [Self], digests: &mut [[u8; 28]]) {
        let digests = &mut digests[..messages.len()];
        let sets = messages.chunks_mut(MAX_LANES);
        for (set, digests) in sets.zip(digests.chunks_mut(MAX_LANES)) {
            let mut hashers: [Sha256; MAX_LANES] = core::array::from_fn(|lane| {
                let message = set.get_mut(lane).map(core::mem::take);
                message.unwrap_or_default().0
            });
            let mut whole = [Sha256Digest::default(); MAX_LANES];
            engine.finalize_many(&mut hashers[..set.len()], &mut whole[..set.len()]);
            for (digest, whole) in digests.iter_mut().zip(&whole) {
                *digest = first_bytes(whole);
            }
        }
    }

    /// Writes the digests of whole messages, each after the message of `start`, if that is whole blocks. Otherwise, returns `false`.
    pub(crate) fn digest_many_after_blocks(
        engine: Engine,
        start: &Self,
        messages: &[&[u8]],
        digests: &mut [[u8; 28]],
    ) -> bool {
        let start = &start.0.0;
        if start.buffered() != 0 {
            return false;
        }
        for (set, digests) in messages.chunks(SET).zip(digests.chunks_mut(SET)) {
            let mut whole = [Sha256Digest::default(); SET];
            let whole = &mut whole[..set.len()];
            let mut set = in_sets(set);
            <Sha256 as Algorithm>::Entries::digest_many_after(
                &engine,
                &start.state,
                start.len_bytes,
                &mut set,
                whole,
            );
            for (digest, whole) in digests.iter_mut().zip(&*whole) {
                *digest = first_bytes(whole);
            }
        }
        true
    }
}

fn first_bytes(digest: &Sha256Digest) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes.copy_from_slice(&digest.as_ref()[..28]);
    bytes
}

/// Wipes the message from memory. The hasher is empty afterwards.
impl Zeroize for Sha224 {
    fn zeroize(&mut self) {
        self.0.zeroize();
        self.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_digest_of_another_implementation() {
        use sha2::Digest as _;

        let engine = Engine::detect();
        let messages: Vec<Vec<u8>> = (0..300).map(|len| vec![len as u8; len]).collect();
        let mut hashers = vec![Sha224::with_engine(engine); messages.len()];
        for part in 0..2 {
            let windows = messages.iter().map(|message| {
                let (first, second) = message.split_at(message.len() / 3);
                [first, second][part]
            });
            let windows: Vec<&[u8]> = windows.collect();
            Sha224::update_many(engine, &mut hashers, &windows);
        }
        let mut digests = vec![[0; 28]; messages.len()];
        let alone: Vec<_> = hashers.iter().cloned().map(Sha224::finalize).collect();
        Sha224::finalize_many(engine, &mut hashers, &mut digests);
        for (i, message) in messages.iter().enumerate() {
            assert_eq!(digests[i], *sha2::Sha224::digest(message), "{i} bytes");
            assert_eq!(alone[i], digests[i], "{i} bytes");
        }
        assert_eq!(hashers[299].clone().finalize(), digests[0], "empty again");
    }

    #[test]
    fn a_wiped_message_is_empty() {
        let mut hash = Sha224::default();
        hash.update(&[7; 200]);
        hash.zeroize();
        assert_eq!(hash.finalize(), Sha224::default().finalize());
    }
}
