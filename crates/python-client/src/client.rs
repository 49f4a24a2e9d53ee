//! A client and its subscriptions.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError};

use hashlane_client::{AddOptions, Config, Mode, Outcome, Settings, TorrentKey};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{ClientError, client_error};
use crate::event::Event;
use crate::handle::TorrentHandle;
use crate::options::{DownloadOptions, Origin, limits, network, seed_limits, serving};
use crate::wait::until;

/// A client that downloads and seeds torrents on its own threads.
#[pyclass(frozen, subclass, module = "hashlane_client")]
pub(crate) struct Client {
    /// `None` after its end.
    running: Mutex<Option<hashlane_client::Client>>,
    folder: PathBuf,
}

impl Client {
    /// Calls a function with the client.
    ///
    /// # Errors
    /// `ClientError` if it has been stopped.
    fn with<T>(&self, call: impl FnOnce(&hashlane_client::Client) -> T) -> PyResult<T> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match &*running {
            Some(client) => Ok(call(client)),
            None => Err(ClientError::new_err("the client has ended")),
        }
    }

    /// Returns a torrent by its number.
    pub(crate) fn torrent(&self, number: usize) -> Option<hashlane_client::TorrentHandle> {
        self.with(|client| client.get(TorrentKey::Number(number)))
            .ok()
            .flatten()
    }

    fn add(
        &self,
        origin: Origin,
        mode: Mode,
        paused: bool,
        labels: Vec<String>,
        max_down: Option<u32>,
        max_up: Option<u32>,
    ) -> PyResult<TorrentHandle> {
        let (source, label) = origin.source()?;
        let options = AddOptions {
            label,
            mode: Some(mode),
            is_paused: paused,
            labels,
            limits: limits(max_down, max_up),
            ..AddOptions::default()
        };
        let added = self.with(|client| client.add(source, options))?;
        added.map(TorrentHandle).map_err(client_error)
    }
}

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (folder, *, port = 6881, bind = None, peers = Vec::new(), dht = true, local_discovery = true,
        port_mapping = true, max_down = None, max_up = None, max_peers = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn start(
        py: Python<'_>,
        folder: PathBuf,
        port: u16,
        bind: Option<&str>,
        peers: Vec<String>,
        dht: bool,
        local_discovery: bool,
        port_mapping: bool,
        max_down: Option<u32>,
        max_up: Option<u32>,
        max_peers: Option<u16>,
    ) -> PyResult<Self> {
        let peers: Result<Vec<SocketAddr>, PyErr> = peers
            .iter()
            .map(|peer| {
                let refused = |_| PyValueError::new_err(format!("peers: {peer}: not ADDRESS:PORT"));
                peer.parse().map_err(refused)
            })
            .collect();
        let config = Config {
            session: Settings {
                network: network(bind, port),
                dht,
                local_discovery,
                port_mapping,
                max_down,
                max_up,
                max_peers,
                ..Settings::default()
            },
            peers: peers?,
            ..Config::default()
        };
        let started = py.detach(|| {
            let builder = hashlane_client::Client::builder();
            builder.config(config).folder(&folder).start()
        });
        Ok(Self {
            running: Mutex::new(Some(started.map_err(client_error)?)),
            folder,
        })
    }

    #[pyo3(signature = (source, folder = None, *, select = Vec::new(), sequential = false, overwrite = false, serve = false,
        ratio = None, seconds = None, paused = false, labels = Vec::new(), max_down = None, max_up = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn download(
        &self,
        source: Origin,
        folder: Option<PathBuf>,
        select: Vec<String>,
        sequential: bool,
        overwrite: bool,
        serve: bool,
        ratio: Option<f64>,
        seconds: Option<f64>,
        paused: bool,
        labels: Vec<String>,
        max_down: Option<u32>,
        max_up: Option<u32>,
    ) -> PyResult<TorrentHandle> {
        let limits = seed_limits(ratio, seconds)?;
        let options = DownloadOptions {
            folder: folder.unwrap_or_else(|| self.folder.clone()),
            select,
            sequential,
            overwrite,
            seeding: serve.then_some(limits),
        };
        self.add(source, options.mode()?, paused, labels, max_down, max_up)
    }

    #[pyo3(signature = (source, content, *, ratio = None, seconds = None, paused = false, labels = Vec::new(), max_down = None,
        max_up = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn seed(
        &self,
        source: Origin,
        content: PathBuf,
        ratio: Option<f64>,
        seconds: Option<f64>,
        paused: bool,
        labels: Vec<String>,
        max_down: Option<u32>,
        max_up: Option<u32>,
    ) -> PyResult<TorrentHandle> {
        let mode = serving(content, seed_limits(ratio, seconds)?);
        self.add(source, mode, paused, labels, max_down, max_up)
    }

    fn torrents(&self) -> PyResult<Vec<TorrentHandle>> {
        let torrents = self.with(hashlane_client::Client::torrents)?;
        Ok(torrents.into_iter().map(TorrentHandle).collect())
    }

    fn get(&self, key: &str) -> PyResult<Option<TorrentHandle>> {
        let key: TorrentKey = key
            .parse()
            .map_err(|_| PyValueError::new_err(format!("{key}: not a number or an info-hash")))?;
        Ok(self.with(|client| client.get(key))?.map(TorrentHandle))
    }

    #[getter]
    fn listening(&self) -> PyResult<Vec<String>> {
        let snapshot = self.with(hashlane_client::Client::snapshot)?;
        let addresses = snapshot.reach.listening.iter();
        Ok(addresses.map(ToString::to_string).collect())
    }

    #[pyo3(signature = (*, max_down = None, max_up = None))]
    fn set_limits(&self, max_down: Option<u32>, max_up: Option<u32>) -> PyResult<()> {
        let command = hashlane_client::Command::Limit(limits(max_down, max_up));
        self.with(|client| client.send(command))
    }

    fn subscribe(this: &Bound<'_, Self>) -> PyResult<Subscription> {
        Ok(Subscription {
            events: this.get().with(hashlane_client::Client::subscribe)?,
            client: this.clone().unbind(),
        })
    }

    /// Stops the client, and returns the outcome of each torrent. A client that has ended has no outcomes any more.
    fn stop(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(client) = running.take() else {
            return Ok(Vec::new());
        };
        drop(running);
        let outcomes = py.detach(|| client.stop()).map_err(client_error)?;
        let names = outcomes.into_iter().map(|outcome| match outcome {
            Outcome::Complete => "complete",
            Outcome::Incomplete => "incomplete",
            Outcome::Failed => "failed",
        });
        Ok(names.collect())
    }
}

/// The events of a client from a moment on.
#[pyclass(frozen, module = "hashlane_client")]
pub(crate) struct Subscription {
    client: Py<Client>,
    events: hashlane_client::Subscription,
}

#[pymethods]
impl Subscription {
    /// Returns the next event, or `None` after the last one of a client that has ended.
    fn next(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Event>> {
        let event = until(py, timeout, |slice| match self.events.recv_timeout(slice) {
            Ok(event) => Some(Some(event)),
            Err(RecvTimeoutError::Disconnected) => Some(None),
            Err(RecvTimeoutError::Timeout) => None,
        })?;
        let Some(event) = event else { return Ok(None) };
        let torrent = event.torrent();
        let torrent = torrent.and_then(|torrent| self.client.get().torrent(torrent.number));
        Event::new(py, &event, torrent.map(TorrentHandle)).map(Some)
    }
}
