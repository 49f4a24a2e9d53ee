//! Torrents of every version, written without the code under test. Other implementations of SHA-1
//! and SHA-256 hash them, over trees that are built in the simplest way.

use std::collections::{BTreeMap, HashMap};

use hashlane_metainfo::Version;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

pub(crate) type PieceHash = [u8; 20];
type Node = [u8; 32];

/// Bytes per leaf (BEP 52).
pub(crate) const LEAF: usize = 16 << 10;

/// A file in the list of a version 1 torrent.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) length: u64,
    pub(crate) kind: EntryKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Regular,
    Padding,
    Symlink { target: String },
}

impl Entry {
    /// Returns a file. `/` separates the components of `path`.
    pub(crate) fn file(path: &str, length: u64) -> Self {
        Self {
            path: path.into(),
            length,
            kind: EntryKind::Regular,
        }
    }

    pub(crate) fn padding(length: u64) -> Self {
        Self {
            path: format!(".pad/{length}"),
            length,
            kind: EntryKind::Padding,
        }
    }

    /// Returns a symbolic link. `/` separates the components of both paths.
    pub(crate) fn symlink(path: &str, target: &str) -> Self {
        Self {
            path: path.into(),
            length: 0,
            kind: EntryKind::Symlink {
                target: target.into(),
            },
        }
    }

    fn encode(&self) -> Vec<u8> {
        let (attr, target) = self.kind.encode();
        let length = format!("6:lengthi{}e4:path", self.length);
        let path = components(&self.path);
        [b"d", &attr[..], length.as_bytes(), &path, &target, b"e"].concat()
    }
}

impl EntryKind {
    /// Returns the bencoded keys of this kind in two parts, before and after the path.
    fn encode(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            Self::Regular => (Vec::new(), Vec::new()),
            Self::Padding => (b"4:attr1:p".to_vec(), Vec::new()),
            Self::Symlink { target } => {
                let target = [b"12:symlink path", &components(target)[..]].concat();
                (b"4:attr1:l".to_vec(), target)
            }
        }
    }
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [format!("{}:", bytes.len()).as_bytes(), bytes].concat()
}

fn components(path: &str) -> Vec<u8> {
    let names = path.split('/').flat_map(|name| string(name.as_bytes()));
    [b"l", &names.collect::<Vec<u8>>()[..], b"e"].concat()
}

/// Returns a version 1 .torrent file of a single file named `content`.
pub(crate) fn metainfo_of_file(length: u64, piece_length: usize, hashes: &[PieceHash]) -> Vec<u8> {
    let length = format!("6:lengthi{length}e").into_bytes();
    let info = info(b"", &length, piece_length, Some(hashes));
    [b"d4:info", &info[..], b"e"].concat()
}

/// Returns a version 1 .torrent file of a folder named `content`.
pub(crate) fn metainfo_of_folder(
    entries: &[Entry],
    piece_length: usize,
    hashes: &[PieceHash],
) -> Vec<u8> {
    let info = info(b"", &list(entries), piece_length, Some(hashes));
    [b"d4:info", &info[..], b"e"].concat()
}

fn list(entries: &[Entry]) -> Vec<u8> {
    let entries: Vec<u8> = entries.iter().flat_map(Entry::encode).collect();
    [b"5:filesl", &entries[..], b"e"].concat()
}

/// Returns an info dictionary with these files, as a tree (version 2) and as a list.
fn info(tree: &[u8], list: &[u8], piece_length: usize, hashes: Option<&[PieceHash]>) -> Vec<u8> {
    let version = match tree {
        [] => "",
        _ => "12:meta versioni2e",
    };
    let rest = format!("{version}4:name7:content12:piece lengthi{piece_length}e");
    let pieces = hashes.map(|hashes| [b"6:pieces", &string(hashes.as_flattened())[..]].concat());
    let pieces = pieces.unwrap_or_default();
    [b"d", tree, list, rest.as_bytes(), &pieces, b"e"].concat()
}

pub(crate) fn hash(piece: &[u8]) -> PieceHash {
    Sha1::digest(piece).into()
}

pub(crate) fn hashes(content: &[u8], piece_length: usize) -> Vec<PieceHash> {
    content.chunks(piece_length).map(hash).collect()
}

/// Returns the root of a tree over these nodes, filled with `missing` up to `n_nodes`.
fn root(nodes: &[Node], n_nodes: usize, missing: Node) -> Node {
    assert!(n_nodes.is_power_of_two() && nodes.len() <= n_nodes);
    let mut level = nodes.to_vec();
    level.resize(n_nodes, missing);
    while level.len() > 1 {
        let pairs = level.chunks(2);
        level = pairs
            .map(|pair| Sha256::digest(pair.concat()).into())
            .collect();
    }
    level[0]
}

