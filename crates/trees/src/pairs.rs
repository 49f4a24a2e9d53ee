//! Binary trees over SHA-256 digests, built from left to right.

use std::fmt;
use std::io;

use data_encoding::HEXLOWER;
use hashlane_metainfo::merkle::{Odd, TreeBuilder};
use hashlane_sha::Engine;

use crate::format::Builder;

/// The root of a binary tree, 32 bytes. Its text has lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairRoot([u8; 32]);

impl PairRoot {
    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PairRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&HEXLOWER.encode(&self.0))
    }
}

/// Builds a binary tree from its leaves.
#[derive(Debug)]
pub struct PairBuilder {
    engine: Engine,
    odd: Odd,
    tree: TreeBuilder,
}

impl PairBuilder {
    pub(crate) fn new(engine: Engine, odd: Odd) -> Self {
        Self {
            engine,
            odd,
            tree: TreeBuilder::default(),
        }
    }
}

impl Builder for PairBuilder {
    type Hash = PairRoot;

    fn push(&mut self, digests: &[u8]) {
        self.tree.extend(self.engine, digests.as_chunks().0, 0);
    }

    fn finish(mut self) -> io::Result<PairRoot> {
        Ok(PairRoot(self.tree.finish(self.engine, self.odd)))
    }
}
