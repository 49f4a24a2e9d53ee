//! New .torrent files.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use hashlane_metainfo::{NewContent, NewMetadata, PieceLengthGoal, Version};
use hashlane_verify::{
    Choice, CreateError, Options, Selection, SourceTree, SourceTreeError, WalkError,
    hash_source_tree,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::edit::check_urls;
use crate::errors::{cancelled, os_error, run_error};
use crate::many::threads_or_all;
use crate::torrent::Torrent;
use crate::watch::Watch;

/// The options of `hashlane.create`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct NewTorrent {
    version: String,
    name: Option<String>,
    piece_length: Option<u32>,
    trackers: Vec<Vec<String>>,
    web_seeds: Vec<String>,
    comment: Option<String>,
    created_by: Option<String>,
    creation_date: Option<i64>,
    private: bool,
    source: Option<String>,
}

fn not_found(error: SourceTreeError) -> PyErr {
    match error {
        SourceTreeError::Walk(WalkError::Io { path, error }) => os_error(&error, &path),
        error => PyValueError::new_err(error.to_string()),
    }
}

#[pyfunction]
pub(crate) fn create(
    py: Python<'_>,
    path: PathBuf,
    options: NewTorrent,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Torrent> {
    let version = match options.version.as_str() {
        "v1" => Version::V1,
        "v2" => Version::V2,
        "hybrid" => Version::Hybrid,
        other => {
            return Err(PyValueError::new_err(format!(
                "version {other:?}: expected \"v1\", \"v2\" or \"hybrid\""
            )));
        }
    };
    check_urls("trackers", options.trackers.iter().flatten())?;
    check_urls("web_seeds", options.web_seeds.iter())?;
    let tree = py.detach(|| SourceTree::find(&path, &Selection::new(&|_| Choice::Take), false));
    let tree = tree.map_err(not_found)?;
    let name = match (&options.name, path.canonicalize()) {
        (Some(name), _) => name.clone().into_bytes(),
        (None, Ok(whole)) => whole
            .file_name()
            .map_or_else(Vec::new, |name| name.as_bytes().to_vec()),
        (None, Err(error)) => return Err(os_error(&error, &path)),
    };
    let piece_length = options.piece_length;
    let piece_length =
        piece_length.unwrap_or_else(|| PieceLengthGoal::default().piece_length(tree.length()));
    let content = NewContent::new(
        version,
        piece_length,
        name,
        tree.is_single_file(),
        tree.files(),
    );
    let content = content.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let metadata = NewMetadata {
        trackers: options.trackers,
        web_seeds: options.web_seeds,
        comment: options.comment,
        created_by: options.created_by,
        creation_date: options.creation_date,
        is_private: options.private,
        source: options.source,
        ..NewMetadata::default()
    };
    let run = Options::default().threads(threads_or_all(threads)?);
    let watch = Watch { progress, cancel };
    let (hashes, content) = watch.run_reads(py, move |state, cancel| {
        let hashes = hash_source_tree(&tree, &content, &run, cancel, &mut |progress| {
            state.set(progress.hashed_bytes, progress.total_bytes);
        });
        (hashes, content)
    })?;
    let hashes = hashes.map_err(|error| match error {
        CreateError::Io { path, error } => os_error(&error, &path),
        CreateError::Changed { path } => {
            os_error(&io::Error::other("changed while it was read"), &path)
        }
        CreateError::Cancelled => cancelled(py),
        error => run_error(&error),
    })?;
    let torrent = hashlane_metainfo::Torrent::parse(content.write(&hashes, &metadata));
    torrent
        .map(Torrent)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
