//! Verification of a torrent's content, and the report.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::num::NonZeroUsize;
use std::path::Path;

use hashlane_verify::{
    CancelToken, Content, FileState, HashVersions, Options, PieceCounts, PieceState,
};

use crate::border::{self, Versioned};
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;
use crate::torrent::Torrent;

/// The number of pieces in each state. Every piece has one of these states.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Set by the caller, or by the library in `hashlane_verify_progress`: the size of this
    /// structure in bytes.
    pub struct_size: usize,
    /// Not verified, because the verification was cancelled.
    pub n_unchecked: u32,
    /// Present and correct.
    pub n_have: u32,
    /// Present and wrong, with at least one byte that is not zero.
    pub n_bad: u32,
    /// Present, but in a file that is wrong at an unknown position.
    pub n_unproven: u32,
    /// Missing, because a file does not exist or is too short, or wrong and all zeros on the disk.
    pub n_missing: u32,
    /// The system could not read a file.
    pub n_unreadable: u32,
}

impl Versioned for Counts {
    const SIZES: &'static [usize] = &[offset_of!(Self, n_unreadable) + size_of::<u32>()];
}

impl Counts {
    fn new(counts: PieceCounts) -> Self {
        Self {
            struct_size: size_of::<Self>(),
            n_unchecked: counts.unchecked,
            n_have: counts.have,
            n_bad: counts.bad,
            n_unproven: counts.unproven,
            n_missing: counts.missing,
            n_unreadable: counts.unreadable,
        }
    }
}

/// The state of a piece: one of `HASHLANE_PIECE_...`.
pub type PieceStateId = u8;

/// Not verified, because the verification was cancelled.
pub const HASHLANE_PIECE_UNCHECKED: PieceStateId = 0;
/// Present and correct.
pub const HASHLANE_PIECE_HAVE: PieceStateId = 1;
/// Present and wrong, with at least one byte that is not zero.
pub const HASHLANE_PIECE_BAD: PieceStateId = 2;
/// Present, but in a file that is wrong at an unknown position: the torrent has one hash for the
/// whole file (BEP 52).
pub const HASHLANE_PIECE_UNPROVEN: PieceStateId = 3;
/// Missing, because a file does not exist or is too short, or wrong and all zeros on the disk.
pub const HASHLANE_PIECE_MISSING: PieceStateId = 4;
/// The system could not read a file.
pub const HASHLANE_PIECE_UNREADABLE: PieceStateId = 5;

fn piece_state(state: PieceState) -> PieceStateId {
    match state {
        PieceState::Unchecked => HASHLANE_PIECE_UNCHECKED,
        PieceState::Have => HASHLANE_PIECE_HAVE,
        PieceState::Bad => HASHLANE_PIECE_BAD,
        PieceState::Unproven => HASHLANE_PIECE_UNPROVEN,
        PieceState::Missing => HASHLANE_PIECE_MISSING,
        PieceState::Unreadable => HASHLANE_PIECE_UNREADABLE,
    }
}

/// The state of a file: one of `HASHLANE_FILE_...`.
pub type FileStateId = u32;

/// Not verified, because the verification was cancelled.
pub const HASHLANE_FILE_UNCHECKED: FileStateId = 0;
/// All pieces are present and correct, or the symbolic link has the target in the torrent.
pub const HASHLANE_FILE_WHOLE: FileStateId = 1;
/// The file exists, but some of its pieces are missing or wrong, or the symbolic link has another
/// target.
pub const HASHLANE_FILE_PARTIAL: FileStateId = 2;
/// The file does not exist.
pub const HASHLANE_FILE_MISSING: FileStateId = 3;
/// The system could not open or read the file.
pub const HASHLANE_FILE_UNREADABLE: FileStateId = 4;

fn file_state(state: FileState) -> FileStateId {
    match state {
        FileState::Unchecked => HASHLANE_FILE_UNCHECKED,
        FileState::Whole | FileState::Link => HASHLANE_FILE_WHOLE,
        FileState::Partial | FileState::WrongLink => HASHLANE_FILE_PARTIAL,
        FileState::Missing => HASHLANE_FILE_MISSING,
        FileState::Unreadable => HASHLANE_FILE_UNREADABLE,
    }
}

/// The progress of a verification. Later versions may append fields.
///
/// The structure has no `struct_size`, because the library allocates it. A program that reads a
/// field of a later version needs that version of the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VerifyProgress {
    /// The number of verified bytes.
    pub done_bytes: u64,
    /// The number of bytes to verify.
    pub total_bytes: u64,
    /// The number of pieces in each state.
    pub counts: *const Counts,
}

/// A function that receives the progress of a verification, with the `context` of the call.
/// `progress` is valid until the function returns. The function returns 0 to continue, and any
/// other number to cancel the verification. It runs on the thread of the call.
///
/// The function must return. It must not throw an exception through the library or leave with
/// `longjmp()`.
pub type VerifyCallback =
    Option<unsafe extern "C" fn(context: *mut c_void, progress: *const VerifyProgress) -> c_int>;

