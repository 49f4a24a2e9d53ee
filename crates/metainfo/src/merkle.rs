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
//! A function that hashes its arguments takes the engine for that, also for a single node. The nodes
//! of [`padding`] are constants. The rest of the crate hashes with [`Engine::detect`]: what it hashes
//! is as small as a .torrent file.
//!
//! No function of this module panics.

use std::sync::LazyLock;

use hashlane_sha::{Engine, Sha256, Sha256Digest};

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
    fn twice(node: &Node) -> Node {
        parent(Engine::detect(), node, node)
    }
    static PADDING: LazyLock<[Node; 65]> = LazyLock::new(|| {
        let mut nodes = [[0; 32]; 65];
        for height in 1..nodes.len() {
            nodes[height] = twice(&nodes[height - 1]);
        }
        nodes
    });
    match PADDING.get(height as usize) {
        Some(node) => *node,
        None => (64..height).fold(PADDING[64], |node, _| twice(&node)),
    }
}

/// Returns the node above two neighbours.
pub fn parent(engine: Engine, left: &Node, right: &Node) -> Node {
    let pair = [*left, *right];
    engine.digest::<Sha256>(pair.as_flattened()).into()
}

/// Returns the root over a level of nodes, all of this height, padded to a power of two.
///
/// For a piece layer with more than one node, the result is the pieces root. An empty level has the root [`padding`].
pub fn root_over(engine: Engine, level: &[Node], height: u32) -> Node {
    let mut tree = TreeBuilder::default();
    tree.extend(engine, level, height);
    tree.finish(engine, Odd::Padded(height))
}

/// The treatment of a node without a right neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// The neighbour is the root of a tree whose leaf hashes are zeros, [`padding`]. The tree is as high as its leaves need, and at
    /// least this high (BEP 52).
    Padded(u32),
    /// The node moves up to the next level as it is (Amazon S3 Glacier).
    Promoted,
}

/// Maximum number of nodes of a subtree that [`TreeBuilder::extend`] makes at once. The few nodes at its top cost little, and the
/// subtree stays in the cache.
const MAX_SUBTREE: usize = 2048;

/// A tree that is built from left to right. It stores one node for each level, not for each leaf.
#[derive(Clone, Debug, Default)]
pub struct TreeBuilder {
    /// Heights and nodes, in descending order of height.
    nodes: Vec<(u32, Node)>,
}

impl TreeBuilder {
    /// Adds the root of the next subtree, which has this height. A subtree starts at a multiple of its own number of leaves.
    pub fn push(&mut self, engine: Engine, node: Node, height: u32) {
        let mut subtree = (height, node);
        while let Some((height, left)) = self.nodes.pop_if(|(height, _)| *height == subtree.0) {
            subtree = (height.saturating_add(1), parent(engine, &left, &subtree.1));
        }
        self.nodes.push(subtree);
    }

    /// Adds the next nodes, all of this height, which is not above that of any node before. Neighbours are hashed side by side.
    pub fn extend(&mut self, engine: Engine, mut nodes: &[Node], height: u32) {
        while !nodes.is_empty() {
            let next = self.nodes.last().map_or(u32::MAX, |(last, _)| *last);
            let most = nodes.len().min(MAX_SUBTREE).ilog2();
            let levels = most.min(next.saturating_sub(height));
            let (subtree, rest) = nodes.split_at(1 << levels);
            let root = perfect_root(engine, subtree);
            self.push(engine, root, height.saturating_add(levels));
            nodes = rest;
        }
    }

    /// Returns the root, and empties the tree. Without nodes, it is that of a tree of zeros.
    pub fn finish(&mut self, engine: Engine, odd: Odd) -> Node {
        let Some((mut height, mut node)) = self.nodes.pop() else {
            return match odd {
                Odd::Padded(height) => padding(height),
                Odd::Promoted => padding(0),
            };
        };
        match odd {
            Odd::Padded(least) => {
                while height < least || !self.nodes.is_empty() {
                    node = match self.nodes.pop_if(|(left, _)| *left == height) {
                        Some((_, left)) => parent(engine, &left, &node),
                        None => parent(engine, &node, &padding(height)),
                    };
                    height += 1;
                }
            }
            Odd::Promoted => {
                while let Some((_, left)) = self.nodes.pop() {
                    node = parent(engine, &left, &node);
                }
            }
        }
        node
    }
}

