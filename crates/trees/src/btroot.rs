//! The root of a file in torrents of version 2.
//!
//! Source: BEP 52, "pieces root".

use hashlane_hashes::Algorithm;
use hashlane_metainfo::merkle::{LEAF_LEN, Odd};
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::format::{Builder, Format, Tail, TreeHash, normalized_hex};
use crate::pairs::PairBuilder;

/// The SHA-256 root of a file. Leaves have 16 KiB, and leaves of zeros fill the tree to a power of two. An empty file has no
/// root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BtRoot;

impl Format for BtRoot {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        Algorithm::Sha256
    }

    fn leaf_len(&self) -> u64 {
        LEAF_LEN.into()
    }

    fn tail(&self) -> Tail {
        Tail::Short
    }

    fn frame(&self, _: u64) -> Frame {
        Frame::default()
    }

    fn min_len(&self) -> u64 {
        1
    }

    fn normalized(&self, text: &str) -> Option<String> {
        normalized_hex(text, 32)
    }

    fn builder(&self, engine: Engine, _: u64) -> Box<dyn Builder<TreeHash>> {
        Box::new(PairBuilder::new(engine, Odd::Padded(0)))
    }
}
