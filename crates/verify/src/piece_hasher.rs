//! Digests of pieces: SHA-1 of the whole piece, and the merkle tree over its leaves.

use hashlane_metainfo::merkle::{LEAF_LEN, Node, Odd, TreeBuilder, height_of, parent, roots_of};
use hashlane_pipeline::{CHUNK_LEN, CancelToken, ChunkDigests, ChunkHasher, MessageDigest};
use hashlane_sha::{Engine, Sha1, Sha1Digest, Sha256, Sha256Digest};

use crate::layout::Layout;

/// Height of a tree over the leaves of the longest piece, which has less than 2 GiB.
const MAX_TREE_HEIGHT: usize = 17;

/// Hashes pieces for each hash version of a layout, in one pass over the bytes.
pub(crate) type PieceHasher<'l> = (
    Option<MessageDigest<Sha1>>,
    Option<ChunkHasher<PieceRoots<&'l Layout>>>,
);

/// Chunks are leaves.
const _: () = assert!(CHUNK_LEN == LEAF_LEN as usize);

/// The digests of a piece for each hash version of a layout: SHA-1 of its bytes, padding included
/// (BEP 3), and the root of the merkle tree over its leaves (BEP 52).
pub(crate) type PieceDigests = (Option<Sha1Digest>, Option<Node>);

/// Returns a hasher of the pieces of a layout.
pub(crate) fn piece_hasher(layout: &Layout, engine: Engine) -> PieceHasher<'_> {
    let versions = layout.hash_versions();
    (
        versions.v1.then(|| MessageDigest::new(engine)),
        versions
            .v2
            .then(|| ChunkHasher::new(PieceRoots::new(layout, engine), engine)),
    )
}

/// The shapes of the merkle trees over messages that are pieces (BEP 52).
pub trait PieceTrees {
    /// Returns the number of bytes of the file in the piece, without padding, which is in no leaf.
    fn data_len(&self, message: u32) -> u64;

    /// Returns the height of the tree. It has at least as many leaves as the piece.
    fn height(&self, message: u32) -> u32;
}

/// The messages are the pieces of a layout.
impl PieceTrees for &Layout {
    fn data_len(&self, message: u32) -> u64 {
        let piece = self.piece(message);
        self.data_end(piece) - self.lengths().piece_offset(piece)
    }

    fn height(&self, message: u32) -> u32 {
        self.tree_height(self.piece(message))
    }
}

/// Computes the roots of merkle trees over pieces (BEP 52).
#[derive(Debug)]
pub struct PieceRoots<T> {
    shapes: T,
    engine: Engine,
    /// The tree of each slot.
    trees: Vec<PieceTree>,
    /// Roots of trees over leaves of zeros, by height. Empty until they are needed.
    zeros: Vec<Node>,
}

/// The tree over a partly hashed piece.
#[derive(Debug, Default)]
struct PieceTree {
    /// Number of bytes of the file in the piece. No leaf contains the padding after them.
    len_bytes: u64,
    /// Number of bytes hashed.
    done: u64,
    /// Height of the finished tree.
    height: u32,
    builder: TreeBuilder,
}

impl PieceTree {
    /// Returns the number of leaves of the next subtree, whose leaves lie in the first `len_bytes` bytes that follow.
    ///
    /// The number is a power of two, and the subtree starts at a multiple of this number. At the end of the file, the
    /// subtree may have fewer leaves and is padded.
    fn next_subtree(&self, len_bytes: usize) -> usize {
        let n_leaves = len_bytes.div_ceil(LEAF_LEN as usize);
        let start = self.done / u64::from(LEAF_LEN);
        let whole = height_of(n_leaves as u64);
        let ends_file = self.done + len_bytes as u64 == self.len_bytes;
        if ends_file && start.is_multiple_of(1 << whole) {
            return n_leaves;
        }
        1 << n_leaves.ilog2().min(start.trailing_zeros())
    }
}

impl<T: PieceTrees> PieceRoots<T> {
    /// Returns the trees of these shapes, whose nodes are hashed on the kernels of `engine`.
    pub fn new(shapes: T, engine: Engine) -> Self {
        Self {
            shapes,
            engine,
            trees: Vec::new(),
            zeros: Vec::new(),
        }
    }

    /// Returns the roots of trees whose leaves are all zeros, by height.
    fn trees_of_zeros(&mut self) -> &[Node] {
        if self.zeros.is_empty() {
            let engine = self.engine;
            let leaf = engine.digest::<Sha256>(&[0; LEAF_LEN as usize]).into();
            let above = |node: &Node| Some(parent(engine, node, node));
            let trees = std::iter::successors(Some(leaf), above);
            self.zeros = trees.take(MAX_TREE_HEIGHT + 1).collect();
        }
        &self.zeros
    }
}

