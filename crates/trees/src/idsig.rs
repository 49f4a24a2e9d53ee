//! The tree in Android's signature files of version 4 (`.apk.idsig`).
//!
//! Source: "APK signature scheme v4" in Android's documentation, and the tree of apksig.

use std::fs::File;
use std::io;
use std::sync::Arc;

use hashlane_hashes::HashFunction;
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::dmverity::RootHash;
use crate::format::{Builder, Format, LeafHash, Tail, normalized_hex};
use crate::levels::{Levels, NodeHash, Nodes};

const BLOCK_LEN: u32 = 4096;

/// The root hash in the `hashing_info` of a signature file: SHA-256 over blocks of 4096 bytes, without a salt. The tree is
/// that of fs-verity, except that a file of one block has a block of digests, too. The result is the root itself.
#[derive(Clone, Debug, Default)]
pub struct ApkIdsig {
    tree: Option<Arc<File>>,
}

impl ApkIdsig {
    /// Also writes the tree to a file that is open for writing and empty: the blocks of digests, the highest level first.
    /// Hash one file with this format.
    #[must_use]
    pub fn with_tree(mut self, tree: File) -> Self {
        self.tree = Some(Arc::new(tree));
        self
    }
}

impl Format for ApkIdsig {
    type Hash = RootHash;
    type Builder = IdsigBuilder;

    fn leaf_hash(&self) -> LeafHash {
        HashFunction::Sha256.into()
    }

    fn leaf_len(&self) -> u64 {
        BLOCK_LEN.into()
    }

    fn tail(&self) -> Tail {
        Tail::Padded
    }

    fn frame(&self, _: u64) -> Frame {
        Frame::default()
    }

    fn min_len(&self) -> u64 {
        1
    }

    fn normalized(&self, text: &str) -> Option<String> {
        normalized_hex(text, HashFunction::Sha256.digest_len())
    }

    fn builder(&self, engine: Engine, len_bytes: u64) -> IdsigBuilder {
        let function = HashFunction::Sha256;
        let hash = NodeHash {
            engine,
            function,
            frame: Frame::default(),
        };
        let nodes = Nodes {
            always_has_node: true,
            ..Nodes::dense(BLOCK_LEN as usize, function.digest_len())
        };
        let n_blocks = len_bytes.div_ceil(BLOCK_LEN.into());
        IdsigBuilder(Levels::new(hash, nodes, n_blocks, self.tree.clone(), 0))
    }
}

/// Computes the root hash of a file.
#[derive(Debug)]
pub struct IdsigBuilder(Levels);

impl Builder for IdsigBuilder {
    type Hash = RootHash;

    fn push(&mut self, digests: &[u8]) {
        self.0.push(digests);
    }

    fn finish(self) -> io::Result<RootHash> {
        Ok(RootHash(self.0.finish()?))
    }
}
