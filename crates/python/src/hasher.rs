//! Objects like those of `hashlib` and `hmac`.

use std::sync::{Mutex, PoisonError};

use hashlane_hashes::{Algorithm, Blake2bLen, Digest, Hasher, HmacKey};
use hashlane_sha::Engine;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::algorithm::{Name, block_len, named};
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

/// A hash of a message that arrives in parts, as an object of hashlib.
///
/// Updates of several threads come one after another. The GIL is released while more than 2,047 bytes are hashed.
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
        Self::after(py, Hasher::with_engine(Engine::detect(), algorithm), data)
    }

    /// Appends the first bytes to a message.
    fn after(
        py: Python<'_>,
        mut stream: Hasher,
        data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let algorithm = stream.algorithm();
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
    /// Name of the algorithm, which `new` accepts.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Length of the digest in bytes.
    #[getter]
    fn digest_size(&self) -> usize {
        self.algorithm.digest_len()
    }

    /// Length of a block in bytes.
    #[getter]
    fn block_size(&self) -> usize {
        block_len(self.algorithm)
    }

    /// Appends the bytes of an object to the message.
    #[pyo3(signature = (data, /))]
    fn update(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = Bytes::of(data)?;
        // Held for all parts, so that updates of other threads come before or after this one.
        let stream = self.stream.lock_py_attached(py);
        let stream = &mut *stream.unwrap_or_else(PoisonError::into_inner);
        append(py, bytes.as_slice(), |part| stream.update(part))
    }

    /// Returns the digest of the message so far.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.finish(py).as_bytes())
    }

    /// Returns the digest in hexadecimal.
    fn hexdigest<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        hex(py, self.finish(py).as_bytes())
    }

    /// Returns an object with the same message so far.
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
    ($($name:ident => $algorithm:expr, $doc:literal);+ $(;)?) => {$(
        #[doc = $doc]
        ///
        /// As in hashlib, `data` are the first bytes of the message, and `usedforsecurity` makes no difference.
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
    md5 => Algorithm::Md5, "Returns an MD5 object (RFC 1321). Attackers can make messages with equal digests.";
    sha1 => Algorithm::Sha1, "Returns a SHA-1 object (FIPS 180-4). Attackers can make messages with equal digests.";
    sha224 => Algorithm::Sha224, "Returns a SHA-224 object (FIPS 180-4).";
    sha256 => Algorithm::Sha256, "Returns a SHA-256 object (FIPS 180-4).";
    sha384 => Algorithm::Sha384, "Returns a SHA-384 object (FIPS 180-4).";
    sha512 => Algorithm::Sha512, "Returns a SHA-512 object (FIPS 180-4).";
}

/// Returns a BLAKE3 object.
///
/// Parameters
/// ----------
/// data : bytes-like, optional
///     The first bytes of the message.
/// key : bytes-like, optional
///     Key of 32 bytes: the digest is a MAC.
/// derive_key_context : str, optional
///     Context of a key to derive from the message: a text that is hardcoded, global and unique. Not together with ``key``.
///
/// Raises
/// ------
/// ValueError
///     The key has another length, or both ``key`` and ``derive_key_context`` are given.
#[pyfunction]
#[pyo3(signature = (data=None, *, key=None, derive_key_context=None, usedforsecurity=true, string=None))]
pub(crate) fn blake3(
    py: Python<'_>,
    data: Option<&Bound<'_, PyAny>>,
    key: Option<&Bound<'_, PyAny>>,
    derive_key_context: Option<&str>,
    usedforsecurity: bool,
    string: Option<&Bound<'_, PyAny>>,
) -> PyResult<Hash> {
    let _ = usedforsecurity;
    let state = match (key, derive_key_context) {
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err(
                "key and derive_key_context are mutually exclusive",
            ));
        }
        (Some(key), None) => {
            let key = Bytes::of(key)?;
            let key = key.as_slice().try_into();
            let key = key.map_err(|_| PyValueError::new_err("key must have 32 bytes"))?;
            ::blake3::Hasher::new_keyed(key)
        }
        (None, Some(context)) => ::blake3::Hasher::new_derive_key(context),
        (None, None) => ::blake3::Hasher::new(),
    };
    Hash::after(py, Hasher::Blake3(Box::new(state)), one_of(data, string)?)
}

/// Returns the bytes of a parameter of BLAKE2b.
fn at_most<'b>(bytes: Option<&'b Bytes<'_>>, name: &str, max: usize) -> PyResult<&'b [u8]> {
    let bytes = bytes.map_or(&[][..], Bytes::as_slice);
    if bytes.len() > max {
        return Err(PyValueError::new_err(format!(
            "maximum {name} length is {max} bytes"
        )));
    }
    Ok(bytes)
}

/// Returns a number of BLAKE2b between two bounds.
fn within<T: TryFrom<i64>>(value: i64, name: &str, min: i64, max: i64) -> PyResult<T> {
    let number = T::try_from(value).ok();
    let number = number.filter(|_| (min..=max).contains(&value));
    number.ok_or_else(|| PyValueError::new_err(format!("{name} must be between {min} and {max}")))
}

/// Returns a BLAKE2b object (RFC 7693). The parameters are those of hashlib.
///
/// Parameters
/// ----------
/// data : bytes-like, optional
///     The first bytes of the message.
/// digest_size : int
///     Length of the digest, 1 to 64 bytes.
/// key : bytes-like
///     Key of up to 64 bytes: the digest is a MAC.
/// salt, person : bytes-like
///     Up to 16 bytes each.
/// fanout, depth, leaf_size, node_offset, node_depth, inner_size, last_node
///     Place of the message in a tree.
#[expect(
    clippy::too_many_arguments,
    reason = "they are those of the function of Python"
)]
#[pyfunction]
#[pyo3(signature = (data=None, /, *, digest_size=64, key=None, salt=None, person=None, fanout=1, depth=1, leaf_size=0,
    node_offset=0, node_depth=0, inner_size=0, last_node=false, usedforsecurity=true, string=None))]
