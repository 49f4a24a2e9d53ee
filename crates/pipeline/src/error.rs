//! Errors that stop the whole run.

use std::io;

/// An error that stops the whole run. A file that cannot be read does not stop the run: see
/// [`Fault`](crate::Fault).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// [`IoMode::Mmap`](crate::IoMode::Mmap) was requested on a system without memory maps.
    #[error("this system cannot map files into memory")]
    MapsUnsupported(#[source] io::Error),
}