impl<T: PieceTrees> ChunkDigests for PieceRoots<T> {
    type ChunkHash = Sha256;
    type Digest = Node;

    fn start(&mut self, slot: usize, message: u32) -> u64 {
        if slot >= self.trees.len() {
            self.trees.resize_with(slot + 1, PieceTree::default);
        }
        let len_bytes = self.shapes.data_len(message);
        let tree = &mut self.trees[slot];
        tree.builder = TreeBuilder::default();
        tree.done = 0;
        tree.len_bytes = len_bytes;
        tree.height = self.shapes.height(message);
        len_bytes
    }

    fn append(&mut self, lens: &[usize], leaves: &[Sha256Digest]) {
        let leaves: Vec<Node> = leaves.iter().map(|leaf| Node::from(*leaf)).collect();
        let mut leaves = &leaves[..];
        let mut slots = Vec::with_capacity(lens.len());
        let mut subtrees = Vec::with_capacity(lens.len());
        for (slot, (tree, len_bytes)) in self.trees.iter_mut().zip(lens).enumerate() {
            let mut rest = *len_bytes;
            while rest > 0 {
                let (subtree, others) = leaves.split_at(tree.next_subtree(rest));
                leaves = others;
                let len_bytes = rest.min(subtree.len() * CHUNK_LEN);
                slots.push(slot);
                subtrees.push(subtree);
                tree.done += len_bytes as u64;
                rest -= len_bytes;
            }
        }
        let roots = roots_of(self.engine, &subtrees);
        for ((slot, subtree), root) in slots.into_iter().zip(subtrees).zip(roots) {
            let height = height_of(subtree.len() as u64);
            self.trees[slot].builder.push(self.engine, root, height);
        }
    }

    fn finish(&mut self, slots: &[usize]) -> Vec<Node> {
        let roots = slots.iter().map(|slot| {
            let tree = &mut self.trees[*slot];
            tree.builder.finish(self.engine, Odd::Padded(tree.height))
        });
        roots.collect()
    }

    fn zeros(&mut self, message: u32, _: u64, _: &CancelToken) -> Option<Node> {
        let (len_bytes, engine) = (self.shapes.data_len(message), self.engine);
        let tree_height = self.shapes.height(message);
        let trees = self.trees_of_zeros();
        let mut tree = TreeBuilder::default();
        let n_leaves = len_bytes / u64::from(LEAF_LEN);
        // One whole tree for each bit of the number of leaves, the highest first.
        for height in (0..trees.len()).rev() {
            if n_leaves >> height & 1 == 1 {
                tree.push(engine, trees[height], height as u32);
            }
        }
        let rest = (len_bytes % u64::from(LEAF_LEN)) as usize;
        if rest > 0 {
            let leaf = engine.digest::<Sha256>(&[0; LEAF_LEN as usize][..rest]);
            tree.push(engine, leaf.into(), 0);
        }
        Some(tree.finish(engine, Odd::Padded(tree_height)))
    }
}

#[cfg(test)]
mod tests {
    use hashlane_metainfo::merkle::padding;
    use hashlane_metainfo::{Lengths, PieceIndex};
    use hashlane_pipeline::MessageHasher as _;
    use sha1::Digest as _;

    use super::*;
    use crate::HashVersions;

    const LEAF: usize = LEAF_LEN as usize;
    const PIECE: usize = 64 * LEAF;

    /// Returns the root by the recursive definition (BEP 52), over this many leaves.
    fn root(bytes: &[u8], n_leaves: usize) -> Node {
        if n_leaves == 1 && bytes.is_empty() {
            return [0; 32];
        }
        if n_leaves == 1 {
            return sha2::Sha256::digest(bytes).into();
        }
        let (left, right) = bytes.split_at(bytes.len().min(n_leaves / 2 * LEAF));
        let below = [left, right].map(|half| root(half, n_leaves / 2));
        sha2::Sha256::digest(below.as_flattened()).into()
    }

    /// Returns the digests of all pieces, hashed together in windows of these lengths in turn. `content` includes the
    /// padding.
    fn digests(content: &[u8], layout: &Layout, window_lens: &[usize]) -> Vec<PieceDigests> {
        let pieces: Vec<PieceIndex> = layout.lengths().pieces().collect();
        let slots: Vec<usize> = (0..pieces.len()).collect();
        let mut hasher = piece_hasher(layout, Engine::detect());
        // The second round reuses the slots.
        for _ in 0..2 {
            for (slot, piece) in pieces.iter().enumerate() {
                hasher.start(slot, piece.get());
            }
            let (mut begin, mut lens) = (0, window_lens.iter().cycle());
            while begin < PIECE as u64 {
                let window_len = *lens.next().expect("the lengths repeat") as u64;
                let window = |piece| layout.window(piece, begin, window_len);
                let windows = pieces.iter().map(|piece| window(*piece));
                let inputs =
                    windows.map(|range| &content[range.start as usize..range.end as usize]);
                let inputs: Vec<&[u8]> = inputs.collect();
                hasher.update(&inputs);
                begin += window_len;
            }
        }
        hasher.finish(&slots)
    }

