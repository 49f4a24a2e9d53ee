//! What every job gets from its caller.

use std::num::NonZeroUsize;

use hashlane_files::CancelToken;

use crate::error::Error;
use crate::kernels::Kernel;

/// The resources of a job, and its connection to the caller.
pub struct Run<'r> {
    /// Number of threads.
    pub n_threads: NonZeroUsize,
    /// Bytes of memory for slices. With less, files are read in several passes.
    pub memory: u64,
    /// The kernel for recovery slices.
    pub kernel: Kernel,
    /// Ends the job early.
    pub cancel: &'r CancelToken,
    /// Is called from time to time with the bytes that were read.
    pub progress: &'r mut dyn FnMut(Progress),
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("n_threads", &self.n_threads)
            .field("memory", &self.memory)
            .field("kernel", &self.kernel)
            .finish_non_exhaustive()
    }
}

impl Run<'_> {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}

/// The progress of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes that were read.
    pub done_bytes: u64,
    /// Bytes to read.
    pub total_bytes: u64,
}
