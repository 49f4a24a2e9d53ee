//! Events.

use std::path::Path;

use hashlane_client::Event as ClientEvent;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::handle::TorrentHandle;

/// Something that happened in a client.
#[pyclass(frozen, get_all, module = "hashlane_client")]
pub(crate) struct Event {
    kind: &'static str,
    torrent: Option<Py<TorrentHandle>>,
    data: Py<PyDict>,
}

#[pymethods]
impl Event {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let data = self.data.bind(py).repr()?;
        Ok(format!("<Event {} {data}>", self.kind))
    }
}

impl Event {
    /// Returns an event for Python, with its torrent if the client still has it.
    pub(crate) fn new(
        py: Python<'_>,
        event: &ClientEvent,
        torrent: Option<TorrentHandle>,
    ) -> PyResult<Self> {
        let torrent = torrent.map(|torrent| Py::new(py, torrent)).transpose()?;
        let (kind, data) = fields(py, event)?;
        Ok(Self {
            kind,
            torrent,
            data: data.unbind(),
        })
    }
}

/// Returns a dictionary with these entries.
macro_rules! dict {
    ($py:expr, $($name:ident: $value:expr),* $(,)?) => {{
        let dict = PyDict::new($py);
        $(dict.set_item(stringify!($name), $value)?;)*
        dict
    }};
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the kind of an event, and what it reports.
#[expect(clippy::too_many_lines, reason = "one kind after the other")]
fn fields<'py>(
    py: Python<'py>,
    event: &ClientEvent,
) -> PyResult<(&'static str, Bound<'py, PyDict>)> {
    Ok(match event {
        ClientEvent::Added { label, .. } => ("added", dict!(py, label: label)),
        ClientEvent::Identified(_) => ("identified", dict!(py,)),
        ClientEvent::Opened { .. } => ("opened", dict!(py,)),
        ClientEvent::ForeignNames { names, .. } => {
            let names: Vec<(&str, &str)> = names
                .iter()
                .map(|name| (name.path.as_str(), name.found_as.as_str()))
                .collect();
            ("foreign_names", dict!(py, names: names))
        }
        ClientEvent::Listening(address) => ("listening", dict!(py, address: address.to_string())),
        ClientEvent::Metadata { metainfo, .. } => {
            let metainfo = PyBytes::new(py, metainfo.bytes());
            ("metadata", dict!(py, metainfo: metainfo))
        }
        ClientEvent::Verified(content) => (
            "verified",
            dict!(py,
                content: text(&content.content),
                pieces: content.pieces,
                have: content.have,
                trusted: content.trusted,
                total_bytes: content.total_bytes,
                complete: content.is_complete,
            ),
        ),
        ClientEvent::Confirm { replacement, .. } => (
            "confirm",
            dict!(py,
                wrong_pieces: replacement.wrong_pieces,
                pieces: replacement.pieces,
                files: replacement.files.clone(),
            ),
        ),
        ClientEvent::Piece { piece, .. } => ("piece", dict!(py, piece: piece)),
        ClientEvent::Finished(download) => (
            "finished",
            dict!(py,
                content: text(&download.content),
                downloaded_bytes: download.downloaded_bytes,
                wasted_bytes: download.wasted_bytes,
                elapsed_seconds: download.elapsed_seconds,
            ),
        ),
        ClientEvent::Complete(content) => (
            "complete",
            dict!(py, content: text(&content.content), new: content.is_new),
        ),
        ClientEvent::Absent {
            content, absence, ..
        } => (
            "absent",
            dict!(py, content: text(content), reason: absence.to_string()),
        ),
        ClientEvent::Changed(changed) => (
            "changed",
            dict!(py,
                withdrawn: changed.withdrawn,
                restored: changed.restored,
                have: changed.have,
                pieces: changed.pieces,
            ),
        ),
        ClientEvent::Ended { uploaded_bytes, .. } => {
            ("ended", dict!(py, uploaded_bytes: uploaded_bytes))
        }
        ClientEvent::Removed(removed) => (
            "removed",
            dict!(py,
                downloaded_bytes: removed.downloaded_bytes,
                uploaded_bytes: removed.uploaded_bytes,
                deleted_files: removed.deletion.as_ref().map(|deletion| deletion.files),
            ),
        ),
        ClientEvent::Renamed { content, error, .. } => (
            "renamed",
            dict!(py, content: text(content), error: error.as_ref().map(ToString::to_string)),
        ),
        ClientEvent::Relocated { content, error, .. } => (
            "relocated",
            dict!(py, content: text(content), error: error.as_ref().map(ToString::to_string)),
        ),
        ClientEvent::Warning { message, .. } => ("warning", dict!(py, message: message)),
        ClientEvent::Failed { error, .. } => ("failed", dict!(py, message: error.to_string())),
        ClientEvent::Missed { events } => ("missed", dict!(py, events: events)),
        _ => ("other", dict!(py,)),
    })
}
