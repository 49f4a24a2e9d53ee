//! Merkle trees, compared with the definition in BEP 52 and another implementation of SHA-256.

use hashlane_metainfo::merkle::{LEAF_LEN, Node, height_of, padding, parent, root_over, roots_of};
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
    let root = root_over(engine, leaves, 0);
    assert_eq!(roots_of(engine, &[leaves]), [root]);
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
        padding(66),
        parent(Engine::detect(), &padding(65), &padding(65))
    );
}

#[test]
fn an_empty_level_is_padding() {
    for height in [0, 3] {
        assert_eq!(root_over(Engine::detect(), &[], height), padding(height));
    }
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
    }

    #[test]
    fn trees_side_by_side(
        seed: Node,
        trees in proptest::collection::vec(0..40_usize, 0..20),
    ) {
        let leaves = leaves_from(seed, trees.iter().sum());
        let mut rest = &leaves[..];
        let mut of_tree = |n_leaves: usize| {
            let (own, others) = rest.split_at(n_leaves);
            rest = others;
            own
        };
        let trees: Vec<&[Node]> = trees.into_iter().map(&mut of_tree).collect();
        let roots = roots_of(Engine::detect(), &trees);
        let expected: Vec<Node> = trees.into_iter().map(root_of).collect();
        prop_assert_eq!(roots, expected);
    }
}
