//! Writes a new .torrent file.

use hashlane_sha::Engine;

use super::content::{NewContent, NewFile};
use super::metadata::NewMetadata;
use crate::bencode::Writer;
use crate::merkle::{self, LEAF_LEN, Node};

/// The hashes of the pieces of a new torrent. Torrents have no other versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PieceHashes {
    /// SHA-1 digest of each piece, including padding (BEP 3); empty without version 1.
    pub v1: Vec<[u8; 20]>,
    /// Root of the merkle tree over each piece, without padding (BEP 52); empty without version 2.
    pub v2: Vec<Node>,
}

impl NewContent {
    /// Returns the new .torrent file.
    ///
    /// # Panics
    /// Panics if there is not exactly one hash for each piece and each version of the torrent.
    pub fn write(&self, hashes: &PieceHashes, metadata: &NewMetadata) -> Vec<u8> {
        let n_pieces = self.lengths.piece_count() as usize;
        let expected = |is_there| if is_there { n_pieces } else { 0 };
        assert_eq!(hashes.v1.len(), expected(self.version.has_v1()), "SHA-1");
        assert_eq!(hashes.v2.len(), expected(self.version.has_v2()), "SHA-256");
        let trees = self.trees(hashes);
        let mut writer = Writer::new();
        writer.begin_dictionary();
        metadata.write_before_info(&mut writer);
        writer.key("info");
        self.write_info(&mut writer, hashes, &trees, metadata);
        metadata.write_nodes(&mut writer);
        if self.version.has_v2() {
            self.write_piece_layers(&mut writer, &trees);
        }
        metadata.write_web_seeds(&mut writer);
        writer.end();
        writer.finish()
    }

