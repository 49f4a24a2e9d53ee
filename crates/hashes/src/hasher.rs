//! The digest of one message that arrives in parts.

use std::io::{self, BufReader, Read, Write};

use hashlane_sha::{Engine, Sha1, Sha224, Sha256, Sha384, Sha512};
use md5::{Digest as _, Md5};
use zeroize::Zeroize;

use crate::algorithm::Algorithm;
#[cfg(feature = "blake")]
use crate::algorithm::Blake2bLen;
use crate::digest::Digest;

/// The length of the buffer for the bytes of a reader.
const BUFFER_LEN: usize = 64 * 1024;

/// A message in progress. Large states are boxed.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the algorithms")]
#[non_exhaustive]
pub enum Hasher {
    #[cfg(feature = "crc32")]
    Crc32(crc32fast::Hasher),
    Md5(Md5),
    Sha1(Sha1),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
    #[cfg(feature = "blake")]
    Blake2b(Blake2bLen, Box<blake2b_simd::State>),
    #[cfg(feature = "blake")]
    Blake3(Box<blake3::Hasher>),
    #[cfg(feature = "crc64")]
    Crc64Nvme(Box<crc_fast::Digest>),
}

impl Hasher {
    /// Returns the hasher of an empty message. SHA-1, SHA-224 and SHA-256 use the kernels of `engine`.
    pub fn with_engine(engine: Engine, algorithm: Algorithm) -> Self {
        match algorithm {
            #[cfg(feature = "crc32")]
            Algorithm::Crc32 => Self::Crc32(crc32fast::Hasher::new()),
            Algorithm::Md5 => Self::Md5(Md5::new()),
            Algorithm::Sha1 => Self::Sha1(Sha1::with_engine(engine)),
            Algorithm::Sha224 => Self::Sha224(Sha224::with_engine(engine)),
            Algorithm::Sha256 => Self::Sha256(Sha256::with_engine(engine)),
            Algorithm::Sha384 => Self::Sha384(Sha384::default()),
            Algorithm::Sha512 => Self::Sha512(Sha512::default()),
            #[cfg(feature = "blake")]
            Algorithm::Blake2b(len) => Self::Blake2b(len, Box::new(blake2b(len))),
            #[cfg(feature = "blake")]
            Algorithm::Blake3 => Self::Blake3(Box::default()),
            #[cfg(feature = "crc64")]
            Algorithm::Crc64Nvme => Self::Crc64Nvme(Box::new(crc64_nvme())),
        }
    }

    /// Returns the algorithm that the hasher was created with.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            #[cfg(feature = "crc32")]
            Self::Crc32(_) => Algorithm::Crc32,
            Self::Md5(_) => Algorithm::Md5,
            Self::Sha1(_) => Algorithm::Sha1,
            Self::Sha224(_) => Algorithm::Sha224,
            Self::Sha256(_) => Algorithm::Sha256,
            Self::Sha384(_) => Algorithm::Sha384,
            Self::Sha512(_) => Algorithm::Sha512,
            #[cfg(feature = "blake")]
            Self::Blake2b(len, _) => Algorithm::Blake2b(*len),
            #[cfg(feature = "blake")]
            Self::Blake3(_) => Algorithm::Blake3,
            #[cfg(feature = "crc64")]
            Self::Crc64Nvme(_) => Algorithm::Crc64Nvme,
        }
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            #[cfg(feature = "crc32")]
            Self::Crc32(state) => state.update(bytes),
            Self::Md5(state) => state.update(bytes),
            Self::Sha1(state) => _ = state.update(bytes),
            Self::Sha224(state) => state.update(bytes),
            Self::Sha256(state) => _ = state.update(bytes),
            Self::Sha384(state) => state.update(bytes),
            Self::Sha512(state) => state.update(bytes),
            #[cfg(feature = "blake")]
            Self::Blake2b(_, state) => _ = state.update(bytes),
            #[cfg(feature = "blake")]
            Self::Blake3(state) => _ = state.update(bytes),
            #[cfg(feature = "crc64")]
            Self::Crc64Nvme(state) => state.update(bytes),
        }
    }

    /// Appends all bytes of a reader, and returns their number.
    ///
    /// # Errors
    /// The error of the reader. The message then contains the bytes before the error.
    pub fn update_reader(&mut self, reader: impl Read) -> io::Result<u64> {
        io::copy(&mut BufReader::with_capacity(BUFFER_LEN, reader), self)
    }

    /// Returns the digest of the message.
    pub fn finalize(self) -> Digest {
        match self {
            #[cfg(feature = "crc32")]
            Self::Crc32(state) => Digest::new(state.finalize().to_be_bytes()),
            Self::Md5(state) => Digest::new(state.finalize()),
            Self::Sha1(state) => Digest::new(state.finalize()),
            Self::Sha224(state) => Digest::new(state.finalize()),
            Self::Sha256(state) => Digest::new(state.finalize()),
            Self::Sha384(state) => Digest::new(state.finalize()),
            Self::Sha512(state) => Digest::new(state.finalize()),
            #[cfg(feature = "blake")]
            Self::Blake2b(_, state) => Digest::new(state.finalize()),
            #[cfg(feature = "blake")]
            Self::Blake3(state) => Digest::new(state.finalize().as_bytes()),
            #[cfg(feature = "crc64")]
            Self::Crc64Nvme(state) => Digest::new(state.finalize().to_be_bytes()),
        }
    }

    /// Makes the message empty.
    pub fn reset(&mut self) {
        match self {
            #[cfg(feature = "crc32")]
            Self::Crc32(state) => state.reset(),
            Self::Md5(state) => state.reset(),
            Self::Sha1(state) => state.reset(),
            Self::Sha224(state) => state.reset(),
            Self::Sha256(state) => state.reset(),
            Self::Sha384(state) => state.reset(),
            Self::Sha512(state) => state.reset(),
            #[cfg(feature = "blake")]
            Self::Blake2b(len, state) => **state = blake2b(*len),
            #[cfg(feature = "blake")]
            Self::Blake3(state) => **state = blake3::Hasher::new(),
            #[cfg(feature = "crc64")]
            Self::Crc64Nvme(state) => state.reset(),
        }
    }
}

#[cfg(feature = "blake")]
fn blake2b(len: Blake2bLen) -> blake2b_simd::State {
    let mut params = blake2b_simd::Params::new();
    params.hash_length(len.bytes()).to_state()
}

#[cfg(feature = "crc64")]
fn crc64_nvme() -> crc_fast::Digest {
    crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc64Nvme)
}

/// Appends the written bytes to the message. Never fails.
impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Wipes the message from memory. The hasher is empty afterwards.
impl Zeroize for Hasher {
    fn zeroize(&mut self) {
        match self {
            Self::Sha1(state) => state.zeroize(),
            Self::Sha224(state) => state.zeroize(),
            Self::Sha256(state) => state.zeroize(),
            Self::Sha384(state) => state.zeroize(),
            Self::Sha512(state) => state.zeroize(),
            // `RustCrypto` wipes a state on drop, and an assignment drops the old state in its place.
            Self::Md5(state) => *state = Md5::new(),
            // An empty state takes the place of the old one.
            #[cfg(any(feature = "blake", feature = "crc32", feature = "crc64"))]
            _ => self.reset(),
        }
    }
}
