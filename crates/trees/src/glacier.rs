//! The tree hash of Amazon S3 Glacier.
//!
//! Source: the developer guide of Amazon S3 Glacier, "Computing Checksums".

use std::fmt;
use std::io;

use data_encoding::HEXLOWER;
use hashlane_hashes::HashFunction;
use hashlane_pipeline::Frame;
use hashlane_sha::{Engine, Sha256, Sha256Digest};

use crate::format::{Builder, Format, Tail, normalized_hex};

/// The SHA-256 tree hash of an archive. Leaves have 1 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glacier;

/// A tree hash, 32 bytes. Its text has lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlacierHash([u8; 32]);

impl fmt::Display for GlacierHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl Format for Glacier {
    type Hash = GlacierHash;
    type Builder = GlacierBuilder;

    fn function(&self) -> HashFunction {
        HashFunction::Sha256
    }

    fn leaf_len(&self) -> u64 {
        1 << 20
    }

    fn tail(&self) -> Tail {
        Tail::Short
    }

    fn frame(&self, _: u64) -> Frame {
        Frame::default()
    }

    fn normalized(&self, text: &str) -> Option<String> {
        normalized_hex(text, self.function().digest_len())
    }

    fn builder(&self, engine: Engine, _: u64) -> GlacierBuilder {
        GlacierBuilder {
            engine,
            levels: Vec::new(),
        }
    }
}

/// Builds the tree from left to right.
#[derive(Debug)]
pub struct GlacierBuilder {
    engine: Engine,
    /// For each level, the lowest first, a node that has no right neighbour yet.
    levels: Vec<Option<[u8; 32]>>,
}

impl GlacierBuilder {
    fn parent(&self, left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
        let digest: Sha256Digest = self.engine.digest::<Sha256>(&[*left, *right].concat());
        digest.into()
    }
}

impl Builder for GlacierBuilder {
    type Hash = GlacierHash;

    fn push(&mut self, digests: &[u8]) {
        for leaf in digests.as_chunks::<32>().0 {
            let (mut node, mut level) = (*leaf, 0);
            while let Some(Some(left)) = self.levels.get(level).copied() {
                node = self.parent(&left, &node);
                self.levels[level] = None;
                level += 1;
            }
            if level == self.levels.len() {
                self.levels.push(None);
            }
            self.levels[level] = Some(node);
        }
    }

    /// A node without a right neighbour moves up to the next level as it is.
    fn finish(self) -> io::Result<GlacierHash> {
        let mut nodes = self.levels.iter().flatten();
        let lowest = *nodes.next().expect("an empty file has one leaf");
        Ok(GlacierHash(
            nodes.fold(lowest, |right, left| self.parent(left, &right)),
        ))
    }
}
