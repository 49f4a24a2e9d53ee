//! Progress, cancellation and Ctrl-C of long work.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use hashlane_verify::CancelToken;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::cancelled;

/// Time between two looks at signals and at the progress.
pub(crate) const INTERVAL: Duration = Duration::from_millis(20);

/// Time in which cancelled work has to end before its thread is left alone, because a read of it does not return: of a pipe without a
/// writer, or of a store that does not answer.
const GRACE: Duration = Duration::from_millis(500);

/// Work on a thread of its own, while the calling thread handles signals, reports the progress, and cancels.
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
    /// Runs `work` with the GIL released, and returns its result. The call does not end before the work does.
    ///
    /// # Errors
    /// `KeyboardInterrupt`, and the exceptions of `progress` and `cancel`, after the work has ended.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Progress, &CancelToken) -> T + Send,
    ) -> PyResult<T> {
        let (progress, token) = (Progress::default(), CancelToken::default());
        let ended = py.detach(|| {
            thread::scope(|scope| {
                let (sender, receiver) = channel();
                let (state, stop) = (&progress, &token);
                let started = thread::Builder::new().spawn_scoped(scope, move || {
                    // The receiver waits for this message or for the end of the thread.
                    let _ = sender.send(work(state, stop));
                });
                match started {
                    Ok(_) => self.wait(&receiver, &progress, &token, None),
                    Err(error) => Ended::NotStarted(error),
                }
            })
        });
        self.finish(py, ended, &progress)
    }

    /// Runs `work`, which reads files, as [`Self::run`] does. If the work does not end soon after it was cancelled, because a read
    /// does not return, its thread is left alone.
    ///
    /// # Errors
    /// `KeyboardInterrupt`, the exceptions of `progress` and `cancel`, and `Cancelled` if the work was left alone.
    pub(crate) fn run_reads<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Progress, &CancelToken) -> T + Send + 'static,
    ) -> PyResult<T> {
        let (progress, token) = (Arc::new(Progress::default()), CancelToken::default());
        let ended = py.detach(|| {
            let (sender, receiver) = channel();
            let (state, stop) = (Arc::clone(&progress), token.clone());
            let started = thread::Builder::new().spawn(move || {
                let _ = sender.send(work(&state, &stop));
            });
            match started {
                Ok(_) => self.wait(&receiver, &progress, &token, Some(GRACE)),
                Err(error) => Ended::NotStarted(error),
            }
        });
        self.finish(py, ended, &progress)
    }

    /// Waits for the result of work, and cancels the work if it has to end. After `grace`, cancelled work is left alone.
    fn wait<T>(
        &self,
        result: &Receiver<T>,
        progress: &Progress,
        token: &CancelToken,
        grace: Option<Duration>,
    ) -> Ended<T> {
        let (mut failure, mut cancelled_at) = (None, None::<Instant>);
        loop {
            match result.recv_timeout(INTERVAL) {
                Ok(result) => break Ended::With(Some(result), failure),
                Err(RecvTimeoutError::Disconnected) => break Ended::With(None, failure),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(moment) = cancelled_at {
                if grace.is_some_and(|grace| moment.elapsed() >= grace) {
                    break Ended::LeftAlone(failure);
                }
            } else {
                let look = Python::attach(|py| self.look(py, progress.get()));
                if !matches!(look, Ok(false)) {
                    token.cancel();
                    cancelled_at = Some(Instant::now());
                }
                failure = look.err();
            }
        }
    }

    fn finish<T>(&self, py: Python<'_>, ended: Ended<T>, progress: &Progress) -> PyResult<T> {
        match ended {
            Ended::NotStarted(error) => Err(PyRuntimeError::new_err(error.to_string())),
            Ended::With(_, Some(failure)) | Ended::LeftAlone(Some(failure)) => Err(failure),
            Ended::LeftAlone(None) => Err(cancelled(py)),
            Ended::With(None, None) => {
                Err(PyRuntimeError::new_err("the work ended without a result"))
            }
            Ended::With(Some(result), None) => {
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

/// How the wait for a result has ended.
enum Ended<T> {
    /// The thread could not be started.
    NotStarted(io::Error),
    /// The work has ended, with its result unless it panicked, and perhaps with the exception for which it was cancelled.
    With(Option<T>, Option<PyErr>),
    /// The work has not ended.
    LeftAlone(Option<PyErr>),
}
