//! Tree hashes of files and folders.

use std::path::PathBuf;

use hashlane_trees::{
    Algorithm, CancelToken, Damage, Globs, Options, OutputError, Overwrite, TreeError, TreeName,
    TreeOutputs, TreeParameters, VerityFormat, VerityVerdict, check_device, check_package,
    check_path, hash_path,
};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{cancelled, os_error, run_error};
use crate::many::threads_or_all;
use crate::watch::Watch;

/// Returns the names of all tree hashes, in alphabetical order.
#[pyfunction]
pub(crate) fn tree_names() -> Vec<&'static str> {
    TreeName::names().collect()
}

/// The name of a tree hash and its parameters, as Python passes them.
#[derive(FromPyObject)]
pub(crate) struct Tree(
    String,
    Option<u64>,
    Option<Vec<u8>>,
    Option<u64>,
    Option<String>,
    Option<u32>,
    Vec<String>,
    Option<u64>,
    Option<u64>,
);

impl Tree {
    fn parse(self) -> PyResult<(TreeName, TreeParameters)> {
        let Self(
            algorithm,
            block_len,
            salt,
            part_len,
            hash_name,
            verity_format,
            patterns,
            hash_block_len,
            data_blocks,
        ) = self;
        let name = TreeName::of(&algorithm)
            .ok_or_else(|| PyValueError::new_err(format!("unsupported tree hash {algorithm}")))?;
        let function = |name: String| {
            let mut all = Algorithm::ALL.iter().copied();
            let found = all.find(|function| function.name().eq_ignore_ascii_case(&name));
            found.ok_or_else(|| PyValueError::new_err(format!("unsupported hash type {name}")))
        };
        let format = |number| {
            let refusal = || format!("dm-verity has no format {number}: use 0 or 1");
            VerityFormat::of(number).ok_or_else(|| PyValueError::new_err(refusal()))
        };
        let mut excludes = Globs::ignoring_case();
        for pattern in patterns {
            if let Err(error) = excludes.add(&pattern) {
                let reason = format!("exclude: {pattern:?}: {error}");
                return Err(PyValueError::new_err(reason));
            }
        }
        let parameters = TreeParameters {
            block_len,
            salt,
            part_len,
            function: hash_name.map(function).transpose()?,
            verity_format: verity_format.map(format).transpose()?,
            hash_block_len,
            data_blocks,
            hash_offset: None,
            uuid: None,
            excludes,
        };
        Ok((name, parameters))
    }
}

/// The files to write besides a tree hash, as Python passes them.
#[derive(FromPyObject)]
pub(crate) struct Outputs(
    Option<PathBuf>,
    Option<PathBuf>,
    Option<PathBuf>,
    Option<[u8; 16]>,
    bool,
    Option<u64>,
);

/// Runs work with the options of all calls. The work notes the number of bytes hashed so far.
fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    watch: &Watch,
    work: impl FnOnce(&Options, &CancelToken, &mut dyn FnMut(u64)) -> Result<T, TreeError>
    + Send
    + 'static,
) -> PyResult<T> {
    let options = Options::default().threads(threads_or_all(threads)?);
    let done = watch.run_reads(py, move |state, cancel| {
        work(&options, cancel, &mut |hashed_bytes| {
            state.set(hashed_bytes, 0);
        })
    })?;
    done.map_err(|error| match error {
        TreeError::Parameters(error) => PyValueError::new_err(error.to_string()),
        TreeError::Read { path, error } | TreeError::Write(OutputError { path, error, .. }) => {
            os_error(&error, &path)
        }
        TreeError::File { path, reason } | TreeError::Entry { path, reason } => {
            // 22 is EINVAL.
            PyOSError::new_err((22, reason, path.into_os_string()))
        }
        TreeError::Run(error) => run_error(&error),
        TreeError::Cancelled => cancelled(py),
    })
}

/// Returns the tree hash of a file or folder as text, and writes files.
#[pyfunction]
pub(crate) fn tree_digest(
    py: Python<'_>,
    path: PathBuf,
    tree: Tree,
    outputs: Outputs,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (name, mut parameters) = tree.parse()?;
    let Outputs(merkle_tree, descriptor, hash_device, uuid, overwrite, hash_offset) = outputs;
    (parameters.uuid, parameters.hash_offset) = (uuid, hash_offset);
    let outputs = TreeOutputs {
        merkle_tree,
        descriptor,
        hash_device,
        overwrite: if overwrite {
            Overwrite::Yes
        } else {
            Overwrite::No
        },
    };
    let watch = Watch { progress, cancel };
    run(py, threads, &watch, move |options, cancel, note| {
        hash_path(name, &parameters, &outputs, &path, options, cancel, note)
    })
}

/// Returns whether a file or folder has a tree hash.
#[pyfunction]
pub(crate) fn tree_check(
    py: Python<'_>,
    path: PathBuf,
    digest: String,
    tree: Tree,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<bool> {
    let (name, parameters) = tree.parse()?;
    let watch = Watch { progress, cancel };
    run(py, threads, &watch, move |options, cancel, note| {
        check_path(name, &parameters, &path, &digest, options, cancel, note)
    })
}

/// Checks data against a hash device of dm-verity. Returns what `hashlane.VerityReport` is made of.
#[pyfunction]
pub(crate) fn verity_check(
    py: Python<'_>,
    path: PathBuf,
    hash_device: (PathBuf, u64),
    root_hash: Option<Vec<u8>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyDict>> {
    let watch = Watch { progress, cancel };
    let verdict = run(py, threads, &watch, move |options, cancel, note| {
        let root = root_hash.as_deref();
        let device = (&*hash_device.0, hash_device.1);
        check_device(&path, device, root, options, cancel, note)
    })?;
    fields(py, &verdict)
}

/// Checks a package against its signature file. Returns what `hashlane.VerityReport` is made of.
#[pyfunction]
pub(crate) fn idsig_check(
    py: Python<'_>,
    path: PathBuf,
    idsig: PathBuf,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyDict>> {
    let watch = Watch { progress, cancel };
    let verdict = run(py, threads, &watch, move |options, cancel, note| {
        check_package(&path, &idsig, options, cancel, note)
    })?;
    fields(py, &verdict)
}

fn fields<'py>(py: Python<'py>, verdict: &VerityVerdict) -> PyResult<Bound<'py, PyDict>> {
    let ranges = |damage: &Damage| -> Vec<(u64, u64)> {
        let ranges = damage.ranges().iter();
        ranges
            .map(|range| (*range.start(), range.end() + 1))
            .collect()
    };
    let report = &verdict.report;
    let dict = PyDict::new(py);
    dict.set_item("is_right", verdict.is_right())?;
    dict.set_item("root_hash", report.root.to_string())?;
    dict.set_item("has_root_hash", verdict.has_root)?;
    dict.set_item("blocks", report.n_blocks)?;
    dict.set_item("bytes_beyond", verdict.bytes_beyond)?;
    dict.set_item("damaged", report.data.n_blocks())?;
    dict.set_item("damaged_ranges", ranges(&report.data))?;
    dict.set_item("device_damaged", report.device.n_blocks())?;
    dict.set_item("device_damaged_ranges", ranges(&report.device))?;
    Ok(dict)
}
