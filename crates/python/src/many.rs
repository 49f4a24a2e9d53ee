//! Many messages from iterables, Arrow arrays, rows of a matrix, and chunks of a buffer.

use std::num::NonZeroUsize;

use hashlane_metainfo::merkle;
use hashlane_sha::{Engine, Sha256, Sha256Digest};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::algorithm::Name;
use crate::arrow::Arrays;
use crate::buffers::{Bytes, Out, Rows};
use crate::errors::cancelled;
use crate::hasher::SHORT;
use crate::sets::{Function, Threads};
use crate::watch::Watch;

/// Messages that are held at a time.
const SET: usize = 4096;

/// Bytes after which a set is hashed, if it fills the lanes.
const SET_BYTES: usize = 32 << 20;

/// Number of messages that fill the lanes of the widest kernel.
const FULL: usize = 16;

/// Bytes after which a set of an iterator is hashed in any case, so that few messages are held: 0.1 s on one thread.
const MAX_SET_BYTES: usize = 256 << 20;

/// Returns `true` if a set of messages is hashed before another one is added.
fn is_full(n_messages: usize, n_bytes: usize) -> bool {
    n_messages >= SET || n_bytes >= MAX_SET_BYTES || n_bytes >= SET_BYTES && n_messages >= FULL
}

/// Returns the number of messages of `len` bytes that are hashed together.
fn in_set(len: usize) -> usize {
    (SET_BYTES / len.max(1)).clamp(FULL, SET)
}

/// Longest message in bytes that is copied rather than held. A copy takes less time than a reference, and rows of equal length
/// are hashed faster than messages at many places.
const MAX_COPIED: usize = 256;

/// The digests of a call: the items of a list, or a buffer of the caller.
enum Digests<'py> {
    List(Vec<Bound<'py, PyBytes>>),
    /// The buffer, the object that it belongs to, and the number of bytes written.
    Out(Out, Bound<'py, PyAny>, usize),
}

impl<'py> Digests<'py> {
    /// Starts the digests of `count` messages, if the number is known.
    ///
    /// # Errors
    /// `ValueError` if `out` has not the length of all digests.
    fn new(
        out: Option<&Bound<'py, PyAny>>,
        count: Option<usize>,
        digest_len: usize,
    ) -> PyResult<Self> {
        let Some(object) = out else {
            return Ok(Self::List(Vec::with_capacity(count.unwrap_or(0).min(SET))));
        };
        let out = Out::of(object)?;
        if let Some(count) = count {
            check_len(&out, count, digest_len)?;
        }
        Ok(Self::Out(out, object.clone(), 0))
    }

    /// Fails if a buffer of the caller has a byte of some messages, which would change before it is hashed.
    fn check_apart(&self, messages: &[u8]) -> PyResult<()> {
        match self {
            Self::Out(out, ..) if out.overlaps(messages) => Err(PyValueError::new_err(
                "out overlaps the messages: use a buffer of its own",
            )),
            _ => Ok(()),
        }
    }

    fn push(&mut self, py: Python<'py>, digests: &[u8], digest_len: usize) -> PyResult<()> {
        match self {
            Self::List(list) => {
                let digests = digests.chunks_exact(digest_len);
                list.extend(digests.map(|digest| PyBytes::new(py, digest)));
            }
            Self::Out(out, _, offset) => {
                if out.len() - *offset < digests.len() {
                    return Err(PyValueError::new_err(format!(
                        "out has {} bytes, and there are more digests of {digest_len} bytes",
                        out.len()
                    )));
                }
                out.write(*offset, digests);
                *offset += digests.len();
            }
        }
        Ok(())
    }

    fn finish(self, py: Python<'py>, digest_len: usize) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::List(list) => Ok(PyList::new(py, list)?.into_any()),
            Self::Out(out, object, offset) => {
                check_len(&out, offset / digest_len, digest_len)?;
                Ok(object)
            }
        }
    }
}

fn check_len(out: &Out, count: usize, digest_len: usize) -> PyResult<()> {
    let expected = count.saturating_mul(digest_len);
    if out.len() == expected {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "out has {} bytes, expected {expected}: {count} digests of {digest_len} bytes",
        out.len()
    )))
}

/// Returns the number of threads: all CPUs that the process may use, unless the caller chooses.
pub(crate) fn threads_or_all(threads: Option<usize>) -> PyResult<NonZeroUsize> {
    Ok(Threads::new(threads)?.all())
}

