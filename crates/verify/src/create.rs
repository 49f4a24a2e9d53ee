//! Hashes files for a new torrent: verification with nothing to compare with.

use std::io;
use std::path::PathBuf;

use hashlane_metainfo::{NewContent, PieceHashes};
use hashlane_pipeline::{CancelToken, FileFact, FileSet as _, Found, Options, hash_messages};

use crate::hash_versions::HashVersions;
use crate::layout::Layout;
use crate::payload::Payload;
use crate::piece_hasher::piece_hasher;

/// How far the hashing of a payload is.
#[derive(Clone, Copy, Debug)]
pub struct HashProgress {
    /// Bytes that are hashed.
    pub hashed_bytes: u64,
    /// Bytes that there are, padding included.
    pub total_bytes: u64,
}

/// Why there are no hashes of a payload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// Nothing could be hashed at all.
    #[error(transparent)]
    Pipeline(#[from] hashlane_pipeline::Error),
    /// A file is not what it was when the payload was looked through, or not for all of the time:
    /// the hashes would be of bytes that never were there together.
    #[error("{}: changed while it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system could not open or read a file.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// Somebody asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// Hashes the pieces of a payload's content, reading and nothing else, as fast as it could be
/// verified. `progress` is called on this thread.
///
/// # Errors
/// A [`CreateError`] that names the file, if there is one to blame. There are no hashes of a part.
///
/// # Panics
/// If `content` is not made of the files of `payload`.
pub fn hash_payload(
    payload: &Payload,
    content: &NewContent,
    options: &Options,
    cancel: &CancelToken,
    mut progress: impl FnMut(&HashProgress),
) -> Result<PieceHashes, CreateError> {
    assert_eq!(
        payload.files(),
        content.files(),
        "the content is of this payload"
    );
    let versions = HashVersions::of(content.version());
    let lengths = content.lengths();
    let places = content.offsets().iter().zip(content.files());
    let places = places.map(|(offset, file)| (*offset, file.length));
    let layout = Layout::of_places(places, lengths, versions);
    let n_pieces = lengths.piece_count() as usize;
    let mut hashes = PieceHashes {
        v1: vec![[0; 20]; if versions.v1 { n_pieces } else { 0 }],
        v2: vec![[0; 32]; if versions.v2 { n_pieces } else { 0 }],
    };
    let mut hashed_bytes = 0;
    let total_bytes = layout.total_bytes();
    let mut failure = None;
    let mut is_faulty = false;
    payload.settle();
    // The first fault ends it.
    let stop = cancel.child();
    let hasher = |engine| piece_hasher(&layout, engine);
    hash_messages(&layout, payload, hasher, options, &stop, |results| {
        for result in results.messages {
            hashed_bytes += result.len_bytes;
            let index = result.message as usize;
            match result.digest {
                Ok((digest, root)) => {
                    if let Some(digest) = digest {
                        hashes.v1[index] = digest.into();
                    }
                    if let Some(root) = root {
                        hashes.v2[index] = root;
                    }
                }
                Err(_) => is_faulty = true,
            }
        }
        for fact in results.facts {
            if failure.is_none() {
                failure = failure_of(payload, content, fact);
            }
        }
        if is_faulty || failure.is_some() {
            stop.cancel();
        }
        progress(&HashProgress {
            hashed_bytes: hashed_bytes + results.pending_bytes,
            total_bytes,
        });
    })?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if cancel.is_cancelled() {
        return Err(CreateError::Cancelled);
    }
    match payload.changed() {
        Some(path) => Err(CreateError::Changed { path }),
        // It was cut off, and has its old length and time again.
        None if is_faulty => Err(CreateError::Changed {
            path: payload.root().to_owned(),
        }),
        None => Ok(hashes),
    }
}

/// What is wrong with a file of which this was found out.
fn failure_of(payload: &Payload, content: &NewContent, fact: FileFact) -> Option<CreateError> {
    let path = payload.path_of(fact.file).ok()?;
    match fact.found {
        Found::Present(length) if length == content.files()[fact.file.get()].length => None,
        Found::Present(_) | Found::Absent => Some(CreateError::Changed { path }),
        Found::Failed { error, .. } => Some(CreateError::Io { path, error }),
    }
}
