//! Piece layers of version 2 torrents (BEP 52).

use hashlane_metainfo::merkle::Node;
use hashlane_metainfo::{Error, File, Torrent, Version};

use crate::merkle::{layer_of, root_of};
use crate::refusals::refused;
use crate::v2::{empty, link, paths};
use crate::{list_file, with_files};

/// A file of `n` leaves with invented hashes, and its merkle data.
struct Layered {
    leaves: Vec<Node>,
    layer: Vec<Node>,
}

impl Layered {
    fn new(first: u8, n: u8, leaves_per_piece: usize) -> Self {
        let leaves: Vec<Node> = (0..n).map(|i| [first + i; 32]).collect();
        let layer = layer_of(&leaves, leaves_per_piece);
        Self { leaves, layer }
    }

    fn root(&self) -> Node {
        root_of(&self.leaves)
    }

    /// Returns its entry in the tree, with a last leaf of one byte.
    fn entry(&self, name: &str) -> Vec<u8> {
        let length = (self.leaves.len() - 1) * 16_384 + 1;
        let entry = format!("{}:{name}d0:d6:lengthi{length}e", name.len());
        [entry.as_bytes(), b"11:pieces root32:", &self.root(), b"ee"].concat()
    }

    /// Returns its entry in the piece layers.
    fn layer_entry(&self) -> Vec<u8> {
        layer_entry(&self.root(), self.layer.as_flattened())
    }
}

fn layer_entry(root: &[u8], layer: &[u8]) -> Vec<u8> {
    [
        format!("{}:", root.len()).as_bytes(),
        root,
        format!("{}:", layer.len()).as_bytes(),
        layer,
    ]
    .concat()
}

fn layered(piece_length: u32, tree: &[Vec<u8>], layers: &[Vec<u8>]) -> Vec<u8> {
    let rest = format!("e12:meta versioni2e4:name1:n12:piece lengthi{piece_length}ee");
    [
        b"d4:infod9:file treed",
        &tree.concat()[..],
        rest.as_bytes(),
        b"12:piece layersd",
        &layers.concat(),
        b"ee",
    ]
    .concat()
}

/// Returns a version 2 torrent with one entry of every kind.
pub(crate) fn sample() -> Vec<u8> {
    let (long, short) = (Layered::new(1, 5, 2), Layered::new(9, 2, 2));
    let folder = [
        b"1:dd",
        &short.entry("e")[..],
        link("l", "1:a").as_bytes(),
        b"e",
    ]
    .concat();
    let tree = [long.entry("a"), folder, empty("x").into_bytes()];
    layered(32_768, &tree, &[long.layer_entry()])
}

#[test]
fn piece_layers() {
    let bytes = sample();
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(paths(&torrent), ["a", "d/e", "d/l", "x"]);
    let long = Layered::new(1, 5, 2);
    assert_eq!(torrent.file(0).pieces_root(), Some(&long.root()));
    assert_eq!(torrent.file(0).piece_layer(), Some(&long.layer[..]));
    assert_eq!(torrent.file(0).piece_layer().map(<[_]>::len), Some(3));
    // A file of one piece needs no layer.
    assert_eq!(torrent.file(1).piece_layer(), None);
    assert_eq!(torrent.unsorted_key(), None);
}

#[test]
fn files_of_the_same_content_share_a_layer() {
    let (file, other) = (Layered::new(1, 3, 1), Layered::new(7, 2, 1));
    let tree = [file.entry("a"), other.entry("b"), file.entry("c")];
    let mut layers = [file.layer_entry(), other.layer_entry()];
    // The order is free, because the piece layers are not part of the info-hash.
    for _ in 0..2 {
        let bytes = layered(16_384, &tree, &layers);
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        let layers_read: Vec<_> = torrent.files().iter().map(File::piece_layer).collect();
        let (file, other) = (Some(&file.layer[..]), Some(&other.layer[..]));
        assert_eq!(layers_read, [file, other, file]);
        layers.reverse();
    }
}

#[test]
fn piece_layers_may_be_missing() {
    let (file, other) = (Layered::new(1, 3, 1), Layered::new(7, 2, 1));
    let tree = [file.entry("a"), other.entry("b")];
    let bytes = layered(16_384, &tree, &[other.layer_entry()]);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.file(0).piece_layer(), None);
    assert_eq!(torrent.file(1).piece_layer(), Some(&other.layer[..]));
    assert!(Torrent::parse(layered(16_384, &tree, &[])).is_ok());
}

