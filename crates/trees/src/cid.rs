//! Content identifiers of files and folders in `UnixFS`, as IPFS uses them.
//!
//! Sources: the specifications of `UnixFS`, of DAG-PB and of CIDs, and IPIP-499.

use std::fmt;
use std::io;

use data_encoding::BASE32_NOPAD;
use hashlane_hashes::Algorithm;
use hashlane_pipeline::Frame;
use hashlane_sha::{Engine, Sha256};

use crate::format::{Builder, FolderRules, Format, HashedEntry, Tail, TreeHash};

/// The code of SHA-256 in a multihash, and the length of the digest.
const SHA256: [u8; 2] = [0x12, 32];

/// The type of a node in `UnixFS`.
const DIRECTORY: u64 = 1;
const FILE: u64 = 2;

/// Maximum size of a folder. The tools for IPFS make larger folders into tables of hashes (HAMT).
const MAX_FOLDER_LEN: usize = 256 << 10;

/// A set of parameters that tools for IPFS have by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cid {
    /// Version 0: chunks of 256 KiB inside of nodes, 174 links per node, and names that start with `Qm`. `ipfs add` and the
    /// profile `unixfs-v0-2015`.
    V0,
    /// Version 1: chunks of 256 KiB as they are, and 174 links per node. `ipfs add --cid-version=1`.
    V1,
    /// Version 1: chunks of 1 MiB as they are, and 1024 links per node. The profile `unixfs-v1-2025` (IPIP-499).
    V1Of2025,
}

/// A node, with what the node above needs to know.
#[derive(Clone, Debug)]
struct CidNode {
    format: Cid,
    codec: Codec,
    digest: [u8; 32],
    /// Number of bytes of the content of a file.
    content_len: u64,
    /// Number of bytes of the node and of all nodes below it.
    total_len: u64,
}

/// A folder is so large that its CID depends on the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderTooLarge;

impl fmt::Display for FolderTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = MAX_FOLDER_LEN >> 10;
        write!(
            f,
            "is too large: its names and CIDs take more than {max} KiB, which IPFS stores as a table of hashes (HAMT)"
        )
    }
}

impl std::error::Error for FolderTooLarge {}

/// The encoding of the bytes that a CID names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    Raw = 0x55,
    DagPb = 0x70,
}

impl Cid {
    /// Returns the maximum number of links of the node of a file.
    fn max_links(self) -> usize {
        match self {
            Self::V0 | Self::V1 => 174,
            Self::V1Of2025 => 1024,
        }
    }

    fn leaf_codec(self) -> Codec {
        match self {
            Self::V0 => Codec::DagPb,
            Self::V1 | Self::V1Of2025 => Codec::Raw,
        }
    }

    /// Returns the CID of a folder with these entries. Names are unique.
    ///
    /// # Errors
    /// [`FolderTooLarge`] if the tools for IPFS would make a table of hashes.
    pub fn folder(
        self,
        engine: Engine,
        mut entries: Vec<(Vec<u8>, TreeHash)>,
    ) -> Result<TreeHash, FolderTooLarge> {
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        let links_len: usize = entries
            .iter()
            .map(|(name, node)| name.len() + node.as_bytes().len())
            .sum();
        let links = entries.iter();
        let links = links.map(|(name, node)| (&name[..], node.as_bytes(), node.total_len));
        let encoded = encode_node(links, &unixfs(DIRECTORY));
        let len = match self {
            Self::V0 | Self::V1 => links_len,
            Self::V1Of2025 => encoded.len(),
        };
        if len > MAX_FOLDER_LEN {
            return Err(FolderTooLarge);
        }
        let below = entries.iter().map(|(_, node)| node.total_len).sum::<u64>();
        Ok(self.node(engine, &encoded, 0, below).into_hash())
    }

    /// Returns the CID of an encoded node, above nodes with a sum of `below` bytes.
    fn node(self, engine: Engine, encoded: &[u8], content_len: u64, below: u64) -> CidNode {
        CidNode {
            format: self,
            codec: Codec::DagPb,
            digest: engine.digest::<Sha256>(encoded).into(),
            content_len,
            total_len: encoded.len() as u64 + below,
        }
    }
}

impl Format for Cid {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        Algorithm::Sha256
    }

    fn leaf_len(&self) -> u64 {
        match self {
            Self::V0 | Self::V1 => 256 << 10,
            Self::V1Of2025 => 1 << 20,
        }
    }

    fn tail(&self) -> Tail {
        Tail::Short
    }

    /// The leaf of version 0 is a node without links, whose data has the type, the bytes and their number.
    fn frame(&self, leaf_len: u64) -> Frame {
        if self.leaf_codec() == Codec::Raw {
            return Frame::default();
        }
        let (mut before, mut after) = (unixfs(FILE), Vec::new());
        if leaf_len > 0 {
            push_header(&mut before, 2, leaf_len);
        }
        push_number(&mut after, 3, leaf_len);
        let mut prefix = Vec::new();
        push_header(
            &mut prefix,
            1,
            (before.len() + after.len()) as u64 + leaf_len,
        );
        prefix.append(&mut before);
        Frame::new(prefix, after)
    }

    fn normalized(&self, text: &str) -> Option<String> {
        let is_sha256 = |multihash: &[u8]| multihash.len() == 34 && multihash.starts_with(&SHA256);
        match self {
            Self::V0 => {
                // Decoding takes the square of the length.
                let text = Some(text).filter(|text| text.len() == 46)?;
                let bytes = bs58::decode(text).into_vec().ok()?;
                is_sha256(&bytes).then(|| text.to_owned())
            }
            Self::V1 | Self::V1Of2025 => {
                let digits = text.strip_prefix('b')?.to_ascii_uppercase();
                let bytes = BASE32_NOPAD.decode(digits.as_bytes()).ok()?;
                let [1, 0x55 | 0x70, multihash @ ..] = &bytes[..] else {
                    return None;
                };
                is_sha256(multihash).then(|| text.to_ascii_lowercase())
            }
        }
    }

    fn builder(&self, engine: Engine, len_bytes: u64) -> Box<dyn Builder<TreeHash>> {
        let leaf_len = self.leaf_len();
        let (mut n_nodes, mut n_levels) = (len_bytes.div_ceil(leaf_len), 1);
        while n_nodes > 1 {
            n_nodes = n_nodes.div_ceil(self.max_links() as u64);
            n_levels += 1;
        }
        Box::new(CidBuilder {
            format: *self,
            engine,
            rest: len_bytes,
            levels: vec![Vec::new(); n_levels],
        })
    }

    fn folders(&self) -> Option<FolderRules> {
        Some(FolderRules {
            needs_unicode: true,
            keeps_empty: true,
            repository: None,
        })
    }

    fn folder_hash(
        &self,
        engine: Engine,
        entries: Vec<HashedEntry<TreeHash>>,
    ) -> Result<TreeHash, String> {
        let nodes = entries.into_iter().map(|(name, _, node)| (name, node));
        self.folder(engine, nodes.collect())
            .map_err(|error| error.to_string())
    }
}

