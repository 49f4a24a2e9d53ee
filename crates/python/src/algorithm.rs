//! Algorithms by their names.

use std::borrow::Cow;

use hashlane_hashes::Algorithm;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The name of an algorithm: a `str`, or that of a constructor such as `hashlib.sha256`, or of a module with a constructor `new`.
pub(crate) struct Name(Cow<'static, str>);

impl Name {
    pub(crate) fn sha256() -> Self {
        Self(Cow::Borrowed("sha256"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Name {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return Ok(Self(Cow::Owned(name.to_cow()?.into_owned())));
        }
        let constructor = match object.getattr_opt("new")? {
            Some(new) => new,
            None => object.to_owned(),
        };
        if !constructor.is_callable() {
            let found = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "expected the name of an algorithm or a constructor such as hashlib.sha256, found {found}"
            )));
        }
        let name: String = constructor.call0()?.getattr("name")?.extract()?;
        Ok(Self(Cow::Owned(name)))
    }
}

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
