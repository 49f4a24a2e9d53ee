//! The check of data against the tree in a hash device of dm-verity, or in a signature file of Android.

use std::fmt;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use hashlane_files::{FileId, Stamp, read_exact_at};
use hashlane_hashes::Algorithm;
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::dmverity::{DmVerity, SUPERBLOCK_LEN};
use crate::format::{Builder, Format, Tail, TreeHash};
use crate::idsig::Idsig;
use crate::levels::{Levels, NodeHash, Nodes};

/// Number of ranges of damaged blocks to keep.
const MAX_RANGES: usize = 1000;

/// Number of nodes to read at once.
const BATCH: u64 = 64;

/// The check of data against a hash device, or of a package against its signature file. Its result names the blocks that are damaged.
#[derive(Clone, Debug)]
pub struct VerityCheck {
    verity: DmVerity,
    nodes: Nodes,
    /// Whether the data is a package, whose last block is filled with zeros.
    is_package: bool,
    device: Arc<File>,
    /// Position of the block of the device with the number 0.
    device_start: u64,
    /// Superblock and tree in the device, in bytes.
    extent: Range<u64>,
    /// The state of the device when it was opened.
    stamp: Stamp,
    /// Number of nodes of each level, the lowest first, and the position of its first node in the device. Without levels, the
    /// device has no digests to compare with, and the root hash is computed.
    levels: Vec<(u64, u64)>,
    /// Number of blocks of data.
    n_blocks: u64,
}

/// The reason why a hash device cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum HashDeviceError {
    /// The file cannot be read.
    Read(io::Error),
    /// The superblock is absent, damaged, or of another kind. The reason.
    Superblock(String),
    /// The device ends before the tree does.
    TooShort {
        /// Length of the device in bytes.
        found: u64,
        /// Length of superblock and tree in bytes.
        expected: u64,
    },
}

impl fmt::Display for HashDeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Superblock(reason) => f.write_str(reason),
            Self::TooShort { found, expected } => {
                write!(
                    f,
                    "is too short: has {found} bytes, but its tree ends at {expected}"
                )
            }
        }
    }
}

impl std::error::Error for HashDeviceError {}

impl From<io::Error> for HashDeviceError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// The reason why a root hash cannot be compared with that of a hash device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RootHashError {
    /// Digests of the device have another length.
    Len {
        /// Length of the root hash in bytes.
        found: usize,
        /// Length of the digests of the device in bytes.
        expected: usize,
    },
    /// A root hash is needed, because the data has a single block and the device has no digest of it.
    Required,
}

impl fmt::Display for RootHashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Len { found, expected } => {
                write!(
                    f,
                    "has {found} bytes, but that of the hash device has {expected}"
                )
            }
            Self::Required => f.write_str("has no digest of data of one block"),
        }
    }
}

impl std::error::Error for RootHashError {}

impl VerityCheck {
    /// Reads the superblock at byte `hash_offset` of a hash device, which can be the file of the data itself.
    ///
    /// # Errors
    /// [`HashDeviceError`].
    pub fn new(mut device: File, hash_offset: u64) -> Result<Self, HashDeviceError> {
        let found = device.seek(SeekFrom::End(0))?;
        let stamp = Stamp::of(&device.metadata()?);
        let mut superblock = [0; SUPERBLOCK_LEN];
        if found.saturating_sub(hash_offset) < SUPERBLOCK_LEN as u64 {
            let reason = "has no superblock of dm-verity".to_owned();
            return Err(HashDeviceError::Superblock(reason));
        }
        read_exact_at(&device, &mut superblock, hash_offset)?;
        let verity = DmVerity::of_superblock(&superblock, hash_offset)
            .map_err(HashDeviceError::Superblock)?;
        let (nodes, n_blocks) = (verity.nodes(), verity.min_len() / verity.leaf_len());
        let (levels, expected) = places(nodes, n_blocks, verity.tree_start());
        if found < expected && !levels.is_empty() {
            return Err(HashDeviceError::TooShort { found, expected });
        }
        Ok(Self {
            verity,
            nodes,
            is_package: false,
            device: Arc::new(device),
            device_start: 0,
            extent: hash_offset..expected,
            stamp,
            levels,
            n_blocks,
        })
    }