/// Returns the root over a power of two of nodes.
fn perfect_root(engine: Engine, level: &[Node]) -> Node {
    let mut level = std::borrow::Cow::Borrowed(level);
    while level.len() > 1 {
        let mut above = Vec::with_capacity(level.len() / 2);
        push_parents(engine, &level, &mut above);
        level = above.into();
    }
    level[0]
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

/// Returns the roots of several trees from their leaf hashes. A tree is as high as its leaves need, see
/// [`height_of`]; a tree without leaves is [`padding`]. All nodes of a level are hashed side by side.
pub fn roots_of(engine: Engine, trees: &[&[Node]]) -> Vec<Node> {
    roots_over(engine, trees, 0)
}

/// Returns the roots over several levels of nodes, all of this height: those of [`root_over`], with all nodes of a height hashed
/// side by side.
pub(crate) fn roots_over(engine: Engine, levels: &[&[Node]], height: u32) -> Vec<Node> {
    let mut level = Vec::with_capacity(levels.iter().map(|nodes| nodes.len()).sum());
    for nodes in levels {
        match nodes {
            [] => level.push(padding(height)),
            nodes => level.extend_from_slice(nodes),
        }
    }
    let mut counts: Vec<usize> = levels.iter().map(|nodes| nodes.len().max(1)).collect();
    let mut padded = Vec::with_capacity(level.len());
    let mut height = height;
    while level.len() > levels.len() {
        // The root of a tree that ends at this height is copied unchanged.
        padded.clear();
        let mut rest = &level[..];
        for count in &counts {
            let (nodes, others) = rest.split_at(*count);
            rest = others;
            if nodes.len() > 1 {
                padded.extend_from_slice(nodes);
                if nodes.len() % 2 == 1 {
                    padded.push(padding(height));
                }
            }
        }
        let mut above = Vec::with_capacity(padded.len() / 2);
        push_parents(engine, &padded, &mut above);
        let mut next = Vec::with_capacity(level.len());
        let (mut rest, mut above) = (&level[..], &above[..]);
        for count in &mut counts {
            let (nodes, others) = rest.split_at(*count);
            rest = others;
            if nodes.len() > 1 {
                *count = count.div_ceil(2);
                let (parents, others) = above.split_at(*count);
                above = others;
                next.extend_from_slice(parents);
            } else {
                next.extend_from_slice(nodes);
            }
        }
        level = next;
        height = height.saturating_add(1);
    }
    level
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
                let [left, right] = [left, right].map(|half| naive(half, height - 1));
                parent(Engine::detect(), &left, &right)
            }
        }
    }

    /// The definition of Amazon S3 Glacier: level by level, an odd node moves up.
    fn naive_promoted(level: &[Node]) -> Node {
        if let [root] = level {
            return *root;
        }
        let above = level.chunks(2).map(|pair| match pair {
            [left, right] => parent(Engine::detect(), left, right),
            odd => odd[0],
        });
        naive_promoted(&above.collect::<Vec<_>>())
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
            let mut tree = TreeBuilder::default();
            for (i, part) in leaves.chunks(7).enumerate() {
                match i % 2 {
                    0 => tree.extend(engine, part, 0),
                    _ => part.iter().for_each(|leaf| tree.push(engine, *leaf, 0)),
                }
            }
            let promoted = tree.clone().finish(engine, Odd::Promoted);
            assert_eq!(promoted, naive_promoted(&leaves), "{n}");
            let padded = tree.clone().finish(engine, Odd::Padded(0));
            assert_eq!(padded, expected, "{n}");
            let higher = tree.finish(engine, Odd::Padded(height + 2));
            assert_eq!(higher, naive(&leaves, height + 2), "{n}");
            assert_eq!(tree.finish(engine, Odd::Padded(3)), padding(3));
            assert_eq!(roots_of(engine, &[&leaves]), [expected], "{n}");
            for height in [1, 7] {
                let levels = [&leaves[..], &leaves[..1], &leaves];
                let roots = levels.map(|level| root_over(engine, level, height));
                assert_eq!(roots_over(engine, &levels, height), roots, "{n}");
            }
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
        let (mut trees, mut rest) = (Vec::new(), &leaves[..]);
        for n_leaves in [1, 1, 3, 0, 16, 13, 64, 65, 37] {
            let (own, others) = rest.split_at(n_leaves);
            rest = others;
            trees.push(own);
        }
        let expected = trees
            .iter()
            .map(|own| naive(own, height_of(own.len() as u64)));
        assert!(roots_of(engine, &trees).into_iter().eq(expected));
        assert!(rest.is_empty());
        assert!(roots_of(engine, &[]).is_empty());
        assert_eq!(roots_of(engine, &[&[], &[]]), [padding(0); 2]);
    }
}
