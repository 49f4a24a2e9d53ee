//! A message that is hashed with or without a key.

use zeroize::Zeroize;

use crate::digest::Digest;
use crate::hasher::Hasher;
use crate::mac::Hmac;

/// The state of a digest or an HMAC of a message. An HMAC is wiped from memory on drop.
#[derive(Clone, Debug)]
pub enum Message {
    /// A digest.
    Digest(Hasher),
    /// An HMAC.
    Hmac(Hmac),
}

impl Message {
    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Digest(hasher) => hasher.update(bytes),
            Self::Hmac(hmac) => hmac.update(bytes),
        }
    }

    /// Returns the digest or the MAC of the message.
    pub fn finalize(self) -> Digest {
        match self {
            Self::Digest(hasher) => hasher.finalize(),
            Self::Hmac(hmac) => Digest::new(hmac.finalize().as_bytes()),
        }
    }
}

/// Wipes the message from memory. A digest is that of an empty message afterwards; an HMAC is wiped when it is dropped.
impl Zeroize for Message {
    fn zeroize(&mut self) {
        if let Self::Digest(hasher) = self {
            hasher.zeroize();
        }
    }
}
