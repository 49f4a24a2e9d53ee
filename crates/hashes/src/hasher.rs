//! The digest of one message that arrives in parts.

use std::io::{self, BufReader, Read, Write};

use hashlane_sha::{Engine, Sha1, Sha256, Sha384, Sha512};
use md5::Md5;
use sha2::{Digest as _, Sha224};
use zeroize::Zeroize;

use crate::{Digest, HashFunction};

/// The length of the buffer for the bytes of a reader.
const BUFFER_LEN: usize = 64 * 1024;

/// A message in progress.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the algorithms")]
#[non_exhaustive]
pub enum Hasher {
    Md5(Md5),
    Sha1(Sha1),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

/// Evaluates an expression with the state of a hasher.
macro_rules! with_state {
    ($hasher:expr, $state:ident => $result:expr) => {
        match $hasher {
            Self::Md5($state) => $result,
            Self::Sha1($state) => $result,
            Self::Sha224($state) => $result,
            Self::Sha256($state) => $result,
            Self::Sha384($state) => $result,
            Self::Sha512($state) => $result,
        }
    };
}

impl Hasher {
    /// Returns the hasher of an empty message. SHA-1 and SHA-256 use the kernels of `engine`.
    pub fn with_engine(engine: Engine, algorithm: HashFunction) -> Self {
        match algorithm {
            HashFunction::Md5 => Self::Md5(Md5::new()),
            HashFunction::Sha1 => Self::Sha1(Sha1::with_engine(engine)),
            HashFunction::Sha224 => Self::Sha224(Sha224::new()),
            HashFunction::Sha256 => Self::Sha256(Sha256::with_engine(engine)),
            HashFunction::Sha384 => Self::Sha384(Sha384::default()),
            HashFunction::Sha512 => Self::Sha512(Sha512::default()),
        }
    }

    /// Returns the algorithm that the hasher was created with.
    pub fn algorithm(&self) -> HashFunction {
        match self {
            Self::Md5(_) => HashFunction::Md5,
            Self::Sha1(_) => HashFunction::Sha1,
            Self::Sha224(_) => HashFunction::Sha224,
            Self::Sha256(_) => HashFunction::Sha256,
            Self::Sha384(_) => HashFunction::Sha384,
            Self::Sha512(_) => HashFunction::Sha512,
        }
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        with_state!(self, state => {
            state.update(bytes);
        });
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
        with_state!(self, state => Digest::new(state.finalize()))
    }

    /// Makes the message empty.
    pub fn reset(&mut self) {
        with_state!(self, state => state.reset());
    }
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
            Self::Sha256(state) => state.zeroize(),
            Self::Sha384(state) => state.zeroize(),
            Self::Sha512(state) => state.zeroize(),
            // `RustCrypto` wipes a state on drop, and an assignment drops the old state in its place.
            Self::Md5(state) => *state = Md5::new(),
            Self::Sha224(state) => *state = Sha224::new(),
        }
    }
}
