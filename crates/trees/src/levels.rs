//! The levels of a tree whose nodes are blocks of digests.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use hashlane_hashes::{HashFunction, Hasher};
use hashlane_sha::{Algorithm, Engine, Sha1, Sha256};

/// The hash of nodes: a function, and the bytes before each node.
#[derive(Clone, Debug)]
pub(crate) struct NodeHash {
    pub(crate) engine: Engine,
    pub(crate) function: HashFunction,
    pub(crate) prefix: Vec<u8>,
}

impl NodeHash {
    /// Returns the digests of consecutive nodes, one after another.
    fn digests(&self, nodes: &[u8], node_len: usize) -> Vec<u8> {
        match self.function {
            HashFunction::Sha1 => self.in_lanes::<Sha1>(nodes, node_len),
            HashFunction::Sha256 => self.in_lanes::<Sha256>(nodes, node_len),
            _ => {
                let digests = nodes.chunks(node_len).flat_map(|node| {
                    let mut hasher = Hasher::with_engine(self.engine, self.function);
                    hasher.update(&self.prefix);
                    hasher.update(node);
                    hasher.finalize().as_ref().to_vec()
                });
                digests.collect()
            }
        }
    }

    fn in_lanes<A: Algorithm>(&self, nodes: &[u8], node_len: usize) -> Vec<u8> {
        let mut prefix = A::with_engine(self.engine);
        prefix.update(&self.prefix);
        let mut digests = vec![A::Digest::default(); nodes.len() / node_len];
        self.engine
            .digest_chunks_after(&prefix, nodes, node_len, &mut digests);
        let digests = digests.iter().flat_map(AsRef::as_ref);
        digests.copied().collect()
    }
}

/// A tree that is built from its leaves up. A node is a block of the digests of the nodes below it, filled with zeros.
/// Each level keeps one incomplete node.
#[derive(Debug)]
pub(crate) struct Levels {
    hash: NodeHash,
    node_len: usize,
    /// The incomplete node of each level, from the leaves up. The last one is no node: it has the root.
    by_height: Vec<Level>,
    /// The file for the nodes.
    tree: Option<Arc<File>>,
    /// The first error of the file.
    failure: Option<io::Error>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    bytes: Vec<u8>,
    /// Position of the next node in the file of the tree.
    position: u64,
}

impl Levels {
    /// Returns an empty tree over `n_leaves` leaves. Nodes have `node_len` bytes, at least two digests. If there is a file
    /// `tree`, it receives the nodes, the highest level first.
    pub(crate) fn new(
        hash: NodeHash,
        node_len: usize,
        n_leaves: u64,
        tree: Option<Arc<File>>,
    ) -> Self {
        let arity = (node_len / hash.function.digest_len()) as u64;
        let (mut n_digests, mut n_nodes) = (n_leaves, Vec::new());
        while n_digests > 1 {
            n_digests = n_digests.div_ceil(arity);
            n_nodes.push(n_digests);
        }
        let mut levels = vec![Level::default(); n_nodes.len() + 1];
        let mut position = 0;
        for (level, n_nodes) in levels.iter_mut().zip(n_nodes).rev() {
            level.position = position;
            position += n_nodes * node_len as u64;
        }
        Self {
            hash,
            node_len,
            by_height: levels,
            tree,
            failure: None,
        }
    }

    /// Appends digests of leaves.
    pub(crate) fn push(&mut self, digests: &[u8]) {
        let mut digests = digests.to_vec();
        let root = self.by_height.len() - 1;
        for i in 0..=root {
            let level = &mut self.by_height[i];
            level.bytes.append(&mut digests);
            if i == root {
                return;
            }
            let whole = level.bytes.len() / self.node_len * self.node_len;
            if whole == 0 {
                return;
            }
            let rest = level.bytes.split_off(whole);
            let nodes = std::mem::replace(&mut level.bytes, rest);
            digests = self.add_nodes(i, &nodes);
        }
    }

    /// Returns the root. A tree without leaves has a root of zeros.
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        for i in 0..self.by_height.len() - 1 {
            let mut node = std::mem::take(&mut self.by_height[i].bytes);
            if !node.is_empty() {
                node.resize(self.node_len, 0);
                let mut digest = self.add_nodes(i, &node);
                self.by_height[i + 1].bytes.append(&mut digest);
            }
        }
        if let Some(error) = self.failure {
            return Err(error);
        }
        let mut root = self.by_height.pop().unwrap_or_default().bytes;
        root.resize(self.hash.function.digest_len(), 0);
        Ok(root)
    }

    /// Writes whole nodes of a level to the file, and returns their digests.
    fn add_nodes(&mut self, level: usize, nodes: &[u8]) -> Vec<u8> {
        let position = self.by_height[level].position;
        self.by_height[level].position += nodes.len() as u64;
        if let (Some(mut tree), None) = (self.tree.as_deref(), &self.failure) {
            let written = tree.seek(SeekFrom::Start(position));
            self.failure = written.and_then(|_| tree.write_all(nodes)).err();
        }
        self.hash.digests(nodes, self.node_len)
    }
}
