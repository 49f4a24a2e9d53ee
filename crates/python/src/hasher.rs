//! Objects like those of `hashlib` and `hmac`.

use std::sync::{Mutex, PoisonError};

use hashlane_hashes::{Algorithm, Blake2bLen, Digest, Hasher, HmacKey};
use hashlane_sha::Engine;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyString};

use crate::algorithm::{block_len, named};
use crate::buffers::Bytes;

/// Messages up to this length are hashed without releasing the GIL, which takes longer than the hash.
pub(crate) const SHORT: usize = 2048;

/// Bytes that one stream hashes between two looks at pending signals: less than 0.1 s with the slowest algorithm.
const SIGNAL_LEN: usize = 32 << 20;

/// Appends `bytes` with the GIL released, unless they are few, and handles signals meanwhile.
fn append(py: Python<'_>, bytes: &[u8], mut update: impl FnMut(&[u8]) + Send) -> PyResult<()> {
    if bytes.len() <= SHORT {
        update(bytes);
        return Ok(());
    }
    for part in bytes.chunks(SIGNAL_LEN) {
        py.detach(|| update(part));
        py.check_signals()?;
    }
    Ok(())
}

/// Writes lower-case hexadecimal digits.
fn hex<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let text: String = digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect();
    PyString::new(py, &text)
}

/// A hash of a message that arrives in parts, as an object of `hashlib`.
#[pyclass(frozen, name = "HASH", module = "hashlane")]
pub(crate) struct Hash {
    algorithm: Algorithm,
    stream: Mutex<Hasher>,
}

impl Hash {
    fn start(
        py: Python<'_>,
        algorithm: Algorithm,
        data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut stream = Hasher::with_engine(Engine::detect(), algorithm);
        if let Some(data) = data {
            append(py, Bytes::of(data)?.as_slice(), |part| stream.update(part))?;
        }
        Ok(Self {
            algorithm,
            stream: Mutex::new(stream),
        })
    }

    /// Returns a copy of the state, after updates on other threads have ended.
    fn state(&self, py: Python<'_>) -> Hasher {
        let stream = self.stream.lock_py_attached(py);
        stream.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn finish(&self, py: Python<'_>) -> Digest {
        self.state(py).finalize()
    }
}

#[pymethods]
impl Hash {
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    #[getter]
    fn digest_size(&self) -> usize {
        self.algorithm.digest_len()
    }

    #[getter]
    fn block_size(&self) -> usize {
        block_len(self.algorithm)
    }

    #[pyo3(signature = (data, /))]
    fn update(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = Bytes::of(data)?;
        // Held for all parts, so that updates of other threads come before or after this one.
        let stream = self.stream.lock_py_attached(py);
        let stream = &mut *stream.unwrap_or_else(PoisonError::into_inner);
        append(py, bytes.as_slice(), |part| stream.update(part))
    }

    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.finish(py).as_bytes())
    }

    fn hexdigest<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        hex(py, self.finish(py).as_bytes())
    }

    fn copy(&self, py: Python<'_>) -> Self {
        Self {
            algorithm: self.algorithm,
            stream: Mutex::new(self.state(py)),
        }
    }

    fn __repr__(&self) -> String {
        format!("<{} HASH object of hashlane>", self.algorithm.name())
    }
}

