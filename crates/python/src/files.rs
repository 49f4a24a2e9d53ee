//! Digests of whole files.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use hashlane_sums::{Algorithm, Event, Item, Options, Source, hash_items};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::algorithm::{Name, named};
use crate::errors::{cancelled, os_error, run_error};
use crate::many::threads_or_all;
use crate::watch::Watch;

/// Returns the digest of each file, or its `OSError`, in the order of the paths.
///
/// # Errors
/// `Cancelled`.
#[pyfunction]
pub(crate) fn digest_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    algorithm: Name,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let algorithms: Arc<[Algorithm]> = [named(algorithm.as_str())?].into();
    let options = Options::default().threads(threads_or_all(threads)?);
    let n_files = paths.len();
    let run = Watch { progress, cancel }.run_reads(py, move |state, cancel| {
        let items = paths
            .into_iter()
            .map(|path| Item::new(Source::File(path.clone()), Arc::clone(&algorithms), path));
        let mut outcomes: Vec<Result<Vec<u8>, (io::Error, PathBuf)>> = Vec::new();
        let mut done_bytes = 0;
        hash_items::<_, hashlane_sums::Error>(
            items,
            &mut io::empty(),
            &options,
            cancel,
            |event| {
                match event {
                    Event::Outcome(_, Ok((digests, len_bytes))) => {
                        done_bytes += len_bytes;
                        outcomes
                            .extend(digests.first().map(|digest| Ok(digest.as_bytes().to_vec())));
                    }
                    Event::Outcome(item, Err(failure)) => {
                        outcomes.push(Err((failure.into(), item.tag.clone())));
                    }
                    Event::Pause { hashed_bytes, .. } => state.set(hashed_bytes, 0),
                }
                Ok(())
            },
        )?;
        state.set(done_bytes, 0);
        Ok::<_, hashlane_sums::Error>(outcomes)
    })?;
    let outcomes = run.map_err(|error| run_error(&error))?;
    if outcomes.len() < n_files {
        return Err(cancelled(py));
    }
    let outcomes = outcomes.into_iter().map(|outcome| {
        Ok(match outcome {
            Ok(digest) => PyBytes::new(py, &digest).into_any().unbind(),
            Err((error, path)) => os_error(&error, &path).into_value(py).into_any(),
        })
    });
    outcomes.collect()
}
