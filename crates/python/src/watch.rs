//! Progress, cancellation and Ctrl-C of long work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use hashlane_verify::CancelToken;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Time between two looks at signals and at the progress.
pub(crate) const INTERVAL: Duration = Duration::from_millis(20);

/// Work on a thread of its own, while the calling thread handles signals, reports the progress, and cancels. A read that does
/// not return keeps the work from ending, but no file that never ends does.
pub(crate) struct Watch {
    /// Called with the number of bytes done and the number of all bytes.
    pub(crate) progress: Option<Py<PyAny>>,
    /// An object like `threading.Event`, whose `is_set()` cancels the work.
    pub(crate) cancel: Option<Py<PyAny>>,
}

/// The state of the work, which it sets.
#[derive(Default)]
pub(crate) struct Progress {
    done_bytes: AtomicU64,
    /// 0 while unknown.
    total_bytes: AtomicU64,
}

impl Progress {
    pub(crate) fn set(&self, done_bytes: u64, total_bytes: u64) {
        self.done_bytes.store(done_bytes, Ordering::Relaxed);
        self.total_bytes.store(total_bytes, Ordering::Relaxed);
    }

    fn get(&self) -> (u64, Option<u64>) {
        let total_bytes = self.total_bytes.load(Ordering::Relaxed);
        let done_bytes = self.done_bytes.load(Ordering::Relaxed);
        (done_bytes, (total_bytes > 0).then_some(total_bytes))
    }
}

impl Watch {
    /// Runs `work` with the GIL released, and returns its result.
    ///
    /// # Errors
    /// `KeyboardInterrupt`, and the exceptions of `progress` and `cancel`, after the work has ended.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Progress, &CancelToken) -> T + Send,
    ) -> PyResult<T> {
        let (progress, token) = (Progress::default(), CancelToken::default());
        let (result, failure) = py.detach(|| {
            thread::scope(|scope| {
                let (sender, receiver) = channel();
                let (state, stop) = (&progress, &token);
                let started = thread::Builder::new().spawn_scoped(scope, move || {
                    // The receiver waits for this message or for the end of the thread.
                    let _ = sender.send(work(state, stop));
                });
                if let Err(error) = started {
                    return (None, Some(PyRuntimeError::new_err(error.to_string())));
                }
                let mut failure = None;
                loop {
                    match receiver.recv_timeout(INTERVAL) {
                        Ok(result) => break (Some(result), failure),
                        Err(RecvTimeoutError::Disconnected) => break (None, failure),
                        Err(RecvTimeoutError::Timeout) if failure.is_some() => {}
                        Err(RecvTimeoutError::Timeout) => {
                            let look = Python::attach(|py| self.look(py, progress.get()));
                            if !matches!(look, Ok(false)) {
                                token.cancel();
                            }
                            failure = look.err();
                        }
                    }
                }
            })
        });
        match (failure, result) {
            (Some(failure), _) => Err(failure),
            (None, None) => Err(PyRuntimeError::new_err("the work ended without a result")),
            (None, Some(result)) => {
                self.look(py, progress.get())?;
                Ok(result)
            }
        }
    }

    /// Handles signals, and reports how much is done of how much, which is `None` while unknown. Returns `true` if the work is
    /// to be cancelled.
    ///
    /// # Errors
    /// `KeyboardInterrupt`, and the exceptions of `progress` and `cancel`.
    pub(crate) fn look(&self, py: Python<'_>, (done, total): (u64, Option<u64>)) -> PyResult<bool> {
        py.check_signals()?;
        let is_cancelled = match &self.cancel {
            Some(cancel) => cancel.bind(py).call_method0("is_set")?.is_truthy()?,
            None => false,
        };
        if let Some(progress) = &self.progress {
            progress.bind(py).call1((done, total))?;
        }
        Ok(is_cancelled)
    }
}
