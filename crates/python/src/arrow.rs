//! Arrays of the Arrow C data interface, without a copy.
//!
//! An object with `__arrow_c_array__` or `__arrow_c_stream__` exports arrays as capsules. The interface gives pointers, and the
//! lengths of buffers follow from the type, the offset and the length of an array. The producer promises that its buffers are
//! as long and stay unchanged until they are released. Everything that can be checked is checked: the type, the number of
//! buffers, signs, overflows, the order of offsets, and the bounds of views, whose buffers have lengths.
//! <https://arrow.apache.org/docs/format/CDataInterface.html>
#![allow(unsafe_code, reason = "the interface has pointers")]

use std::ffi::{CStr, c_char, c_int, c_void};

use pyo3::exceptions::{PyException, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

type Release<T> = Option<unsafe extern "C" fn(*mut T)>;

#[repr(C)]
#[derive(Clone, Copy)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Release<Self>,
    private_data: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const u8,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Release<Self>,
    private_data: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Release<Self>,
    private_data: *mut c_void,
}

/// A struct of the interface.
///
/// # Safety
/// Zeros are a released struct, and `release` is its callback.
unsafe trait Interface: Copy {
    /// The name of its capsules.
    const NAME: &'static CStr;

    fn release(&mut self) -> &mut Release<Self>;
}

macro_rules! interface {
    ($struct:ty, $name:literal) => {
        // SAFETY: the specification defines the layout of the struct, and that null in `release` is a released struct.
        unsafe impl Interface for $struct {
            const NAME: &'static CStr = $name;

            fn release(&mut self) -> &mut Release<Self> {
                &mut self.release
            }
        }
    };
}

interface!(Schema, c"arrow_schema");
interface!(Array, c"arrow_array");
interface!(Stream, c"arrow_array_stream");

/// A struct that this library owns, or a released one.
struct Owned<T: Interface>(T);

impl<T: Interface> Owned<T> {
    fn released() -> Self {
        // SAFETY: `Interface` promises that zeros are a released struct.
        Self(unsafe { std::mem::zeroed() })
    }

    fn is_released(&mut self) -> bool {
        self.0.release().is_none()
    }

    /// Moves the struct out of a capsule, as the specification asks of consumers.
    ///
    /// # Errors
    /// `TypeError` if the object is no capsule of this struct, `ValueError` if another consumer has taken the struct.
    fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = capsule.cast::<PyCapsule>()?;
        let place = capsule.pointer_checked(Some(T::NAME))?.cast::<T>();
        if !place.is_aligned() {
            return Err(PyValueError::new_err("the Arrow capsule is not aligned"));
        }
        // SAFETY: by the protocol, a capsule of this name points to such a struct, and only its holder uses it. The GIL is held,
        // and the pointer is aligned, as checked above. After the write, the capsule releases nothing.
        let mut owned = unsafe {
            let owned = Self(place.read());
            *(*place.as_ptr()).release() = None;
            owned
        };
        if owned.is_released() {
            return Err(PyValueError::new_err(
                "the Arrow capsule was consumed before",
            ));
        }
        Ok(owned)
    }
}

impl<T: Interface> Drop for Owned<T> {
    fn drop(&mut self) {
        if let Some(release) = *self.0.release() {
            // SAFETY: the struct is not released. It was moved out of a capsule, or a stream filled it, so this is its only owner.
            unsafe { release(&raw mut self.0) };
        }
    }
}

/// Where the messages of an array are.
#[derive(Clone, Copy)]
enum Layout {
    /// Rows of this length.
    Fixed(usize),
    /// Offsets of 4 bytes into one buffer.
    Offsets32,
    /// Offsets of 8 bytes into one buffer.
    Offsets64,
    /// Views of 16 bytes: a short message itself, or its place in one of several buffers.
    Views,
}

