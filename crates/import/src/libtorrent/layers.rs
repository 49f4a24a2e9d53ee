//! Piece layers (BEP 52) from resume data of libtorrent.
//!
//! The key `trees` has an entry for each file in libtorrent's list: the nodes of its Merkle tree that are known (`hashes`), and
//! which ones they are (`mask`: a digit for each node, level by level from the root). Of a complete file, these are the nodes
//! of its piece layer, or those of its blocks.

use std::collections::BTreeMap;

use hashlane_metainfo::bencode::Value;
use hashlane_metainfo::merkle::{self, LEAF_LEN, Node};
use hashlane_metainfo::{Edit, FileKind, Torrent};
use hashlane_sha::Engine;

use crate::dictionary::Dictionary;
use crate::{Note, Reason};

use super::numbers::numbers;

/// Returns the torrent with the piece layers that the resume data has. Those that it does not have stay absent.
pub(super) fn restored(
    torrent: &Torrent,
    keys: &Dictionary<'_>,
    notes: &mut Vec<Note>,
) -> Result<Torrent, Reason> {
    let files = torrent.files().iter();
    let mut files = files.filter(|file| file.kind() != FileKind::Padding);
    let piece_len = u64::from(torrent.lengths().piece_length().get());
    let is_long = |len: u64| len > piece_len;
    if !torrent.version().has_v2()
        || !files.any(|file| is_long(file.length()) && file.piece_layer().is_none())
    {
        return Ok(torrent.clone());
    }
    let Some(trees) = keys.items("trees")? else {
        return Ok(torrent.clone());
    };
    let trees: Vec<Value<'_>> = trees.collect();
    let engine = Engine::detect();
    let height = (piece_len / u64::from(LEAF_LEN)).trailing_zeros();
    let mut layers = BTreeMap::new();
    let files = torrent.files().iter();
    let files = files.filter(|file| file.kind() != FileKind::Padding);
    for (file, number) in files.zip(numbers(torrent)) {
        let Some(root) = file.pieces_root().filter(|_| is_long(file.length())) else {
            continue;
        };
        if let Some(layer) = file.piece_layer() {
            layers.insert(*root, layer.to_vec());
            continue;
        }
        let known = trees.get(number).copied().and_then(Tree::read);
        let Some(layer) = known.and_then(|tree| tree.layer(engine, file.length(), height)) else {
            continue;
        };
        if merkle::root_over(engine, &layer, height) == *root {
            layers.insert(*root, layer);
        } else {
            let what = format!("piece layer of file {number}, which does not match its root");
            notes.push(Note::NotCarried(what));
        }
    }
    if layers.is_empty() {
        return Ok(torrent.clone());
    }
    let edit = Edit {
        piece_layers: Some(layers),
        ..Edit::default()
    };
    Ok(edit.apply(torrent)?)
}

/// The nodes of a file's tree, level by level from the root.
struct Tree<'a>(Vec<Option<&'a Node>>);

impl<'a> Tree<'a> {
    /// Reads a tree; `None` if an entry has another form.
    fn read(entry: Value<'a>) -> Option<Self> {
        let find = |key: &[u8]| {
            let mut entries = entry.as_dictionary()?;
            entries.find(|entry| entry.key == key)?.value.as_bytes()
        };
        let (hashes, rest) = find(b"hashes")?.as_chunks();
        let mut hashes = hashes.iter();
        let nodes = find(b"mask")?.iter();
        let nodes = nodes.map(|digit| (*digit == b'1').then(|| hashes.next()).flatten());
        let nodes = nodes.collect();
        (rest.is_empty() && hashes.next().is_none()).then_some(Self(nodes))
    }

    /// Returns the piece layer of a file of this length, whose pieces are trees of this height; `None` if nodes are missing.
    fn layer(&self, engine: Engine, len: u64, height: u32) -> Option<Vec<Node>> {
        let n_blocks = usize::try_from(len.div_ceil(LEAF_LEN.into())).ok()?;
        let n_leaves = n_blocks.checked_next_power_of_two()?;
        if self.0.len() != n_leaves.checked_mul(2)? - 1 {
            return None;
        }
        let blocks = &self.0[n_leaves - 1..][..n_blocks];
        let pieces = &self.0[(n_leaves >> height).checked_sub(1)?..];
        let layer = blocks
            .chunks(1 << height)
            .zip(pieces)
            .map(|(blocks, piece)| {
                piece.copied().or_else(|| {
                    let blocks: Option<Vec<Node>> =
                        blocks.iter().map(|node| node.copied()).collect();
                    Some(root_of(engine, &blocks?, height))
                })
            });
        layer.collect()
    }
}

/// Returns the root of a tree of this height over the blocks of a piece. The last piece can have fewer blocks.
fn root_of(engine: Engine, blocks: &[Node], height: u32) -> Node {
    let root = merkle::root_over(engine, blocks, 0);
    let missing = merkle::height_of(blocks.len() as u64)..height;
    missing.fold(root, |root, height| {
        merkle::parent(engine, &root, &merkle::padding(height))
    })
}
