//! Bytes of Python objects, without a copy.
//!
//! The buffer protocol keeps the memory of an object at its place, and forbids to resize it, while a buffer is held. Other
//! threads can still write to a `bytearray` or an array while the GIL is released. As with `hashlib`, the digest is then that
//! of some mixture of the old and the new bytes. Neither the length nor a decision about memory depends on these bytes.
#![allow(unsafe_code, reason = "the buffer protocol has pointers")]

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

/// The bytes of an object, held for as long as this value exists.
pub(crate) enum Bytes<'py> {
    /// The usual case, which needs no buffer: `bytes` never change.
    Object(Bound<'py, PyBytes>),
    Buffer(PyUntypedBuffer),
}

impl<'py> Bytes<'py> {
    /// Holds the bytes of a bytes-like object.
    ///
    /// # Errors
    /// `TypeError` if the object has no buffer, or is a `str`. `BufferError` if the buffer is not contiguous.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Object(bytes.clone()));
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(
                "a str has no bytes: encode it first, for example by .encode()",
            ));
        }
        let buffer = untyped(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err(
                "the buffer is not contiguous: copy it first",
            ));
        }
        Ok(Self::Buffer(buffer))
    }

    /// Returns the bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Object(bytes) => bytes.as_bytes(),
            Self::Buffer(buffer) => {
                let len = buffer.len_bytes();
                if len == 0 {
                    return &[];
                }
                // SAFETY: the buffer is contiguous and has `len` bytes, as checked by `of`, and it stays at its place until
                // `self` is dropped.
                unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), len) }
            }
        }
    }
}

fn untyped(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    // Arrays of ctypes have no strides, which a view of them has.
    let view = || PyUntypedBuffer::get(PyMemoryView::from(object)?.as_any());
    PyUntypedBuffer::get(object)
        .or_else(|error| view().map_err(|_| error))
        .map_err(|error| {
            let py = object.py();
            if error.is_instance_of::<PyBufferError>(py) {
                return error;
            }
            let name = object.get_type().name();
            let name = name.map_or_else(|_| "object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("expected a bytes-like object, found {name}"))
        })
}

/// A matrix of bytes, such as a two-dimensional array of `NumPy`, whose rows are messages.
pub(crate) struct Rows {
    buffer: PyUntypedBuffer,
    /// Number of rows.
    pub(crate) count: usize,
    /// Length of a row in bytes.
    pub(crate) len: usize,
    /// Distance between the starts of two rows in bytes, at least `len`.
    pub(crate) stride: usize,
}

impl Rows {
    /// Holds the rows of an object with a buffer of two dimensions; `None` for all other objects.
    ///
    /// # Errors
    /// `ValueError` if the items are longer than a byte, if the bytes of a row are not adjacent, or if rows overlap or lie in
    /// reverse order.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if object.is_instance_of::<PyBytes>() {
            return Ok(None);
        }
        let Ok(buffer) = PyUntypedBuffer::get(object) else {
            return Ok(None);
        };
        if buffer.dimensions() != 2 {
            return Ok(None);
        }
        let (count, len) = (buffer.shape()[0], buffer.shape()[1]);
        let strides = (buffer.strides()[0], buffer.strides()[1]);
        if buffer.item_size() != 1 || buffer.suboffsets().is_some() {
            return Err(PyValueError::new_err(
                "the items of a matrix of messages must be bytes: use dtype uint8",
            ));
        }
        let stride = if count <= 1 {
            len
        } else {
            strides.0.try_into().unwrap_or(0)
        };
        if (len > 1 && strides.1 != 1) || stride < len {
            return Err(PyValueError::new_err(
                "the bytes of each row must be adjacent, and rows must follow each other: copy the array first",
            ));
        }
        Ok(Some(Self {
            buffer,
            count,
            len,
            stride,
        }))
    }

    /// Returns the bytes from the start of the first row to the end of the last one.
    pub(crate) fn as_slice(&self) -> &[u8] {
        if self.count == 0 || self.len == 0 {
            return &[];
        }
        let len = (self.count - 1) * self.stride + self.len;
        // SAFETY: `of` has checked that row `i` has `len` bytes from `i * stride` on, so the slice ends with the last byte of the
        // last row. Bytes between rows belong to the same array. The buffer stays at its place until `self` is dropped.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast::<u8>(), len) }
    }
}

/// A writable buffer for digests.
pub(crate) struct Out(PyUntypedBuffer);

impl Out {
    /// Holds the buffer of an object.
    ///
    /// # Errors
    /// `TypeError` if the object has no buffer, `ValueError` if the buffer is read-only or not contiguous, or has other items
    /// than numbers and bytes: bytes of a digest are no reference to an object.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = untyped(object)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("out must be writable and contiguous"));
        }
        let format = buffer.format().to_bytes();
        let marks = |byte: &&u8| b"@=<>!^".contains(*byte) || byte.is_ascii_digit();
        let kind = &format[format.iter().take_while(marks).count()..];
        if !matches!(kind, [byte] if b"?cbBhHiIlLqQnNefdgsx".contains(byte)) {
            return Err(PyValueError::new_err(
                "the items of out must be numbers or bytes",
            ));
        }
        Ok(Self(buffer))
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len_bytes()
    }

    /// Returns `true` if the buffer and `bytes` have a byte in common.
    pub(crate) fn overlaps(&self, bytes: &[u8]) -> bool {
        let start = self.0.buf_ptr().addr();
        let other = bytes.as_ptr_range();
        self.len() > 0 && other.start.addr() < start + self.len() && start < other.end.addr()
    }

    /// Copies `bytes` to an offset.
    ///
    /// # Panics
    /// If the bytes would end after the buffer.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        let end = offset.checked_add(bytes.len());
        assert!(end.is_some_and(|end| end <= self.len()), "digests fit");
        // SAFETY: the buffer is writable and contiguous, as checked by `of`, and the range lies in it, as checked above. `bytes`
        // belongs to Rust, so the two do not overlap.
        unsafe {
            let target = self.0.buf_ptr().cast::<u8>().add(offset);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
        }
    }
}
