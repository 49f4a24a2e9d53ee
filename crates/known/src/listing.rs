//! The listing of a repository at Hugging Face: the answer of `GET api/models/REPOSITORY/tree/REVISION?recursive=true`, saved as a
//! JSON file.
//!
//! Large files have their SHA-256 in `lfs.oid`. The `oid` of all others is the name of a blob of Git.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_sums::Algorithm;
use serde::Deserialize;

use crate::file::KnownFile;
use crate::text;

/// Maximum length of a listing in bytes.
const MAX_LEN: u64 = 256 << 20;

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    oid: String,
    size: Option<u64>,
    lfs: Option<LargeFile>,
}

#[derive(Deserialize)]
struct LargeFile {
    oid: String,
    size: Option<u64>,
}

/// The reason why a listing cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system's error, a file that is too long, or no JSON of this form.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An entry cannot be used.
    #[error("entry {index}, {path:?}: {reason}")]
    Entry {
        /// The number of the entry, from 1.
        index: usize,
        /// Its path.
        path: String,
        /// The problem.
        reason: &'static str,
    },
}

/// Reads a listing of at most 256 MiB. The paths of the files are relative to the folder of the download.
///
/// # Errors
/// The first problem.
pub fn read(path: &Path) -> Result<Vec<KnownFile>, Error> {
    parse(&text::read(path, MAX_LEN)?)
}

/// Returns the files of a listing, as [`read`] does.
///
/// # Errors
/// The first problem.
pub fn parse(listing: &[u8]) -> Result<Vec<KnownFile>, Error> {
    let entries: Vec<Entry> = serde_json::from_slice(listing).map_err(|error| {
        let reason = format!("is not a listing of Hugging Face: {error}");
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })?;
    let files = entries
        .into_iter()
        .enumerate()
        .filter(|(_, entry)| entry.kind != "directory");
    files
        .map(|(i, entry)| {
            known(&entry).map_err(|reason| Error::Entry {
                index: i + 1,
                path: entry.path,
                reason,
            })
        })
        .collect()
}

fn known(entry: &Entry) -> Result<KnownFile, &'static str> {
    if entry.kind != "file" {
        return Err("is neither a file nor a directory");
    }
    let path = PathBuf::from(&entry.path);
    if !text::stays_inside(&path) {
        return Err("the path leaves the folder");
    }
    let (digest, len_bytes) = match &entry.lfs {
        Some(large) => {
            // The API writes digits alone, and the pointer of Git LFS has a prefix.
            let oid = large.oid.strip_prefix("sha256:").unwrap_or(&large.oid);
            let digest = text::digest(Algorithm::Sha256, oid.as_bytes());
            (digest, large.size.or(entry.size))
        }
        None => (text::git_blob(entry.oid.as_bytes()), entry.size),
    };
    let digest = digest.ok_or("the oid is no digest")?;
    Ok(KnownFile {
        path,
        len_bytes,
        digest,
    })
}