/// The result of a verification. It never changes, and threads may share it.
#[derive(Debug)]
pub struct Report(hashlane_verify::Report);

fn content(torrent: &Torrent, path: &Path) -> Result<Content, Error> {
    Content::at(&torrent.0, path)
        .map_err(|error| Error::System.with_details(format_args!("{}: {error}", path.display())))
}

/// Verifies the content of a torrent, and writes the report to `*report`, or NULL if the function
/// fails. Free the report with `hashlane_report_free()`. The function only reads files, and changes
/// no signal handler. Files that are missing or cannot be read are part of the report, not errors.
///
/// `content_path` is the path of the folder that contains the torrent's files, or of the file in a
/// single-file torrent. Its last component need not be the torrent's name. For a single-file
/// torrent, `content_path` may also be the folder that contains the file under the torrent's name.
/// `engine` may be NULL. `n_threads` is the number of threads that read and hash, or 0 for one per
/// CPU. `callback` may be NULL; otherwise it receives the progress about fifty times per second for
/// each thread.
///
/// If the callback cancels, the function fails with `HASHLANE_ERROR_CANCELLED`, and `*report`
/// contains the states that are known. `HASHLANE_ERROR_SYSTEM` has details.
///
/// Thread-safe.
///
/// # Safety
/// `torrent` comes from this library. `content_path` ends with a NUL. `callback` may be called as
/// its type describes until the function returns. `report` points to a writable pointer.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_verify(
    engine: *const Engine,
    torrent: *const Torrent,
    content_path: *const c_char,
    n_threads: usize,
    callback: VerifyCallback,
    context: *mut c_void,
    report: *mut *mut Report,
) -> Error {
    let mut is_cancelled = false;
    let make = || {
        // SAFETY: `torrent` is a handle that is not freed during the call.
        let torrent = unsafe { border::shared(torrent) }?;
        // SAFETY: `content_path` ends with a NUL.
        let content = content(torrent, unsafe { border::path(content_path) }?)?;
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // Without maps: their handler of SIGBUS would belong to the program.
        let options = Options::default()
            .threads(NonZeroUsize::new(n_threads))
            .engine(engine);
        let cancel = CancelToken::default();
        let mut on_progress = |progress: &hashlane_verify::Progress| {
            let Some(callback) = callback else { return };
            if cancel.is_cancelled() {
                return;
            }
            let counts = Counts::new(progress.counts);
            let progress = VerifyProgress {
                done_bytes: progress.hashed_bytes,
                total_bytes: progress.total_bytes,
                counts: &raw const counts,
            };
            // SAFETY: the caller passes a function that can be called with these arguments during
            // the call.
            if unsafe { callback(context, &raw const progress) } != 0 {
                cancel.cancel();
            }
        };
        let both = HashVersions { v1: true, v2: true };
        let report = hashlane_verify::verify(&content, both, &options, &cancel, &mut on_progress)
            .map_err(|error| Error::System.with_details(error))?;
        is_cancelled = report.is_cancelled();
        Ok(Report(report))
    };
    // SAFETY: `report` points to a writable pointer.
    match unsafe { border::give(report, make) } {
        Error::None if is_cancelled => Error::Cancelled,
        error => error,
    }
}

/// Frees a report. NULL is ignored.
///
/// # Safety
/// `report` comes from `hashlane_torrent_verify()`, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_free(report: *mut Report) {
    // SAFETY: `report` is null or a handle that is not used again.
    unsafe { border::free(report) }
}

/// Returns 1 if all pieces are present and correct, and all empty files and symbolic links exist.
/// Returns 0 otherwise, and for NULL.
///
/// Thread-safe.
///
/// # Safety
/// `report` is NULL or comes from this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_is_complete(report: *const Report) -> c_int {
    let mut is_complete = false;
    let _ = border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        is_complete = unsafe { border::shared(report) }?.0.is_complete();
        Ok(())
    });
    c_int::from(is_complete)
}

/// Writes the number of pieces in each state to `*counts`, whose `struct_size` the caller has set.
///
/// Fails with `HASHLANE_ERROR_STRUCT_SIZE`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `counts` points to `struct_size` readable and writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_counts(
    report: *const Report,
    counts: *mut Counts,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let report = unsafe { border::shared(report) }?;
        // SAFETY: `counts` has as many bytes as its `struct_size` says.
        unsafe { border::put_versioned(counts, Counts::new(report.0.counts())) }
    })
}

