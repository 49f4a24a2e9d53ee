//! Hashes for a new torrent.

use std::io;
use std::path::PathBuf;

use hashlane_metainfo::{NewContent, PieceHashes};
use hashlane_pipeline::{CancelToken, FileFact, FileSet as _, Found, Options, hash_messages};

use crate::layout::{HashVersions, Layout};
use crate::piece_hasher::piece_hasher;
use crate::source_tree::SourceTree;

/// The progress of hashing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HashProgress {
    /// Number of bytes hashed.
    pub hashed_bytes: u64,
    /// Number of bytes to hash, padding included.
    pub total_bytes: u64,
}

/// The reason why a new torrent has no hashes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// Nothing could be read or hashed.
    #[error(transparent)]
    Pipeline(#[from] hashlane_pipeline::Error),
    /// A file changed after the tree was searched. The hashes would cover bytes that never existed at the same time.
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
    /// The caller cancelled the run.
    #[error("interrupted")]
    Cancelled,
}

/// Hashes the pieces of new content, at the speed of a verification. Only reads. `progress` is called on this thread.
///
/// # Errors
/// Returns a [`CreateError`], which names the file if a file is the reason.
///
/// # Panics
/// Panics if `content` does not consist of the files of `tree`.
pub fn hash_source_tree(
    tree: &SourceTree,
    content: &NewContent,
    options: &Options,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(&HashProgress),
) -> Result<PieceHashes, CreateError> {
    assert_eq!(tree.files(), content.files(), "the content is of this tree");
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
    tree.settle();
    // The first fault ends the run.
    let stop = cancel.child();
    let hasher = |engine| piece_hasher(&layout, engine);
    hash_messages(&layout, tree, hasher, options, &stop, |results| {
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
                failure = failure_of(tree, content, fact);
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
    match tree.changed() {
        Some(path) => Err(CreateError::Changed { path }),
        // The file was truncated, and now has its old length and time again.
        None if is_faulty => Err(CreateError::Changed {
            path: tree.root().to_owned(),
        }),
        None => Ok(hashes),
    }
}

/// Returns the error that follows from a fact about a file.
fn failure_of(tree: &SourceTree, content: &NewContent, fact: FileFact) -> Option<CreateError> {
    let path = tree.path_of(fact.file).ok()?;
    match fact.found {
        Found::Present(length) if length == content.files()[fact.file.get()].length => None,
        Found::Present(_) | Found::Absent(_) => Some(CreateError::Changed { path }),
        Found::Skipped => unreachable!("only whole files are skipped"),
        Found::Failed { error, .. } => Some(CreateError::Io { path, error }),
    }
}
