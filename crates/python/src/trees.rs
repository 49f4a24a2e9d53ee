//! Tree hashes of files.

use std::path::PathBuf;

use hashlane_trees::{Options, TreeError, TreeName, TreeParameters, hash_file};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{cancelled, os_error, run_error};
use crate::many::threads_or_all;
use crate::watch::Watch;

/// Returns the names of all tree hashes, in alphabetical order.
#[pyfunction]
pub(crate) fn tree_names() -> Vec<&'static str> {
    TreeName::names().collect()
}

/// Returns the tree hash of a file as text.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the Python function has names for the arguments"
)]
pub(crate) fn tree_digest(
    py: Python<'_>,
    path: PathBuf,
    algorithm: &str,
    block_size: Option<u64>,
    salt: Option<Vec<u8>>,
    part_size: Option<u64>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<String> {
    let tree = TreeName::of(algorithm)
        .ok_or_else(|| PyValueError::new_err(format!("unsupported tree hash {algorithm}")))?;
    let parameters = TreeParameters {
        block_len: block_size,
        salt,
        part_len: part_size,
    };
    let options = Options::default().threads(threads_or_all(threads)?);
    let run = Watch { progress, cancel }.run(py, |state, cancel| {
        hash_file(tree, &parameters, &path, &options, cancel, |hashed_bytes| {
            state.set(hashed_bytes, 0);
        })
    })?;
    run.map_err(|error| match error {
        TreeError::Parameters(reason) => PyValueError::new_err(reason),
        TreeError::Read(error) => os_error(&error, &path),
        // 22 is EINVAL.
        TreeError::File(reason) => PyOSError::new_err((22, reason, path.as_os_str().to_owned())),
        TreeError::Run(error) => run_error(&error),
        TreeError::Cancelled => cancelled(py),
    })
}
