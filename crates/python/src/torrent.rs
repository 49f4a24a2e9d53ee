//! .torrent files and magnet links.

use std::fs::File;
use std::path::PathBuf;

use hashlane_metainfo::bencode::Kind;
use hashlane_metainfo::{FileKind, InfoHashV1, ReadError, masked_url};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::buffers::Bytes;
use crate::errors::{os_error, torrent_error};
use crate::watch::Watch;

/// Maximum length of a .torrent file in bytes, as of the program.
const MAX_LEN: u64 = 256 << 20;

/// A .torrent file (BEP 3, BEP 47, BEP 52).
#[pyclass(frozen, name = "Torrent", module = "hashlane")]
pub(crate) struct Torrent(pub(crate) hashlane_metainfo::Torrent);

fn refused(py: Python<'_>, error: &hashlane_metainfo::Error) -> PyErr {
    let text = error.to_string();
    // Every message with a place starts with it.
    let position = text
        .strip_prefix("byte ")
        .and_then(|rest| rest.split(':').next());
    let position = position.and_then(|digits| digits.parse().ok());
    torrent_error(py, &text, position)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[pymethods]
impl Torrent {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let watch = Watch {
            progress: None,
            cancel: None,
        };
        let source = path.clone();
        let read = watch.run_reads(py, move |_, _| {
            let file = File::open(source)?;
            hashlane_metainfo::Torrent::from_reader(file, MAX_LEN)
        })?;
        match read {
            Ok(torrent) => Ok(Self(torrent)),
            Err(ReadError::Io(error)) => Err(os_error(&error, &path)),
            Err(ReadError::Invalid(error)) => Err(refused(py, &error)),
            Err(error) => Err(torrent_error(py, &error.to_string(), None)),
        }
    }

    #[staticmethod]
    fn parse(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let metainfo = Bytes::of(data)?.as_slice().to_vec();
        let parsed = py.detach(|| hashlane_metainfo::Torrent::parse(metainfo));
        parsed.map(Self).map_err(|error| refused(py, &error))
    }

    #[getter]
    fn version(&self) -> String {
        match self.0.version() {
            hashlane_metainfo::Version::V1 => "v1",
            hashlane_metainfo::Version::V2 => "v2",
            hashlane_metainfo::Version::Hybrid => "hybrid",
        }
        .to_owned()
    }

    #[getter]
    fn name(&self) -> String {
        text(self.0.name().as_bytes())
    }

    #[getter]
    fn info_hash_v1(&self) -> Option<String> {
        self.0.info_hashes().v1().map(|hash| hash.to_string())
    }

    #[getter]
    fn info_hash_v2(&self) -> Option<String> {
        self.0.info_hashes().v2().map(|hash| hash.to_string())
    }

    #[getter]
    fn info_hash(&self) -> String {
        let hashes = self.0.info_hashes();
        let v1 = hashes.v1().map(|hash| hash.to_string());
        v1.or_else(|| hashes.v2().map(|hash| hash.to_string()))
            .unwrap_or_default()
    }

    #[getter]
    fn length(&self) -> u64 {
        self.0.content_length()
    }

    #[getter]
    fn piece_length(&self) -> u32 {
        self.0.lengths().piece_length().get()
    }

    #[getter]
    fn piece_count(&self) -> u32 {
        self.0.lengths().piece_count()
    }

    #[getter]
    fn is_single_file(&self) -> bool {
        self.0.is_single_file()
    }

    /// Returns the length of all pieces, which includes padding.
    #[getter]
    fn total_length(&self) -> u64 {
        self.0.lengths().total_length()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes().iter().map(ToString::to_string).collect()
    }

    /// Returns a tuple of name, place, kind and value for each key that is not used.
    #[getter]
    fn _other_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for other in self.0.other_keys() {
            let value = other.value;
            let (kind, bytes) = match value.kind() {
                Kind::Integer => ("integer", None),
                Kind::ByteString => ("string", value.as_bytes()),
                Kind::List => ("list", None),
                Kind::Dictionary => ("dictionary", None),
            };
            let value = match value.as_integer() {
                Some(number) => number.into_bound_py_any(py)?,
                None => PyBytes::new(py, bytes.unwrap_or(value.encoded())).into_any(),
            };
            list.append((other.key.to_string(), other.is_in_info, kind, value))?;
        }
        Ok(list)
    }

    /// Returns what the dataclass `hashlane.File` is made of, for each file.
    #[getter]
    fn _files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for file in self.0.files().iter() {
            let path: Vec<String> = file
                .path()
                .components()
                .map(|name| text(name.as_bytes()))
                .collect();
            let (kind, target) = match file.kind() {
                FileKind::Regular => ("file", None),
                FileKind::Padding => ("padding", None),
                FileKind::Symlink { target } => {
                    let target = target.components().map(|name| text(name.as_bytes()));
                    ("link", Some(target.collect::<Vec<_>>().join("/")))
                }
            };
            let root = file.pieces_root().map(|root| PyBytes::new(py, root));
            let attributes = file.attributes();
            list.append((
                path.join("/"),
                file.length(),
                kind,
                target,
                root,
                attributes.executable,
                attributes.hidden,
                file.offset(),
                file.is_renamed(),
                file.piece_layer().is_some(),
            ))?;
        }
        Ok(list)
    }

    /// Returns what a torrent says of itself and of its trackers.
    #[getter]
    fn _metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let keys = self.0.metadata();
        let dict = PyDict::new(py);
        dict.set_item("trackers", keys.trackers)?;
        dict.set_item("announce", keys.announce)?;
        dict.set_item("web_seeds", keys.web_seeds)?;
        dict.set_item("http_seeds", keys.http_seeds)?;
        dict.set_item("nodes", keys.nodes)?;
        dict.set_item("comment", keys.comment)?;
        dict.set_item("created_by", keys.created_by)?;
        dict.set_item("creation_date", keys.creation_date)?;
        dict.set_item("private", keys.is_private)?;
        dict.set_item("source", keys.source)?;
        dict.set_item("collections", keys.collections)?;
        let keys = self.0.metadata_ref();
        dict.set_item("encoding", keys.encoding.map(|text| text.to_string()))?;
        let similar = keys
            .similar()
            .map(|hash| InfoHashV1::from(*hash).to_string());
        dict.set_item("similar", similar.collect::<Vec<_>>())?;
        Ok(dict)
    }

    #[getter]
    fn piece_hashes<'py>(&self, py: Python<'py>) -> Option<Vec<Bound<'py, PyBytes>>> {
        let hashes = self.0.piece_hashes()?;
        Some(hashes.iter().map(|hash| PyBytes::new(py, hash)).collect())
    }

    fn magnet(&self) -> String {
        hashlane_metainfo::Magnet::of(&self.0).to_string()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.bytes())
    }
}

/// A magnet link (BEP 9, BEP 53).
#[pyclass(frozen, name = "Magnet", module = "hashlane")]
pub(crate) struct Magnet(hashlane_metainfo::Magnet);

#[pymethods]
impl Magnet {
    #[new]
    fn new(link: &str) -> PyResult<Self> {
        let (magnet, _) = hashlane_metainfo::Magnet::read(link)
            .map_err(|error| PyValueError::new_err(format!("{}: {error}", masked_url(link))))?;
        Ok(Self(magnet))
    }

    #[getter]
    fn info_hash_v1(&self) -> Option<String> {
        self.0.info_hashes.v1().map(|hash| hash.to_string())
    }

    #[getter]
    fn info_hash_v2(&self) -> Option<String> {
        self.0.info_hashes.v2().map(|hash| hash.to_string())
    }

    #[getter]
    fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    #[getter]
    fn length(&self) -> Option<u64> {
        self.0.length
    }

    #[getter]
    fn trackers(&self) -> Vec<String> {
        self.0.trackers.clone()
    }

    #[getter]
    fn web_seeds(&self) -> Vec<String> {
        self.0.web_seeds.clone()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}
