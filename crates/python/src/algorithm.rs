//! Algorithms by their names.

use hashlane_hashes::Algorithm;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the algorithm with this name, for example `sha256`.
///
/// # Errors
/// `ValueError`, as of `hashlib.new`.
pub(crate) fn named(name: &str) -> PyResult<Algorithm> {
    name.parse()
        .map_err(|_| PyValueError::new_err(format!("unsupported hash type {name}")))
}

/// Returns the block length of HMAC (RFC 2104), in bytes.
pub(crate) fn block_len(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Sha384 | Algorithm::Sha512 | Algorithm::Blake2b(_) => 128,
        Algorithm::Crc32 => 1,
        _ => 64,
    }
}

/// Returns the names of all algorithms, in a fixed order.
#[pyfunction]
pub(crate) fn algorithms() -> Vec<&'static str> {
    Algorithm::ALL
        .iter()
        .map(|algorithm| algorithm.name())
        .collect()
}
