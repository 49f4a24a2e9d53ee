#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | contents |
//! |---|---|
//! | `lib.rs` | the hash functions, and outputs of any length |
//! | `hasher.rs` | the digest of one message that arrives in parts |
//! | `mac.rs` | HMAC: keys, messages that arrive in parts, and the comparison of tags |
#![forbid(unsafe_code)]

mod hasher;
mod mac;

pub use hasher::Hasher;
pub use mac::{Hmac, HmacKey, Mac};

/// The length of the longest digest in bytes.
pub const MAX_DIGEST_LEN: usize = 64;

/// A hash function whose digests and HMACs this crate computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HashFunction {
    /// MD5 (RFC 1321). Attackers can make messages with equal digests.
    Md5,
    /// SHA-1 (FIPS 180-4). Attackers can make messages with equal digests.
    Sha1,
    /// SHA-224 (FIPS 180-4).
    Sha224,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// SHA-384 (FIPS 180-4).
    Sha384,
    /// SHA-512 (FIPS 180-4).
    Sha512,
}

impl HashFunction {
    /// All hash functions.
    pub const ALL: [Self; 6] = [
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
    ];

    /// Returns the name in lower case, as used in options, for example `sha256`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// Returns the name in upper case, as BSD's lists of checksums have it, for example `SHA256`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha1 => "SHA1",
            Self::Sha224 => "SHA224",
            Self::Sha256 => "SHA256",
            Self::Sha384 => "SHA384",
            Self::Sha512 => "SHA512",
        }
    }

    /// Returns the length of a digest, and of a whole MAC, in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => MAX_DIGEST_LEN,
        }
    }
}

/// The digest of a message, or a MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; MAX_DIGEST_LEN],
    len: usize,
}

impl Digest {
    /// Returns the digest with these bytes.
    ///
    /// # Panics
    /// If there are more than [`MAX_DIGEST_LEN`] bytes.
    pub fn new(digest: impl AsRef<[u8]>) -> Self {
        let digest = digest.as_ref();
        let mut bytes = [0; MAX_DIGEST_LEN];
        bytes[..digest.len()].copy_from_slice(digest);
        let len = digest.len();
        Self { bytes, len }
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
