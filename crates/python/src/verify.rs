//! Verification of content on disk, and of content that Python code reads.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hashlane_verify::{
    CancelToken, Content, FileIndex, Options, PieceCounts, PieceState, ReadAt, Readers, Report,
    Verification,
};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::{cancelled, errno_of, os_error, run_error};
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
///
/// # Errors
/// `Cancelled`.
fn fields<'py>(
    py: Python<'py>,
    torrent: &Torrent,
    report: &Report,
) -> PyResult<Bound<'py, PyDict>> {
    if report.is_cancelled() {
        return Err(cancelled(py));
    }
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
    let report = watch.run_reads(py, move |state, cancel| {
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

/// Length of a read of a store, in bytes. The engine asks for windows of kilobytes, and a store answers one large request
/// sooner than many small ones.
const BLOCK_LEN: u64 = 1 << 20;

/// Blocks that are kept for each thread, which hashes up to 16 pieces side by side.
const BLOCKS_OF_THREAD: usize = 32;

/// A block of a file, and its offset.
type Block = (FileIndex, u64, Arc<[u8]>);

/// The last blocks that were read of all files, the newest last. Windows of them are copied without the GIL.
struct Blocks {
    kept: Mutex<VecDeque<Block>>,
    capacity: usize,
}

impl Blocks {
    fn get(&self, file: FileIndex, start: u64) -> Option<Arc<[u8]>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let i = kept
            .iter()
            .rposition(|block| (block.0, block.1) == (file, start))?;
        let block = kept.remove(i)?;
        let bytes = Arc::clone(&block.2);
        kept.push_back(block);
        Some(bytes)
    }

    fn put(&self, file: FileIndex, start: u64, bytes: Arc<[u8]>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == self.capacity {
            kept.pop_front();
        }
        kept.push_back((file, start, bytes));
    }
}

/// The first exception that is no error of content, such as a `TypeError` for an option of a store. It ends the verification.
#[derive(Clone, Default)]
struct Mistake {
    error: Arc<Mutex<Option<PyErr>>>,
    cancel: CancelToken,
}

impl Mistake {
    /// Returns an error of content, and notes any other exception.
    fn io_error(&self, py: Python<'_>, error: PyErr) -> io::Error {
        if !error.is_instance_of::<PyOSError>(py) {
            let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| error.clone_ref(py));
            self.cancel.cancel();
        }
        io_error(py, error)
    }
}

/// A file that a function of Python reads: `read(offset, length)` returns up to that many bytes, and none at the end.
struct Reader {
    read: Py<PyAny>,
    file: FileIndex,
    len_bytes: u64,
    blocks: Arc<Blocks>,
    mistake: Mistake,
}

impl Reader {
    fn read_block(&self, start: u64) -> io::Result<Arc<[u8]>> {
        let len = BLOCK_LEN.min(self.len_bytes - start);
        Python::attach(|py| {
            let read = self.read.bind(py).call1((start, len));
            let bytes = read.and_then(|bytes| Ok(bytes.extract::<Bound<'_, PyBytes>>()?));
            let bytes = bytes.map_err(|error| self.mistake.io_error(py, error))?;
            if bytes.as_bytes().len() as u64 > len {
                return Err(io::Error::other("the reader returned too many bytes"));
            }
            Ok(bytes.as_bytes().into())
        })
    }
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
        let start = offset - offset % BLOCK_LEN;
        let block = if let Some(block) = self.blocks.get(self.file, start) {
            block
        } else {
            let block = self.read_block(start)?;
            self.blocks.put(self.file, start, Arc::clone(&block));
            block
        };
        let rest = block.get((offset - start) as usize..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
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
    let blocks = Arc::new(Blocks {
        kept: Mutex::default(),
        capacity: threads.saturating_mul(BLOCKS_OF_THREAD),
    });
    let mistake = Mistake::default();
    let first_mistake = mistake.clone();
    if threads == 0 {
        return Err(PyValueError::new_err("threads must be 1 or more"));
    }
    let options = Options::default().threads(threads_or_all(Some(threads))?);
    let watch = Watch { progress, cancel };
    let (metainfo, stop) = (torrent.0.clone(), first_mistake.cancel.clone());
    let report = watch.run_reads(py, move |state, cancel| {
        let readers = Readers::new(|file: FileIndex| {
            Python::attach(|py| {
                let opened = open.bind(py).call1((file.get(),));
                let opened = opened.and_then(|opened| opened.extract::<(u64, Py<PyAny>)>());
                let (len_bytes, read) = opened.map_err(|error| mistake.io_error(py, error))?;
                Ok(Box::new(Reader {
                    read,
                    file,
                    len_bytes,
                    blocks: Arc::clone(&blocks),
                    mistake: mistake.clone(),
                }) as Box<dyn ReadAt>)
            })
        });
        let verification = Verification::of(&metainfo, &readers)
            .options(options)
            .pieces(run_of(pieces))
            .cancel(cancel);
        verification.run(|progress| {
            if stop.is_cancelled() {
                cancel.cancel();
            }
            state.set(progress.hashed_bytes, progress.total_bytes);
        })
    })?;
    let first_mistake = first_mistake.error.lock();
    if let Some(error) = first_mistake.unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    fields(py, torrent, &report.map_err(|error| run_error(&error))?)
}
