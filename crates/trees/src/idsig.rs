//! The tree in Android's signature files of version 4 (`.apk.idsig`).
//!
//! Source: "APK signature scheme v4" in Android's documentation, and the tree of apksig.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

use hashlane_files::Stamp;
use hashlane_hashes::Algorithm;
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::format::{Builder, Format, Tail, TreeHash, normalized_hex};
use crate::levels::{Levels, NodeHash, Nodes};

const BLOCK_LEN: u32 = 4096;

/// The root hash in the `hashing_info` of a signature file: SHA-256 over blocks of 4096 bytes, without a salt. The tree is
/// that of fs-verity, except that a file of one block has a block of digests, too. The result is the root itself.
#[derive(Clone, Debug, Default)]
pub struct ApkIdsig {
    tree: Option<Arc<File>>,
}

impl ApkIdsig {
    /// Also writes the tree to a file that is open for writing and empty: the blocks of digests, the highest level first.
    /// Hash one file with this format.
    #[must_use]
    pub fn with_tree(mut self, tree: impl Into<Arc<File>>) -> Self {
        self.tree = Some(tree.into());
        self
    }
}

impl Format for ApkIdsig {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        Algorithm::Sha256
    }

    fn leaf_len(&self) -> u64 {
        BLOCK_LEN.into()
    }

    fn tail(&self) -> Tail {
        Tail::Padded
    }

    fn frame(&self, _: u64) -> Frame {
        Frame::default()
    }

    fn min_len(&self) -> u64 {
        1
    }

    fn normalized(&self, text: &str) -> Option<String> {
        normalized_hex(text, Algorithm::Sha256.digest_len())
    }

    fn builder(&self, engine: Engine, len_bytes: u64) -> Box<dyn Builder<TreeHash>> {
        let function = Algorithm::Sha256;
        let hash = NodeHash {
            engine,
            function,
            frame: Frame::default(),
        };
        let n_blocks = len_bytes.div_ceil(BLOCK_LEN.into());
        let tree = self.tree.clone();
        let levels = Levels::new(hash, Idsig::nodes(), n_blocks, tree, 0);
        Box::new(IdsigBuilder(levels))
    }
}

/// Computes the root hash of a file.
#[derive(Debug)]
struct IdsigBuilder(Levels);

impl Builder<TreeHash> for IdsigBuilder {
    fn push(&mut self, digests: &[u8]) {
        self.0.push(digests);
    }

    fn finish(self: Box<Self>) -> io::Result<TreeHash> {
        Ok(TreeHash::of_digest(self.0.finish()?))
    }
}

/// The numbers in a signature file: its version, SHA-256, and the length of a block as a power of two.
const VERSION: u32 = 2;
const SHA256: u32 = 1;
const LOG2_BLOCK_LEN: u8 = 12;

/// A signature file of version 4: the root hash, and the place of the tree. The signatures in it are not checked.
#[derive(Debug)]
pub struct Idsig {
    pub(crate) file: File,
    /// The state of the file when it was opened.
    pub(crate) stamp: Stamp,
    root: TreeHash,
    /// Position and length of the tree in bytes, if the file has one.
    pub(crate) tree: Option<(u64, u64)>,
}

impl Idsig {
    /// Reads the root hash of a signature file.
    ///
    /// # Errors
    /// The file cannot be read, or is no signature file with these parameters: [`io::ErrorKind::InvalidData`].
    pub fn new(mut file: File) -> io::Result<Self> {
        let stamp = Stamp::of(&file.metadata()?);
        let mut rest = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        let version = number(&mut file, &mut rest)?;
        if version != VERSION {
            return Err(invalid(&format!(
                "has version {version} of signature files: only {VERSION} is known"
            )));
        }
        let info_len = field(&mut file, &mut rest)?;
        let mut info = [0; INFO_LEN];
        if info_len as usize != INFO_LEN {
            let reason =
                "its root hash has a salt or another length: only SHA-256 without a salt is known";
            return Err(invalid(reason));
        }
        file.read_exact(&mut info)?;
        let (start, root) = info.split_at(INFO_LEN - 32);
        let mut expected = SHA256.to_le_bytes().to_vec();
        expected.push(LOG2_BLOCK_LEN);
        // The lengths of the salt and of the root hash.
        expected.extend([0, 0, 0, 0, 32, 0, 0, 0]);
        if start != expected {
            let reason =
                "its root hash is not of SHA-256 with blocks of 4096 bytes and without a salt";
            return Err(invalid(reason));
        }
        let signing_len = field(&mut file, &mut rest)?;
        file.seek_relative(signing_len.into())?;
        let tree = if rest == 0 {
            None
        } else {
            let len = field(&mut file, &mut rest)?;
            Some((file.stream_position()?, len.into())).filter(|_| len > 0)
        };
        if rest > 0 {
            return Err(invalid("does not end with its tree"));
        }
        let root = TreeHash::of_digest(root.to_vec());
        Ok(Self {
            file,
            stamp,
            root,
            tree,
        })
    }

    /// Returns the root hash that the file says the package has.
    pub fn root(&self) -> &TreeHash {
        &self.root
    }

    /// Returns `true` if the file has the tree, which is optional.
    pub fn has_tree(&self) -> bool {
        self.tree.is_some()
    }

    pub(crate) fn nodes() -> Nodes {
        Nodes {
            always_has_node: true,
            ..Nodes::dense(BLOCK_LEN as usize, Algorithm::Sha256.digest_len())
        }
    }
}

/// Length of the hash function, the length of a block, an empty salt and a root hash of 32 bytes.
const INFO_LEN: usize = 4 + 1 + 4 + 4 + 32;

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Reads a number, and takes it off the number of bytes that follow.
fn number(file: &mut File, rest: &mut u64) -> io::Result<u32> {
    let mut number = [0; 4];
    *rest = rest
        .checked_sub(4)
        .ok_or_else(|| invalid("is too short: it is truncated or no signature file"))?;
    file.read_exact(&mut number)?;
    Ok(u32::from_le_bytes(number))
}

/// Reads the length of a field whose bytes follow, and takes them off `rest`.
fn field(file: &mut File, rest: &mut u64) -> io::Result<u32> {
    let len = number(file, rest)?;
    *rest = rest
        .checked_sub(len.into())
        .ok_or_else(|| invalid("is too short: it is truncated or no signature file"))?;
    Ok(len)
}
