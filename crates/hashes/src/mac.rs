//! HMAC (RFC 2104, FIPS 198-1): keys, messages that arrive in parts, and the comparison of tags.

use hashlane_sha::{Engine, Sha1, Sha256, TagError, hazmat};
use hmac::{KeyInit as _, Mac as _};
use md5::Md5;
use sha2::{Sha224, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use crate::algorithm::Algorithm;
use crate::digest::Digest;

/// A key for any number of messages. It is wiped from memory on drop.
/// For the algorithms of `RustCrypto`, a key is a message without bytes.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the algorithms")]
#[non_exhaustive]
pub enum HmacKey {
    Md5(hmac::Hmac<Md5>),
    Sha1(hashlane_sha::HmacKey<Sha1>),
    Sha224(hmac::Hmac<Sha224>),
    Sha256(hashlane_sha::HmacKey<Sha256>),
    Sha384(hmac::Hmac<Sha384>),
    Sha512(hmac::Hmac<Sha512>),
}

/// The HMAC of a message that arrives in parts. It is wiped from memory on drop.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the algorithms")]
#[non_exhaustive]
pub enum Hmac {
    Md5(hmac::Hmac<Md5>),
    Sha1(hashlane_sha::Hmac<Sha1>),
    Sha224(hmac::Hmac<Sha224>),
    Sha256(hashlane_sha::Hmac<Sha256>),
    Sha384(hmac::Hmac<Sha384>),
    Sha512(hmac::Hmac<Sha512>),
}

/// Returns the key of an algorithm of `RustCrypto`.
macro_rules! key {
    ($bytes:expr) => {
        hmac::Hmac::new_from_slice($bytes).expect("HMAC accepts keys of any length")
    };
}

impl HmacKey {
    /// Returns the key with these bytes, of any length. SHA-1 and SHA-256 use the kernels of `engine`. Returns `None` if the
    /// algorithm has no HMAC: see [`Algorithm::has_hmac`].
    pub fn with_engine(engine: Engine, algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        Some(match algorithm {
            Algorithm::Md5 => Self::Md5(key!(key)),
            Algorithm::Sha1 => Self::Sha1(hashlane_sha::HmacKey::with_engine(engine, key)),
            Algorithm::Sha224 => Self::Sha224(key!(key)),
            Algorithm::Sha256 => Self::Sha256(hashlane_sha::HmacKey::with_engine(engine, key)),
            Algorithm::Sha384 => Self::Sha384(key!(key)),
            Algorithm::Sha512 => Self::Sha512(key!(key)),
            #[cfg(any(feature = "blake", feature = "crc32", feature = "crc64"))]
            _ => return None,
        })
    }

    /// Returns the hash function of the HMAC.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Md5(_) => Algorithm::Md5,
            Self::Sha1(_) => Algorithm::Sha1,
            Self::Sha224(_) => Algorithm::Sha224,
            Self::Sha256(_) => Algorithm::Sha256,
            Self::Sha384(_) => Algorithm::Sha384,
            Self::Sha512(_) => Algorithm::Sha512,
        }
    }

    /// Starts a message.
    pub fn start(&self) -> Hmac {
        match self {
            Self::Md5(key) => Hmac::Md5(key.clone()),
            Self::Sha1(key) => Hmac::Sha1(key.start()),
            Self::Sha224(key) => Hmac::Sha224(key.clone()),
            Self::Sha256(key) => Hmac::Sha256(key.start()),
            Self::Sha384(key) => Hmac::Sha384(key.clone()),
            Self::Sha512(key) => Hmac::Sha512(key.clone()),
        }
    }
}

impl Hmac {
    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(message) => message.update(bytes),
            Self::Sha1(message) => _ = message.update(bytes),
            Self::Sha224(message) => message.update(bytes),
            Self::Sha256(message) => _ = message.update(bytes),
            Self::Sha384(message) => message.update(bytes),
            Self::Sha512(message) => message.update(bytes),
        }
    }

    /// Returns the MAC of the message.
    pub fn finalize(self) -> Mac {
        Mac(match self {
            Self::Md5(message) => Digest::new(message.finalize().into_bytes()),
            Self::Sha1(message) => Digest::new(message.finalize().as_bytes()),
            Self::Sha224(message) => Digest::new(message.finalize().into_bytes()),
            Self::Sha256(message) => Digest::new(message.finalize().as_bytes()),
            Self::Sha384(message) => Digest::new(message.finalize().into_bytes()),
            Self::Sha512(message) => Digest::new(message.finalize().into_bytes()),
        })
    }
}

/// A message authentication code. Compare it with a received tag by [`Mac::is`] or [`Mac::verify`], not with `==` on slices.
#[derive(Clone, Copy)]
pub struct Mac(Digest);

impl Mac {
    /// Returns the bytes of the MAC.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// Returns `true` if `tag` is the beginning of the MAC. The comparison takes constant time.
    pub fn is(&self, tag: &[u8]) -> bool {
        let beginning = self.as_bytes().get(..tag.len());
        beginning.is_some_and(|beginning| beginning.ct_eq(tag).into())
    }

    /// Checks that `tag` is the whole MAC, or its first `truncated_len` bytes.
    ///
    /// # Errors
    /// [`TagError::Refused`] if `truncated_len` is less than [`hazmat::min_tag_len`] or more than the MAC. [`TagError::Length`]
    /// or [`TagError::Mismatch`] for another tag.
    pub fn verify(&self, tag: &[u8], truncated_len: Option<usize>) -> Result<(), TagError> {
        let mac = self.as_bytes();
        hazmat::verify_tag(mac, tag, truncated_len.unwrap_or(mac.len()))
    }
}

/// Hides the value: a reader of a log could forge the message with it.
impl std::fmt::Debug for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Mac").finish_non_exhaustive()
    }
}
