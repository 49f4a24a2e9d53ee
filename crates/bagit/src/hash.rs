//! Digests of files.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use hashlane_sums::{
    Algorithm, CancelToken, Digest, Event, Item, Options, Progress, Source, hash_items,
};

use crate::error::Error;

/// The options of a run, its end, and the receiver of its progress.
pub struct Run<'r> {
    /// Threads and methods of reading.
    pub options: &'r Options,
    /// Ends the work early.
    pub cancel: &'r CancelToken,
    /// Gets the state of the work about fifty times per second.
    pub progress: &'r mut dyn FnMut(Progress),
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").finish_non_exhaustive()
    }
}

/// A file to hash.
pub(crate) struct ToHash<T> {
    pub(crate) path: PathBuf,
    pub(crate) len_bytes: u64,
    pub(crate) algorithms: Arc<[Algorithm]>,
    pub(crate) tag: T,
}

impl Run<'_> {
    /// Hashes files as `hashlane sum` does. `receive` gets the digests of each file, in the order of its algorithms, with the
    /// number of bytes, or the reason why it could not be read.
    pub(crate) fn hash<T: Sync>(
        &mut self,
        files: Vec<ToHash<T>>,
        mut receive: impl FnMut(&T, io::Result<(Vec<Digest>, u64)>),
    ) -> Result<(), Error> {
        let total_bytes = files.iter().map(|file| file.len_bytes).sum();
        let items = files
            .into_iter()
            .map(|file| Item::new(Source::File(file.path), file.algorithms, file.tag));
        hash_items(
            items,
            &mut io::empty(),
            self.options,
            self.cancel,
            |event| {
                match event {
                    Event::Outcome(item, outcome) => {
                        receive(&item.tag, outcome.map_err(io::Error::from));
                    }
                    Event::Pause { hashed_bytes, .. } => (self.progress)(Progress {
                        hashed_bytes,
                        total_bytes,
                    }),
                }
                Ok::<(), Error>(())
            },
        )?;
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}
