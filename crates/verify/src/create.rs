//! Hashes files for a new torrent: verification with nothing to compare with.

use std::io;
use std::path::PathBuf;

use hashlane_metainfo::{NewContent, PieceHashes};

use crate::content::Places as _;
use crate::files::{FileFact, Found};
use crate::scan::scan;
use crate::{CancelToken, Error, Families, Layout, Options, Payload};

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
    Scan(#[from] Error),
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
    let families = Families::of(content.version());
    let lengths = content.lengths();
    let places = content.offsets().iter().zip(content.files());
    let places = places.map(|(offset, file)| (*offset, file.length));
    let layout = Layout::of_places(places, lengths, families);
    let n_pieces = lengths.piece_count() as usize;
    let mut hashes = PieceHashes {
        v1: vec![[0; 20]; if families.v1 { n_pieces } else { 0 }],
        v2: vec![[0; 32]; if families.v2 { n_pieces } else { 0 }],
    };
    let mut hashed_bytes = 0;
    let total_bytes = layout.total_bytes();
    let mut failure = None;
    let mut is_faulty = false;
    payload.settle();
    // The first fault ends it.
    let stop = cancel.child();
    scan(&layout, payload, options, &stop, |news, pending_bytes| {
        for (piece, result) in news.pieces {
            hashed_bytes += u64::from(layout.piece_len(piece));
            let index = piece.get() as usize;
            match result {
                Ok(digests) => {
                    if let Some(digest) = digests.v1 {
                        hashes.v1[index] = digest;
                    }
                    if let Some(root) = digests.v2 {
                        hashes.v2[index] = root;
                    }
                }
                Err(_) => is_faulty = true,
            }
        }
        for fact in news.facts {
            if failure.is_none() {
                failure = failure_of(payload, content, fact);
            }
        }
        if is_faulty || failure.is_some() {
            stop.cancel();
        }
        progress(&HashProgress {
            hashed_bytes: hashed_bytes + pending_bytes,
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
