//! Writes new .torrent files.

use std::cmp::Ordering;

use hashlane_sha::Engine;

use crate::bencode::{MAX_DEPTH, Writer};
use crate::files::PADDING_PREFIX;
use crate::merkle::{self, LEAF_LEN, Node};
use crate::{Attributes, ComponentError, Lengths, LengthsError, PathComponent, Version};

/// The shortest piece length that is made: below it there is more hash than content.
pub const MIN_PIECE_LENGTH: u32 = 1 << 10;

/// The longest piece length that is made: 1 GiB. Nobody wants to have it fetched again for one bad byte.
pub const MAX_PIECE_LENGTH: u32 = 1 << 30;

/// How many pieces [`piece_length_for`] makes of content that is neither small nor huge.
const MANY_PIECES: u64 = 2048;

/// The piece length for content of so many bytes: the smallest power of two from 16 KiB to 16 MiB
/// that makes no more than 2048 pieces.
///
/// Larger pieces make smaller torrents, smaller ones are had and replaced sooner. Some programs do
/// not take pieces of more than 16 MiB.
pub fn piece_length_for(content_length: u64) -> u32 {
    let length = content_length.div_ceil(MANY_PIECES).max(1);
    let length = length.checked_next_power_of_two().unwrap_or(u64::MAX);
    length.clamp(LEAF_LEN.into(), 16 << 20) as u32
}

/// The most components of a path that is written: so many that what stands around the deepest folder
/// of a file tree stays within [`MAX_DEPTH`].
pub const MAX_NEW_PATH_DEPTH: usize = MAX_DEPTH - 8;

/// A file that is to be in a new torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// The names of the folders that it is in, and its own.
    pub path: Vec<Vec<u8>>,
    /// Its length in bytes: 0 for a link.
    pub length: u64,
    /// What is said of it besides (BEP 47).
    pub attributes: Attributes,
    /// For a symbolic link (BEP 47), the path it leads to from the content root.
    pub target: Option<Vec<Vec<u8>>>,
}

/// The content of a new torrent: its files, and how they are cut into pieces.
#[derive(Clone, Debug)]
pub struct NewContent {
    version: Version,
    name: Vec<u8>,
    is_single_file: bool,
    /// Whether there is padding behind files (BEP 47).
    is_padded: bool,
    files: Vec<NewFile>,
    offsets: Vec<u64>,
    lengths: Lengths,
}

/// What a new torrent is to say besides its content: see [`Metadata`](crate::Metadata).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are described where they are read")]
pub struct NewMetadata {
    pub trackers: Vec<Vec<String>>,
    pub web_seeds: Vec<String>,
    pub nodes: Vec<(String, u16)>,
    pub comment: Option<String>,
    pub created_by: Option<String>,
    pub creation_date: Option<i64>,
    pub is_private: bool,
    pub source: Option<String>,
}

/// The hashes of a new torrent's pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PieceHashes {
    /// The SHA-1 digest of each piece, padding included (BEP 3); empty without version 1.
    pub v1: Vec<[u8; 20]>,
    /// The root of the merkle tree over each piece, padding left out (BEP 52); empty without
    /// version 2.
    pub v2: Vec<Node>,
}

