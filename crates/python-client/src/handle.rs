//! A torrent of a client.

use std::net::SocketAddr;
use std::path::PathBuf;

use hashlane_client::{HandleError, Patch, RatesPatch, Remove, TrackerState};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::handle_error;
use crate::options::{limits, priority, seed_limits};
use crate::wait::until;

/// A torrent of a running client.
#[pyclass(frozen, module = "hashlane_client")]
pub(crate) struct TorrentHandle(pub(crate) hashlane_client::TorrentHandle);

impl TorrentHandle {
    /// Does what can take the lock of the session, without the GIL.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&hashlane_client::TorrentHandle) -> Result<T, HandleError> + Send,
    ) -> PyResult<T> {
        py.detach(|| question(&self.0)).map_err(handle_error)
    }
}

#[pymethods]
impl TorrentHandle {
    #[getter]
    fn number(&self) -> usize {
        self.0.number()
    }

    #[getter]
    fn info_hash_v1(&self) -> Option<String> {
        let info_hashes = self.0.snapshot().identity.info_hashes?;
        Some(info_hashes.v1()?.to_string())
    }

    #[getter]
    fn info_hash_v2(&self) -> Option<String> {
        let info_hashes = self.0.snapshot().identity.info_hashes?;
        Some(info_hashes.v2()?.to_string())
    }

    #[getter]
    fn name(&self) -> String {
        self.0.snapshot().title().to_owned()
    }

    #[getter]
    fn content(&self) -> Option<PathBuf> {
        self.0.content()
    }