pub(crate) fn blake2b(
    py: Python<'_>,
    data: Option<&Bound<'_, PyAny>>,
    digest_size: i64,
    key: Option<&Bound<'_, PyAny>>,
    salt: Option<&Bound<'_, PyAny>>,
    person: Option<&Bound<'_, PyAny>>,
    fanout: i64,
    depth: i64,
    leaf_size: u32,
    node_offset: u64,
    node_depth: i64,
    inner_size: i64,
    last_node: bool,
    usedforsecurity: bool,
    string: Option<&Bound<'_, PyAny>>,
) -> PyResult<Hash> {
    let _ = usedforsecurity;
    let data = one_of(data, string)?;
    let len = u64::try_from(digest_size).unwrap_or(0);
    let len = len.checked_mul(8).and_then(Blake2bLen::from_bits);
    let len =
        len.ok_or_else(|| PyValueError::new_err("digest_size must be between 1 and 64 bytes"))?;
    let fanout: u8 = within(fanout, "fanout", 0, 255)?;
    let depth: u8 = within(depth, "depth", 1, 255)?;
    let node_depth: u8 = within(node_depth, "node_depth", 0, 255)?;
    let inner_size: usize = within(inner_size, "inner_size", 0, 64)?;
    let key = key.map(Bytes::of).transpose()?;
    let salt = salt.map(Bytes::of).transpose()?;
    let person = person.map(Bytes::of).transpose()?;
    let mut params = blake2b_simd::Params::new();
    params
        .hash_length(len.bytes())
        .key(at_most(key.as_ref(), "key", 64)?)
        .salt(at_most(salt.as_ref(), "salt", 16)?)
        .personal(at_most(person.as_ref(), "person", 16)?)
        .fanout(fanout)
        .max_depth(depth)
        .max_leaf_length(leaf_size)
        .node_offset(node_offset)
        .node_depth(node_depth)
        .inner_hash_length(inner_size)
        .last_node(last_node);
    Hash::after(py, Hasher::Blake2b(len, Box::new(params.to_state())), data)
}

/// Returns an object of the algorithm with this name, as `hashlib.new`. Algorithms that this package has not are those of hashlib.
///
/// Parameters
/// ----------
/// name : str
///     A name of ``algorithms_available``, or one of hashlib.
/// data : bytes-like, optional
///     The first bytes of the message.
/// **parameters
///     Those of the constructor with this name, such as ``digest_size`` of BLAKE2.
///
/// Raises
/// ------
/// ValueError
///     Neither this package nor hashlib has the algorithm, or a parameter is out of its bounds.
/// TypeError
///     The algorithm has no such parameter.
#[pyfunction]
#[pyo3(signature = (name, data=None, *, usedforsecurity=true, string=None, **parameters))]
pub(crate) fn new<'py>(
    py: Python<'py>,
    name: &str,
    data: Option<&Bound<'py, PyAny>>,
    usedforsecurity: bool,
    string: Option<&Bound<'py, PyAny>>,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let data = one_of(data, string)?;
    let algorithm = named(name).ok();
    let (Some(algorithm), None) = (algorithm, parameters) else {
        return by_constructor(py, name, algorithm, data, usedforsecurity, parameters);
    };
    Ok(Bound::new(py, Hash::start(py, algorithm, data)?)?.into_any())
}

/// Calls the constructor of an algorithm that takes parameters, or `hashlib.new`.
fn by_constructor<'py>(
    py: Python<'py>,
    name: &str,
    algorithm: Option<Algorithm>,
    data: Option<&Bound<'py, PyAny>>,
    usedforsecurity: bool,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = match parameters {
        Some(parameters) => parameters.copy()?,
        None => PyDict::new(py),
    };
    let data = data.map_or_else(|| PyBytes::new(py, &[]).into_any(), Clone::clone);
    let constructor = match algorithm {
        Some(Algorithm::Blake2b(len)) => {
            if !options.contains("digest_size")? {
                options.set_item("digest_size", len.bytes())?;
            } else if len != Blake2bLen::MAX {
                let reason = format!("digest_size: {name} has a length of its own");
                return Err(PyValueError::new_err(reason));
            }
            wrap_pyfunction!(blake2b, py)?
        }
        Some(Algorithm::Blake3) => wrap_pyfunction!(self::blake3, py)?,
        Some(_) => {
            let first = options.keys().get_item(0)?;
            let reason = format!("{name} has no parameter {}", first.repr()?);
            return Err(PyTypeError::new_err(reason));
        }
        None => {
            options.set_item("usedforsecurity", usedforsecurity)?;
            let hashlib = py.import("hashlib")?;
            return hashlib.call_method("new", (name, data), Some(&options));
        }
    };
    constructor.call((data,), Some(&options))
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

/// Returns an HMAC object, as `hmac.new`. `digestmod` is a name, a constructor, or a module with a constructor `new`.
#[pyfunction]
#[pyo3(signature = (key, msg=None, digestmod=Name::sha256()))]
pub(crate) fn hmac_new(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    msg: Option<&Bound<'_, PyAny>>,
    digestmod: Name,
) -> PyResult<Hmac> {
    Hmac::start(py, key, msg, digestmod.as_str())
}

/// Returns the HMAC of a message, as `hmac.digest`.
#[pyfunction]
pub(crate) fn hmac_digest<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    msg: &Bound<'py, PyAny>,
    digest: Name,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(Hmac::start(py, key, Some(msg), digest.as_str())?.digest(py))
}
