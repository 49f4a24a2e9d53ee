//! Hashes for a new torrent.

use std::io;
use std::path::PathBuf;

use hashlane_metainfo::{NewContent, PieceHashes};
use hashlane_pipeline::{
    CancelToken, FileFact, FileSet as _, Found, Options, Results, hash_messages, hash_messages_on,
};

use crate::layout::{HashVersions, Layout};
use crate::piece_hasher::{PieceDigests, piece_hasher};
use crate::source_tree::SourceTree;

/// The progress of [`hash_source_tree`], in bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HashProgress {
    /// Number of bytes hashed so far, padding included.
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
    let layout = layout_of(tree, content);
    let mut hashes = NewHashes::new(tree, content, &layout, cancel);
    let stop = hashes.stop.clone();
    let hasher = |engine| piece_hasher(&layout, engine);
    hash_messages(&layout, tree, hasher, options, &stop, |results| {
        progress(&hashes.receive(results));
    })?;
    hashes.finish(cancel)
}

/// Hashes the pieces of new content on threads of the caller, which `on_threads` provides as in
/// [`Verification::run_on`](crate::Verification::run_on). All else is as for [`hash_source_tree`].
///
/// # Errors
/// As for [`hash_source_tree`].
///
/// # Panics
/// As for [`hash_source_tree`].
pub fn hash_source_tree_on(
    tree: &SourceTree,
    content: &NewContent,
    options: &Options,
    cancel: &CancelToken,
    on_threads: impl FnOnce(&(dyn Fn() + Sync)),
    mut progress: impl FnMut(&HashProgress) + Send,
) -> Result<PieceHashes, CreateError> {
    let layout = layout_of(tree, content);
    let mut hashes = NewHashes::new(tree, content, &layout, cancel);
    let stop = hashes.stop.clone();
    let hasher = |engine| piece_hasher(&layout, engine);
    let receive = |results| progress(&hashes.receive(results));
    hash_messages_on(&layout, tree, hasher, options, &stop, on_threads, receive)?;
    hashes.finish(cancel)
}

/// Returns the layout of new content.
fn layout_of(tree: &SourceTree, content: &NewContent) -> Layout {
    assert_eq!(tree.files(), content.files(), "the content is of this tree");
    let places = content.offsets().iter().zip(content.files());
    let places = places.map(|(offset, file)| (*offset, file.length));
    let versions = HashVersions::of(content.version());
    Layout::of_places(places, content.lengths(), versions)
}

/// The hashes of new content while they are computed.
struct NewHashes<'n> {
    tree: &'n SourceTree,
    content: &'n NewContent,
    hashes: PieceHashes,
    hashed_bytes: u64,
    total_bytes: u64,
    failure: Option<CreateError>,
    is_faulty: bool,
    /// Cancelled by the caller, and by the first fault.
    stop: CancelToken,
}

impl<'n> NewHashes<'n> {
    fn new(
        tree: &'n SourceTree,
        content: &'n NewContent,
        layout: &Layout,
        cancel: &CancelToken,
    ) -> Self {
        let versions = layout.hash_versions();
        let n_pieces = layout.lengths().piece_count() as usize;
        tree.settle();
        Self {
            tree,
            content,
            hashes: PieceHashes {
                v1: vec![[0; 20]; if versions.v1 { n_pieces } else { 0 }],
                v2: vec![[0; 32]; if versions.v2 { n_pieces } else { 0 }],
            },
            hashed_bytes: 0,
            total_bytes: layout.total_bytes(),
            failure: None,
            is_faulty: false,
            stop: cancel.child(),
        }
    }

    /// Notes digests of pieces and facts about files, and returns the progress.
    fn receive(&mut self, results: Results<PieceDigests>) -> HashProgress {
        for result in results.messages {
            self.hashed_bytes += result.len_bytes;
            let index = result.message as usize;
            match result.digest {
                Ok((digest, root)) => {
                    if let Some(digest) = digest {
                        self.hashes.v1[index] = digest.into();
                    }
                    if let Some(root) = root {
                        self.hashes.v2[index] = root;
                    }
                }
                Err(_) => self.is_faulty = true,
            }
        }
        for fact in results.facts {
            if self.failure.is_none() {
                self.failure = failure_of(self.tree, self.content, fact);
            }
        }
        if self.is_faulty || self.failure.is_some() {
            self.stop.cancel();
        }
        HashProgress {
            hashed_bytes: self.hashed_bytes + results.pending_bytes,
            total_bytes: self.total_bytes,
        }
    }

    /// Returns the hashes, unless there was a fault or the caller has cancelled.
    fn finish(self, cancel: &CancelToken) -> Result<PieceHashes, CreateError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if cancel.is_cancelled() {
            return Err(CreateError::Cancelled);
        }
        match self.tree.changed() {
            Some(path) => Err(CreateError::Changed { path }),
            // The file was truncated, and now has its old length and time again.
            None if self.is_faulty => Err(CreateError::Changed {
                path: self.tree.root().to_owned(),
            }),
            None => Ok(self.hashes),
        }
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