    /// Returns the check of a package of `len_bytes` bytes against the tree in its signature file. Blocks of the device are
    /// those of the tree. Without a tree, which is optional, the root hash is computed, and no damaged blocks are found. The root
    /// hash in the signature file is not compared: see [`Idsig::root`].
    ///
    /// # Errors
    /// [`HashDeviceError::Superblock`] if the tree is that of a package of another length.
    pub fn of_idsig(idsig: Idsig, len_bytes: u64) -> Result<Self, HashDeviceError> {
        let (verity, nodes) = (DmVerity::default(), Idsig::nodes());
        let n_blocks = len_bytes.div_ceil(verity.leaf_len());
        let (mut levels, mut device_start) = (Vec::new(), 0);
        if let Some((start, found)) = idsig.tree {
            let end;
            (levels, end) = places(nodes, n_blocks, start);
            device_start = start;
            if end - start != found {
                return Err(HashDeviceError::Superblock(format!(
                    "has a tree of {found} bytes, but that of the package has {}: it belongs to another package",
                    end - start
                )));
            }
        }
        Ok(Self {
            verity,
            nodes,
            is_package: true,
            device: Arc::new(idsig.file),
            device_start,
            extent: 0..0,
            stamp: idsig.stamp,
            levels,
            n_blocks,
        })
    }

    /// Returns `false` if the device has no digests to compare with: for data of one block, whose digest is the root hash, and
    /// for a package whose signature file has no tree. Only the root hash shows damage.
    pub fn has_digests(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Returns the number of blocks of data that the device has digests of.
    pub fn n_blocks(&self) -> u64 {
        self.n_blocks
    }

    /// Checks that a root hash can be compared with that of the device, and that there is one if the device has no digest to
    /// compare with.
    ///
    /// # Errors
    /// [`RootHashError`].
    pub fn check_root(&self, expected: Option<&[u8]>) -> Result<(), RootHashError> {
        let len = self.verity.parameters().function.digest_len();
        match expected {
            Some(root) if root.len() != len => Err(RootHashError::Len {
                found: root.len(),
                expected: len,
            }),
            None if !self.has_digests() => Err(RootHashError::Required),
            _ => Ok(()),
        }
    }

    /// Compares the result for the file `data` of `len_bytes` bytes with the root hash that is expected, if one is.
    pub fn judge(
        &self,
        report: VerityReport,
        data: &Path,
        len_bytes: u64,
        expected: Option<&[u8]>,
    ) -> VerityVerdict {
        VerityVerdict {
            has_root: expected.is_none_or(|root| root == report.root.as_bytes()),
            bytes_beyond: len_bytes - self.covered_len(data, len_bytes),
            report,
        }
    }

    /// Returns the number of bytes of the data that the device has digests of, with superblock and tree if they follow the data
    /// in the same file.
    fn covered_len(&self, data: &Path, len_bytes: u64) -> u64 {
        let content_len = self.content_len(len_bytes);
        let Range { start, end } = self.extent;
        let device = self.device.metadata().ok();
        let device = device.and_then(|device| FileId::of_metadata(&device));
        let is_same = device.is_some() && FileId::of_path(data).ok().flatten() == device;
        if is_same && start >= content_len {
            return content_len + end.min(len_bytes).saturating_sub(start);
        }
        content_len
    }

    /// Returns the parameters in the superblock.
    pub fn format(&self) -> &DmVerity {
        &self.verity
    }
}

/// Returns the number of nodes of each level, the lowest first, with the position of its first node in a tree that starts at
/// `start`, and the position after the tree.
fn places(nodes: Nodes, n_blocks: u64, start: u64) -> (Vec<(u64, u64)>, u64) {
    let (mut levels, mut end) = (Vec::new(), start);
    for n_nodes in nodes.levels(n_blocks).into_iter().rev() {
        levels.insert(0, (n_nodes, end));
        // There are fewer nodes than blocks of data, which have less than 2^63 bytes.
        end = end.saturating_add(n_nodes.saturating_mul(nodes.len_bytes as u64));
    }
    (levels, end)
}

impl Format for VerityCheck {
    type Hash = VerityReport;

