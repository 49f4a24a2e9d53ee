//! Merkle trees, compared with the definition in BEP 52 and another implementation of SHA-256.

use hashlane_metainfo::merkle::{
    LEAF_LEN, Node, Subtree, TreeBuilder, height_of, padding, root_over, roots_of,
};
use hashlane_sha::Engine;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// Returns the root as BEP 52 defines it: zeros fill the leaves up to a power of two, then each
/// level is hashed in pairs.
pub(crate) fn root_of(leaves: &[Node]) -> Node {
    let mut level = leaves.to_vec();
    level.resize(leaves.len().next_power_of_two(), [0; 32]);
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| sha256(&pair.concat())).collect();
    }
    level[0]
}

/// Returns the node of each piece of `leaves_per_piece` leaves. The last piece may have fewer.
pub(crate) fn layer_of(leaves: &[Node], leaves_per_piece: usize) -> Vec<Node> {
    let pieces = leaves.chunks(leaves_per_piece).map(|piece| {
        let mut piece = piece.to_vec();
        piece.resize(leaves_per_piece, [0; 32]);
        root_of(&piece)
    });
    pieces.collect()
}

fn sha256(bytes: &[u8]) -> Node {
    Sha256::digest(bytes).into()
}

/// Returns the root of these leaves, computed in every way that the crate has. All must agree.
fn root_in_all_ways(leaves: &[Node]) -> Node {
    let engine = Engine::detect();
    let height = height_of(leaves.len() as u64);
    let root = root_over(engine, leaves, 0);
    let tree = Subtree {
        n_leaves: leaves.len(),
        height,
    };
    assert_eq!(roots_of(engine, leaves, &[tree]), [root]);
    let mut builder = TreeBuilder::default();
    for leaf in leaves {
        builder.push(*leaf, 0);
    }
    assert_eq!(builder.finish(height), root);
    root
}

fn hex(node: Node) -> String {
    hashlane_metainfo::InfoHashV2::from(node).to_string()
}

/// Two files that test suites of other programs also use.
#[test]
fn known_roots() {
    let leaf = sha256(&[0; LEAF_LEN as usize]);
    for (length, root) in [
        (
            65_536,
            "60aae9c7b428f87e0713e88229e18f0adf12cd7b22a0dd8a92bb2485eb7af242",
        ),
        (
            1_048_576,
            "515ea9181744b817744ded9d2e8e9dc6a8450c0b0c52e24b5077f302ffbd9008",
        ),
    ] {
        let leaves = vec![leaf; length / LEAF_LEN as usize];
        assert_eq!(hex(root_of(&leaves)), root);
        assert_eq!(hex(root_in_all_ways(&leaves)), root);
    }
}

#[test]
fn padding_is_hashed_zeros() {
    let mut node = [0; 32];
    for height in 0..=height_of(u64::MAX) {
        assert_eq!(padding(height), node, "{height}");
        node = sha256(&[node, node].concat());
    }
}

#[test]
fn padding_has_no_largest_height() {
    let below = padding(height_of(u64::MAX));
    assert_eq!(padding(65), sha256(&[below, below].concat()));
    assert_eq!(
        TreeBuilder::default().finish(66),
        sha256(&[padding(65); 2].concat())
    );
}

#[test]
fn an_empty_level_is_padding() {
    for height in [0, 3] {
        assert_eq!(root_over(Engine::detect(), &[], height), padding(height));
    }
}

#[test]
fn numbers_of_leaves_that_contradict_each_other_do_not_panic() {
    let leaves = [[1; 32], [2; 32], [3; 32]];
    let trees = [(1, 0), (7, 1), (5, 2)].map(|(n_leaves, height)| Subtree { n_leaves, height });
    let engine = Engine::detect();
    let expected = [leaves[0], root_of(&leaves[1..]), padding(2)];
    assert_eq!(roots_of(engine, &leaves, &trees), expected);
    // The first tree is higher than it says, and the other leaves belong to no tree.
    let low = Subtree {
        n_leaves: 2,
        height: 0,
    };
    assert_eq!(roots_of(engine, &leaves, &[low]), [root_of(&leaves[..2])]);
    let mut builder = TreeBuilder::default();
    builder.push([1; 32], u32::MAX);
    builder.push([1; 32], u32::MAX);
    let _ = builder.finish(0);
}

/// Returns `n` different leaves derived from a seed.
fn leaves_from(seed: Node, n: usize) -> Vec<Node> {
    std::iter::successors(Some(seed), |last| Some(sha256(last)))
        .take(n)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn roots_are_those_of_the_definition(seed: Node, n in 1..400_usize) {
        let leaves = leaves_from(seed, n);
        prop_assert_eq!(root_in_all_ways(&leaves), root_of(&leaves));
    }

    #[test]
    fn layers_lead_to_the_root(seed: Node, n in 2..200_usize, height in 0..5_u32) {
        let leaves = leaves_from(seed, n);
        let layer = layer_of(&leaves, 1 << height);
        prop_assume!(layer.len() > 1);
        prop_assert_eq!(root_over(Engine::detect(), &layer, height), root_of(&leaves));
        let mut builder = TreeBuilder::default();
        for node in &layer {
            builder.push(*node, height);
        }
        prop_assert_eq!(builder.finish(height_of(n as u64)), root_of(&leaves));
    }

    #[test]
    fn trees_side_by_side(
        seed: Node,
        trees in proptest::collection::vec((0..40_usize, 0..3_u32), 0..20),
    ) {
        let trees: Vec<Subtree> = trees
            .into_iter()
            .map(|(n_leaves, higher)| Subtree {
                n_leaves,
                height: height_of(n_leaves as u64) + higher,
            })
            .collect();
        let leaves = leaves_from(seed, trees.iter().map(|tree| tree.n_leaves).sum());
        let roots = roots_of(Engine::detect(), &leaves, &trees);
        let mut rest = &leaves[..];
        for (tree, root) in trees.iter().zip(roots) {
            let (own, others) = rest.split_at(tree.n_leaves);
            rest = others;
            let mut own = own.to_vec();
            own.resize(1 << tree.height, [0; 32]);
            prop_assert_eq!(root, root_of(&own));
        }
    }
}