impl Layout {
    /// Returns the layout of a type of bytes, or of strings, which are UTF-8.
    fn of(schema: &Schema) -> PyResult<Self> {
        if schema.format.is_null() {
            return Err(invalid("the type has no format"));
        }
        // SAFETY: the pointer is not null, and the specification makes it a string that lives as long as the schema.
        let format = unsafe { CStr::from_ptr(schema.format) }.to_string_lossy();
        let layout = match &*format {
            "z" | "u" => Some(Self::Offsets32),
            "Z" | "U" => Some(Self::Offsets64),
            "vz" | "vu" => Some(Self::Views),
            format => format
                .strip_prefix("w:")
                .and_then(|len| Some(Self::Fixed(len.parse().ok()?))),
        };
        match layout {
            Some(layout) => Ok(layout),
            None => Err(PyTypeError::new_err(format!(
                "messages have the Arrow type {format:?}: expected one column of binary, large_binary, binary_view, \
                 fixed_size_binary, or of strings; cast it first"
            ))),
        }
    }

    /// Returns the bytes of the second buffer for this many messages.
    fn len_bytes(self, n: usize) -> Option<usize> {
        match self {
            Self::Fixed(len) => n.checked_mul(len),
            Self::Offsets32 => n.checked_add(1)?.checked_mul(4),
            Self::Offsets64 => n.checked_add(1)?.checked_mul(8),
            Self::Views => n.checked_mul(16),
        }
    }
}

fn invalid(problem: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow array is invalid: {problem}"))
}

/// Messages of one array, without nulls.
pub(crate) struct Messages {
    array: Owned<Array>,
    layout: Layout,
    offset: usize,
    len: usize,
    n_buffers: usize,
}

impl Messages {
    /// Checks an array. `first` is the index of its first message among all messages.
    fn new(array: Owned<Array>, layout: Layout, first: usize) -> PyResult<Self> {
        let Array {
            length,
            offset,
            n_buffers,
            n_children,
            buffers,
            dictionary,
            ..
        } = array.0;
        let number = |number: i64| usize::try_from(number).ok();
        let (Some(len), Some(offset), Some(n_buffers)) =
            (number(length), number(offset), number(n_buffers))
        else {
            return Err(invalid("a length is negative"));
        };
        let is_wanted = match layout {
            Layout::Fixed(_) => n_buffers == 2,
            Layout::Offsets32 | Layout::Offsets64 => n_buffers == 3,
            Layout::Views => n_buffers >= 3,
        };
        if !is_wanted
            || buffers.is_null()
            || !buffers.is_aligned()
            || n_children != 0
            || !dictionary.is_null()
        {
            return Err(invalid("it has not the buffers of its type"));
        }
        let end = offset.checked_add(len);
        let len_bytes = end.and_then(|end| layout.len_bytes(end));
        if len_bytes.is_none_or(|len| isize::try_from(len).is_err()) {
            return Err(invalid("a length exceeds the address space"));
        }
        let messages = Self {
            array,
            layout,
            offset,
            len,
            n_buffers,
        };
        if len > 0 && !matches!(layout, Layout::Fixed(0)) && messages.buffer(1).is_null() {
            return Err(invalid("a buffer is null"));
        }
        messages.check_nulls(first)?;
        Ok(messages)
    }

