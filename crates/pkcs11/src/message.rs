//! A message in progress: a digest or an HMAC.

use std::hint::black_box;

use hashlane_hashes::{Digest, HashFunction, Hasher, Hmac, HmacKey};
use hashlane_sha::Engine;
use zeroize::Zeroize as _;

/// A message that arrives in parts. HMAC states are wiped from memory on drop.
#[derive(Debug)]
pub(crate) enum Message {
    Digest(Hasher),
    Hmac(Hmac),
}

impl Message {
    pub(crate) fn digest(hash: HashFunction) -> Self {
        Self::Digest(Hasher::with_engine(Engine::detect(), hash))
    }

    pub(crate) fn hmac(hash: HashFunction, key: &[u8]) -> Self {
        Self::Hmac(HmacKey::with_engine(Engine::detect(), hash, key).start())
    }

    /// Appends bytes to the message.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Digest(hasher) => hasher.update(bytes),
            Self::Hmac(hmac) => hmac.update(bytes),
        }
    }

    /// Returns the digest or the MAC of the message.
    pub(crate) fn finish(&self) -> Digest {
        match self {
            Self::Digest(hasher) => hasher.clone().finalize(),
            Self::Hmac(hmac) => Digest::new(hmac.clone().finalize().as_bytes()),
        }
    }

    /// Overwrites the buffer and the state of a digest of a key.
    pub(crate) fn wipe(&mut self) {
        match self {
            Self::Digest(hasher) => hasher.zeroize(),
            // Wiped on drop.
            Self::Hmac(_) => {}
        }
        // Without a use of the hasher, the compiler could leave out the writes.
        black_box(self);
    }
}
