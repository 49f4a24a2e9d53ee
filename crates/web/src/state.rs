//! State shared by all requests.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::HOST;
use axum::http::{HeaderMap, StatusCode};
use hashlane_api::Refusal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::config::Http;
use super::credentials::Token;
use super::delta::Delta;
use super::jobs::Jobs;
use super::links::{Links, host_of};
use super::problem::{Refused, reason};
use super::service::{Found, Service};
use hashlane_client::{Config, TorrentKey};
use hashlane_server::Endpoint;

/// Maximum number of event streams.
const MAX_STREAMS: usize = 32;

/// Maximum number of files that are read at once. The server has 128 connections.
const MAX_READERS: usize = 64;

/// Time for which all streams share the comparison with the latest snapshot.
const FRESH: Duration = Duration::from_millis(250);

/// The reason if no URL leads a player here.
const NO_PAGE: &str =
    "no player can reach this program: start it with `--http`, for example `--http 8080`";

/// State shared by all requests.
#[derive(Clone)]
pub(super) struct State {
    pub(super) service: Arc<dyn Service>,
    /// The settings of the client.
    pub(super) config: Arc<Config>,
    pub(super) jobs: Arc<Jobs>,
    /// Folders in which requests may place content.
    pub(super) folders: Arc<[PathBuf]>,
    pub(super) links: Links,
    /// Origins under which browsers reach this server, besides its address.
    pub(super) origins: Arc<[String]>,
    /// Whether the server has an address, rather than the path of a Unix socket.
    pub(super) has_address: bool,
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
        endpoint: &Endpoint,
        ended: watch::Receiver<()>,
    ) -> std::io::Result<Self> {
        Ok(Self {
            service,
            config: Arc::new(config.clone()),
            jobs: Arc::default(),
            folders: http.folders.as_slice().into(),
            links: http.links.clone(),
            origins: http.origins.as_slice().into(),
            has_address: endpoint.address().is_some(),
            delta: Arc::new(Mutex::new(Fresh {
                delta: Delta::new()?,
                updated: None,
            })),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            readers: Arc::new(Semaphore::new(MAX_READERS)),
            ended,
        })
    }

    /// Returns the torrent of a request.
    pub(super) fn find(&self, key: TorrentKey) -> Result<Found, Refused> {
        let found = self.service.find(key);
        found.ok_or_else(|| reason(&Refusal::Absent))
    }

    /// Returns the token of a torrent, which lasts from now on.
    pub(super) fn token(&self, number: usize) -> Result<Token, Refused> {
        let token = self.links.token(number, Instant::now());
        token.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
    }

    /// Returns the origin of URLs for the program that sent a request: that under which it reached this server, if it is known.
    pub(super) fn origin(&self, headers: &HeaderMap) -> Result<String, Refused> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.unwrap_or_default();
        let is_asked = |origin: &&String| host_of(origin).eq_ignore_ascii_case(host);
        // A proxy may send the address of this server as the host.
        let origin = self.origins.iter().find(is_asked);
        let origin = origin.or(self.origins.first()).cloned();
        let origin = origin.or_else(|| self.has_address.then(|| format!("http://{host}")));
        let origin = origin.or_else(|| self.links.origin().cloned());
        origin.ok_or_else(|| reason(&Refusal::Conflict(NO_PAGE.to_owned())))
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