#[test]
fn wrong_piece_layers() {
    let file = Layered::new(1, 3, 1);
    let (root, layer) = (file.root(), file.layer.as_flattened());
    let tree = [file.entry("a")];
    let check = |layers: &[Vec<u8>], at: &[u8], text: &str| {
        refused(&layered(16_384, &tree, layers), at, text)
    };

    let mut wrong = layer.to_vec();
    wrong[95] ^= 1;
    let layers = [layer_entry(&root, &wrong)];
    let text = "piece layer does not match its pieces root";
    let error = check(&layers, b"96:", text);
    assert!(matches!(error, Error::PieceLayerMismatch { .. }));

    for len in [0, 64, 95, 97, 128] {
        let wrong: Vec<u8> = layer.iter().copied().cycle().take(len).collect();
        let bytes = layered(16_384, &tree, &[layer_entry(&root, &wrong)]);
        let offset = bytes.len() - 2 - len - format!("{len}:").len();
        let error = Torrent::parse(bytes.as_slice()).unwrap_err();
        assert!(matches!(error, Error::PieceLayerLength { .. }));
        assert_eq!(
            error.to_string(),
            format!("byte {offset}: piece layer is {len} bytes long, expected 96 bytes")
        );
    }

    let other = Layered::new(7, 2, 1);
    let layers = [file.layer_entry(), other.layer_entry()];
    let text = "piece layer belongs to no file of more than one piece";
    let at = [b"32:", &other.root()[..]].concat();
    let error = check(&layers, &at, text);
    assert!(matches!(error, Error::UnknownPieceLayer { .. }));
    // A file of one piece needs no layer.
    let bytes = layered(32_768, &[other.entry("a")], &[other.layer_entry()]);
    let offset = bytes.len() - 2 - other.layer_entry().len();
    let error = Torrent::parse(bytes.as_slice()).unwrap_err();
    assert_eq!(error, Error::UnknownPieceLayer { offset });

    let layers = [file.layer_entry(), file.layer_entry()];
    let bytes = layered(16_384, &tree, &layers);
    let second = bytes.len() - 2 - file.layer_entry().len();
    let error = Torrent::parse(bytes.as_slice()).unwrap_err();
    assert!(matches!(error, Error::DuplicatePieceLayer { .. }));
    assert_eq!(
        error.to_string(),
        format!("byte {second}: second piece layer for the same pieces root")
    );

    let layers = [b"3:abc0:".to_vec()];
    let text = "pieces root is 3 bytes long, expected 32 bytes";
    let error = check(&layers, b"3:abc", text);
    assert!(matches!(error, Error::PiecesRootLength { .. }));
    let layers = [[b"32:", &root[..], b"i1e"].concat()];
    let text = "piece layers is an integer, expected a byte string";
    let error = check(&layers, b"i1eee", text);
    assert!(matches!(error, Error::WrongType { .. }));
    let bytes = layered(16_384, &tree, &[]);
    let bytes = [&bytes[..bytes.len() - 3], b"i1ee"].concat();
    let text = "piece layers is an integer, expected a dictionary";
    refused(&bytes, "i1ee", text);
}

/// One root for two lengths, at least one of them false.
#[test]
fn one_layer_for_files_of_different_lengths() {
    let file = Layered::new(1, 3, 1);
    let other = [
        b"1:bd0:d6:lengthi16385e11:pieces root32:",
        &file.root()[..],
        b"ee",
    ];
    let tree = [file.entry("a"), other.concat()];
    let bytes = layered(16_384, &tree, &[file.layer_entry()]);
    let expected = Error::PieceLayerLength {
        offset: bytes.len() - 2 - "96:".len() - 96,
        len_bytes: 96,
        expected: 64,
    };
    assert_eq!(Torrent::parse(bytes.as_slice()).unwrap_err(), expected);
}

/// A version 1 torrent ignores these keys.
#[test]
fn version_1_has_no_layers() {
    let mut bytes = with_files(&list_file(&["a"], 1));
    bytes.pop();
    bytes.extend(b"12:piece layersi1ee");
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.version(), Version::V1);
    assert_eq!(torrent.file(0).pieces_root(), None);
    assert_eq!(torrent.file(0).piece_layer(), None);
}
