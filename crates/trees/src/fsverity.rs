//! fs-verity: the digest by which Linux authenticates a file.
//!
//! Source: "fs-verity: read-only file-based authenticity protection" in the documentation of the Linux kernel.

use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::ops::RangeInclusive;
use std::sync::Arc;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hashlane_hashes::{Algorithm, Hasher};
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::format::{Builder, Format, Tail, TreeHash};
use crate::levels::{Levels, NodeHash, Nodes};

/// Limits of the length of a block in bytes: the kernel's smallest block, and the largest page of any architecture.
const BLOCK_LENS: RangeInclusive<u32> = 1024..=65536;

/// Maximum length of a salt in bytes.
const MAX_SALT_LEN: usize = 32;

/// Maximum number of levels of a tree (`FS_VERITY_MAX_LEVELS`).
const MAX_LEVELS: u32 = 8;

/// Length of a descriptor in bytes.
const DESCRIPTOR_LEN: usize = 256;

/// The format of fs-verity. A leaf is a block of the file, and a node of the tree is a block of digests. The salt, filled
/// with zeros to a whole block of the hash function, precedes both. The result is the digest of a descriptor that has the
/// root and the length of the file.
///
/// The default has SHA-256, blocks of 4096 bytes and no salt, as `fsverity digest` does.
#[derive(Clone, Debug)]
pub struct Fsverity {
    function: Algorithm,
    block_len: u32,
    salt: Vec<u8>,
    /// The salt, filled with zeros.
    prefix: Vec<u8>,
    /// The file for the tree.
    tree: Option<Arc<File>>,
    /// The file for the descriptor.
    descriptor: Option<Arc<File>>,
}

/// Parameters that fs-verity does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FsverityError {
    /// The hash function is neither SHA-256 nor SHA-512.
    Function(Algorithm),
    /// The length of a block is no power of two from 1024 to 65536 bytes.
    BlockLen(u64),
    /// The salt has more than 32 bytes. The number of its bytes.
    SaltLen(usize),
}

impl fmt::Display for FsverityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(function) => {
                let name = function.name();
                write!(f, "fs-verity has no {name}: use sha256 or sha512")
            }
            Self::BlockLen(len) => {
                let (min, max) = (BLOCK_LENS.start(), BLOCK_LENS.end());
                write!(
                    f,
                    "a block of {len} bytes: use a power of two from {min} to {max}"
                )
            }
            Self::SaltLen(len) => {
                write!(
                    f,
                    "a salt of {len} bytes: use at most {MAX_SALT_LEN}, which are {} digits",
                    2 * MAX_SALT_LEN
                )
            }
        }
    }
}

impl std::error::Error for FsverityError {}

impl Default for Fsverity {
    fn default() -> Self {
        Self {
            function: Algorithm::Sha256,
            block_len: 4096,
            salt: Vec::new(),
            prefix: Vec::new(),
            tree: None,
            descriptor: None,
        }
    }
}

impl Fsverity {
    /// Returns the format with these parameters: SHA-256 or SHA-512, the length of a block in bytes, and a salt, which may
    /// be empty.
    ///
    /// # Errors
    /// fs-verity does not have such parameters.
    pub fn new(
        function: Algorithm,
        block_len: u64,
        salt: impl Into<Vec<u8>>,
    ) -> Result<Self, FsverityError> {
        let hash_block_len = match function {
            Algorithm::Sha256 => 64,
            Algorithm::Sha512 => 128,
            other => return Err(FsverityError::Function(other)),
        };
        let valid = u32::try_from(block_len).ok();
        let valid = valid.filter(|len| len.is_power_of_two() && BLOCK_LENS.contains(len));
        let salt = salt.into();
        if salt.len() > MAX_SALT_LEN {
            return Err(FsverityError::SaltLen(salt.len()));
        }
        let mut prefix = salt.clone();
        prefix.resize(salt.len().next_multiple_of(hash_block_len), 0);
        Ok(Self {
            function,
            block_len: valid.ok_or(FsverityError::BlockLen(block_len))?,
            salt,
            prefix,
            tree: None,
            descriptor: None,
        })
    }

