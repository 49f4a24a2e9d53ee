//! Digests of pieces that were never written.

use std::sync::OnceLock;

use hashlane_metainfo::PieceIndex;
use hashlane_metainfo::merkle::{LEAF_LEN, Node, Subtree, TreeBuilder, roots_of};
use hashlane_sha::{Engine, Sha1, Sha256};

use crate::piece::PieceDigests;
use crate::worker::Job;

/// Zeros that are hashed at a time.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Digests of pieces of zeros, each computed when it is first needed: there are two lengths of
/// pieces, and the trees of as many leaves as fit are made of each other.
#[derive(Debug, Default)]
pub(crate) struct ZeroDigests {
    full: OnceLock<[u8; 20]>,
    last: OnceLock<[u8; 20]>,
    /// The roots of trees over leaves of zeros, by their height.
    trees: OnceLock<Vec<Node>>,
}

impl ZeroDigests {
    /// The digests of a piece all of whose bytes are zero; `None` if somebody asked to stop before
    /// they were known.
    pub(crate) fn of_piece(&self, job: &Job<'_>, piece: PieceIndex) -> Option<PieceDigests> {
        let families = job.layout.families();
        let v1 = if families.v1 {
            Some(self.sha1(job, piece)?)
        } else {
            None
        };
        let v2 = families.v2.then(|| self.root(job, piece));
        Some(PieceDigests { v1, v2 })
    }

    fn sha1(&self, job: &Job<'_>, piece: PieceIndex) -> Option<[u8; 20]> {
        let lengths = job.layout.lengths();
        let len_bytes = lengths.piece_len(piece);
        let is_full = len_bytes == lengths.piece_length().get();
        let cell = if is_full { &self.full } else { &self.last };
        if let Some(digest) = cell.get() {
            return Some(*digest);
        }
        // Two workers may both find the cell empty. They come to the same digest.
        let mut hasher = Sha1::with_engine(job.engine);
        let mut rest = len_bytes as usize;
        while rest > 0 {
            if job.cancel.is_cancelled() {
                return None;
            }
            let n = rest.min(ZEROS.len());
            hasher.update(&ZEROS[..n]);
            rest -= n;
        }
        Some(*cell.get_or_init(|| hasher.finalize().into()))
    }

    fn root(&self, job: &Job<'_>, piece: PieceIndex) -> Node {
        let layout = job.layout;
        let start = layout.lengths().piece_offset(piece);
        let len_bytes = layout.data_end(piece) - start;
        let trees = self.trees.get_or_init(|| trees_of_zeros(job.engine));
        let mut tree = TreeBuilder::default();
        let n_leaves = len_bytes / u64::from(LEAF_LEN);
        // As many whole trees as there are bits, the highest first.
        for height in (0..trees.len()).rev() {
            if n_leaves >> height & 1 == 1 {
                tree.push(trees[height], height as u32);
            }
        }
        let rest = (len_bytes % u64::from(LEAF_LEN)) as usize;
        if rest > 0 {
            tree.push(sha256(job.engine, &ZEROS[..rest]), 0);
        }
        tree.finish(layout.tree_height(piece))
    }
}

/// Trees as high as the leaves of the longest piece need, which is less than 2 GiB.
fn trees_of_zeros(engine: Engine) -> Vec<Node> {
    let leaf = sha256(engine, &ZEROS[..LEAF_LEN as usize]);
    let both = Subtree {
        n_leaves: 2,
        height: 1,
    };
    let parent = |node: &Node| Some(roots_of(engine, &[*node; 2], &[both])[0]);
    std::iter::successors(Some(leaf), parent).take(18).collect()
}

fn sha256(engine: Engine, bytes: &[u8]) -> Node {
    let mut hasher = Sha256::with_engine(engine);
    hasher.update(bytes);
    hasher.finalize().into()
}
