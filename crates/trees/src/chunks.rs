//! Digests of all chunks of a file.

use std::fmt;
use std::io;

use data_encoding::HEXLOWER;
use hashlane_hashes::Algorithm;
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::format::{Builder, Format, Tail};

/// Maximum number of chunks of a file. Their digests take at most 512 MiB.
const MAX_CHUNKS: u64 = 1 << 23;

/// The digests of consecutive chunks of equal length. The last chunk can be shorter, and an empty file has an empty chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    function: Algorithm,
    len_bytes: u64,
}

impl Chunks {
    /// Returns the format for chunks of `len_bytes` bytes, or `None` for 0.
    pub fn new(function: Algorithm, len_bytes: u64) -> Option<Self> {
        let chunks = Self {
            function,
            len_bytes,
        };
        (len_bytes > 0).then_some(chunks)
    }
}

impl Format for Chunks {
    type Hash = ChunkList;

    fn leaf_hash(&self) -> Algorithm {
        self.function
    }

    fn leaf_len(&self) -> u64 {
        self.len_bytes
    }

    fn tail(&self) -> Tail {
        Tail::Short
    }

    fn frame(&self, _: u64) -> Frame {
        Frame::default()
    }

    fn max_len(&self) -> u64 {
        self.len_bytes.saturating_mul(MAX_CHUNKS)
    }

    /// A list has no text of one word.
    fn normalized(&self, _: &str) -> Option<String> {
        None
    }

    fn builder(&self, _: Engine, len_bytes: u64) -> Box<dyn Builder<ChunkList>> {
        Box::new(ChunkList {
            chunk_len: self.len_bytes,
            len_bytes,
            digest_len: self.function.digest_len(),
            digests: Vec::new(),
        })
    }
}

/// The digests of the chunks of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkList {
    chunk_len: u64,
    len_bytes: u64,
    digest_len: usize,
    digests: Vec<u8>,
}

impl ChunkList {
    /// Returns the position, the length in bytes and the digest of each chunk, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, &[u8])> {
        let digests = self.digests.chunks(self.digest_len);
        (0..).zip(digests).map(|(number, digest)| {
            let start: u64 = number * self.chunk_len;
            (start, self.chunk_len.min(self.len_bytes - start), digest)
        })
    }
}

impl Builder<Self> for ChunkList {
    fn push(&mut self, digests: &[u8]) {
        self.digests.extend_from_slice(digests);
    }

    fn finish(self: Box<Self>) -> io::Result<Self> {
        Ok(*self)
    }
}

/// Writes the digests in lower-case hexadecimal digits, one per line.
impl fmt::Display for ChunkList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (_, _, digest) in self.iter() {
            writeln!(f, "{}", HEXLOWER.encode_display(digest))?;
        }
        Ok(())
    }
}