/// The merkle tree of a file (BEP 52): its root, and a node for each piece.
#[derive(Clone, Debug)]
struct Tree {
    root: Node,
    layer: Vec<Node>,
}

impl Tree {
    fn of(bytes: &[u8], piece_length: usize) -> Self {
        let leaves: Vec<Node> = bytes
            .chunks(LEAF)
            .map(|leaf| Sha256::digest(leaf).into())
            .collect();
        let n_in_piece = piece_length / LEAF;
        let pieces = leaves.chunks(n_in_piece);
        Self {
            root: root(&leaves, leaves.len().next_power_of_two(), [0; 32]),
            layer: pieces
                .map(|leaves| root(leaves, n_in_piece, [0; 32]))
                .collect(),
        }
    }
}

/// Returns a version 2 or hybrid torrent of a file `content` with `n_pieces` pieces of zeros.
pub(crate) fn metainfo_of_zeros(version: Version, n_pieces: usize, piece_length: usize) -> Vec<u8> {
    let n_leaves = piece_length / LEAF;
    let missing_piece = root(&[], n_leaves, [0; 32]);
    let piece = root(&[], n_leaves, Sha256::digest([0; LEAF]).into());
    let layer = vec![piece; n_pieces];
    let root = root(&layer, n_pieces.next_power_of_two(), missing_piece);
    let length = (n_pieces * piece_length) as u64;
    let file = TreeNode::of_file("content", Entry::file("content", length), Some(root));
    let tree = [b"9:file tree", &file.encode()[..]].concat();
    let hashes = version
        .has_v1()
        .then(|| vec![hash(&vec![0; piece_length]); n_pieces]);
    let list = if version.has_v1() {
        format!("6:lengthi{length}e").into_bytes()
    } else {
        Vec::new()
    };
    let info = info(&tree, &list, piece_length, hashes.as_deref());
    let layers = [string(&root), string(layer.as_flattened())].concat();
    with_layers(&info, &layers)
}

fn with_layers(info: &[u8], layers: &[u8]) -> Vec<u8> {
    [b"d4:info", info, b"12:piece layersd", layers, b"ee"].concat()
}

/// A node of the file tree.
enum TreeNode {
    Folder(BTreeMap<String, TreeNode>),
    File(Entry, Option<Node>),
}

impl TreeNode {
    fn of_file(name: &str, entry: Entry, root: Option<Node>) -> Self {
        Self::Folder(BTreeMap::from([(name.into(), Self::File(entry, root))]))
    }

    fn insert(&mut self, path: &[&str], entry: Entry, root: Option<Node>) {
        let (Self::Folder(nodes), [name, rest @ ..]) = (self, path) else {
            panic!("a file in the place of a folder");
        };
        if rest.is_empty() {
            nodes.insert((*name).into(), Self::File(entry, root));
        } else {
            let folder = nodes.entry((*name).into());
            let folder = folder.or_insert_with(|| Self::Folder(BTreeMap::new()));
            folder.insert(rest, entry, root);
        }
    }

    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Folder(nodes) => {
                let nodes = nodes.iter();
                let nodes = nodes
                    .flat_map(|(name, node)| [string(name.as_bytes()), node.encode()].concat());
                [b"d", &nodes.collect::<Vec<u8>>()[..], b"e"].concat()
            }
            Self::File(entry, root) => {
                let (attr, target) = entry.kind.encode();
                let length = format!("6:lengthi{}e", entry.length).into_bytes();
                let root = root.map(|root| [b"11:pieces root", &string(&root)[..]].concat());
                let root = root.unwrap_or_default();
                [b"d0:d", &attr[..], &length, &root, &target, b"ee"].concat()
            }
        }
    }
}

/// A planned torrent, with the bytes of its files in the order of the file tree.
#[derive(Clone, Debug)]
pub(crate) struct PlannedTorrent {
    pub(crate) version: Version,
    pub(crate) piece_length: usize,
    pub(crate) files: Vec<PlannedFile>,
    /// Whether the last file of a hybrid is padded too.
    pads_tail: bool,
    is_single_file: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedFile {
    pub(crate) path: String,
    /// Target of a link; `None` for a file.
    pub(crate) target: Option<String>,
    pub(crate) bytes: Vec<u8>,
    /// Whether the torrent has a hash for each piece of the file, if the file has several.
    pub(crate) has_layer: bool,
}

impl PlannedTorrent {
    /// Returns an empty folder. A single file must be in a subfolder; otherwise version 2 takes it
    /// for a single-file torrent.
    pub(crate) fn folder(version: Version, piece_length: usize) -> Self {
        Self {
            version,
            piece_length,
            files: Vec::new(),
            pads_tail: false,
            is_single_file: false,
        }
    }