    #[getter]
    fn is_removed(&self) -> bool {
        self.0.is_removed()
    }

    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&*self.0.snapshot());
        let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    #[pyo3(signature = (timeout = None))]
    fn wait_complete(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let handle = &self.0;
        let mut is_first = true;
        let result = until(py, timeout, |slice| {
            if !std::mem::take(&mut is_first) {
                std::thread::sleep(slice);
            }
            match handle.has_completed() {
                Ok(false) => None,
                Ok(true) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            }
        })?;
        result.map_err(handle_error)
    }

    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, hashlane_client::TorrentHandle::pause)
    }

    fn resume(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, hashlane_client::TorrentHandle::resume)
    }

    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, hashlane_client::TorrentHandle::end)
    }

    #[pyo3(signature = (*, delete_content = false))]
    fn remove(&self, py: Python<'_>, delete_content: bool) -> PyResult<()> {
        let content = if delete_content {
            Remove::DeleteContent
        } else {
            Remove::Keep
        };
        self.ask(py, |handle| handle.remove(content))
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, hashlane_client::TorrentHandle::verify)
    }

    fn relocate(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        self.ask(py, |handle| handle.relocate(folder))
    }

    fn replace(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, hashlane_client::TorrentHandle::replace)
    }

    fn keep(&self, py: Python<'_>, reason: &str) -> PyResult<()> {
        self.ask(py, |handle| handle.keep(reason))
    }

    #[pyo3(signature = (*, max_down = None, max_up = None))]
    fn set_limits(
        &self,
        py: Python<'_>,
        max_down: Option<u32>,
        max_up: Option<u32>,
    ) -> PyResult<()> {
        let RatesPatch { max_down, max_up } = limits(max_down, max_up);
        let patch = Patch {
            max_down,
            max_up,
            ..Patch::default()
        };
        self.ask(py, |handle| handle.set(&patch))
    }

    #[pyo3(signature = (serve, *, ratio = None, seconds = None))]
    fn set_goal(
        &self,
        py: Python<'_>,
        serve: bool,
        ratio: Option<f64>,
        seconds: Option<f64>,
    ) -> PyResult<()> {
        let limits = seed_limits(ratio, seconds)?;
        self.ask(py, |handle| handle.set_goal(serve.then_some(limits)))
    }

    fn set_labels(&self, py: Python<'_>, labels: Vec<String>) -> PyResult<()> {
        let patch = Patch {
            labels: Some(labels.into_iter().collect()),
            ..Patch::default()
        };
        self.ask(py, |handle| handle.set(&patch))
    }

    fn set_priorities(&self, py: Python<'_>, files: Vec<u32>, priority: &str) -> PyResult<()> {
        let level = self::priority(priority)?;
        self.ask(py, |handle| handle.set_priorities(&files, level))
    }

    fn add_tracker(&self, py: Python<'_>, url: &str) -> PyResult<()> {
        self.ask(py, |handle| handle.add_tracker(url))
    }

    fn set_trackers(&self, py: Python<'_>, tiers: Vec<Vec<String>>) -> PyResult<()> {
        self.ask(py, |handle| handle.set_trackers(tiers))
    }

    fn reannounce(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, hashlane_client::TorrentHandle::reannounce)
    }

    fn add_peer(&self, py: Python<'_>, address: &str) -> PyResult<()> {
        let address: SocketAddr = address
            .parse()
            .map_err(|_| PyValueError::new_err(format!("{address}: not ADDRESS:PORT")))?;
        self.ask(py, |handle| handle.add_peer(address))
    }

    fn metainfo<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let metainfo = self.0.metainfo()?;
        Some(PyBytes::new(py, metainfo.bytes()))
    }

    fn have<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let have = self.ask(py, hashlane_client::TorrentHandle::have)?;
        let have: Vec<u8> = have.into_iter().map(u8::from).collect();
        Ok(PyBytes::new(py, &have))
    }

    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let files = py.detach(|| self.0.files());
        let list = PyList::empty(py);
        for file in files {
            let fields = PyDict::new(py);
            fields.set_item("number", file.number)?;
            fields.set_item("path", file.path)?;
            fields.set_item("length_bytes", file.length_bytes)?;
            fields.set_item("done_bytes", file.done_bytes)?;
            fields.set_item("priority", file.priority.name())?;
            list.append(fields)?;
        }
        Ok(list)
    }

    fn peers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let peers = self.ask(py, hashlane_client::TorrentHandle::peers)?;
        let list = PyList::empty(py);
        for peer in peers {
            let fields = PyDict::new(py);
            fields.set_item("address", peer.address.to_string())?;
            fields.set_item("client", peer.client)?;
            fields.set_item("down_bytes_per_second", peer.down_rate)?;
            fields.set_item("up_bytes_per_second", peer.up_rate)?;
            fields.set_item("downloaded_bytes", peer.downloaded)?;
            fields.set_item("uploaded_bytes", peer.uploaded)?;
            fields.set_item("progress", peer.progress)?;
            fields.set_item("outgoing", peer.is_outgoing)?;
            fields.set_item("encrypted", peer.is_encrypted)?;
            fields.set_item("utp", peer.is_utp)?;
            fields.set_item("web_seed", peer.is_web_seed)?;
            list.append(fields)?;
        }
        Ok(list)
    }

    fn trackers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let trackers = self.ask(py, hashlane_client::TorrentHandle::trackers)?;
        let list = PyList::empty(py);
        for tracker in trackers {
            let state = match tracker.state {
                TrackerState::Unused => "unused",
                TrackerState::Failed => "failed",
                TrackerState::Updating => "updating",
                TrackerState::Working => "working",
            };
            let fields = PyDict::new(py);
            fields.set_item("url", tracker.url)?;
            fields.set_item("tier", tracker.tier)?;
            fields.set_item("state", state)?;
            fields.set_item("message", tracker.message)?;
            fields.set_item("failures", tracker.failures)?;
            fields.set_item("seeds", tracker.seeds)?;
            fields.set_item("leeches", tracker.leeches)?;
            fields.set_item("next_seconds", tracker.next_seconds)?;
            list.append(fields)?;
        }
        Ok(list)
    }

    fn __repr__(&self) -> String {
        format!("<TorrentHandle {} {:?}>", self.0.number(), self.name())
    }
}
