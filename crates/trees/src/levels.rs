//! The levels of a tree whose nodes are blocks of digests.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::sync::Arc;

use hashlane_files::write_all_at;
use hashlane_hashes::{Algorithm, Hasher};
use hashlane_pipeline::Frame;
use hashlane_sha::{Engine, LaneHash, Sha1, Sha256, Sha512};

/// The hash of nodes: a function, and the bytes before and after each node.
#[derive(Clone, Debug)]
pub(crate) struct NodeHash {
    pub(crate) engine: Engine,
    pub(crate) function: Algorithm,
    pub(crate) frame: Frame,
}

impl NodeHash {
    /// Returns the digests of consecutive nodes, one after another.
    pub(crate) fn digests(&self, nodes: &[u8], node_len: usize) -> Vec<u8> {
        match self.function {
            Algorithm::Sha1 => self.in_lanes::<Sha1>(nodes, node_len),
            Algorithm::Sha256 => self.in_lanes::<Sha256>(nodes, node_len),
            Algorithm::Sha512 => self.by_lane_hash::<Sha512>(nodes, node_len),
            _ => {
                let digests = nodes.chunks(node_len).flat_map(|node| {
                    let mut hasher = Hasher::with_engine(self.engine, self.function);
                    hasher.update(&self.frame.prefix);
                    hasher.update(node);
                    hasher.update(&self.frame.suffix);
                    hasher.finalize().as_ref().to_vec()
                });
                digests.collect()
            }
        }
    }

    fn in_lanes<A: hashlane_sha::Algorithm>(&self, nodes: &[u8], node_len: usize) -> Vec<u8> {
        let mut prefix = A::with_engine(self.engine);
        prefix.update(&self.frame.prefix);
        let messages = self.with_suffixes(nodes, node_len);
        let mut digests = vec![A::Digest::default(); nodes.len() / node_len];
        let message_len = node_len + self.frame.suffix.len();
        self.engine
            .digest_chunks_after(&prefix, &messages, message_len, &mut digests);
        let digests = digests.iter().flat_map(AsRef::as_ref);
        digests.copied().collect()
    }

    fn by_lane_hash<H: LaneHash>(&self, nodes: &[u8], node_len: usize) -> Vec<u8> {
        let mut prefix = H::default();
        prefix.update(&self.frame.prefix);
        let messages = self.with_suffixes(nodes, node_len);
        let messages = messages.chunks(node_len + self.frame.suffix.len());
        let messages: Vec<&[u8]> = messages.collect();
        let mut digests = vec![H::ZERO; messages.len()];
        H::digest_many_after(H::kernel(&self.engine), &prefix, &messages, &mut digests);
        let digests = digests.iter().flat_map(AsRef::as_ref);
        digests.copied().collect()
    }

    /// Returns the nodes, each with the suffix after it.
    fn with_suffixes<'n>(&self, nodes: &'n [u8], node_len: usize) -> Cow<'n, [u8]> {
        let suffix = &self.frame.suffix;
        if suffix.is_empty() {
            return Cow::Borrowed(nodes);
        }
        let nodes = nodes.chunks(node_len);
        nodes.flat_map(|node| [node, suffix].concat()).collect()
    }
}

/// The nodes of a tree: blocks of digests. Zeros fill the slot of a digest, and the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes {
    /// Length of a node in bytes.
    pub(crate) len_bytes: usize,
    /// Number of digests in a node, at least two.
    pub(crate) arity: usize,
    /// Length of the slot of a digest in bytes.
    pub(crate) slot_len: usize,
    /// Whether the digest of a single leaf is in a node, too.
    pub(crate) always_has_node: bool,
}

impl Nodes {
    /// Returns nodes of as many digests as fit, without gaps.
    pub(crate) fn dense(len_bytes: usize, digest_len: usize) -> Self {
        Self {
            len_bytes,
            arity: len_bytes / digest_len,
            slot_len: digest_len,
            always_has_node: false,
        }
    }

    /// Returns the number of nodes in each level of a tree over `n_leaves` leaves, the lowest first.
    pub(crate) fn levels(self, n_leaves: u64) -> Vec<u64> {
        let (mut n_digests, mut n_nodes) = (n_leaves, Vec::new());
        let has_node = |n_nodes: &[u64]| self.always_has_node && n_nodes.is_empty();
        while n_digests > 1 || n_digests == 1 && has_node(&n_nodes) {
            n_digests = n_digests.div_ceil(self.arity as u64);
            n_nodes.push(n_digests);
        }
        n_nodes
    }

