//! A search as an iterator.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use crate::{Event, Hit, Options, Outcome, Progress, Search, SearchError};

/// The hits of a search that runs in the background, as they are found: see [`Search::hits`].
///
/// It is over when there are no more. Whoever drops it before ends the search.
#[derive(Debug)]
pub struct Hits {
    receiver: mpsc::Receiver<Hit>,
    progress: Arc<Mutex<Progress>>,
    cancel: Arc<AtomicBool>,
    search: Option<JoinHandle<Result<Outcome, SearchError>>>,
}

impl Search {
    /// Starts the search, and gives its hits as they are found.
    ///
    /// ```
    /// use hashlane_base58::{Damage, Kind, Options, Search, measure};
    ///
    /// let kinds = [Kind::named("p2pkh").expect("it is one")];
    /// let search = Search::new("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Z?X71", Damage::default(), &kinds)?;
    /// let kernel = measure(None)[0].kernel;
    /// let mut hits = search.hits(Options { kernel, threads: None, units: None });
    /// let hit = hits.next().expect("there is one");
    /// assert_eq!(*hit.text, "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71");
    /// assert!(hits.next().is_none());
    /// assert!(hits.finish()?.is_complete);
    /// # Ok::<(), hashlane_base58::SearchError>(())
    /// ```
    pub fn hits(self, options: Options) -> Hits {
        let (sender, receiver) = mpsc::channel();
        let progress = Arc::new(Mutex::new(Progress::default()));
        let cancel = Arc::new(AtomicBool::new(false));
        let (ours, asked) = (Arc::clone(&progress), Arc::clone(&cancel));
        let search = std::thread::spawn(move || {
            self.run(&options, &asked, |event| match event {
                Event::Hit(hit) => {
                    if sender.send(hit).is_err() {
                        // Nobody is there to hear of more.
                        asked.store(true, Ordering::Relaxed);
                    }
                }
                Event::Progress(now) => {
                    *ours.lock().unwrap_or_else(PoisonError::into_inner) = now;
                }
            })
        });
        Hits {
            receiver,
            progress,
            cancel,
            search: Some(search),
        }
    }
}

impl Hits {
    /// How far the search is: some ten times a second it is something else.
    pub fn progress(&self) -> Progress {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the search to end, after which there are only the hits that were found before.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Waits for the end of the search, and says how it ended. Hits that were not taken are lost.
    ///
    /// # Errors
    /// As [`Search::run`].
    ///
    /// # Panics
    /// If a thread of the search did.
    pub fn finish(mut self) -> Result<Outcome, SearchError> {
        let search = self.search.take().expect("only this takes it");
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
        if let Some(search) = self.search.take() {
            // What became of it nobody wants to know.
            drop(search.join());
        }
    }
}
