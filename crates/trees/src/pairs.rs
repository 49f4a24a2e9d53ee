//! Binary trees over SHA-256 digests, built from left to right.

use std::io;

use hashlane_metainfo::merkle::{Odd, TreeBuilder};
use hashlane_sha::Engine;

use crate::format::{Builder, TreeHash};

/// Builds a binary tree from its leaves.
#[derive(Debug)]
pub(crate) struct PairBuilder {
    engine: Engine,
    odd: Odd,
    tree: TreeBuilder,
}

impl PairBuilder {
    pub(crate) fn new(engine: Engine, odd: Odd) -> Self {
        let tree = TreeBuilder::default();
        Self { engine, odd, tree }
    }
}

impl Builder<TreeHash> for PairBuilder {
    fn push(&mut self, digests: &[u8]) {
        self.tree.extend(self.engine, digests.as_chunks().0, 0);
    }

    fn finish(mut self: Box<Self>) -> io::Result<TreeHash> {
        let root = self.tree.finish(self.engine, self.odd);
        Ok(TreeHash::of_digest(root))
    }
}
