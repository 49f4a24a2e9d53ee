//! dm-verity: the root hash by which Linux authenticates a block device, and the device with the tree.
//!
//! Source: `DMVerity` in the wiki of cryptsetup, and "dm-verity" in the documentation of the Linux kernel.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use hashlane_files::write_all_at;
use hashlane_hashes::Algorithm;
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::format::{Builder, Format, Tail, TreeHash, normalized_hex};
use crate::levels::{Levels, NodeHash, Nodes};

/// Limits of the length of a block in bytes.
const BLOCK_LENS: RangeInclusive<u32> = 512..=512 << 10;

/// Maximum length of a salt in bytes.
const MAX_SALT_LEN: usize = 256;

/// Length of the superblock at the start of the hash device in bytes.
pub(crate) const SUPERBLOCK_LEN: usize = 512;

/// What a superblock starts with.
const SIGNATURE: &[u8; 8] = b"verity\0\0";

/// Maximum position of the superblock in bytes. What a file can have fits after it.
const MAX_HASH_OFFSET: u64 = 1 << 62;

/// The version of the superblock.
const VERSION: u32 = 1;

/// The format of dm-verity. A leaf is a block of the data, and a node of the tree is a block of digests. The result is the
/// digest of the highest node. Without a number of blocks, every byte of the file belongs to a block: a file whose length is no
/// multiple of that of a block has no result.
#[derive(Clone, Debug, Default)]
pub struct DmVerity {
    parameters: VerityParameters,
    device: Option<Arc<File>>,
}

/// The parameters of dm-verity. Callers make them, so a new field is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerityParameters {
    /// SHA-1, SHA-256 or SHA-512.
    pub function: Algorithm,
    /// The order of salt and block, and the slots of digests.
    pub format: VerityFormat,
    /// Length of a block of the data in bytes: a power of two from 512 to 524,288.
    pub data_block_len: u32,
    /// Length of a block of the hash device in bytes, with the same limits.
    pub hash_block_len: u32,
    /// The salt, at most 256 bytes.
    pub salt: Vec<u8>,
    /// Number of blocks of the data at the start of the file, at least 1, or `None` for the whole file. Bytes after these blocks
    /// are not hashed.
    pub data_blocks: Option<u64>,
    /// Position of the superblock in the hash device in bytes: a multiple of 512.
    pub hash_offset: u64,
    /// The UUID of the hash device. Without one, it is made of the root hash.
    pub uuid: Option<[u8; 16]>,
}

/// All blocks of the file, without a salt, with SHA-256 and blocks of 4096 bytes in format 1.
impl Default for VerityParameters {
    fn default() -> Self {
        Self {
            function: Algorithm::Sha256,
            format: VerityFormat::Normal,
            data_block_len: 4096,
            hash_block_len: 4096,
            salt: Vec::new(),
            data_blocks: None,
            hash_offset: 0,
            uuid: None,
        }
    }
}

/// The type of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerityFormat {
    /// 0, as in Chrome OS: the salt follows the block, and digests have no gaps.
    ChromeOs,
    /// 1: the salt precedes the block, and the slots of digests are powers of two.
    Normal,
}

impl VerityFormat {
    /// Returns the format with this number, 0 or 1.
    pub fn of(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::ChromeOs),
            1 => Some(Self::Normal),
            _ => None,
        }
    }
}

/// Parameters that dm-verity does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerityError {
    /// The hash function is none of SHA-1, SHA-256 and SHA-512.
    Function(Algorithm),
    /// The length of a block is no power of two from 512 to 524,288 bytes.
    BlockLen(u32),
    /// The salt has more than 256 bytes. The number of its bytes.
    SaltLen(usize),
    /// The number of blocks is 0, or more than a file can have.
    DataBlocks(u64),
    /// The position of the superblock is no multiple of 512, or beyond the end of any file.
    HashOffset(u64),
}

impl fmt::Display for VerityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(function) => {
                let name = function.name();
                write!(f, "dm-verity has no {name}: use sha1, sha256 or sha512")
            }
            Self::BlockLen(len) => {
                let (min, max) = (BLOCK_LENS.start(), BLOCK_LENS.end());
                write!(
                    f,
                    "a block of {len} bytes: use a power of two from {min} to {max}"
                )
            }
            Self::SaltLen(len) => {
                write!(f, "a salt of {len} bytes: use at most {MAX_SALT_LEN}")
            }
            Self::DataBlocks(n_blocks) => write!(f, "{n_blocks} blocks of data"),
            Self::HashOffset(offset) => {
                write!(
                    f,
                    "a superblock at byte {offset}: use a multiple of {SUPERBLOCK_LEN}"
                )
            }
        }
    }
}

