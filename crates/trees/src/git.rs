//! The identifiers of Git's objects: of blobs for files, and of trees for folders.
//!
//! Source: Git's documentation, "Git Objects" and `hash-function-transition`.

use std::io;

use hashlane_hashes::Algorithm;
use hashlane_pipeline::Frame;
use hashlane_sha::{Engine, Sha1, Sha256};

use crate::format::{
    Builder, FolderRules, Format, GitMode, HashedEntry, Tail, TreeHash, normalized_hex,
};

/// The object format of a repository. Attacks on SHA-1 are not detected: see [`Algorithm::Sha1`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Git {
    /// SHA-1, the usual format.
    Sha1,
    /// SHA-256: `git init --object-format=sha256`.
    Sha256,
}

impl GitMode {
    fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::File => b"100644",
            Self::Executable => b"100755",
            Self::Link => b"120000",
            Self::Folder => b"40000",
        }
    }
}

impl Git {
    /// Returns the identifier of a blob with these bytes.
    pub fn blob(self, engine: Engine, bytes: &[u8]) -> TreeHash {
        self.object(engine, "blob", bytes)
    }

    /// Returns the identifier of a tree with these entries. Names are unique. Git's trees have no empty folders: an entry
    /// for one must be left out.
    pub fn tree(self, engine: Engine, mut entries: Vec<(Vec<u8>, GitMode, TreeHash)>) -> TreeHash {
        // Folders are sorted as if their names ended with a slash.
        let key = |(name, mode, _): &(Vec<u8>, GitMode, TreeHash)| {
            let slash = (*mode == GitMode::Folder).then_some(b'/');
            name.iter().copied().chain(slash).collect::<Vec<u8>>()
        };
        entries.sort_by_cached_key(key);
        let mut bytes = Vec::new();
        for (name, mode, id) in entries {
            bytes.extend_from_slice(mode.as_bytes());
            bytes.push(b' ');
            bytes.extend_from_slice(&name);
            bytes.push(0);
            bytes.extend_from_slice(id.as_bytes());
        }
        self.object(engine, "tree", &bytes)
    }

    fn object(self, engine: Engine, kind: &str, bytes: &[u8]) -> TreeHash {
        let object = [&header(kind, bytes.len() as u64), bytes].concat();
        TreeHash::of_digest(match self {
            Self::Sha1 => engine.digest::<Sha1>(&object).as_ref().to_vec(),
            Self::Sha256 => engine.digest::<Sha256>(&object).as_ref().to_vec(),
        })
    }
}

/// Returns the bytes before the content of an object.
fn header(kind: &str, len_bytes: u64) -> Vec<u8> {
    format!("{kind} {len_bytes}\0").into_bytes()
}

impl Format for Git {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        match self {
            Self::Sha1 => Algorithm::Sha1,
            Self::Sha256 => Algorithm::Sha256,
        }
    }

    /// Each file is one leaf.
    fn leaf_len(&self) -> u64 {
        u64::MAX
    }

    fn tail(&self) -> Tail {
        Tail::Short
    }

    fn frame(&self, leaf_len: u64) -> Frame {
        Frame::new(header("blob", leaf_len), Vec::new())
    }

    fn normalized(&self, text: &str) -> Option<String> {
        normalized_hex(text, self.leaf_hash().digest_len())
    }

    fn builder(&self, _: Engine, _: u64) -> Box<dyn Builder<TreeHash>> {
        Box::new(GitBuilder(Vec::new()))
    }

    fn folders(&self) -> Option<FolderRules> {
        Some(FolderRules {
            needs_unicode: false,
            keeps_empty: false,
            repository: Some(".git"),
        })
    }

    fn link(&self, engine: Engine, target: &[u8]) -> Option<TreeHash> {
        Some(self.blob(engine, target))
    }

    fn folder_hash(
        &self,
        engine: Engine,
        entries: Vec<HashedEntry<TreeHash>>,
    ) -> Result<TreeHash, String> {
        Ok(self.tree(engine, entries))
    }
}

/// Takes the identifier of a file.
#[derive(Debug)]
struct GitBuilder(Vec<u8>);

impl Builder<TreeHash> for GitBuilder {
    fn push(&mut self, digests: &[u8]) {
        self.0.extend_from_slice(digests);
    }

    fn finish(self: Box<Self>) -> io::Result<TreeHash> {
        Ok(TreeHash::of_digest(self.0))
    }
}