/// A call to hash many messages.
struct Run<'py> {
    py: Python<'py>,
    function: Function,
    threads: Threads,
    digests: Digests<'py>,
    /// The digests of one set.
    values: Vec<u8>,
    watch: Watch,
}

/// Handles signals between two sets.
///
/// # Errors
/// `KeyboardInterrupt`, `Cancelled`, and the exceptions of `cancel`.
fn look(py: Python<'_>, watch: &Watch) -> PyResult<()> {
    if watch.look(py, (0, None))? {
        return Err(cancelled(py));
    }
    Ok(())
}

impl<'py> Run<'py> {
    /// Hashes a set of messages, with the GIL released unless they are short.
    fn set(&mut self, messages: &[&[u8]]) -> PyResult<()> {
        for message in messages {
            self.digests.check_apart(message)?;
        }
        let digest_len = self.function.digest_len();
        self.values.resize(messages.len() * digest_len, 0);
        let n_bytes: usize = messages.iter().map(|message| message.len()).sum();
        let (function, values, threads) = (&self.function, &mut self.values[..], self.threads);
        if n_bytes <= SHORT {
            function.digest(messages, values, Threads::ONE, &mut || Ok(()))?;
            look(self.py, &self.watch)?;
        } else {
            let watch = &self.watch;
            let mut pause = || Python::attach(|py| look(py, watch));
            self.py
                .detach(|| function.digest(messages, values, threads, &mut pause))?;
        }
        self.digests.push(self.py, &self.values, digest_len)
    }

    /// Hashes the messages of an iterator, a set of them at a time.
    fn all(&mut self, messages: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>) -> PyResult<()> {
        let mut set = Set::default();
        for message in messages {
            set.add(&message?)?;
            if is_full(set.len(), set.n_bytes) {
                self.held(&set)?;
                set.clear();
            }
        }
        self.held(&set)
    }

    fn held(&mut self, set: &Set<'py>) -> PyResult<()> {
        if set.held.is_empty() {
            return self.rows(set.rows());
        }
        let rows = (0..set.n_rows).map(|index| set.rows().row(index));
        let messages: Vec<&[u8]> = rows.chain(set.held.iter().map(Bytes::as_slice)).collect();
        self.set(&messages)
    }

    /// Hashes the rows of a matrix, a set of them at a time.
    fn rows(&mut self, rows: Matrix<'_>) -> PyResult<()> {
        self.digests.check_apart(rows.bytes)?;
        let digest_len = self.function.digest_len();
        let in_set = in_set(rows.len);
        for first in (0..rows.count).step_by(in_set) {
            let n = in_set.min(rows.count - first);
            let n_bytes = n * rows.len;
            if n_bytes > SET_BYTES / 8 || self.threads.for_bytes(n_bytes) > 1 {
                let messages: Vec<&[u8]> = (first..first + n).map(|i| rows.row(i)).collect();
                self.set(&messages)?;
                continue;
            }
            self.values.resize(n * digest_len, 0);
            let bytes = rows.bytes.get(first * rows.stride..).unwrap_or_default();
            let (function, values) = (&self.function, &mut self.values[..]);
            if n_bytes <= SHORT {
                function.digest_rows(bytes, rows.stride, rows.len, values);
            } else {
                self.py
                    .detach(|| function.digest_rows(bytes, rows.stride, rows.len, values));
            }
            look(self.py, &self.watch)?;
            self.digests.push(self.py, &self.values, digest_len)?;
        }
        Ok(())
    }

    /// Hashes the messages of Arrow arrays, a set of them at a time.
    fn arrays(&mut self, mut arrays: Arrays) -> PyResult<()> {
        while let Some(messages) = arrays.next()? {
            if let Some((bytes, len)) = messages.rows() {
                self.rows(Matrix {
                    bytes,
                    count: messages.len(),
                    len,
                    stride: len,
                })?;
                continue;
            }
            let (mut set, mut n_bytes) = (Vec::new(), 0);
            for index in 0..messages.len() {
                let message = messages.get(index)?;
                n_bytes += message.len();
                set.push(message);
                if is_full(set.len(), n_bytes) {
                    self.set(&set)?;
                    set.clear();
                    n_bytes = 0;
                }
            }
            self.set(&set)?;
        }
        Ok(())
    }
}

