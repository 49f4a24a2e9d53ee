//! The standard output stream, and the behaviour of a command after the stream fails.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// The behaviour of a command after its results could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// The command completes its work, because its exit status is a result too.
    Continue,
    /// The command stops at the next line that it prints, because it could otherwise run for hours. The exit status is
    /// that of an error.
    Stop,
}

/// A stream that records its first failure. [`Failure`] reports it once, at the end.
pub(crate) struct ResultStream {
    stream: Box<dyn Write>,
    failure: Failure,
    after: AfterFailure,
}

/// The first failure of a [`ResultStream`].
#[derive(Clone, Default)]
pub(crate) struct Failure(Rc<RefCell<Option<io::Error>>>);

impl Failure {
    /// Returns the failure, if there was one.
    pub(crate) fn take(&self) -> Option<io::Error> {
        self.0.take()
    }

    fn exists(&self) -> bool {
        self.0.borrow().is_some()
    }
}

impl ResultStream {
    /// Wraps a stream.
    pub(crate) fn new(stream: Box<dyn Write>, after: AfterFailure) -> Self {
        Self {
            stream,
            failure: Failure::default(),
            after,
        }
    }

    /// Returns a handle to the failure of the stream.
    pub(crate) fn failure(&self) -> Failure {
        self.failure.clone()
    }

    fn attempt(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        if !self.failure.exists() {
            let Err(error) = write(&mut *self.stream) else {
                return Ok(());
            };
            self.failure.0.replace(Some(error));
        }
        match self.after {
            AfterFailure::Continue => Ok(()),
            // A broken pipe is not reported again: the recorded failure is reported at the end.
            AfterFailure::Stop => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Write for ResultStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|stream| stream.write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(|stream| stream.flush())
    }
}

/// Returns `true` if an error means that the reader of a pipe has closed it.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