    /// Also writes the tree to a file that is open for writing and empty: the blocks of digests, the highest level first.
    /// Hash one file with this format.
    #[must_use]
    pub fn with_tree(mut self, tree: impl Into<Arc<File>>) -> Self {
        self.tree = Some(tree.into());
        self
    }

    /// Also writes the descriptor to a file that is open for writing and empty. Hash one file with this format.
    #[must_use]
    pub fn with_descriptor(mut self, descriptor: impl Into<Arc<File>>) -> Self {
        self.descriptor = Some(descriptor.into());
        self
    }

    /// Returns the descriptor of a file with this length and root.
    fn descriptor(&self, len_bytes: u64, root: &[u8]) -> [u8; DESCRIPTOR_LEN] {
        let mut descriptor = [0; DESCRIPTOR_LEN];
        descriptor[0] = 1; // version
        descriptor[1] = match self.function {
            Algorithm::Sha512 => 2,
            _ => 1,
        };
        descriptor[2] = self.block_len.ilog2() as u8;
        descriptor[3] = self.salt.len() as u8;
        descriptor[8..16].copy_from_slice(&len_bytes.to_le_bytes());
        descriptor[16..][..root.len()].copy_from_slice(root);
        descriptor[80..][..self.salt.len()].copy_from_slice(&self.salt);
        descriptor
    }
}

impl Format for Fsverity {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        self.function
    }

    fn leaf_len(&self) -> u64 {
        self.block_len.into()
    }

    fn tail(&self) -> Tail {
        Tail::Padded
    }

    fn frame(&self, _: u64) -> Frame {
        Frame::new(self.prefix.clone(), [])
    }

    fn max_len(&self) -> u64 {
        let arity = u64::from(self.block_len) / self.function.digest_len() as u64;
        let n_blocks = arity.saturating_pow(MAX_LEVELS);
        n_blocks.saturating_mul(self.block_len.into())
    }

    fn normalized(&self, text: &str) -> Option<String> {
        let (name, digits) = text.split_once(':')?;
        let digest = HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()?;
        let is_result = name == self.function.name() && digest.len() == self.function.digest_len();
        is_result.then(|| text.to_ascii_lowercase())
    }

    fn builder(&self, engine: Engine, len_bytes: u64) -> Box<dyn Builder<TreeHash>> {
        let hash = NodeHash {
            engine,
            function: self.function,
            frame: Frame::new(self.prefix.clone(), []),
        };
        let nodes = Nodes::dense(self.block_len as usize, self.function.digest_len());
        let n_blocks = len_bytes.div_ceil(self.block_len.into());
        Box::new(Measurer {
            format: self.clone(),
            engine,
            len_bytes,
            levels: Levels::new(hash, nodes, n_blocks, self.tree.clone(), 0),
        })
    }
}

/// Computes the fs-verity digest of a file, which the kernel and `fsverity` call its measurement.
#[derive(Debug)]
struct Measurer {
    format: Fsverity,
    engine: Engine,
    len_bytes: u64,
    levels: Levels,
}

impl Builder<TreeHash> for Measurer {
    fn push(&mut self, digests: &[u8]) {
        self.levels.push(digests);
    }

    fn finish(self: Box<Self>) -> io::Result<TreeHash> {
        let root = self.levels.finish()?;
        let descriptor = self.format.descriptor(self.len_bytes, &root);
        if let Some(mut file) = self.format.descriptor.as_deref() {
            file.write_all(&descriptor)?;
        }
        let function = self.format.function;
        let mut hasher = Hasher::with_engine(self.engine, function);
        hasher.update(&descriptor);
        let digest = hasher.finalize().as_bytes().to_vec();
        let text = format!("{}:{}", function.name(), HEXLOWER.encode(&digest));
        Ok(TreeHash::new(digest, text))
    }
}
