//! Reads the piece layers of a version 2 torrent (BEP 52). They are outside the info dictionary, so
//! the info-hash does not cover them. They are accepted only if they lead to the roots in the info
//! dictionary.

use hashlane_sha::Engine;

use crate::Error;
use crate::files::Files;
use crate::located::Located;
use crate::merkle::{self, LEAF_LEN, Node};

/// Assigns piece layers to the files of more than one piece. Every layer is checked: a layer that
/// belongs to no file, has the wrong length or has wrong hashes is refused.
pub(crate) fn read<'a>(
    layers: &Located<'a>,
    files: &mut Files<'a>,
    piece_length: u64,
) -> Result<(), Error> {
    let height = (piece_length / u64::from(LEAF_LEN)).trailing_zeros();
    let mut by_root: Vec<(&Node, usize)> = files
        .entries()
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.length > piece_length)
        .filter_map(|(index, entry)| Some((entry.pieces_root?, index)))
        .collect();
    by_root.sort_unstable();
    let (mut unchecked, mut n_unchecked) = (Vec::new(), 0);
    for entry in layers.entries()? {
        let offset = entry.key_offset;
        let root: &Node = entry.key.try_into().map_err(|_| Error::PiecesRootLength {
            offset,
            len_bytes: entry.key.len(),
        })?;
        // Several files can have the same content.
        let first = by_root.partition_point(|(known, _)| *known < root);
        let end = by_root.partition_point(|(known, _)| *known <= root);
        if first == end {
            return Err(Error::UnknownPieceLayer { offset });
        }
        let layer = Located::piece_layer(entry.value);
        let bytes = layer.bytes()?;
        let (nodes, rest) = bytes.as_chunks::<32>();
        for (_, index) in &by_root[first..end] {
            let file = &mut files.entries_mut()[*index];
            let expected = file.length.div_ceil(piece_length) * 32;
            if !rest.is_empty() || bytes.len() as u64 != expected {
                return Err(Error::PieceLayerLength {
                    offset: layer.offset(),
                    len_bytes: bytes.len(),
                    expected,
                });
            }
            if file.piece_layer.replace(nodes).is_some() {
                return Err(Error::DuplicatePieceLayer { offset });
            }
        }
        if n_unchecked + nodes.len() > MAX_UNCHECKED {
            check(&unchecked, height)?;
            unchecked.clear();
            n_unchecked = 0;
        }
        unchecked.push((root, nodes, layer.offset()));
        n_unchecked += nodes.len();
    }
    check(&unchecked, height)
}

/// Number of nodes whose layers are checked together. Most layers are short: hashed alone, they leave most lanes idle.
const MAX_UNCHECKED: usize = 4096;

/// Checks that layers lead to their roots. Each has its offset in the .torrent file.
fn check(layers: &[(&Node, &[Node], usize)], height: u32) -> Result<(), Error> {
    let engine = Engine::detect();
    let roots = match layers {
        // A long layer takes less memory alone.
        [(_, nodes, _)] => vec![merkle::root_over(engine, nodes, height)],
        layers => {
            let levels: Vec<&[Node]> = layers.iter().map(|(_, nodes, _)| *nodes).collect();
            merkle::roots_over(engine, &levels, height)
        }
    };
    for ((root, _, offset), found) in layers.iter().zip(roots) {
        if found != **root {
            return Err(Error::PieceLayerMismatch { offset: *offset });
        }
    }
    Ok(())
}