/// Computes the CID of a file from the digests of its chunks.
#[derive(Debug)]
struct CidBuilder {
    format: Cid,
    engine: Engine,
    /// Number of bytes after the leaves so far.
    rest: u64,
    /// The nodes of each level that no node above them has, from the leaves up. The last level has the root.
    levels: Vec<Vec<CidNode>>,
}

impl CidBuilder {
    /// Makes the waiting nodes of a level into a node of the level above.
    fn close(&mut self, level: usize) {
        let nodes = std::mem::take(&mut self.levels[level]);
        let content_len = nodes.iter().map(|node| node.content_len).sum();
        let mut data = unixfs(FILE);
        push_number(&mut data, 3, content_len);
        for node in &nodes {
            push_number(&mut data, 4, node.content_len);
        }
        let links = nodes.iter();
        let links = links.map(|node| (&[][..], node.to_bytes(), node.total_len));
        let encoded = encode_node(links, &data);
        let below = nodes.iter().map(|node| node.total_len).sum();
        let node = self.format.node(self.engine, &encoded, content_len, below);
        self.levels[level + 1].push(node);
    }
}

impl Builder<TreeHash> for CidBuilder {
    fn push(&mut self, digests: &[u8]) {
        let (digests, _) = digests.as_chunks::<32>();
        for digest in digests {
            let content_len = self.rest.min(self.format.leaf_len());
            self.rest -= content_len;
            let frame = self.format.frame(content_len);
            let frame_len = frame.prefix.len() + frame.suffix.len();
            self.levels[0].push(CidNode {
                format: self.format,
                codec: self.format.leaf_codec(),
                digest: *digest,
                content_len,
                total_len: content_len + frame_len as u64,
            });
            for level in 0..self.levels.len() - 1 {
                if self.levels[level].len() == self.format.max_links() {
                    self.close(level);
                }
            }
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<TreeHash> {
        for level in 0..self.levels.len() - 1 {
            if !self.levels[level].is_empty() {
                self.close(level);
            }
        }
        let root = self.levels.pop().and_then(|mut level| level.pop());
        Ok(root.expect("a file has at least one leaf").into_hash())
    }
}

impl CidNode {
    /// Returns the CID in binary form.
    fn to_bytes(&self) -> Vec<u8> {
        let version: &[u8] = match self.format {
            Cid::V0 => &[],
            Cid::V1 | Cid::V1Of2025 => &[1, self.codec as u8],
        };
        [version, &SHA256, &self.digest].concat()
    }

    /// Returns the CID, whose text is in base 58 (version 0) or base 32 (version 1).
    fn into_hash(self) -> TreeHash {
        let bytes = self.to_bytes();
        let text = match self.format {
            Cid::V0 => bs58::encode(&bytes).into_string(),
            Cid::V1 | Cid::V1Of2025 => {
                let digits = BASE32_NOPAD.encode(&bytes).to_ascii_lowercase();
                format!("b{digits}")
            }
        };
        let mut hash = TreeHash::new(bytes, text);
        hash.total_len = self.total_len;
        hash
    }
}

/// Encodes a node: the names, the CIDs and the total lengths of its links in their order, then its data.
fn encode_node<'n>(
    links: impl Iterator<Item = (&'n [u8], impl AsRef<[u8]>, u64)>,
    data: &[u8],
) -> Vec<u8> {
    let mut encoded = Vec::new();
    for (name, cid, total_len) in links {
        let mut link = Vec::new();
        push_bytes(&mut link, 1, cid.as_ref());
        push_bytes(&mut link, 2, name);
        push_number(&mut link, 3, total_len);
        push_bytes(&mut encoded, 2, &link);
    }
    push_bytes(&mut encoded, 1, data);
    encoded
}

/// Returns the first field of the data of a node: its type.
fn unixfs(kind: u64) -> Vec<u8> {
    let mut data = Vec::new();
    push_number(&mut data, 1, kind);
    data
}

// Fields in the encoding of protocol buffers.

fn push_bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    push_header(out, field, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends what precedes `len_bytes` bytes.
fn push_header(out: &mut Vec<u8>, field: u8, len_bytes: u64) {
    out.push(field << 3 | 2);
    push_varint(out, len_bytes);
}

fn push_number(out: &mut Vec<u8>, field: u8, number: u64) {
    out.push(field << 3);
    push_varint(out, number);
}

fn push_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