impl std::error::Error for VerityError {}

impl DmVerity {
    /// Returns the format with these parameters.
    ///
    /// # Errors
    /// dm-verity does not have such parameters.
    pub fn new(parameters: VerityParameters) -> Result<Self, VerityError> {
        let function = parameters.function;
        if !matches!(
            function,
            Algorithm::Sha1 | Algorithm::Sha256 | Algorithm::Sha512
        ) {
            return Err(VerityError::Function(function));
        }
        for len in [parameters.data_block_len, parameters.hash_block_len] {
            if !len.is_power_of_two() || !BLOCK_LENS.contains(&len) {
                return Err(VerityError::BlockLen(len));
            }
        }
        let salt_len = parameters.salt.len();
        if salt_len > MAX_SALT_LEN {
            return Err(VerityError::SaltLen(salt_len));
        }
        let has_max_len = |n_blocks: u64| {
            let len = n_blocks.checked_mul(parameters.data_block_len.into());
            len.is_some_and(|len| i64::try_from(len).is_ok())
        };
        if let Some(n_blocks) = parameters.data_blocks
            && (n_blocks == 0 || !has_max_len(n_blocks))
        {
            return Err(VerityError::DataBlocks(n_blocks));
        }
        let offset = parameters.hash_offset;
        if !offset.is_multiple_of(SUPERBLOCK_LEN as u64) || offset > MAX_HASH_OFFSET {
            return Err(VerityError::HashOffset(offset));
        }
        Ok(Self {
            parameters,
            device: None,
        })
    }

