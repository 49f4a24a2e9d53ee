//! Merkle trees of files (BEP 52, "pieces root").
//!
//! A file is cut into leaves of [`LEAF_LEN`] bytes. The last leaf may be shorter. The digest of a
//! leaf is a node of height 0, and the digest of two neighbours is a node one level higher. The
//! number of leaves is padded to the next power of two, with zeros in place of the missing
//! *digests*: the node above two missing leaves is the digest of 64 zero bytes, and so on
//! ([`padding`]).
//!
//! The tree's root is the file's *pieces root*. The level whose nodes each cover one piece is its
//! *piece layer*, which the .torrent file stores outside the info dictionary. A file of at most one
//! piece has no piece layer. Its tree is only as high as its leaves need, so its root differs from
//! the node of a piece with the same bytes in a longer file.
//!
//! No function of this module panics. Where numbers contradict each other, leaves that are missing are padding, and a
//! tree is as high as its leaves need.

use std::sync::LazyLock;

use hashlane_sha::{Engine, Sha256, Sha256Digest, digest};

/// Length of the part of a file under one leaf: 16 KiB (BEP 52 calls it a block).
pub const LEAF_LEN: u32 = 16 << 10;

/// A SHA-256 digest: of a leaf, or of the two nodes below.
pub type Node = [u8; 32];

/// Number of digests that are computed per call, on the stack.
const BATCH: usize = 64;

/// Returns the height of a tree with this many leaves: 0 for one leaf or none, and 64 at most.
pub fn height_of(n_leaves: u64) -> u32 {
    // The leaves that follow the first one are numbered in this many bits.
    u64::BITS - n_leaves.saturating_sub(1).leading_zeros()
}

/// Returns the node for leaves that a file does not have: the root of a tree of this height in
/// which every leaf hash is zero. The nodes up to a height of 64, the largest that [`height_of`]
/// returns, are computed once.
pub fn padding(height: u32) -> Node {
    static PADDING: LazyLock<[Node; 65]> = LazyLock::new(|| {
        let mut nodes = [[0; 32]; 65];
        for height in 1..nodes.len() {
            nodes[height] = parent(&nodes[height - 1], &nodes[height - 1]);
        }
        nodes
    });
    match PADDING.get(height as usize) {
        Some(node) => *node,
        None => (64..height).fold(PADDING[64], |node, _| parent(&node, &node)),
    }
}

/// Returns the node above two neighbours.
fn parent(left: &Node, right: &Node) -> Node {
    digest::<Sha256>([*left, *right].as_flattened()).into()
}

/// Returns the root over a level of nodes, all of this height, padded to a power of two.
///
/// For a piece layer with more than one node, the result is the pieces root. The calculation needs
/// half as much memory as the level. An empty level has the root [`padding`].
pub fn root_over(engine: Engine, level: &[Node], height: u32) -> Node {
    let mut level = std::borrow::Cow::Borrowed(level);
    let mut height = height;
    while level.len() > 1 {
        let mut above = Vec::with_capacity(level.len().div_ceil(2));
        let pairs = level.len() / 2 * 2;
        push_parents(engine, &level[..pairs], &mut above);
        if let [last] = &level[pairs..] {
            above.push(parent(last, &padding(height)));
        }
        level = above.into();
        height = height.saturating_add(1);
    }
    level.first().copied().unwrap_or_else(|| padding(height))
}

/// Appends the nodes above an even number of neighbours.
fn push_parents(engine: Engine, level: &[Node], above: &mut Vec<Node>) {
    let mut digests = [Sha256Digest::default(); BATCH];
    for pairs in level.chunks(2 * BATCH) {
        let digests = &mut digests[..pairs.len() / 2];
        engine.digest_chunks::<Sha256>(pairs.as_flattened(), 64, digests);
        above.extend(digests.iter().map(|digest| Node::from(*digest)));
    }
}

/// The size of one of several trees that are hashed together, see [`roots_of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subtree {
    /// Number of leaf hashes.
    pub n_leaves: usize,
    /// Height of the tree. A tree is at least as high as [`height_of`] its leaves.
    pub height: u32,
}