/// Why there can be no such torrent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// The piece length is not a power of two, or too short or too long.
    #[error("a piece length of {piece_length} bytes is no power of two from {min} to {max}")]
    PieceLength {
        /// The piece length in bytes.
        piece_length: u32,
        /// The shortest one, which version 2 wants longer.
        min: u32,
        /// The longest one.
        max: u32,
    },
    /// There is nothing to hash, or too much.
    #[error(transparent)]
    Lengths(#[from] LengthsError),
    /// A name that no torrent should have.
    #[error("{:?}: {reason}", String::from_utf8_lossy(.name))]
    Name {
        /// The name.
        name: Vec<u8>,
        /// What is wrong with it.
        reason: ComponentError,
    },
    /// A path, or the target of a link, of no names at all.
    #[error("a path is empty")]
    EmptyPath,
    /// A file with a name that version 1 programs take for padding, which is zeros and no file.
    #[error("{}: the name is that of padding", display(.path))]
    PaddingName {
        /// The path.
        path: Vec<Vec<u8>>,
    },
    /// A path of too many folders.
    #[error("{}...: more than {MAX_NEW_PATH_DEPTH} folders deep", display(&.path[..1]))]
    TooDeep {
        /// The path.
        path: Vec<Vec<u8>>,
    },
    /// Two files of one path, or one inside of another, or files that are not in order.
    #[error("{}: comes twice, or is not in order", display(.path))]
    Order {
        /// The later one.
        path: Vec<Vec<u8>>,
    },
}

fn display(path: &[Vec<u8>]) -> String {
    let names = path.iter().map(|name| String::from_utf8_lossy(name));
    names.collect::<Vec<_>>().join("/")
}

impl NewContent {
    /// Content of one file, called `name`; or of a folder of that name with these files, ordered by
    /// the names in their paths as raw bytes. That is the order of file trees (BEP 52), and the one
    /// in which creators agree on an info-hash.
    ///
    /// # Errors
    /// A [`ComposeError`]: there must be content, and nothing that another program would refuse.
    ///
    /// # Panics
    /// If a single file is asked for and there is not one file.
    pub fn new(
        version: Version,
        piece_length: u32,
        name: Vec<u8>,
        is_single_file: bool,
        files: Vec<NewFile>,
    ) -> Result<Self, ComposeError> {
        assert!(!is_single_file || files.len() == 1, "a file is one file");
        let min = if version.has_v2() {
            LEAF_LEN
        } else {
            MIN_PIECE_LENGTH
        };
        let max = MAX_PIECE_LENGTH;
        if !piece_length.is_power_of_two() || !(min..=max).contains(&piece_length) {
            return Err(ComposeError::PieceLength {
                piece_length,
                min,
                max,
            });
        }
        check_names(&name, &files)?;
        let is_padding = |file: &&NewFile| {
            let name = file.path.last();
            file.target.is_none() && name.is_some_and(|name| name.starts_with(PADDING_PREFIX))
        };
        if let Some(file) = files.iter().find(is_padding).filter(|_| version.has_v1()) {
            let path = file.path.clone();
            return Err(ComposeError::PaddingName { path });
        }
        let is_aligned = version.has_v2();
        let align = |at: u64| {
            let next = at.checked_next_multiple_of(piece_length.into());
            next.ok_or(LengthsError::TotalLength)
        };
        let mut end = 0_u64;
        let mut offsets = Vec::with_capacity(files.len());
        for file in &files {
            if is_aligned && file.length > 0 {
                end = align(end)?;
            }
            offsets.push(end);
            end = end
                .checked_add(file.length)
                .ok_or(LengthsError::TotalLength)?;
        }
        // Each file ends with padding, the last one as well; but a file that is alone has none. So
        // libtorrent does it, after the reference implementation of BEP 52.
        let is_padded = version == Version::Hybrid && files.len() > 1;
        if is_padded {
            end = align(end)?;
        }
        Ok(Self {
            version,
            name,
            is_single_file,
            is_padded,
            files,
            offsets,
            lengths: Lengths::new(end, piece_length.into())?,
        })
    }

    /// The total length, with padding, and the piece length.
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// Which versions of the protocol the torrent will be of.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The files, in order.
    pub fn files(&self) -> &[NewFile] {
        &self.files
    }

    /// Where in the content each file starts, in bytes.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// How many bytes of padding the files of a hybrid torrent need (BEP 47).
    pub fn padding_bytes(&self) -> u64 {
        let content: u64 = self.files.iter().map(|file| file.length).sum();
        match self.version {
            Version::Hybrid => self.lengths.total_length() - content,
            Version::V1 | Version::V2 => 0,
        }
    }

