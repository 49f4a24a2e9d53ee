//! Errors of the crates as Python exceptions.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

/// Returns the `OSError` of a system error, of the subclass that its number stands for, with `errno` and `filename`.
pub(crate) fn os_error(error: &io::Error, path: &Path) -> PyErr {
    let path = path.as_os_str().to_owned();
    match error.raw_os_error() {
        Some(number) => {
            // The text of `io::Error` ends with the number, which Python prints itself.
            let text = error.to_string();
            let end = text.rfind(" (os error").unwrap_or(text.len());
            PyOSError::new_err((number, text[..end].to_owned(), path))
        }
        None => PyOSError::new_err((errno_of(error), error.to_string(), path)),
    }
}

/// Returns the number of a system error, or the fitting one for an error that this library makes itself.
pub(crate) fn errno_of(error: &io::Error) -> i32 {
    if let Some(number) = error.raw_os_error() {
        return number;
    }
    match error.kind() {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::AlreadyExists => 17,
        io::ErrorKind::NotADirectory => 20,
        io::ErrorKind::IsADirectory => 21,
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => 22,
        _ => 5,
    }
}

/// Returns the `hashlane.TorrentError` with this text and the offset of the error in the .torrent file in bytes.
pub(crate) fn torrent_error(py: Python<'_>, text: &str, position: Option<usize>) -> PyErr {
    let error = || {
        let class = py.import("hashlane._errors")?.getattr("TorrentError")?;
        class.call1((text, position))
    };
    error().map_or_else(|error| error, PyErr::from_value)
}

/// Returns the `hashlane.Cancelled` of work that has no result.
pub(crate) fn cancelled(py: Python<'_>) -> PyErr {
    let error = || py.import("hashlane._errors")?.getattr("Cancelled")?.call0();
    error().map_or_else(|error| error, PyErr::from_value)
}

/// Returns the error of a run that could not start, for example without memory for its threads.
pub(crate) fn run_error(error: &dyn std::error::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
