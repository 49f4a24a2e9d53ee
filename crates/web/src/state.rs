//! State shared by all requests.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::config::Http;
use super::delta::Delta;
use super::jobs::Jobs;
use super::service::Service;
use hashlane_client::Config;

/// Maximum number of event streams.
const MAX_STREAMS: usize = 32;

/// Maximum number of files that are read at once. The server has 128 connections.
const MAX_READERS: usize = 64;

/// Time for which all streams share the comparison with the latest snapshot.
const FRESH: Duration = Duration::from_millis(250);

/// State shared by all requests.
#[derive(Clone)]
pub(super) struct State {
    pub(super) service: Arc<dyn Service>,
    /// The settings of the client.
    pub(super) config: Arc<Config>,
    pub(super) jobs: Arc<Jobs>,
    /// Folders in which requests may place content.
    pub(super) folders: Arc<[PathBuf]>,
    delta: Arc<Mutex<Fresh>>,
    streams: Arc<Semaphore>,
    readers: Arc<Semaphore>,
    /// Changes when the client ends.
    ended: watch::Receiver<()>,
}

/// The changes of all torrents, and the time of the last comparison.
struct Fresh {
    delta: Delta,
    updated: Option<Instant>,
}

impl State {
    pub(super) fn new(
        service: Arc<dyn Service>,
        config: &Config,
        http: &Http,
        ended: watch::Receiver<()>,
    ) -> std::io::Result<Self> {
        Ok(Self {
            service,
            config: Arc::new(config.clone()),
            jobs: Arc::default(),
            folders: http.folders.as_slice().into(),
            delta: Arc::new(Mutex::new(Fresh {
                delta: Delta::new()?,
                updated: None,
            })),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            readers: Arc::new(Semaphore::new(MAX_READERS)),
            ended,
        })
    }

    /// Calls a function that may block, on a thread for that.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        function: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let state = self.clone();
        let called = tokio::task::spawn_blocking(move || function(&state)).await;
        called.unwrap_or_else(|error| resume_unwind(error.into_panic()))
    }

    /// Returns the changes of all torrents. They are those of now if `is_last`, and otherwise at most [`FRESH`] old.
    pub(super) fn with_delta<T>(&self, is_last: bool, question: impl FnOnce(&Delta) -> T) -> T {
        let mut fresh = self.fresh();
        if is_last
            || fresh
                .updated
                .is_none_or(|updated| updated.elapsed() >= FRESH)
        {
            fresh.delta.update(&self.service.snapshot());
            fresh.updated = Some(Instant::now());
        }
        question(&fresh.delta)
    }

    /// Returns the changes of all torrents as they were compared last.
    pub(super) fn with_known_delta<T>(&self, question: impl FnOnce(&Delta) -> T) -> T {
        question(&self.fresh().delta)
    }

    fn fresh(&self) -> MutexGuard<'_, Fresh> {
        // No code that holds the lock leaves the state inconsistent.
        self.delta.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a place among the event streams, unless all are taken.
    pub(super) fn stream_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Returns a place among the readers of files, unless all are taken.
    pub(super) fn reader_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.readers).try_acquire_owned().ok()
    }

    /// Returns a receiver that changes when the client ends.
    pub(super) fn ended(&self) -> watch::Receiver<()> {
        self.ended.clone()
    }

    /// Waits until all event streams have ended.
    pub(super) async fn streams_end(&self) {
        // The semaphore is never closed.
        let _ = self.streams.acquire_many(MAX_STREAMS as u32).await;
    }
}