    /// The .torrent file.
    ///
    /// # Panics
    /// If there is not a hash for each piece, in each version that the torrent is of.
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

    /// The files of version 1, with padding between them if version 2 wants its pieces.
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

    /// The file tree of version 2: folders open and close as the paths go on.
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
        // Files of the same content have the same root, and share a layer.
        layers.sort_unstable();
        layers.dedup();
        writer.key("piece layers").begin_dictionary();
        for (root, layer) in layers {
            writer.key(root).bytes(layer.as_flattened());
        }
        writer.end();
    }

    /// The merkle tree of each file; without version 2, of none.
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
            // The tree over the only piece of a file is the tree of the file.
            let root = Some(merkle::root_over(Engine::detect(), layer, height));
            Tree { root, layer }
        });
        trees.collect()
    }
}

/// The merkle tree of a file, if it has one.
#[derive(Default)]
struct Tree<'h> {
    root: Option<Node>,
    layer: &'h [Node],
}

impl NewMetadata {
    /// The keys that come before `info`.
    fn write_before_info(&self, writer: &mut Writer) {
        let mut urls = self.trackers.iter().flatten();
        if let Some(first) = urls.next() {
            writer.key("announce").bytes(first);
            if urls.next().is_some() {
                writer.key("announce-list").begin_list();
                for tier in &self.trackers {
                    writer.begin_list();
                    for url in tier {
                        writer.bytes(url);
                    }
                    writer.end();
                }
                writer.end();
            }
        }
        if let Some(comment) = &self.comment {
            writer.key("comment").bytes(comment);
        }
        if let Some(created_by) = &self.created_by {
            writer.key("created by").bytes(created_by);
        }
        if let Some(creation_date) = self.creation_date {
            writer.key("creation date").integer(creation_date);
        }
    }

    fn write_nodes(&self, writer: &mut Writer) {
        if self.nodes.is_empty() {
            return;
        }
        writer.key("nodes").begin_list();
        for (host, port) in &self.nodes {
            writer.begin_list();
            writer.bytes(host);
            writer.integer((*port).into());
            writer.end();
        }
        writer.end();
    }

    fn write_web_seeds(&self, writer: &mut Writer) {
        if self.web_seeds.is_empty() {
            return;
        }
        writer.key("url-list").begin_list();
        for url in &self.web_seeds {
            writer.bytes(url);
        }
        writer.end();
    }
}

fn write_attributes(writer: &mut Writer, file: &NewFile) {
    let letters = [
        (file.attributes.executable, 'x'),
        (file.attributes.hidden, 'h'),
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

/// A length, which is below the limit of a total length.
fn integer(length: u64) -> i64 {
    i64::try_from(length).expect("lengths have been checked")
}

/// Checks that all names are some, and that files are in order.
fn check_names(name: &[u8], files: &[NewFile]) -> Result<(), ComposeError> {
    let targets = files.iter().filter_map(|file| file.target.as_ref());
    for path in files.iter().map(|file| &file.path).chain(targets) {
        if path.is_empty() {
            return Err(ComposeError::EmptyPath);
        }
        if path.len() > MAX_NEW_PATH_DEPTH {
            let path = path.clone();
            return Err(ComposeError::TooDeep { path });
        }
    }
    let targets = files.iter().filter_map(|file| file.target.as_ref());
    let paths = files.iter().map(|file| &file.path).chain(targets);
    for name in std::iter::once(name).chain(paths.flatten().map(Vec::as_slice)) {
        PathComponent::try_from(name).map_err(|reason| ComposeError::Name {
            name: name.to_vec(),
            reason,
        })?;
    }
    for pair in files.windows(2) {
        let (before, path) = (&pair[0].path, &pair[1].path);
        if before.cmp(path) != Ordering::Less || path.starts_with(before) {
            return Err(ComposeError::Order { path: path.clone() });
        }
    }
    Ok(())
}