/// Messages of an iterator that are hashed together: first copies of short `bytes` of one length, and then references to others.
#[derive(Default)]
struct Set<'py> {
    copied: Vec<u8>,
    n_rows: usize,
    /// Length of a copied message in bytes.
    row_len: usize,
    held: Vec<Bytes<'py>>,
    /// Length of all messages in bytes.
    n_bytes: usize,
}

impl<'py> Set<'py> {
    fn len(&self) -> usize {
        self.n_rows + self.held.len()
    }

    #[inline]
    fn add(&mut self, message: &Bound<'py, PyAny>) -> PyResult<()> {
        if self.held.is_empty()
            && let Ok(bytes) = message.cast_exact::<PyBytes>()
        {
            let bytes = bytes.as_bytes();
            let fits = if self.n_rows == 0 {
                bytes.len() <= MAX_COPIED
            } else {
                bytes.len() == self.row_len
            };
            if fits {
                self.copied.extend_from_slice(bytes);
                self.row_len = bytes.len();
                self.n_rows += 1;
                self.n_bytes += bytes.len();
                return Ok(());
            }
        }
        let bytes = Bytes::of(message)?;
        self.n_bytes += bytes.as_slice().len();
        self.held.push(bytes);
        Ok(())
    }

    /// Returns the copied messages.
    fn rows(&self) -> Matrix<'_> {
        Matrix {
            bytes: &self.copied,
            count: self.n_rows,
            len: self.row_len,
            stride: self.row_len,
        }
    }

    fn clear(&mut self) {
        self.copied.clear();
        self.held.clear();
        (self.n_rows, self.n_bytes) = (0, 0);
    }
}

/// Rows of bytes, which are messages.
#[derive(Clone, Copy)]
struct Matrix<'m> {
    /// From the start of the first row to the end of the last one; empty if rows have no bytes.
    bytes: &'m [u8],
    /// Number of rows.
    count: usize,
    /// Length of a row in bytes.
    len: usize,
    /// Distance between the starts of two rows in bytes, at least `len`.
    stride: usize,
}

impl<'m> Matrix<'m> {
    fn row(&self, index: usize) -> &'m [u8] {
        if self.len == 0 {
            return &[];
        }
        &self.bytes[index * self.stride..][..self.len]
    }
}

/// Returns the digest or the MAC of each message. Up to 16 messages are hashed side by side on each core.
///
/// Parameters
/// ----------
/// messages : iterable of bytes-like objects, matrix, or Arrow array
///     Without a copy: the rows of a two-dimensional buffer of bytes, such as an array of NumPy, and the values of an object with
///     ``__arrow_c_array__`` or ``__arrow_c_stream__``, such as a ``pyarrow`` array, whose type is binary, large_binary,
///     binary_view, fixed_size_binary, or a type of strings, whose bytes are UTF-8.
/// algorithm : str or constructor
///     A name of ``algorithms_available``, or a constructor such as ``hashlib.sha256``. ``"sha512_256"`` is SHA-512/256.
/// key : bytes-like, optional
///     Key of HMAC (RFC 2104).
/// prefix : bytes-like, optional
///     Bytes that come before each message. Not together with ``key``.
/// threads : int, optional
///     Number of threads that hash, by default one for each CPU.
/// out : writable buffer, optional
///     Receives the digests one after another.
/// cancel : object with ``is_set()``, optional
///     Ends the work when it is set.
///
/// Returns
/// -------
/// list of bytes, or out
///
/// Raises
/// ------
/// TypeError
///     A message has no bytes, or another Arrow type.
/// ValueError
///     A message is null, ``out`` has another length than all digests, other items than numbers or bytes, or a byte in common
///     with a message, or an Arrow array is invalid.
/// Cancelled
///     ``cancel`` was set. ``out`` then has the digests of some messages.
#[expect(
    clippy::too_many_arguments,
    reason = "they are those of the function of Python"
)]
#[pyfunction]
#[pyo3(signature = (messages, algorithm=Name::sha256(), *, key=None, prefix=None, threads=None, out=None, cancel=None))]
pub(crate) fn digest_many<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    algorithm: Name,
    key: Option<&Bound<'py, PyAny>>,
    prefix: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
    out: Option<&Bound<'py, PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let function = Function::new(algorithm.as_str(), key, prefix)?;
    let digest_len = function.digest_len();
    let rows = Rows::of(messages)?;
    let count = rows
        .as_ref()
        .map_or_else(|| messages.len().ok(), |rows| Some(rows.count));
    let mut run = Run {
        py,
        digests: Digests::new(out, count, digest_len)?,
        threads: Threads::new(threads)?,
        function,
        values: Vec::new(),
        watch: Watch {
            progress: None,
            cancel,
        },
    };
    if let Some(rows) = rows {
        run.rows(Matrix {
            bytes: rows.as_slice(),
            count: rows.count,
            len: rows.len,
            stride: rows.stride,
        })?;
    } else if let Ok(list) = messages.cast::<PyList>() {
        run.all(list.iter().map(Ok))?;
    } else if let Ok(tuple) = messages.cast::<PyTuple>() {
        run.all(tuple.iter().map(Ok))?;
    } else if let Some(arrays) = Arrays::of(messages)? {
        run.arrays(arrays)?;
    } else if Bytes::of(messages).is_ok() {
        return Err(PyTypeError::new_err(
            "messages must be an iterable of bytes-like objects or a matrix, not one bytes-like object: \
             use digest_chunks for parts of a buffer",
        ));
    } else {
        run.all(messages.try_iter()?)?;
    }
    run.digests.finish(py, digest_len)
}