    /// Returns the number of messages.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn buffer(&self, index: usize) -> *const u8 {
        assert!(index < self.n_buffers, "the buffers of a layout");
        // SAFETY: `buffers` has `n_buffers` pointers, and the index is less than that number.
        unsafe { *self.array.0.buffers.add(index) }
    }

    /// Fails if a message is null.
    fn check_nulls(&self, first: usize) -> PyResult<()> {
        let bitmap = self.buffer(0);
        match (self.array.0.null_count, bitmap.is_null()) {
            // -1 is an unknown number, and an array without nulls needs no bitmap.
            (0, _) | (-1, true) => return Ok(()),
            (_, true) => return Err(invalid("it has nulls, but no bitmap")),
            (_, false) => {}
        }
        for index in 0..self.len {
            let bit = self.offset + index;
            // SAFETY: the bitmap is not null, and has one bit for each of `offset + len` messages.
            let byte = unsafe { *bitmap.add(bit / 8) };
            if byte >> (bit % 8) & 1 == 0 {
                let index = first.saturating_add(index);
                return Err(PyValueError::new_err(format!(
                    "message {index} is null: drop or fill nulls first"
                )));
            }
        }
        Ok(())
    }

    /// Returns all bytes and the length of a message if the messages are rows without gaps.
    pub(crate) fn rows(&self) -> Option<(&[u8], usize)> {
        let Layout::Fixed(row_len) = self.layout else {
            return None;
        };
        let len = self.len * row_len;
        if len == 0 {
            return Some((&[], row_len));
        }
        // SAFETY: `new` has checked that the buffer is not null, and that `offset + len` rows lie in the address space. The
        // producer keeps them until `array` is released.
        let rows =
            unsafe { std::slice::from_raw_parts(self.buffer(1).add(self.offset * row_len), len) };
        Some((rows, row_len))
    }

    /// Returns a message.
    ///
    /// # Errors
    /// `ValueError` if an offset or a view is wrong.
    pub(crate) fn get(&self, index: usize) -> PyResult<&[u8]> {
        assert!(index < self.len, "an index of a message");
        let place = self.offset + index;
        let wrong = || {
            invalid(&format!(
                "the place of message {index} is not in its buffer"
            ))
        };
        let (data, start, end) = match self.layout {
            Layout::Fixed(len) => (self.buffer(1), place * len, place * len + len),
            Layout::Offsets32 => {
                // SAFETY: there are `offset + len + 1` offsets, as checked by `new`.
                let [start, end] =
                    unsafe { [self.number::<i32>(place), self.number::<i32>(place + 1)] };
                let number = |number: i32| usize::try_from(number).map_err(|_| wrong());
                (self.buffer(2), number(start)?, number(end)?)
            }
            Layout::Offsets64 => {
                // SAFETY: as above.
                let [start, end] =
                    unsafe { [self.number::<i64>(place), self.number::<i64>(place + 1)] };
                let number = |number: i64| usize::try_from(number).map_err(|_| wrong());
                (self.buffer(2), number(start)?, number(end)?)
            }
            Layout::Views => return self.view(place).ok_or_else(wrong),
        };
        if end == start {
            return Ok(&[]);
        }
        if start > end || isize::try_from(end).is_err() || data.is_null() {
            return Err(wrong());
        }
        // SAFETY: the buffer is not null, and the producer promises that its bytes reach to the end of every message: the interface
        // has no length of this buffer. It stays until `array` is released.
        Ok(unsafe { std::slice::from_raw_parts(data.add(start), end - start) })
    }

    /// Returns a number of the second buffer.
    ///
    /// # Safety
    /// The buffer has more than `index` numbers of this type.
    unsafe fn number<T: Copy>(&self, index: usize) -> T {
        // SAFETY: the caller knows the number of items. The specification recommends an alignment, but requires none.
        unsafe { self.buffer(1).cast::<T>().add(index).read_unaligned() }
    }

    /// Returns the message of a view, or `None` if its place is not in one of the buffers.
    fn view(&self, place: usize) -> Option<&[u8]> {
        // SAFETY: there are `offset + len` views of 16 bytes, as checked by `new`, which stay until `array` is released.
        let view = unsafe { &*self.buffer(1).cast::<[u8; 16]>().add(place) };
        let number = |at: usize| {
            let bytes = view[at..].first_chunk()?;
            usize::try_from(i32::from_ne_bytes(*bytes)).ok()
        };
        let len = number(0)?;
        if len <= 12 {
            return Some(&view[4..4 + len]);
        }
        let (index, start) = (number(8)?, number(12)?);
        // The buffers are a bitmap, the views, the data, and the lengths of the data.
        let n_data = self.n_buffers - 3;
        let (data, lengths) = (
            (index < n_data).then(|| self.buffer(2 + index))?,
            self.buffer(self.n_buffers - 1),
        );
        if data.is_null() || lengths.is_null() {
            return None;
        }
        // SAFETY: the buffer of lengths is not null, and has a number for each of `n_data` buffers.
        let data_len = unsafe { lengths.cast::<[u8; 8]>().add(index).read() };
        let data_len = i64::from_ne_bytes(data_len);
        if start.checked_add(len)? > usize::try_from(data_len).ok()? {
            return None;
        }
        // SAFETY: the buffer is not null, and the message ends before its end. It stays until `array` is released.
        Some(unsafe { std::slice::from_raw_parts(data.add(start), len) })
    }
}