    pub(crate) fn single_file(version: Version, piece_length: usize, bytes: Vec<u8>) -> Self {
        let mut plan = Self::folder(version, piece_length).file("content", bytes);
        plan.is_single_file = true;
        plan
    }

    pub(crate) fn file(self, path: &str, bytes: Vec<u8>) -> Self {
        self.with(PlannedFile {
            path: path.into(),
            target: None,
            bytes,
            has_layer: true,
        })
    }

    #[cfg(unix)]
    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        self.with(PlannedFile {
            path: path.into(),
            target: Some(target.into()),
            bytes: Vec::new(),
            has_layer: false,
        })
    }

    pub(crate) fn with(mut self, file: PlannedFile) -> Self {
        self.files.push(file);
        let path_of = |file: &PlannedFile| -> Vec<String> {
            file.path.split('/').map(String::from).collect()
        };
        self.files.sort_by_key(path_of);
        self
    }

    pub(crate) fn padded_to_the_end(self) -> Self {
        Self {
            pads_tail: true,
            ..self
        }
    }

    pub(crate) fn is_single_file(&self) -> bool {
        self.is_single_file
    }

    /// Removes the piece layers, as after a download from a magnet link.
    pub(crate) fn without_layers(mut self) -> Self {
        self.files
            .iter_mut()
            .for_each(|file| file.has_layer = false);
        self
    }

    pub(crate) fn without_layer_of(mut self, path: &str) -> Self {
        self.at(path).has_layer = false;
        self
    }

    pub(crate) fn at(&mut self, path: &str) -> &mut PlannedFile {
        let mut files = self.files.iter_mut();
        files.find(|file| file.path == path).expect("it is planned")
    }

    /// Returns the .torrent file.
    pub(crate) fn metainfo(&self) -> Vec<u8> {
        self.metainfo_with_trees_of(self)
    }

    /// Returns the .torrent file with the merkle trees of another plan's files.
    pub(crate) fn metainfo_with_trees_of(&self, other: &Self) -> Vec<u8> {
        let list = match (self.version.has_v1(), self.is_single_file) {
            (false, _) => Vec::new(),
            (true, true) => format!("6:lengthi{}e", self.files[0].bytes.len()).into_bytes(),
            (true, false) => list(&self.v1().0),
        };
        let pieces = self.version.has_v1().then(|| self.v1().1);
        let pieces = pieces.map(|content| hashes(&content, self.piece_length));
        if !self.version.has_v2() {
            let info = info(b"", &list, self.piece_length, pieces.as_deref());
            return [b"d4:info", &info[..], b"e"].concat();
        }
        let mut tree = TreeNode::Folder(BTreeMap::new());
        let mut layers: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
        // Files with equal bytes are hashed once.
        let mut known: HashMap<&[u8], Tree> = HashMap::new();
        for file in &other.files {
            let path: Vec<&str> = file.path.split('/').collect();
            if file.bytes.is_empty() {
                tree.insert(&path, file.entry(), None);
                continue;
            }
            let hashed = known.entry(&file.bytes);
            let hashed = hashed.or_insert_with(|| Tree::of(&file.bytes, self.piece_length));
            tree.insert(&path, file.entry(), Some(hashed.root));
            if file.has_layer && hashed.layer.len() > 1 {
                layers.insert(hashed.root, hashed.layer.clone());
            }
        }
        let tree = [b"9:file tree", &tree.encode()[..]].concat();
        let info = info(&tree, &list, self.piece_length, pieces.as_deref());
        let layers = layers.iter();
        let layers =
            layers.flat_map(|(root, layer)| [string(root), string(layer.as_flattened())].concat());
        with_layers(&info, &layers.collect::<Vec<u8>>())
    }

    /// Returns the list of files, with padding for a hybrid, and the concatenated content of
    /// version 1.
    pub(crate) fn v1(&self) -> (Vec<Entry>, Vec<u8>) {
        let mut entries = Vec::new();
        let mut content = Vec::new();
        let pad = |entries: &mut Vec<Entry>, content: &mut Vec<u8>| {
            let end = content.len().next_multiple_of(self.piece_length);
            if self.version.has_v2() && end > content.len() {
                entries.push(Entry::padding((end - content.len()) as u64));
                content.resize(end, 0);
            }
        };
        for file in &self.files {
            if !file.bytes.is_empty() {
                pad(&mut entries, &mut content);
            }
            entries.push(file.entry());
            content.extend_from_slice(&file.bytes);
        }
        if self.pads_tail {
            pad(&mut entries, &mut content);
        }
        (entries, content)
    }
}

impl PlannedFile {
    fn entry(&self) -> Entry {
        match &self.target {
            Some(target) => Entry::symlink(&self.path, target),
            None => Entry::file(&self.path, self.bytes.len() as u64),
        }
    }
}