    fn write_info(
        &self,
        writer: &mut Writer,
        hashes: &PieceHashes,
        trees: &[Tree<'_>],
        metadata: &NewMetadata,
    ) {
        writer.begin_dictionary();
        if self.version.has_v1() && self.is_single_file {
            write_attributes(writer, &self.files[0]);
        }
        if let Some(entropy) = &metadata.entropy {
            writer.key("entropy").bytes(entropy);
        }
        if self.version.has_v2() {
            writer.key("file tree");
            self.write_tree(writer, trees);
        }
        if self.version.has_v1() {
            if self.is_single_file {
                writer.key("length").integer(integer(self.files[0].length));
            } else {
                writer.key("files");
                self.write_list(writer);
            }
        }
        if self.version.has_v2() {
            writer.key("meta version").integer(2);
        }
        writer.key("name").bytes(&self.name);
        let piece_length = self.lengths.piece_length().get();
        writer.key("piece length").integer(piece_length.into());
        if self.version.has_v1() {
            writer.key("pieces").bytes(hashes.v1.as_flattened());
        }
        if metadata.is_private {
            writer.key("private").integer(1);
        }
        if let Some(source) = &metadata.source {
            writer.key("source").bytes(source);
        }
        writer.end();
    }

    /// Writes the list of files of version 1, with padding if version 2 needs it.
    fn write_list(&self, writer: &mut Writer) {
        writer.begin_list();
        for (file, offset) in self.files.iter().zip(&self.offsets) {
            writer.begin_dictionary();
            write_attributes(writer, file);
            writer.key("length").integer(integer(file.length));
            writer.key("path");
            write_path(writer, &file.path);
            if let Some(target) = &file.target {
                writer.key("symlink path");
                write_path(writer, target);
            }
            writer.end();
            let end = offset + file.length;
            let piece_length = u64::from(self.lengths.piece_length().get());
            let padding = end.next_multiple_of(piece_length) - end;
            if self.is_padded && file.length > 0 && padding > 0 {
                writer.begin_dictionary();
                writer.key("attr").bytes("p");
                writer.key("length").integer(integer(padding));
                writer.key("path");
                write_path(writer, &[b".pad".to_vec(), padding.to_string().into()]);
                writer.end();
            }
        }
        writer.end();
    }

    /// Writes the file tree of version 2. Consecutive files share the folders that their paths have
    /// in common.
    fn write_tree(&self, writer: &mut Writer, trees: &[Tree<'_>]) {
        writer.begin_dictionary();
        let single = [self.name.clone()];
        let mut open: &[Vec<u8>] = &[];
        for (file, tree) in self.files.iter().zip(trees) {
            let path = if self.is_single_file {
                &single[..]
            } else {
                &file.path[..]
            };
            let folders = &path[..path.len() - 1];
            let common = folders.iter().zip(open).take_while(|(a, b)| a == b).count();
            for _ in common..open.len() {
                writer.end();
            }
            for folder in &folders[common..] {
                writer.key(folder).begin_dictionary();
            }
            open = folders;
            writer.key(&path[path.len() - 1]).begin_dictionary();
            writer.key("").begin_dictionary();
            write_attributes(writer, file);
            if let Some(target) = &file.target {
                writer.key("symlink path");
                write_path(writer, target);
            } else {
                writer.key("length").integer(integer(file.length));
            }
            if let Some(root) = &tree.root {
                writer.key("pieces root").bytes(root);
            }
            writer.end();
            writer.end();
        }
        for _ in open {
            writer.end();
        }
        writer.end();
    }

    fn write_piece_layers(&self, writer: &mut Writer, trees: &[Tree<'_>]) {
        let mut layers: Vec<(Node, &[Node])> = trees
            .iter()
            .filter(|tree| tree.layer.len() > 1)
            .filter_map(|tree| Some((tree.root?, tree.layer)))
            .collect();
        // Files with the same content have the same root, and share a layer.
        layers.sort_unstable();
        layers.dedup();
        writer.key("piece layers").begin_dictionary();
        for (root, layer) in layers {
            writer.key(root).bytes(layer.as_flattened());
        }
        writer.end();
    }

    /// Returns the merkle tree of each file. The trees are empty without version 2.
    fn trees<'h>(&self, hashes: &'h PieceHashes) -> Vec<Tree<'h>> {
        let piece_length = u64::from(self.lengths.piece_length().get());
        let height = (piece_length / u64::from(LEAF_LEN)).max(1).trailing_zeros();
        let places = self.files.iter().zip(&self.offsets);
        let trees = places.map(|(file, offset)| {
            if !self.version.has_v2() || file.length == 0 {
                return Tree::default();
            }
            let first = (offset / piece_length) as usize;
            let n_pieces = file.length.div_ceil(piece_length) as usize;
            let layer = &hashes.v2[first..first + n_pieces];
            // For a file of one piece, the tree over that piece is the tree of the file.
            let root = Some(merkle::root_over(Engine::detect(), layer, height));
            Tree { root, layer }
        });
        trees.collect()
    }
}

/// The merkle tree of a file; empty for a file without content.
#[derive(Default)]
struct Tree<'h> {
    root: Option<Node>,
    layer: &'h [Node],
}

fn write_attributes(writer: &mut Writer, file: &NewFile) {
    // BEP 47 does not define the order. libtorrent's order gives equal info-hashes.
    let letters = [
        (file.attributes.hidden, 'h'),
        (file.attributes.executable, 'x'),
        (file.target.is_some(), 'l'),
    ];
    let letters = letters.into_iter().filter(|(is_set, _)| *is_set);
    let letters: String = letters.map(|(_, letter)| letter).collect();
    if !letters.is_empty() {
        writer.key("attr").bytes(letters);
    }
}

fn write_path(writer: &mut Writer, path: &[Vec<u8>]) {
    writer.begin_list();
    for name in path {
        writer.bytes(name);
    }
    writer.end();
}

/// Converts a length, which is below the maximum total length.
fn integer(length: u64) -> i64 {
    i64::try_from(length).expect("lengths have been checked")
}