    fn leaf_hash(&self) -> Algorithm {
        self.verity.leaf_hash()
    }

    fn leaf_len(&self) -> u64 {
        self.verity.leaf_len()
    }

    fn tail(&self) -> Tail {
        self.verity.tail()
    }

    fn frame(&self, leaf_len: u64) -> Frame {
        self.verity.frame(leaf_len)
    }

    fn content_len(&self, file_len: u64) -> u64 {
        if self.is_package {
            file_len
        } else {
            self.verity.content_len(file_len)
        }
    }

    fn min_len(&self) -> u64 {
        if self.is_package {
            self.n_blocks.saturating_sub(1) * self.leaf_len() + 1
        } else {
            self.verity.min_len()
        }
    }

    fn max_len(&self) -> u64 {
        if self.is_package {
            self.n_blocks * self.leaf_len()
        } else {
            self.verity.max_len()
        }
    }

    fn normalized(&self, text: &str) -> Option<String> {
        self.verity.normalized(text)
    }

    fn builder(&self, engine: Engine, _: u64) -> Box<dyn Builder<VerityReport>> {
        let hash = self.verity.node_hash(engine);
        let computed = || Levels::new(hash.clone(), self.nodes, self.n_blocks, None, 0);
        Box::new(VerityChecker {
            computed: (!self.has_digests()).then(computed),
            hash,
            nodes: self.nodes,
            check: self.clone(),
            next: 0,
            stored: Vec::new(),
            data: Damage::default(),
            failure: None,
        })
    }
}

/// Compares digests of blocks with those in the hash device.
#[derive(Debug)]
struct VerityChecker {
    check: VerityCheck,
    hash: NodeHash,
    nodes: Nodes,
    /// The next block of data.
    next: u64,
    /// The node with the digest of the next block, or nothing if it was not read.
    stored: Vec<u8>,
    /// The tree, if the device has no digests.
    computed: Option<Levels>,
    data: Damage,
    failure: Option<io::Error>,
}

impl VerityChecker {
    /// Reads nodes of a level.
    fn read(&self, level: usize, node: u64, n_nodes: u64) -> io::Result<Vec<u8>> {
        let len_bytes = self.nodes.len_bytes as u64;
        let mut nodes = vec![0; (n_nodes * len_bytes) as usize];
        let position = self.check.levels[level].1 + node * len_bytes;
        // Checks of several threads share the file.
        read_exact_at(&self.check.device, &mut nodes, position)?;
        Ok(nodes)
    }

    /// Returns the digest in a slot of a node.
    fn slot<'n>(&self, node: &'n [u8], index: u64) -> &'n [u8] {
        let start = (index % self.nodes.arity as u64) as usize * self.nodes.slot_len;
        &node[start..][..self.hash.function.digest_len()]
    }

    /// Compares the digest of the next block.
    fn compare(&mut self, digest: &[u8]) -> io::Result<()> {
        let (block, arity) = (self.next, self.nodes.arity as u64);
        if block.is_multiple_of(arity) {
            self.stored = self.read(0, block / arity, 1)?;
        }
        if self.slot(&self.stored, block) != digest {
            self.data.add(block);
        }
        Ok(())
    }

    /// Compares all nodes with the digests in the nodes above them. Returns the digest of the highest node, and the blocks
    /// of the device that are damaged.
    fn check_nodes(&self) -> io::Result<(Vec<u8>, Damage)> {
        let (mut damage, mut root) = (Damage::default(), Vec::new());
        let (levels, len_bytes) = (&self.check.levels, self.nodes.len_bytes);
        // From the highest level down, as the nodes lie in the device.
        for (level, (n_nodes, start)) in levels.iter().enumerate().rev() {
            let mut above: Option<(u64, Vec<u8>)> = None;
            for first in (0..*n_nodes).step_by(BATCH as usize) {
                let nodes = self.read(level, first, BATCH.min(n_nodes - first))?;
                let digests = self.hash.digests(&nodes, len_bytes);
                let digests = digests.chunks(self.hash.function.digest_len());
                for (node, digest) in (first..).zip(digests) {
                    if level + 1 == levels.len() {
                        root = digest.to_vec();
                        continue;
                    }
                    let parent = node / self.nodes.arity as u64;
                    if above.as_ref().is_none_or(|(known, _)| *known != parent) {
                        above = Some((parent, self.read(level + 1, parent, 1)?));
                    }
                    let is_right = above
                        .as_ref()
                        .is_some_and(|(_, above)| self.slot(above, node) == digest);
                    if !is_right {
                        let first = (start - self.check.device_start) / len_bytes as u64;
                        damage.add(first + node);
                    }
                }
            }
        }
        Ok((root, damage))
    }
}

