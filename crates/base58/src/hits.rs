//! A search as an iterator.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::backend::SearchBackend;
use crate::error::SearchError;
use crate::hit::Hit;
use crate::search::{Event, Options, Outcome, Search};
use crate::workers::Progress;

/// An iterator over the hits of a search in the background: see [`Search::hits`].
///
/// The iterator ends with the search. Dropping the iterator ends the search.
#[derive(Debug)]
pub struct Hits {
    receiver: mpsc::Receiver<Hit>,
    progress: Arc<Mutex<Progress>>,
    cancel: Arc<AtomicBool>,
    /// The thread of the search, or the reason why there is none.
    search: Option<Result<JoinHandle<Result<Outcome, SearchError>>, SearchError>>,
}

impl Search {
    /// Starts the search in the background, and returns an iterator over its hits.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hashlane_base58::{CpuBackend, Damage, Kind, Options, Search};
    ///
    /// let kinds = [Kind::named("p2pkh").expect("a known name")];
    /// let search = Search::new("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Z?X71", Damage::default(), &kinds)?;
    /// let backend = CpuBackend::fastest(None, None).expect("a kernel");
    /// let mut hits = search.hits(Arc::new(backend), Options::default());
    /// let hit = hits.next().expect("one hit");
    /// assert_eq!(*hit.text, "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71");
    /// assert!(hits.next().is_none());
    /// assert!(hits.finish()?.is_complete);
    /// # Ok::<(), hashlane_base58::SearchError>(())
    /// ```
    pub fn hits(self, backend: Arc<dyn SearchBackend>, options: Options) -> Hits {
        let (sender, receiver) = mpsc::channel();
        let progress = Arc::new(Mutex::new(Progress::default()));
        let cancel = Arc::new(AtomicBool::new(false));
        let (latest, is_cancelled) = (Arc::clone(&progress), Arc::clone(&cancel));
        let run = move || {
            self.run(&*backend, &options, &is_cancelled, |event| match event {
                Event::Hit(hit) => {
                    if sender.send(hit).is_err() {
                        // The iterator was dropped.
                        is_cancelled.store(true, Ordering::Relaxed);
                    }
                }
                Event::Progress(progress) => {
                    *latest.lock().unwrap_or_else(PoisonError::into_inner) = progress;
                }
            })
        };
        let search = std::thread::Builder::new().spawn(run);
        Hits {
            receiver,
            progress,
            cancel,
            search: Some(search.map_err(|error| SearchError::Thread(error.to_string()))),
        }
    }
}

impl Hits {
    /// Returns the progress of the search, which is updated about ten times per second.
    pub fn progress(&self) -> Progress {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits at most this long for a hit. Returns `Pending` if there is none by then, and `Ready(None)` after the last
    /// hit of a search that has ended.
    pub fn wait(&mut self, time: Duration) -> Poll<Option<Hit>> {
        match self.receiver.recv_timeout(time) {
            Ok(hit) => Poll::Ready(Some(hit)),
            Err(mpsc::RecvTimeoutError::Timeout) => Poll::Pending,
            Err(mpsc::RecvTimeoutError::Disconnected) => Poll::Ready(None),
        }
    }

    /// Requests the search to end. The iterator then returns only hits that were found before.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Waits for the end of the search and returns its outcome. Hits that were not taken are
    /// discarded.
    ///
    /// # Errors
    /// The errors of [`Search::run`].
    ///
    /// # Panics
    /// If a thread of the search panicked.
    pub fn finish(mut self) -> Result<Outcome, SearchError> {
        let search = self.search.take().expect("only this function takes it")?;
        search
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Iterator for Hits {
    type Item = Hit;

    fn next(&mut self) -> Option<Hit> {
        self.receiver.recv().ok()
    }
}

impl Drop for Hits {
    fn drop(&mut self) {
        self.cancel();
        if let Some(Ok(search)) = self.search.take() {
            // The outcome is not needed any more.
            drop(search.join());
        }
    }
}