    /// Returns the nodes of digests without gaps. Only the last node can be incomplete.
    fn of(self, digests: &[u8], digest_len: usize) -> Vec<u8> {
        let per_node = self.arity * digest_len;
        if self.slot_len == digest_len && per_node == self.len_bytes {
            let mut nodes = digests.to_vec();
            nodes.resize(nodes.len().next_multiple_of(self.len_bytes), 0);
            return nodes;
        }
        let mut nodes = Vec::new();
        for digests in digests.chunks(per_node) {
            let end = nodes.len() + self.len_bytes;
            for digest in digests.chunks(digest_len) {
                let slot = nodes.len() + self.slot_len;
                nodes.extend_from_slice(digest);
                nodes.resize(slot, 0);
            }
            nodes.resize(end, 0);
        }
        nodes
    }
}

/// A tree that is built from its leaves up. Each level keeps one incomplete node.
#[derive(Debug)]
pub(crate) struct Levels {
    hash: NodeHash,
    nodes: Nodes,
    /// The digests of the incomplete node of each level, from the leaves up. The last one is no node: it has the root.
    by_height: Vec<Level>,
    /// The file for the nodes.
    tree: Option<Arc<File>>,
    /// The first error of the file.
    failure: Option<io::Error>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    digests: Vec<u8>,
    /// Position of the next node in the file of the tree.
    position: u64,
}

impl Levels {
    /// Returns an empty tree over `n_leaves` leaves. If there is a file `tree`, it receives the nodes, the highest level
    /// first, from the position `start` on.
    pub(crate) fn new(
        hash: NodeHash,
        nodes: Nodes,
        n_leaves: u64,
        tree: Option<Arc<File>>,
        start: u64,
    ) -> Self {
        let n_nodes = nodes.levels(n_leaves);
        let mut levels = vec![Level::default(); n_nodes.len() + 1];
        let mut position = start;
        for (level, n_nodes) in levels.iter_mut().zip(n_nodes).rev() {
            level.position = position;
            position += n_nodes * nodes.len_bytes as u64;
        }
        Self {
            hash,
            nodes,
            by_height: levels,
            tree,
            failure: None,
        }
    }

    /// Appends digests of leaves.
    pub(crate) fn push(&mut self, digests: &[u8]) {
        let per_node = self.nodes.arity * self.hash.function.digest_len();
        let mut digests = digests.to_vec();
        let root = self.by_height.len() - 1;
        for i in 0..=root {
            let waiting = &mut self.by_height[i].digests;
            waiting.append(&mut digests);
            if i == root {
                return;
            }
            let whole = waiting.len() / per_node * per_node;
            if whole == 0 {
                return;
            }
            let rest = waiting.split_off(whole);
            let whole = std::mem::replace(waiting, rest);
            digests = self.add_nodes(i, &whole);
        }
    }

    /// Returns the root. A tree without leaves has a root of zeros.
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        for i in 0..self.by_height.len() - 1 {
            let digests = std::mem::take(&mut self.by_height[i].digests);
            if !digests.is_empty() {
                let mut digest = self.add_nodes(i, &digests);
                self.by_height[i + 1].digests.append(&mut digest);
            }
        }
        if let Some(error) = self.failure {
            return Err(error);
        }
        let mut root = self.by_height.pop().unwrap_or_default().digests;
        root.resize(self.hash.function.digest_len(), 0);
        Ok(root)
    }

    /// Writes the nodes of digests of a level to the file, and returns the digests of the nodes.
    fn add_nodes(&mut self, level: usize, digests: &[u8]) -> Vec<u8> {
        let nodes = self.nodes.of(digests, self.hash.function.digest_len());
        let position = self.by_height[level].position;
        self.by_height[level].position += nodes.len() as u64;
        if let (Some(tree), None) = (self.tree.as_deref(), &self.failure) {
            self.failure = write_all_at(tree, &nodes, position).err();
        }
        self.hash.digests(&nodes, self.nodes.len_bytes)
    }
}
