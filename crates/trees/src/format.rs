//! What a format says about its leaves, and its results.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use hashlane_hashes::Algorithm;
use hashlane_pipeline::{CHUNK_LEN, Frame};
use hashlane_sha::Engine;

/// A format of tree hashes. Each format is a module of its own; the way of the bytes is the same for all.
pub trait Format: Send + Sync {
    /// The result for a file: a [`TreeHash`] if the format has a [`TreeName`](crate::TreeName).
    type Hash;

    /// Returns the hash of the leaves.
    fn leaf_hash(&self) -> Algorithm;

    /// Returns the length of a leaf in bytes, at least 1. Only the last leaf of a file can have another length.
    fn leaf_len(&self) -> u64;

    /// Returns the treatment of the last leaf.
    fn tail(&self) -> Tail;

    /// Returns the bytes that are hashed before and after those of a leaf with this length in bytes.
    fn frame(&self, leaf_len: u64) -> Frame;

    /// Returns the number of bytes at the start of a file of `file_len` bytes that are hashed.
    fn content_len(&self, file_len: u64) -> u64 {
        file_len
    }

    /// Returns the minimum length of a file in bytes.
    fn min_len(&self) -> u64 {
        0
    }

    /// Returns the maximum length of a file in bytes.
    fn max_len(&self) -> u64 {
        u64::MAX
    }

    /// Returns the number that divides the lengths of files in bytes: other files have no result.
    fn len_unit(&self) -> u64 {
        1
    }

    /// Returns the text of a result in the form in which a [`TreeHash`] is written, or `None` if `text` is no result of this
    /// format with these parameters.
    fn normalized(&self, text: &str) -> Option<String>;

    /// Returns the builder for a file. `len_bytes` bytes of it are hashed.
    fn builder(&self, engine: Engine, len_bytes: u64) -> Box<dyn Builder<Self::Hash>>;

    /// Returns the format by which the file at `path` can have this result, or `None` for this format.
    ///
    /// # Errors
    /// The reason why the format is not known.
    fn for_result(
        &self,
        _result: &str,
        _path: &Path,
    ) -> Result<Option<Arc<dyn Format<Hash = Self::Hash>>>, String> {
        Ok(None)
    }

    /// Returns the reason why another result does not mean that the file has changed.
    fn doubt(&self) -> Option<String> {
        None
    }

    /// Returns the rules for results of folders, or `None` if folders have none.
    fn folders(&self) -> Option<FolderRules> {
        None
    }

    /// Returns the result of a symbolic link in a folder, or `None` if links cannot be part of a folder.
    fn link(&self, _: Engine, _target: &[u8]) -> Option<Self::Hash> {
        None
    }

    /// Returns the result of a folder with these entries.
    ///
    /// # Errors
    /// The reason why the folder has no result.
    fn folder_hash(
        &self,
        _: Engine,
        _: Vec<HashedEntry<Self::Hash>>,
    ) -> Result<Self::Hash, String> {
        Err("is a directory".into())
    }
}

/// How the folders of a format have results. Formats make it, so a new field is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderRules {
    /// Whether names must be Unicode.
    pub needs_unicode: bool,
    /// Whether a folder without entries is part of the folder above.
    pub keeps_empty: bool,
    /// The entry that makes a folder a repository. It is left out of the folder to hash, and not expected below.
    pub repository: Option<&'static str>,
}

/// The kind of an entry of a folder. Git has these modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitMode {
    /// A file that its owner may not execute.
    File,
    /// A file that its owner may execute.
    Executable,
    /// A symbolic link. Its blob has the bytes of the target.
    Link,
    /// A folder.
    Folder,
}

/// The name, the kind and the result of an entry of a folder.
pub type HashedEntry<H> = (Vec<u8>, GitMode, H);

/// Makes a result from the digests of the leaves of a file.
pub trait Builder<H> {
    /// Appends the digests of the next leaves, one after another without gaps.
    fn push(&mut self, digests: &[u8]);

    /// Returns the result. Called after the digests of all leaves.
    ///
    /// # Errors
    /// A file that the tree is written to cannot be written.
    fn finish(self: Box<Self>) -> io::Result<H>;
}

/// The result of a tree hash for a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeHash {
    bytes: Vec<u8>,
    text: String,
    /// For a CID: number of bytes of the node and of all nodes below it.
    pub(crate) total_len: u64,
}

impl TreeHash {
    pub(crate) fn new(bytes: Vec<u8>, text: String) -> Self {
        let total_len = 0;
        Self {
            bytes,
            text,
            total_len,
        }
    }

    /// Returns a digest whose text has lower-case hexadecimal digits.
    pub(crate) fn of_digest(digest: impl Into<Vec<u8>>) -> Self {
        let digest = digest.into();
        let text = HEXLOWER.encode(&digest);
        Self::new(digest, text)
    }

    /// Returns the digest, or the binary form of a CID.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Writes the text that other programs write for this result, for example `sha256:3d248ca5...` for fs-verity.
impl fmt::Display for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Returns a digest of `len_bytes` bytes in lower-case hexadecimal digits, or `None` if `text` is none.
pub(crate) fn normalized_hex(text: &str, len_bytes: usize) -> Option<String> {
    let is_hex = text.len() == 2 * len_bytes && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| text.to_ascii_lowercase())
}

/// The treatment of the bytes after the last whole leaf of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tail {
    /// Zeros fill the last leaf.
    Padded,
    /// The last leaf is shorter, and an empty file has one empty leaf.
    Short,
}

/// The leaves of a format, as lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaves {
    pub(crate) len_bytes: u64,
    tail: Tail,
    /// Whether bytes follow those of a leaf.
    has_suffix: bool,
}

/// Target length of the messages that contain several leaves. A worker maps a window of this length for each lane.
const MESSAGE_LEN: u64 = 256 << 10;

impl Leaves {
    pub(crate) fn of<H>(format: &dyn Format<Hash = H>) -> Self {
        Self {
            len_bytes: format.leaf_len(),
            tail: format.tail(),
            has_suffix: !format.frame(format.leaf_len()).suffix.is_empty(),
        }
    }

    /// Returns the number of leaves of a file.
    pub(crate) fn count(self, file_len: u64) -> u64 {
        match self.tail {
            Tail::Padded => file_len.div_ceil(self.len_bytes),
            Tail::Short => file_len.div_ceil(self.len_bytes).max(1),
        }
    }

    /// Returns the position after the first `n_leaves` leaves of a file, which can lie after the end of the file.
    pub(crate) fn end(self, n_leaves: u64, file_len: u64) -> u64 {
        let end = n_leaves.saturating_mul(self.len_bytes);
        match self.tail {
            Tail::Padded => end,
            Tail::Short => end.min(file_len),
        }
    }

    /// Returns the length of the chunks that the pipeline hashes side by side, or `None` if each leaf is a message.
    pub(crate) fn chunk_len(self) -> Option<usize> {
        let is_divisor = (CHUNK_LEN as u64).is_multiple_of(self.len_bytes);
        // Chunks have equal frames, so they need equal lengths.
        (is_divisor && self.tail == Tail::Padded && !self.has_suffix)
            .then_some(self.len_bytes as usize)
    }

    /// Returns the number of leaves in each message except the last one of a file.
    pub(crate) fn per_message(self) -> u64 {
        match self.chunk_len() {
            Some(_) => MESSAGE_LEN / self.len_bytes,
            None => 1,
        }
    }
}