/// Returns the roots of several trees. `leaves` holds the leaf hashes of all trees back to back; a
/// tree without leaves consists of padding. All nodes of a level are hashed side by side.
///
/// If the trees have more leaves than `leaves` holds, the missing ones are padding. Leaves after those of the last tree
/// are ignored.
pub fn roots_of(engine: Engine, leaves: &[Node], trees: &[Subtree]) -> Vec<Node> {
    let mut n_rest = leaves.len();
    let trees = trees.iter().map(|tree| {
        let n_leaves = tree.n_leaves.min(n_rest);
        n_rest -= n_leaves;
        let height = tree.height.max(height_of(n_leaves as u64));
        Subtree { n_leaves, height }
    });
    let trees: Vec<Subtree> = trees.collect();
    let mut counts: Vec<usize> = trees.iter().map(|tree| tree.n_leaves).collect();
    let mut level = leaves[..leaves.len() - n_rest].to_vec();
    let mut padded = Vec::with_capacity(level.len());
    let with_leaves = trees.iter().filter(|tree| tree.n_leaves > 0);
    let top = with_leaves.map(|tree| tree.height).max().unwrap_or(0);
    for height in 0..top {
        // The root of a tree that ends at this height is copied unchanged.
        padded.clear();
        let mut rest = &level[..];
        for (tree, count) in trees.iter().zip(&counts) {
            let (nodes, others) = rest.split_at(*count);
            rest = others;
            if tree.height > height {
                padded.extend_from_slice(nodes);
                if count % 2 == 1 {
                    padded.push(padding(height));
                }
            }
        }
        let mut above = Vec::with_capacity(padded.len() / 2);
        push_parents(engine, &padded, &mut above);
        let mut next = Vec::with_capacity(level.len());
        let (mut rest, mut above) = (&level[..], &above[..]);
        for (tree, count) in trees.iter().zip(&mut counts) {
            let (nodes, others) = rest.split_at(*count);
            rest = others;
            if tree.height > height {
                *count = count.div_ceil(2);
                let (parents, others) = above.split_at(*count);
                above = others;
                next.extend_from_slice(parents);
            } else {
                next.extend_from_slice(nodes);
            }
        }
        level = next;
    }
    let mut nodes = level.into_iter();
    let roots = trees.iter().zip(counts);
    roots
        .map(|(tree, count)| match count {
            0 => padding(tree.height),
            // A tree is as high as its leaves need, so that one node is left.
            _ => nodes.next().unwrap_or_default(),
        })
        .collect()
}

/// A merkle tree that is built from left to right. It stores one node for each level, not for each
/// leaf.
#[derive(Clone, Debug, Default)]
pub struct TreeBuilder {
    /// Heights and nodes, in descending order of height.
    nodes: Vec<(u32, Node)>,
}

impl TreeBuilder {
    /// Adds the root of the next subtree, which has this height. A subtree must start at a multiple
    /// of its own number of leaves.
    pub fn push(&mut self, node: Node, height: u32) {
        let mut subtree = (height, node);
        while let Some((height, left)) = self.nodes.pop_if(|(height, _)| *height == subtree.0) {
            subtree = (height.saturating_add(1), parent(&left, &subtree.1));
        }
        self.nodes.push(subtree);
    }

    /// Removes all nodes.
    pub fn clear(&mut self) {
        self.nodes.clear();
    }