/// Returns the one value of a parameter with two names: `string` is the older name of `data`.
fn one_of<'a, 'py>(
    data: Option<&'a Bound<'py, PyAny>>,
    string: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Option<&'a Bound<'py, PyAny>>> {
    match (data, string) {
        (Some(_), Some(_)) => Err(PyTypeError::new_err(
            "'data' and 'string' are mutually exclusive",
        )),
        (data, string) => Ok(data.or(string)),
    }
}

/// Defines a constructor of the algorithm with the same name.
macro_rules! constructors {
    ($($name:ident => $algorithm:expr),+ $(,)?) => {$(
        #[pyfunction]
        #[pyo3(signature = (data=None, *, usedforsecurity=true, string=None))]
        pub(crate) fn $name(
            py: Python<'_>,
            data: Option<&Bound<'_, PyAny>>,
            usedforsecurity: bool,
            string: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Hash> {
            let _ = usedforsecurity;
            Hash::start(py, $algorithm, one_of(data, string)?)
        }
    )+};
}

constructors! {
    md5 => Algorithm::Md5,
    sha1 => Algorithm::Sha1,
    sha224 => Algorithm::Sha224,
    sha256 => Algorithm::Sha256,
    sha384 => Algorithm::Sha384,
    sha512 => Algorithm::Sha512,
    blake3 => Algorithm::Blake3,
}

#[pyfunction]
#[pyo3(signature = (data=None, /, *, digest_size=64, usedforsecurity=true))]
pub(crate) fn blake2b(
    py: Python<'_>,
    data: Option<&Bound<'_, PyAny>>,
    digest_size: u64,
    usedforsecurity: bool,
) -> PyResult<Hash> {
    let _ = usedforsecurity;
    let len = digest_size.checked_mul(8).and_then(Blake2bLen::from_bits);
    let len =
        len.ok_or_else(|| PyValueError::new_err("digest_size must be between 1 and 64 bytes"))?;
    Hash::start(py, Algorithm::Blake2b(len), data)
}

#[pyfunction]
#[pyo3(signature = (name, data=None, *, usedforsecurity=true, string=None))]
pub(crate) fn new(
    py: Python<'_>,
    name: &str,
    data: Option<&Bound<'_, PyAny>>,
    usedforsecurity: bool,
    string: Option<&Bound<'_, PyAny>>,
) -> PyResult<Hash> {
    let _ = usedforsecurity;
    Hash::start(py, named(name)?, one_of(data, string)?)
}

/// An HMAC (RFC 2104) of a message that arrives in parts, as an object of `hmac`.
#[pyclass(frozen, name = "HMAC", module = "hashlane")]
pub(crate) struct Hmac {
    algorithm: Algorithm,
    message: Mutex<hashlane_hashes::Hmac>,
}

/// Returns the key of an HMAC, and its algorithm.
///
/// # Errors
/// `ValueError` for BLAKE2b and BLAKE3, which have keys of their own, and for CRC-32.
pub(crate) fn hmac_key(name: &str, key: &[u8]) -> PyResult<(Algorithm, HmacKey)> {
    let algorithm = named(name)?;
    match HmacKey::with_engine(Engine::detect(), algorithm, key) {
        Some(key) => Ok((algorithm, key)),
        None => Err(PyValueError::new_err(format!(
            "{}: has no HMAC here: use one of md5, sha1, sha224, sha256, sha384, sha512",
            algorithm.name()
        ))),
    }
}

impl Hmac {
    fn start(
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        msg: Option<&Bound<'_, PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let (algorithm, key) = hmac_key(name, Bytes::of(key)?.as_slice())?;
        let mut message = key.start();
        if let Some(msg) = msg {
            append(py, Bytes::of(msg)?.as_slice(), |part| message.update(part))?;
        }
        Ok(Self {
            algorithm,
            message: Mutex::new(message),
        })
    }

    fn state(&self, py: Python<'_>) -> hashlane_hashes::Hmac {
        let message = self.message.lock_py_attached(py);
        message.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pymethods]
impl Hmac {
    #[getter]
    fn name(&self) -> String {
        format!("hmac-{}", self.algorithm.name())
    }

    #[getter]
    fn digest_size(&self) -> usize {
        self.algorithm.digest_len()
    }

    #[getter]
    fn block_size(&self) -> usize {
        block_len(self.algorithm)
    }

    fn update(&self, py: Python<'_>, msg: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = Bytes::of(msg)?;
        let message = self.message.lock_py_attached(py);
        let message = &mut *message.unwrap_or_else(PoisonError::into_inner);
        append(py, bytes.as_slice(), |part| message.update(part))
    }

    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.state(py).finalize().as_bytes())
    }

    fn hexdigest<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        hex(py, self.state(py).finalize().as_bytes())
    }

    /// Compares the MAC with a tag in constant time.
    fn verify(&self, py: Python<'_>, tag: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mac = self.state(py).finalize();
        Ok(mac.verify(Bytes::of(tag)?.as_slice(), None).is_ok())
    }

    fn copy(&self, py: Python<'_>) -> Self {
        Self {
            algorithm: self.algorithm,
            message: Mutex::new(self.state(py)),
        }
    }
}

#[pyfunction]
#[pyo3(signature = (key, msg=None, digestmod="sha256"))]
pub(crate) fn hmac_new(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    msg: Option<&Bound<'_, PyAny>>,
    digestmod: &str,
) -> PyResult<Hmac> {
    Hmac::start(py, key, msg, digestmod)
}

#[pyfunction]
pub(crate) fn hmac_digest<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    msg: &Bound<'py, PyAny>,
    digest: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(Hmac::start(py, key, Some(msg), digest)?.digest(py))
}
