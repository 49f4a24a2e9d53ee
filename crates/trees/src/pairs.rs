//! Binary trees over SHA-256 digests, built from left to right.

use std::fmt;
use std::io;

use data_encoding::HEXLOWER;
use hashlane_sha::{Engine, Sha256};

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

/// The treatment of a node without a right neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// The node moves up to the next level as it is.
    Promoted,
    /// The neighbour is the root of a tree whose leaves are zeros.
    Padded,
}

/// Builds a binary tree from its leaves.
#[derive(Debug)]
pub struct PairBuilder {
    engine: Engine,
    odd: Odd,
    /// For each level, the lowest first, a node that has no right neighbour yet. The last level has one.
    levels: Vec<Option<[u8; 32]>>,
}

impl PairBuilder {
    pub(crate) fn new(engine: Engine, odd: Odd) -> Self {
        Self {
            engine,
            odd,
            levels: Vec::new(),
        }
    }

    fn parent(&self, left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
        let pair = [*left, *right];
        self.engine.digest::<Sha256>(pair.as_flattened()).into()
    }
}

impl Builder for PairBuilder {
    type Hash = PairRoot;

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

    fn finish(self) -> io::Result<PairRoot> {
        let top = self.levels.len().saturating_sub(1);
        // The rightmost node of the current level, if it is incomplete, and the root of zeros.
        let (mut last, mut padding) = (None, [0; 32]);
        for (level, left) in self.levels.iter().enumerate() {
            last = match (left, last, self.odd) {
                (Some(left), Some(right), _) => Some(self.parent(left, &right)),
                // A perfect tree needs no padding.
                (Some(root), None, _) if level == top => Some(*root),
                (Some(node), None, Odd::Promoted) => Some(*node),
                (Some(node), None, Odd::Padded) => Some(self.parent(node, &padding)),
                (None, Some(node), Odd::Padded) => Some(self.parent(&node, &padding)),
                (None, last, _) => last,
            };
            if self.odd == Odd::Padded {
                padding = self.parent(&padding, &padding);
            }
        }
        Ok(PairRoot(last.expect("a file has at least one leaf")))
    }
}
