//! The tree hash of Amazon S3 Glacier.
//!
//! Source: the developer guide of Amazon S3 Glacier, "Computing Checksums".

use hashlane_hashes::Algorithm;
use hashlane_metainfo::merkle::Odd;
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::format::{Builder, Format, Tail, TreeHash, normalized_hex};
use crate::pairs::PairBuilder;

/// The SHA-256 tree hash of an archive. Leaves have 1 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glacier;

impl Format for Glacier {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        Algorithm::Sha256
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
        normalized_hex(text, 32)
    }

    fn builder(&self, engine: Engine, _: u64) -> Box<dyn Builder<TreeHash>> {
        Box::new(PairBuilder::new(engine, Odd::Promoted))
    }
}