/// Arrays of an object: one, or those of a stream.
pub(crate) struct Arrays {
    layout: Layout,
    source: Source,
    /// The number of messages until now.
    n_messages: usize,
}

enum Source {
    Array(Option<Owned<Array>>),
    Stream(Owned<Stream>),
}

impl Arrays {
    /// Returns the arrays of an object that exports some, `None` for all other objects.
    ///
    /// # Errors
    /// `TypeError` if the messages have another type than bytes, `ValueError` if the object breaks a rule of the protocol, and
    /// `OSError` if a stream fails.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let export = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
            let Some(method) = object.getattr_opt(name)? else {
                return Ok(None);
            };
            match method.call0() {
                Ok(exported) => Ok(Some(exported)),
                // A series of pandas has the method, but not every series has a type of Arrow. Such a series is iterated.
                Err(error) if error.is_instance_of::<PyException>(object.py()) => Ok(None),
                Err(error) => Err(error),
            }
        };
        if let Some(pair) = export("__arrow_c_array__")? {
            let (schema, array) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let schema = Owned::<Schema>::take(&schema)?;
            let array = Owned::<Array>::take(&array)?;
            return Ok(Some(Self {
                layout: Layout::of(&schema.0)?,
                source: Source::Array(Some(array)),
                n_messages: 0,
            }));
        }
        let Some(stream) = export("__arrow_c_stream__")? else {
            return Ok(None);
        };
        let mut stream = Owned::<Stream>::take(&stream)?;
        let mut schema = Owned::<Schema>::released();
        let get_schema = stream.0.get_schema;
        let get_schema = get_schema.ok_or_else(|| invalid("the stream has no schema"))?;
        // SAFETY: the stream is not released, and a callback of it fills the schema.
        let status = unsafe { get_schema(&raw mut stream.0, &raw mut schema.0) };
        stream.check(status)?;
        if schema.is_released() {
            return Err(invalid("the stream has no schema"));
        }
        Ok(Some(Self {
            layout: Layout::of(&schema.0)?,
            source: Source::Stream(stream),
            n_messages: 0,
        }))
    }

    /// Returns the messages of the next array, or `None` at the end.
    pub(crate) fn next(&mut self) -> PyResult<Option<Messages>> {
        let array = match &mut self.source {
            Source::Array(array) => array.take(),
            Source::Stream(stream) => stream.next()?,
        };
        let Some(array) = array else { return Ok(None) };
        let messages = Messages::new(array, self.layout, self.n_messages)?;
        self.n_messages = self.n_messages.saturating_add(messages.len);
        Ok(Some(messages))
    }
}

impl Owned<Stream> {
    fn next(&mut self) -> PyResult<Option<Owned<Array>>> {
        let mut array = Owned::<Array>::released();
        let get_next = self.0.get_next;
        let get_next = get_next.ok_or_else(|| invalid("the stream has no arrays"))?;
        // SAFETY: the stream is not released, and a callback of it fills the array.
        let status = unsafe { get_next(&raw mut self.0, &raw mut array.0) };
        self.check(status)?;
        Ok((!array.is_released()).then_some(array))
    }

    /// Returns the error of the stream if a callback has failed with this number.
    fn check(&mut self, status: c_int) -> PyResult<()> {
        if status == 0 {
            return Ok(());
        }
        let get_last_error = self.0.get_last_error;
        // SAFETY: the stream is not released, and its last callback has failed.
        let text = get_last_error.map(|get| unsafe { get(&raw mut self.0) });
        let text = match text.filter(|text| !text.is_null()) {
            // SAFETY: the pointer is not null, and the specification makes it a string that lives until the next call.
            Some(text) => unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned(),
            None => "the stream has failed".to_owned(),
        };
        Err(PyOSError::new_err((status, text)))
    }
}
