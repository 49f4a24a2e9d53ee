//! Errors of the client as Python exceptions.

use std::fmt::Display;

use hashlane_client::HandleError;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(hashlane_client._errors, ClientError);
import_exception!(hashlane_client._errors, TorrentEnded);
import_exception!(hashlane_client._errors, TorrentFailed);

/// Returns the exception of an error that concerns the client.
pub(crate) fn client_error(error: impl Display) -> PyErr {
    ClientError::new_err(error.to_string())
}

/// Returns the exception of an error of a torrent.
pub(crate) fn handle_error(error: HandleError) -> PyErr {
    let text = error.to_string();
    match error {
        HandleError::Ended | HandleError::Removed => TorrentEnded::new_err(text),
        HandleError::Failed(_) => TorrentFailed::new_err(text),
        _ => ClientError::new_err(text),
    }
}