    /// On a rotating disk, windows are whole pieces, and a part of a piece can be padding. No leaf contains padding,
    /// wherever the file ends. The lengths of windows change with the speed of the disk.
    #[test]
    fn windows_of_every_length_lead_to_the_same_digests() {
        let mut lengths = vec![1, LEAF, PIECE + 77];
        for n_leaves in [1, 3, 4, 5, 11, 16, 17, 33, 60, 64] {
            lengths.extend([n_leaves * LEAF - 1, n_leaves * LEAF]);
        }
        let mut content = Vec::new();
        let mut places = Vec::new();
        let mut expected = Vec::new();
        for (i, length) in lengths.into_iter().enumerate() {
            let bytes: Vec<u8> = (0..length)
                .map(|at| (at / 5 + at / 977 + i) as u8)
                .collect();
            places.push((content.len() as u64, length as u64));
            for piece in bytes.chunks(PIECE) {
                content.extend_from_slice(piece);
                content.resize(content.len().next_multiple_of(PIECE), 0);
                let n_leaves = length.div_ceil(LEAF).next_power_of_two().min(PIECE / LEAF);
                let sha1: [u8; 20] = sha1::Sha1::digest(&content[content.len() - PIECE..]).into();
                expected.push((Sha1Digest::from(sha1), root(piece, n_leaves)));
            }
        }
        let all_lengths = Lengths::new(content.len() as u64, PIECE as u64).unwrap();
        let whole = [LEAF, 32 << 10, 64 << 10, 128 << 10, 256 << 10, PIECE].map(|len| vec![len]);
        let mixed = [vec![LEAF, 32 << 10, PIECE], vec![3 * LEAF, 5 * LEAF]];
        for [v1, v2] in [[true, true], [true, false], [false, true]] {
            let versions = HashVersions { v1, v2 };
            let layout = Layout::of_places(places.iter().copied(), all_lengths, versions);
            for window_lens in whole.iter().chain(&mixed) {
                let found = digests(&content, &layout, window_lens);
                assert_eq!(found.len(), expected.len());
                for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let expected = (v1.then_some(expected.0), v2.then_some(expected.1));
                    assert_eq!(*found, expected, "piece {i}, {window_lens:?}, {versions:?}");
                }
            }
        }
    }

    #[test]
    fn trees_grow_by_subtrees_of_different_heights() {
        let engine = Engine::detect();
        let leaves: Vec<Node> = (1..=13).map(|i| [i; 32]).collect();
        let mut builder = TreeBuilder::default();
        for (start, height) in [(0, 3), (8, 2), (12, 0)] {
            let subtree = &leaves[start..start + (1 << height)];
            builder.push(engine, roots_of(engine, &[subtree])[0], height);
        }
        let root = builder.finish(engine, Odd::Padded(4));
        assert_eq!([root], *roots_of(engine, &[&leaves]));
        let empty = builder.finish(engine, Odd::Padded(2));
        assert_eq!(empty, padding(2), "it is empty again");
        builder.push(engine, root, 4);
        assert_eq!(
            builder.finish(engine, Odd::Padded(6)),
            roots_of(engine, &[&[&leaves[..], &[[0; 32]; 20]].concat()])[0]
        );
    }

    #[test]
    fn zeros_have_the_digests_of_zeros() {
        let lengths = [1, LEAF - 1, LEAF, 5 * LEAF + 3, PIECE, 3 * PIECE + LEAF + 1];
        for length in lengths {
            let piece_count = length.div_ceil(PIECE);
            let total = Lengths::new((piece_count * PIECE) as u64, PIECE as u64).unwrap();
            let versions = HashVersions { v1: true, v2: true };
            let layout = Layout::of_places([(0, length as u64)], total, versions);
            let expected = digests(&vec![0; piece_count * PIECE], &layout, &[PIECE]);
            let mut hasher = piece_hasher(&layout, Engine::detect());
            let cancel = CancelToken::default();
            for (piece, expected) in (0..).zip(expected) {
                let found = hasher.zeros(piece, PIECE as u64, &cancel);
                assert_eq!(found, Some(expected), "{length} bytes, piece {piece}");
            }
        }
    }
}