    /// Returns the root, padded to `height`, and empties the tree. `height` must be at least the
    /// height of the tree: otherwise, the result is the root of only a part of the tree.
    pub fn finish(&mut self, height: u32) -> Node {
        let Some((mut at, mut node)) = self.nodes.pop() else {
            return padding(height);
        };
        while at < height {
            node = match self.nodes.pop_if(|(height, _)| *height == at) {
                Some((_, left)) => parent(&left, &node),
                None => parent(&node, &padding(at)),
            };
            at += 1;
        }
        // Nodes are left if the tree is higher than `height`.
        self.clear();
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, applied recursively to a whole tree.
    fn naive(leaves: &[Node], height: u32) -> Node {
        match (leaves, height) {
            ([], 0) => [0; 32],
            ([leaf], 0) => *leaf,
            _ => {
                let half = leaves.len().min(1 << (height - 1));
                let (left, right) = leaves.split_at(half);
                parent(&naive(left, height - 1), &naive(right, height - 1))
            }
        }
    }

    fn leaves(n: u8) -> Vec<Node> {
        (1..=n).map(|i| [i; 32]).collect()
    }

    #[test]
    fn heights() {
        for (n, height) in [
            (0, 0),
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 3),
            (1 << 40, 40),
            (1 << 63, 63),
            ((1 << 63) + 1, 64),
            (u64::MAX, 64),
        ] {
            assert_eq!(height_of(n), height, "{n}");
        }
    }

    #[test]
    fn padding_is_a_tree_of_zeros() {
        for height in 0..8 {
            assert_eq!(padding(height), naive(&[], height));
        }
    }

    #[test]
    fn all_ways_lead_to_the_same_root() {
        let engine = Engine::detect();
        for n in 1..=130 {
            let leaves = leaves(n);
            let height = height_of(n.into());
            let expected = naive(&leaves, height);
            assert_eq!(root_over(engine, &leaves, 0), expected, "{n}");
            let mut builder = TreeBuilder::default();
            for leaf in &leaves {
                builder.push(*leaf, 0);
            }
            assert_eq!(builder.clone().finish(height), expected, "{n}");
            assert_eq!(builder.finish(height + 3), naive(&leaves, height + 3));
        }
    }

    #[test]
    fn levels_above_the_leaves() {
        let engine = Engine::detect();
        let leaves = leaves(16);
        // A layer of nodes of height 2. The last node covers only two leaves.
        let layer: Vec<Node> = leaves[..14].chunks(4).map(|part| naive(part, 2)).collect();
        assert_eq!(root_over(engine, &layer, 2), naive(&leaves[..14], 4));
        let layer = &layer[..3];
        assert_eq!(root_over(engine, layer, 2), naive(&leaves[..12], 4));
    }

    #[test]
    fn trees_side_by_side() {
        let engine = Engine::detect();
        let leaves = leaves(200);
        let trees: Vec<Subtree> = [
            (1, 0),
            (1, 3),
            (3, 2),
            (0, 4),
            (16, 4),
            (13, 4),
            (64, 6),
            (65, 7),
            (37, 9),
        ]
        .map(|(n_leaves, height)| Subtree { n_leaves, height })
        .to_vec();
        let roots = roots_of(engine, &leaves, &trees);
        let mut rest = &leaves[..];
        for (tree, root) in trees.iter().zip(roots) {
            let (own, others) = rest.split_at(tree.n_leaves);
            rest = others;
            assert_eq!(root, naive(own, tree.height), "{tree:?}");
        }
        assert!(rest.is_empty());
        assert!(roots_of(engine, &[], &[]).is_empty());
    }

    #[test]
    fn subtrees_of_different_heights() {
        let leaves = leaves(13);
        let mut builder = TreeBuilder::default();
        builder.push(naive(&leaves[..8], 3), 3);
        builder.push(naive(&leaves[8..12], 2), 2);
        builder.push(leaves[12], 0);
        assert_eq!(builder.finish(4), naive(&leaves, 4));
        assert_eq!(builder.finish(2), padding(2), "it is empty again");
    }

    #[test]
    fn a_tree_is_empty_after_any_end() {
        let leaves = leaves(11);
        let mut builder = TreeBuilder::default();
        for height in [0, 1, 3, 4] {
            builder.push([9; 32], 3);
            builder.push([8; 32], 0);
            let _ = builder.finish(height);
            for leaf in &leaves {
                builder.push(*leaf, 0);
            }
            assert_eq!(
                builder.finish(4),
                naive(&leaves, 4),
                "after height {height}"
            );
        }
    }
}