impl Builder<VerityReport> for VerityChecker {
    fn push(&mut self, digests: &[u8]) {
        if let Some(levels) = &mut self.computed {
            return levels.push(digests);
        }
        for digest in digests.chunks(self.hash.function.digest_len()) {
            if self.failure.is_none()
                && let Err(error) = self.compare(digest)
            {
                self.failure = Some(error);
            }
            self.next += 1;
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<VerityReport> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let (root, device) = match self.computed.take() {
            Some(levels) => (levels.finish()?, Damage::default()),
            None => self.check_nodes()?,
        };
        if Stamp::of(&self.check.device.metadata()?) != self.check.stamp {
            return Err(io::Error::other(
                "changed while it was read: check it again",
            ));
        }
        Ok(VerityReport {
            root: TreeHash::of_digest(root),
            data: self.data,
            device,
            n_blocks: self.check.n_blocks,
        })
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerityReport {
    /// The digest of the highest block of the tree. If the device has no digests, the root hash of the data.
    pub root: TreeHash,
    /// The blocks of the data whose digests differ from those in the hash device.
    pub data: Damage,
    /// The blocks of the hash device whose digests differ from those in the blocks above them.
    pub device: Damage,
    /// Number of blocks of the data.
    pub n_blocks: u64,
}

/// Writes the root hash.
impl fmt::Display for VerityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)
    }
}

/// The result of a check, and its comparison with what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerityVerdict {
    /// The result of the check.
    pub report: VerityReport,
    /// Whether the root hash is the expected one, or none is expected.
    pub has_root: bool,
    /// Number of bytes of the data that the device has no digests of.
    pub bytes_beyond: u64,
}

impl VerityVerdict {
    /// Returns `true` if the data and the device belong together and have the expected root hash.
    pub fn is_right(&self) -> bool {
        let n_damaged = self.report.data.n_blocks() + self.report.device.n_blocks();
        self.has_root && n_damaged == 0 && self.bytes_beyond == 0
    }
}

/// Numbers of damaged blocks. The first 1000 ranges are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    ranges: Vec<RangeInclusive<u64>>,
    n_blocks: u64,
}

impl Damage {
    fn add(&mut self, block: u64) {
        self.n_blocks += 1;
        let n_ranges = self.ranges.len();
        match self.ranges.last_mut() {
            Some(last) if last.end() + 1 == block => *last = *last.start()..=block,
            _ if n_ranges < MAX_RANGES => self.ranges.push(block..=block),
            _ => {}
        }
    }

    /// Returns the number of damaged blocks.
    pub fn n_blocks(&self) -> u64 {
        self.n_blocks
    }

    /// Returns the first ranges of damaged blocks.
    pub fn ranges(&self) -> &[RangeInclusive<u64>] {
        &self.ranges
    }
}

/// Writes the numbers of the blocks, for example `3, 7-9`.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.ranges.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            match (range.start(), range.end()) {
                (start, end) if start == end => write!(f, "{separator}{start}")?,
                (start, end) => write!(f, "{separator}{start}-{end}")?,
            }
        }
        let shown: u64 = self
            .ranges
            .iter()
            .map(|range| range.end() - range.start() + 1)
            .sum();
        match self.n_blocks - shown {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}
