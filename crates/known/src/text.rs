//! Digests and files in text.

use std::fs::File;
use std::io;
use std::path::{Component, Path};

use hashlane_files::read_limited;
use hashlane_sums::{Algorithm, Digest};
use serde::de::DeserializeOwned;

use crate::file::KnownDigest;

/// Returns the digest of a hash function, or `None` if `text` is none in lower-case hexadecimal digits.
pub(crate) fn digest(function: Algorithm, text: &[u8]) -> Option<KnownDigest> {
    hex(function.digest_len(), text).map(|digest| KnownDigest::Digest(function, digest))
}

/// Returns the digest in an entity tag of Hugging Face: SHA-256 for large files, and the name of a blob of Git for others.
pub(crate) fn entity_tag(text: &[u8]) -> Option<KnownDigest> {
    digest(Algorithm::Sha256, text).or_else(|| git_blob(text))
}

/// Returns the SHA-1 name of a blob of Git.
pub(crate) fn git_blob(text: &[u8]) -> Option<KnownDigest> {
    hex(Algorithm::Sha1.digest_len(), text).map(KnownDigest::GitBlob)
}

fn hex(len_bytes: usize, text: &[u8]) -> Option<Digest> {
    let is_lower = !text.iter().any(u8::is_ascii_uppercase);
    let digest = (text.len() == 2 * len_bytes && is_lower).then(|| Digest::from_hex(text));
    digest.flatten()
}

/// Returns `true` for a relative path of names alone, which cannot leave its folder.
pub(crate) fn stays_inside(path: &Path) -> bool {
    let mut components = path.components();
    let has_names = components.clone().next().is_some();
    has_names && components.all(|component| matches!(component, Component::Normal(_)))
}

/// Reads a file of at most `max_len` bytes.
pub(crate) fn read(path: &Path, max_len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if read_limited(File::open(path)?, max_len, &mut bytes)? {
        return Ok(bytes);
    }
    Err(io::Error::other(format!("is longer than {max_len} bytes")))
}

/// Reads a JSON file of at most `max_len` bytes.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path, max_len: u64) -> io::Result<T> {
    Ok(serde_json::from_slice(&read(path, max_len)?)?)
}
