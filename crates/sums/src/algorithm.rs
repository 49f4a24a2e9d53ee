//! Names, lengths and state of the digest algorithms.

use std::fmt;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hashlane_hashes::{HashFunction, Hasher};
use hashlane_sha::Engine;

/// An algorithm for `sum`: a hash function, CRC-32 or BLAKE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DigestAlgorithm {
    /// CRC-32 (IEEE 802.3), as used in SFV files.
    Crc32,
    /// MD5, SHA-1 or SHA-2.
    Hash(HashFunction),
    /// BLAKE2b (RFC 7693).
    Blake2b(Blake2bLen),
    /// BLAKE3 with 256 bits.
    Blake3,
}

/// Length of a BLAKE2b digest: 1 to 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blake2bLen(u8);

impl Blake2bLen {
    /// The longest digest, 512 bits.
    pub const MAX: Self = Self(64);

    /// Returns the length for a number of bits, or `None` if it is not a multiple of 8 from 8 to
    /// 512.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let is_valid = bits.is_multiple_of(8) && (8..=512).contains(&bits);
        is_valid.then_some(Self((bits / 8) as u8))
    }
}

impl DigestAlgorithm {
    /// All algorithms, with BLAKE2b at its full length.
    pub const ALL: [Self; 9] = [
        Self::Crc32,
        Self::Hash(HashFunction::Md5),
        Self::Hash(HashFunction::Sha1),
        Self::Hash(HashFunction::Sha224),
        Self::Hash(HashFunction::Sha256),
        Self::Hash(HashFunction::Sha384),
        Self::Hash(HashFunction::Sha512),
        Self::Blake2b(Blake2bLen::MAX),
        Self::Blake3,
    ];

    /// Returns the name in lower case, as used in options, without the length of BLAKE2b.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crc32 => "crc32",
            Self::Hash(function) => function.name(),
            Self::Blake2b(_) => "blake2b",
            Self::Blake3 => "blake3",
        }
    }

    /// Returns the name that BSD lines start with, without the length of BLAKE2b.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Crc32 => "CRC32",
            Self::Hash(function) => function.tag(),
            Self::Blake2b(_) => "BLAKE2b",
            Self::Blake3 => "BLAKE3",
        }
    }

    /// Returns the length of a digest in bytes.
    pub fn digest_len(self) -> usize {
        match self {
            Self::Crc32 => 4,
            Self::Hash(function) => function.digest_len(),
            Self::Blake3 => 32,
            Self::Blake2b(len) => len.0.into(),
        }
    }
}

impl From<HashFunction> for DigestAlgorithm {
    fn from(function: HashFunction) -> Self {
        Self::Hash(function)
    }
}

/// Writes the tag of a BSD line, for example `SHA256` or `BLAKE2b-256`.
impl fmt::Display for DigestAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blake2b(len) if *len != Blake2bLen::MAX => {
                f.pad(&format!("{}-{}", self.tag(), u32::from(len.0) * 8))
            }
            _ => f.pad(self.tag()),
        }
    }
}

/// The name of an algorithm is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm")]
pub struct UnknownAlgorithm;

/// Parses a name in either case, with or without a hyphen, for example `sha256`, `SHA-256` or
/// `BLAKE2b-256`.
impl FromStr for DigestAlgorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let text = text.to_ascii_lowercase();
        if let Some(bits) = text.strip_prefix("blake2b-") {
            let len = bits.parse().ok().and_then(Blake2bLen::from_bits);
            return len.map(Self::Blake2b).ok_or(UnknownAlgorithm);
        }
        let name = text.replacen('-', "", 1);
        let mut all = Self::ALL.into_iter();
        all.find(|algorithm| algorithm.name() == name)
            .ok_or(UnknownAlgorithm)
    }
}

/// The bytes of a digest, whose number depends on the algorithm.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Digest(Box<[u8]>);

impl Digest {
    /// Returns the digest with these bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(bytes.as_ref().into())
    }

    /// Returns the bytes in the order in which they are printed.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Parses hexadecimal digits of either case. Returns `None` for other characters and for an odd
    /// number of digits.
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text).ok()?;
        Some(Self(bytes.into()))
    }
}

/// Writes lower-case hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The state of one digest of one message that arrives in parts.
#[derive(Clone)]
pub struct Stream(State);

/// Large states are boxed to keep the enum small.
#[derive(Clone)]
enum State {
    Crc32(crc32fast::Hasher),
    Hash(Box<Hasher>),
    Blake2b(Box<blake2b_simd::State>),
    Blake3(Box<blake3::Hasher>),
}

impl Stream {
    /// Returns the state of an empty message. SHA-1 and SHA-256 use the kernels of `engine`.
    pub fn new(algorithm: DigestAlgorithm, engine: Engine) -> Self {
        Self(match algorithm {
            DigestAlgorithm::Crc32 => State::Crc32(crc32fast::Hasher::new()),
            DigestAlgorithm::Hash(function) => {
                State::Hash(Box::new(Hasher::with_engine(engine, function)))
            }
            DigestAlgorithm::Blake2b(len) => {
                let mut params = blake2b_simd::Params::new();
                State::Blake2b(Box::new(params.hash_length(len.0.into()).to_state()))
            }
            DigestAlgorithm::Blake3 => State::Blake3(Box::default()),
        })
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Crc32(state) => state.update(bytes),
            State::Hash(state) => state.update(bytes),
            State::Blake2b(state) => drop(state.update(bytes)),
            State::Blake3(state) => drop(state.update(bytes)),
        }
    }

    /// Returns the digest of the message.
    pub fn finish(self) -> Digest {
        match self.0 {
            State::Crc32(state) => Digest::new(state.finalize().to_be_bytes()),
            State::Hash(state) => Digest::new(state.finalize()),
            State::Blake2b(state) => Digest::new(state.finalize()),
            State::Blake3(state) => Digest::new(state.finalize().as_bytes()),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_width_of_the_format() {
        let sha1 = DigestAlgorithm::Hash(HashFunction::Sha1);
        assert_eq!(format!("{sha1:>6}|{sha1:<6}|"), "  SHA1|SHA1  |");
        let digest = Digest::new([0xab, 0xcd]);
        assert_eq!(format!("{digest:-^8}"), "--abcd--");
    }
}
