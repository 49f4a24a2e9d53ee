//! A message in progress: a digest or an HMAC.

use std::hint::black_box;

use hashlane_sha::{Hmac, Sha1, Sha256};

use crate::mechanism::Hash;

const MAX_DIGEST_LEN: usize = 32;

/// A message that arrives in parts. HMAC states are wiped from memory on drop.
#[derive(Debug)]
pub(crate) enum Message {
    Sha1(Sha1),
    Sha256(Sha256),
    HmacSha1(Hmac<Sha1>),
    HmacSha256(Hmac<Sha256>),
}

/// A digest or a MAC.
#[derive(Debug)]
pub(crate) struct Tag {
    bytes: [u8; MAX_DIGEST_LEN],
    len: usize,
}

impl Message {
    pub(crate) fn digest(hash: Hash) -> Self {
        match hash {
            Hash::Sha1 => Self::Sha1(Sha1::new()),
            Hash::Sha256 => Self::Sha256(Sha256::new()),
        }
    }

    pub(crate) fn hmac(hash: Hash, key: &[u8]) -> Self {
        match hash {
            Hash::Sha1 => Self::HmacSha1(Hmac::new(key)),
            Hash::Sha256 => Self::HmacSha256(Hmac::new(key)),
        }
    }

    /// Appends bytes to the message.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => _ = hasher.update(bytes),
            Self::Sha256(hasher) => _ = hasher.update(bytes),
            Self::HmacSha1(hmac) => _ = hmac.update(bytes),
            Self::HmacSha256(hmac) => _ = hmac.update(bytes),
        }
    }

    /// Returns the digest or the MAC of the message.
    pub(crate) fn finish(&self) -> Tag {
        match self {
            Self::Sha1(hasher) => Tag::new(hasher.clone().finalize().as_ref()),
            Self::Sha256(hasher) => Tag::new(hasher.clone().finalize().as_ref()),
            Self::HmacSha1(hmac) => Tag::new(hmac.clone().finalize().as_bytes()),
            Self::HmacSha256(hmac) => Tag::new(hmac.clone().finalize().as_bytes()),
        }
    }

    /// Overwrites the buffer and the state of a digest of a key.
    pub(crate) fn wipe(&mut self) {
        match self {
            Self::Sha1(hasher) => hasher.reset(),
            Self::Sha256(hasher) => hasher.reset(),
            // Wiped on drop.
            Self::HmacSha1(_) | Self::HmacSha256(_) => {}
        }
        // Without a use of the hasher, the compiler could leave out the writes.
        black_box(self);
    }
}

impl Tag {
    fn new(digest: &[u8]) -> Self {
        let mut bytes = [0; MAX_DIGEST_LEN];
        bytes[..digest.len()].copy_from_slice(digest);
        Self {
            bytes,
            len: digest.len(),
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