    /// Also writes the hash device to a file that is open for writing and empty: the superblock, and the tree from the next
    /// block on, the highest level first. Hash one file with this format.
    #[must_use]
    pub fn with_device(mut self, device: impl Into<Arc<File>>) -> Self {
        self.device = Some(device.into());
        self
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> &VerityParameters {
        &self.parameters
    }

    pub(crate) fn node_hash(&self, engine: Engine) -> NodeHash {
        NodeHash {
            engine,
            function: self.parameters.function,
            frame: self.frame(0),
        }
    }

    pub(crate) fn nodes(&self) -> Nodes {
        let digest_len = self.parameters.function.digest_len();
        let len_bytes = self.parameters.hash_block_len as usize;
        Nodes {
            len_bytes,
            arity: 1 << (len_bytes / digest_len).ilog2(),
            slot_len: match self.parameters.format {
                VerityFormat::ChromeOs => digest_len,
                VerityFormat::Normal => digest_len.next_power_of_two(),
            },
            always_has_node: false,
        }
    }

    /// Returns the position of the tree in the hash device in bytes.
    pub(crate) fn tree_start(&self) -> u64 {
        let end = self.parameters.hash_offset + SUPERBLOCK_LEN as u64;
        end.next_multiple_of(self.parameters.hash_block_len.into())
    }

    /// Returns the superblock of a device with this number of blocks and this root hash.
    fn superblock(&self, n_blocks: u64, root: &[u8]) -> [u8; SUPERBLOCK_LEN] {
        let parameters = &self.parameters;
        let uuid = parameters.uuid.unwrap_or_else(|| {
            // Version 8 and the variant of RFC 9562.
            let mut uuid: [u8; 16] = root[..16].try_into().unwrap_or_default();
            uuid[6] = uuid[6] & 0x0f | 0x80;
            uuid[8] = uuid[8] & 0x3f | 0x80;
            uuid
        });
        let mut block = [0; SUPERBLOCK_LEN];
        let mut put = |at: usize, bytes: &[u8]| block[at..][..bytes.len()].copy_from_slice(bytes);
        put(0, SIGNATURE);
        put(8, &VERSION.to_le_bytes());
        put(12, &(parameters.format as u32).to_le_bytes());
        put(16, &uuid);
        put(32, parameters.function.name().as_bytes());
        put(64, &parameters.data_block_len.to_le_bytes());
        put(68, &parameters.hash_block_len.to_le_bytes());
        put(72, &n_blocks.to_le_bytes());
        put(80, &(parameters.salt.len() as u16).to_le_bytes());
        put(88, &parameters.salt);
        block
    }

    /// Returns the format in a superblock at this position of its device, or the reason why there is none.
    pub(crate) fn of_superblock(
        block: &[u8; SUPERBLOCK_LEN],
        hash_offset: u64,
    ) -> Result<Self, String> {
        let number = |at: usize| {
            let bytes: [u8; 4] = block[at..at + 4].try_into().unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        if !block.starts_with(SIGNATURE) {
            return Err("has no superblock of dm-verity".into());
        }
        if number(8) != VERSION {
            let version = number(8);
            return Err(format!(
                "the superblock has version {version}: only {VERSION} is known"
            ));
        }
        let format = VerityFormat::of(number(12));
        let format = format.ok_or_else(|| format!("no format has the number {}", number(12)))?;
        let name = block[32..64]
            .split(|byte| *byte == 0)
            .next()
            .unwrap_or_default();
        let mut functions = Algorithm::ALL.iter().copied();
        let function = functions.find(|function| function.name().as_bytes() == name);
        let function = function.ok_or_else(|| {
            let name = String::from_utf8_lossy(name).into_owned();
            format!("the hash function {name:?} is unknown: only sha1, sha256 and sha512 are known")
        })?;
        let blocks: [u8; 8] = block[72..80].try_into().unwrap_or_default();
        let n_blocks = u64::from_le_bytes(blocks);
        let salt_len = usize::from(u16::from_le_bytes([block[80], block[81]]));
        let salt = block[88..]
            .get(..salt_len.min(MAX_SALT_LEN + 1))
            .unwrap_or_default();
        let verity = Self::new(VerityParameters {
            function,
            format,
            data_block_len: number(64),
            hash_block_len: number(68),
            salt: salt.to_vec(),
            data_blocks: Some(n_blocks),
            hash_offset,
            uuid: block[16..32].try_into().ok(),
        });
        verity.map_err(|error| format!("the superblock has {error}"))
    }
}

impl Format for DmVerity {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        self.parameters.function
    }

    fn leaf_len(&self) -> u64 {
        self.parameters.data_block_len.into()
    }

    fn tail(&self) -> Tail {
        Tail::Padded
    }

    fn frame(&self, _: u64) -> Frame {
        let salt = self.parameters.salt.clone();
        match self.parameters.format {
            VerityFormat::ChromeOs => Frame::new([], salt),
            VerityFormat::Normal => Frame::new(salt, []),
        }
    }

    fn content_len(&self, file_len: u64) -> u64 {
        let n_blocks = self.parameters.data_blocks;
        file_len.min(n_blocks.map_or(u64::MAX, |n| n * self.leaf_len()))
    }

    fn min_len(&self) -> u64 {
        self.parameters.data_blocks.unwrap_or(1) * self.leaf_len()
    }

    fn len_unit(&self) -> u64 {
        match self.parameters.data_blocks {
            Some(_) => 1,
            None => self.leaf_len(),
        }
    }

    fn normalized(&self, text: &str) -> Option<String> {
        normalized_hex(text, self.parameters.function.digest_len())
    }

    fn builder(&self, engine: Engine, len_bytes: u64) -> Box<dyn Builder<TreeHash>> {
        let n_blocks = len_bytes / self.leaf_len();
        let (hash, device) = (self.node_hash(engine), self.device.clone());
        Box::new(RootBuilder {
            format: self.clone(),
            n_blocks,
            levels: Levels::new(hash, self.nodes(), n_blocks, device, self.tree_start()),
        })
    }
}

/// Computes the root hash of a device.
#[derive(Debug)]
struct RootBuilder {
    format: DmVerity,
    n_blocks: u64,
    levels: Levels,
}

impl Builder<TreeHash> for RootBuilder {
    fn push(&mut self, digests: &[u8]) {
        self.levels.push(digests);
    }

    fn finish(self: Box<Self>) -> io::Result<TreeHash> {
        let root = self.levels.finish()?;
        if let Some(device) = self.format.device.as_deref() {
            let mut first = self.format.superblock(self.n_blocks, &root).to_vec();
            // Zeros fill the blocks of the superblock.
            let offset = self.format.parameters.hash_offset;
            first.resize((self.format.tree_start() - offset) as usize, 0);
            write_all_at(device, &first, offset)?;
        }
        Ok(TreeHash::of_digest(root))
    }
}