/// Returns the digest of each part of a buffer.
///
/// Parameters
/// ----------
/// buffer : bytes-like
///     The bytes of all parts.
/// size : int
///     Length of a part in bytes. The last part can be shorter.
/// algorithm, threads, out, cancel
///     As for :func:`digest_many`, which also names the exceptions.
///
/// Returns
/// -------
/// list of bytes, or out
#[pyfunction]
#[pyo3(signature = (buffer, size, algorithm=Name::sha256(), *, threads=None, out=None, cancel=None))]
pub(crate) fn digest_chunks<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    size: usize,
    algorithm: Name,
    threads: Option<usize>,
    out: Option<&Bound<'py, PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if size == 0 {
        return Err(PyValueError::new_err("size must be 1 or more"));
    }
    let function = Function::new(algorithm.as_str(), None, None)?;
    let digest_len = function.digest_len();
    let held = Bytes::of(buffer)?;
    let bytes = held.as_slice();
    let mut run = Run {
        py,
        digests: Digests::new(out, Some(bytes.len().div_ceil(size)), digest_len)?,
        threads: Threads::new(threads)?,
        function,
        values: Vec::new(),
        watch: Watch {
            progress: None,
            cancel,
        },
    };
    run.digests.check_apart(bytes)?;
    for set in bytes.chunks(size.saturating_mul(in_set(size))) {
        let messages: Vec<&[u8]> = set.chunks(size).collect();
        run.set(&messages)?;
    }
    run.digests.finish(py, digest_len)
}

/// Bytes of the content whose leaves are hashed at a time: those of a whole subtree.
const TREE_BYTES: usize = SET_BYTES;

/// Bytes under a leaf.
const LEAF_LEN: usize = merkle::LEAF_LEN as usize;

/// Returns the root of the merkle tree over the bytes of a file (BEP 52, "pieces root").
///
/// Parameters
/// ----------
/// data : bytes-like
///     The content of the file, not empty.
/// cancel : object with ``is_set()``, optional
///     Ends the work when it is set.
///
/// Returns
/// -------
/// bytes
///     32 bytes.
///
/// Raises
/// ------
/// ValueError
///     ``data`` is empty.
/// Cancelled
///     ``cancel`` was set.
#[pyfunction]
#[pyo3(signature = (data, *, cancel=None))]
pub(crate) fn merkle_root<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let engine = Engine::detect();
    let watch = Watch {
        progress: None,
        cancel,
    };
    let held = Bytes::of(data)?;
    let bytes = held.as_slice();
    if bytes.is_empty() {
        return Err(PyValueError::new_err(
            "data is empty: an empty file has no root",
        ));
    }
    let mut tree = merkle::TreeBuilder::default();
    for part in bytes.chunks(TREE_BYTES) {
        look(py, &watch)?;
        py.detach(|| {
            let mut leaves = vec![Sha256Digest::default(); part.len().div_ceil(LEAF_LEN)];
            engine.digest_chunks::<Sha256>(part, LEAF_LEN, &mut leaves);
            let leaves: Vec<merkle::Node> = leaves.into_iter().map(merkle::Node::from).collect();
            tree.extend(engine, &leaves, 0);
        });
    }
    let root = tree.finish(engine, merkle::Odd::Padded(0));
    Ok(PyBytes::new(py, root.as_ref()))
}