/// Writes the state of each piece to the array `states`. `n_states` must be the number of pieces.
///
/// Fails with `HASHLANE_ERROR_WRONG_COUNT`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `states` points to `n_states` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_piece_states(
    report: *const Report,
    states: *mut PieceStateId,
    n_states: usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let pieces = unsafe { border::shared(report) }?.0.pieces();
        if n_states != pieces.len() {
            return Err(Error::WrongCount);
        }
        let found: Vec<_> = pieces.iter().map(|state| piece_state(*state)).collect();
        // SAFETY: `states` points to as many writable bytes, outside of the source.
        unsafe { border::write(states, &found) }
    })
}

/// Writes the present and correct pieces as a bitfield. The first piece is the highest bit of the
/// first byte, and spare bits at the end are 0 (BEP 3). `len` must be the number of pieces divided
/// by 8, rounded up.
///
/// Fails with `HASHLANE_ERROR_WRONG_COUNT`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `bitfield` points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_bitfield(
    report: *const Report,
    bitfield: *mut u8,
    len: usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let found = unsafe { border::shared(report) }?.0.bitfield();
        if len != found.len() {
            return Err(Error::WrongCount);
        }
        // SAFETY: `bitfield` points to as many writable bytes, outside of the source.
        unsafe { border::write(bitfield, &found) }
    })
}

/// The state of one file.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FileReport {
    /// Set by the caller: the size of this structure in bytes.
    pub struct_size: usize,
    /// The index of the file in the torrent, for `hashlane_torrent_file_path()`.
    pub file: usize,
    /// The length in bytes according to the torrent.
    pub len: u64,
    /// The length in bytes on the disk, or 0 if the file does not exist or was not opened.
    pub len_on_disk: u64,
    /// The first piece with bytes of the file.
    pub first_piece: u32,
    /// The number of pieces with bytes of the file. Neighbouring files can share pieces.
    pub n_pieces: u32,
    /// The number of these pieces that are present and correct.
    pub n_have: u32,
    /// One of `HASHLANE_FILE_...`.
    pub state: FileStateId,
}

impl Versioned for FileReport {
    const SIZES: &'static [usize] = &[offset_of!(Self, state) + size_of::<FileStateId>()];
}

/// Writes the state of a file to `*file`, whose `struct_size` the caller has set. To list all
/// files, increment `index` from 0 until the function fails with `HASHLANE_ERROR_INDEX_TOO_LARGE`.
/// Padding is omitted.
///
/// Fails also with `HASHLANE_ERROR_STRUCT_SIZE`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `file` points to `struct_size` readable and writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_file(
    report: *const Report,
    index: usize,
    file: *mut FileReport,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let files = unsafe { border::shared(report) }?.0.files();
        let found = files.get(index).ok_or(Error::IndexTooLarge)?;
        let found = FileReport {
            struct_size: size_of::<FileReport>(),
            file: found.index.get(),
            len: found.length,
            len_on_disk: found.length_on_disk.unwrap_or(0),
            first_piece: found.pieces.start,
            n_pieces: found.pieces.len() as u32,
            n_have: found.counts.have,
            state: file_state(found.state),
        };
        // SAFETY: `file` has as many bytes as its `struct_size` says.
        unsafe { border::put_versioned(file, found) }
    })
}

/// Writes to `*n_pieces` the number of missing pieces of a file whose bytes on the disk are all
/// zeros. A download has not written such pieces yet, or the disk has lost them. The number is 0 if
/// the file is shorter than in the torrent. `index` is the same as for `hashlane_report_file()`.
///
/// Fails with `HASHLANE_ERROR_INDEX_TOO_LARGE`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `n_pieces` points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_file_zero_pieces(
    report: *const Report,
    index: usize,
    n_pieces: *mut u32,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let files = unsafe { border::shared(report) }?.0.files();
        let file = files.get(index).ok_or(Error::IndexTooLarge)?;
        // SAFETY: `n_pieces` points to a writable number.
        unsafe { border::put(n_pieces, file.zero_pieces) }
    })
}

/// Writes the system's error for a file to the `capacity` bytes at `text`, followed by a NUL. The
/// text is empty if there was no error. `index` is the same as for `hashlane_report_file()`. Sets
/// `*text_len` to the length of the text without the NUL, even if the text does not fit; `text_len`
/// may be NULL.
///
/// Fails with `HASHLANE_ERROR_INDEX_TOO_LARGE` or `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `text` points to `capacity` writable bytes.
/// `text_len` is NULL or points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_report_file_error(
    report: *const Report,
    index: usize,
    text: *mut c_char,
    capacity: usize,
    text_len: *mut usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let files = unsafe { border::shared(report) }?.0.files();
        let file = files.get(index).ok_or(Error::IndexTooLarge)?;
        let error = file
            .error
            .as_ref()
            .map_or(String::new(), ToString::to_string);
        // SAFETY: `text` has `capacity` writable bytes, and `text_len` is null or writable.
        unsafe { border::fill_text(text, capacity, error.as_bytes(), text_len) }
    })
}
