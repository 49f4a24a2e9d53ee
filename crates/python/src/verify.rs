//! Verification of content on disk, and of content that Python code reads.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use hashlane_verify::{
    Content, FileIndex, Options, PieceCounts, PieceState, ReadAt, Readers, Report, Verification,
};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::{errno_of, os_error, run_error};
use crate::many::threads_or_all;
use crate::torrent::Torrent;
use crate::watch::Watch;

/// Returns the number of a state, as `hashlane.PieceState` has it.
fn number(state: PieceState) -> u8 {
    match state {
        PieceState::Unchecked => 0,
        PieceState::Have => 1,
        PieceState::Bad => 2,
        PieceState::Unproven => 3,
        PieceState::Missing => 4,
        PieceState::Unreadable => 5,
    }
}

fn counts(counts: PieceCounts) -> [u32; 6] {
    [
        counts.unchecked,
        counts.have,
        counts.bad,
        counts.unproven,
        counts.missing,
        counts.unreadable,
    ]
}

/// Returns what the dataclasses of `hashlane.Report` are made of.
fn fields<'py>(
    py: Python<'py>,
    torrent: &Torrent,
    report: &Report,
) -> PyResult<Bound<'py, PyDict>> {
    let files = PyList::empty(py);
    for file in report.files() {
        let path: Vec<String> = torrent
            .0
            .file(file.index.get())
            .path()
            .components()
            .map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned())
            .collect();
        let error = file.error.as_ref().map(|error| {
            let number = errno_of(&error.error);
            (error.offset, number, error.error.to_string())
        });
        let fields = PyDict::new(py);
        fields.set_item("index", file.index.get())?;
        fields.set_item("path", path.join("/"))?;
        fields.set_item("state", file.state.name())?;
        fields.set_item("length", file.length)?;
        fields.set_item("length_on_disk", file.length_on_disk)?;
        fields.set_item("first_piece", file.pieces.start)?;
        fields.set_item("end_piece", file.pieces.end)?;
        fields.set_item("counts", counts(file.counts))?;
        fields.set_item("error", error)?;
        files.append(fields)?;
    }
    let pieces: Vec<u8> = report.pieces().iter().map(|state| number(*state)).collect();
    let dict = PyDict::new(py);
    dict.set_item("pieces", PyBytes::new(py, &pieces))?;
    dict.set_item("bitfield", PyBytes::new(py, &report.bitfield()))?;
    dict.set_item("files", files)?;
    dict.set_item("counts", counts(report.counts()))?;
    dict.set_item("checked_bytes", report.checked_bytes())?;
    dict.set_item("have_bytes", report.have_bytes())?;
    dict.set_item("total_bytes", report.total_bytes())?;
    dict.set_item("elapsed", report.elapsed().as_secs_f64())?;
    dict.set_item("is_cancelled", report.is_cancelled())?;
    dict.set_item("is_complete", report.is_complete())?;
    Ok(dict)
}

/// Verifies content on disk. `pieces` are the first piece and the end of a run, otherwise all.
#[pyfunction]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    torrent: &Bound<'py, Torrent>,
    path: PathBuf,
    pieces: Option<(u32, u32)>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let torrent = torrent.get();
    let content = Content::at(&torrent.0, &path).map_err(|error| os_error(&error, &path))?;
    // Without maps: their handler of SIGBUS would belong to the program.
    let options = Options::default().threads(threads_or_all(threads)?);
    let watch = Watch { progress, cancel };
    let report = watch.run(py, |state, cancel| {
        let verification = Verification::new(&content)
            .options(options)
            .pieces(run_of(pieces))
            .cancel(cancel);
        verification.run(|progress| state.set(progress.hashed_bytes, progress.total_bytes))
    })?;
    fields(py, torrent, &report.map_err(|error| run_error(&error))?)
}

fn run_of(pieces: Option<(u32, u32)>) -> Range<u32> {
    pieces.map_or(0..u32::MAX, |(first, end)| first..end)
}

/// A file that a function of Python reads: `read(offset, length)` returns up to that many bytes, and none at the end.
struct Reader {
    read: Py<PyAny>,
    len_bytes: u64,
}

/// Returns an exception as an error of the system, with its number if it is an `OSError`.
fn io_error(py: Python<'_>, error: PyErr) -> io::Error {
    if error.is_instance_of::<PyOSError>(py)
        && let Ok(number) = error
            .value(py)
            .getattr("errno")
            .and_then(|number| number.extract::<i32>())
    {
        return io::Error::from_raw_os_error(number);
    }
    // Some file systems raise these without a number.
    if error.is_instance_of::<PyFileNotFoundError>(py) {
        return io::ErrorKind::NotFound.into();
    }
    if error.is_instance_of::<PyPermissionError>(py) {
        return io::ErrorKind::PermissionDenied.into();
    }
    io::Error::other(error.to_string())
}

impl ReadAt for Reader {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.len_bytes {
            return Ok(0);
        }
        Python::attach(|py| {
            let read = self.read.bind(py).call1((offset, buffer.len()));
            let bytes = read.and_then(|bytes| Ok(bytes.extract::<Bound<'_, PyBytes>>()?));
            let bytes = bytes.map_err(|error| io_error(py, error))?;
            let bytes = bytes.as_bytes();
            let target = buffer.get_mut(..bytes.len());
            let target =
                target.ok_or_else(|| io::Error::other("the reader returned too many bytes"))?;
            target.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }

    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }
}

/// Verifies content that Python code reads. `open(index)` returns the length of a file and the function that reads it, or raises
/// `OSError`.
#[pyfunction]
pub(crate) fn verify_readers<'py>(
    py: Python<'py>,
    torrent: &Bound<'py, Torrent>,
    open: Py<PyAny>,
    pieces: Option<(u32, u32)>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let torrent = torrent.get();
    let readers = Readers::new(|file: FileIndex| {
        Python::attach(|py| {
            let opened = open.bind(py).call1((file.get(),));
            let opened = opened.and_then(|opened| opened.extract::<(u64, Py<PyAny>)>());
            let (len_bytes, read) = opened.map_err(|error| io_error(py, error))?;
            Ok(Box::new(Reader { read, len_bytes }) as Box<dyn ReadAt>)
        })
    });
    if threads == 0 {
        return Err(PyValueError::new_err("threads must be 1 or more"));
    }
    let options = Options::default().threads(threads_or_all(Some(threads))?);
    let watch = Watch { progress, cancel };
    let report = watch.run(py, |state, cancel| {
        let verification = Verification::of(&torrent.0, &readers)
            .options(options)
            .pieces(run_of(pieces))
            .cancel(cancel);
        verification.run(|progress| state.set(progress.hashed_bytes, progress.total_bytes))
    })?;
    fields(py, torrent, &report.map_err(|error| run_error(&error))?)
}
