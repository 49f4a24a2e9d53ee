//! Digests of any length.

use std::fmt;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

/// The length of the longest digest in bytes.
pub const MAX_DIGEST_LEN: usize = 64;

/// The digest of a message, whose length depends on the algorithm. Its text has lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    /// Zeros follow the bytes of the digest.
    bytes: [u8; MAX_DIGEST_LEN],
    len: u8,
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
        let len = digest.len() as u8;
        Self { bytes, len }
    }

    /// Returns the bytes in the order in which they are printed.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Parses hexadecimal digits of either case. Returns `None` for other characters, for an odd number of digits, and for
    /// more digits than a digest has.
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text).ok()?;
        (bytes.len() <= MAX_DIGEST_LEN).then(|| Self::new(bytes))
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&HEXLOWER.encode(self.as_bytes()))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
