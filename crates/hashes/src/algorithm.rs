//! The names and lengths of the algorithms.

use std::fmt;
use std::str::FromStr;

/// An algorithm that computes a digest of a message: a hash function or a checksum.
///
/// Each feature of this crate adds algorithms, so a program cannot know all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// CRC-32 (IEEE 802.3), as used in SFV files.
    #[cfg(feature = "crc32")]
    Crc32,
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
    /// BLAKE2b (RFC 7693).
    #[cfg(feature = "blake")]
    Blake2b(Blake2bLen),
    /// BLAKE3 with 256 bits.
    #[cfg(feature = "blake")]
    Blake3,
    /// CRC-64/NVME, the highest byte first.
    #[cfg(feature = "crc64")]
    Crc64Nvme,
}

/// Length of a BLAKE2b digest: 1 to 64 bytes.
#[cfg(feature = "blake")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blake2bLen(u8);

#[cfg(feature = "blake")]
impl Blake2bLen {
    /// The longest digest, 512 bits.
    pub const MAX: Self = Self(64);

    /// Returns the length for a number of bits, or `None` if it is not a multiple of 8 from 8 to
    /// 512.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let is_valid = bits.is_multiple_of(8) && (8..=512).contains(&bits);
        is_valid.then_some(Self((bits / 8) as u8))
    }

    /// Returns the length in bytes.
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }
}

impl Algorithm {
    /// The algorithms that a user can name, with BLAKE2b at its full length: all but CRC-64/NVME, which only S3 uses.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "crc32")]
        Self::Crc32,
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        #[cfg(feature = "blake")]
        Self::Blake2b(Blake2bLen::MAX),
        #[cfg(feature = "blake")]
        Self::Blake3,
    ];

    /// Returns the name, the tag, and the length of a digest in bytes.
    const fn row(self) -> (&'static str, &'static str, usize) {
        match self {
            #[cfg(feature = "crc32")]
            Self::Crc32 => ("crc32", "CRC32", 4),
            Self::Md5 => ("md5", "MD5", 16),
            Self::Sha1 => ("sha1", "SHA1", 20),
            Self::Sha224 => ("sha224", "SHA224", 28),
            Self::Sha256 => ("sha256", "SHA256", 32),
            Self::Sha384 => ("sha384", "SHA384", 48),
            Self::Sha512 => ("sha512", "SHA512", 64),
            #[cfg(feature = "blake")]
            Self::Blake2b(len) => ("blake2b", "BLAKE2b", len.bytes()),
            #[cfg(feature = "blake")]
            Self::Blake3 => ("blake3", "BLAKE3", 32),
            #[cfg(feature = "crc64")]
            Self::Crc64Nvme => ("crc64nvme", "CRC64NVME", 8),
        }
    }

    /// Returns the name in lower case, as used in options, for example `sha256`. It has no length of BLAKE2b.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the name that the lines of BSD's lists of checksums start with, for example `SHA256`. It has no length of BLAKE2b.
    pub const fn tag(self) -> &'static str {
        self.row().1
    }

    /// Returns the length of a digest, and of a whole MAC, in bytes.
    pub const fn digest_len(self) -> usize {
        self.row().2
    }

    /// Returns `true` if the algorithm has HMACs: MD5, SHA-1 and SHA-2. BLAKE has keys of its own, and a checksum has none.
    pub const fn has_hmac(self) -> bool {
        matches!(
            self,
            Self::Md5 | Self::Sha1 | Self::Sha224 | Self::Sha256 | Self::Sha384 | Self::Sha512
        )
    }
}

/// Writes the tag of a BSD line, for example `SHA256` or `BLAKE2b-256`.
impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "blake")]
            Self::Blake2b(len) if *len != Blake2bLen::MAX => {
                f.pad(&format!("{}-{}", self.tag(), len.bytes() * 8))
            }
            _ => f.pad(self.tag()),
        }
    }
}

/// The name of an algorithm is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm;

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown algorithm")
    }
}

impl std::error::Error for UnknownAlgorithm {}

/// Parses a name in either case, with or without a hyphen, for example `sha256`, `SHA-256` or
/// `BLAKE2b-256`.
impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let text = text.to_ascii_lowercase();
        #[cfg(feature = "blake")]
        if let Some(bits) = text.strip_prefix("blake2b-") {
            let len = bits.parse().ok().and_then(Blake2bLen::from_bits);
            return len.map(Self::Blake2b).ok_or(UnknownAlgorithm);
        }
        let name = text.replacen('-', "", 1);
        let mut all = Self::ALL.iter().copied();
        all.find(|algorithm| algorithm.name() == name)
            .ok_or(UnknownAlgorithm)
    }
}
