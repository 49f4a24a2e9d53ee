//! Torrents: .torrent files, their lists of files, and their info-hashes (BEP 3, BEP 52).
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::{c_char, c_void};
use std::io;
use std::mem::offset_of;
use std::path::Path;

use hashlane_files::SourceFile;
use hashlane_hashes::Algorithm;

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border::{self, Versioned};
use crate::error::Error;

/// A torrent. It never changes, and threads may share it.
#[derive(Debug)]
pub struct Torrent(pub(crate) hashlane_metainfo::Torrent);

/// The maximum length of a .torrent file that `hashlane_torrent_open()` reads, in bytes.
pub const HASHLANE_MAX_TORRENT_LEN: usize = 32 << 20;

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = SourceFile::open(path)?;
    let len = usize::try_from(file.len_bytes()).unwrap_or(usize::MAX);
    if len > HASHLANE_MAX_TORRENT_LEN {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "{len} bytes exceed the limit for .torrent files, {HASHLANE_MAX_TORRENT_LEN} bytes"
            ),
        ));
    }
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

fn parse(bytes: Vec<u8>) -> Result<Torrent, hashlane_metainfo::Error> {
    hashlane_metainfo::Torrent::parse(bytes).map(Torrent)
}

/// Reads a .torrent file of at most `HASHLANE_MAX_TORRENT_LEN` bytes, and writes the torrent to
/// `*torrent`, or NULL if the function fails. Free it with `hashlane_torrent_free()`.
///
/// Fails with `HASHLANE_ERROR_SYSTEM` or `HASHLANE_ERROR_INVALID_TORRENT`, with details.
///
/// Thread-safe.
///
/// # Safety
/// `path` ends with a NUL. `torrent` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_open(
    path: *const c_char,
    torrent: *mut *mut Torrent,
) -> Error {
    let make = || {
        // SAFETY: `path` ends with a NUL.
        let path = unsafe { border::path(path) }?;
        let shown = path.display();
        let bytes = read(path)
            .map_err(|error| Error::System.with_details(format_args!("{shown}: {error}")))?;
        parse(bytes)
            .map_err(|error| Error::InvalidTorrent.with_details(format_args!("{shown}: {error}")))
    };
    // SAFETY: `torrent` points to a writable pointer.
    unsafe { border::give(torrent, make) }
}

/// Reads a torrent from the `len` bytes at `bytes`, which are copied, and writes it to `*torrent`,
/// or NULL if the function fails. Free it with `hashlane_torrent_free()`.
///
/// Fails with `HASHLANE_ERROR_INVALID_TORRENT`, with details.
///
/// Thread-safe.
///
/// # Safety
/// `bytes` points to `len` readable bytes. `torrent` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_parse(
    bytes: *const c_void,
    len: usize,
    torrent: *mut *mut Torrent,
) -> Error {
    let make = || {
        // SAFETY: `bytes` points to `len` elements that do not change during the call.
        let bytes = unsafe { border::array(bytes.cast::<u8>(), len) }?;
        parse(bytes.to_vec()).map_err(|error| Error::InvalidTorrent.with_details(error))
    };
    // SAFETY: `torrent` points to a writable pointer.
    unsafe { border::give(torrent, make) }
}

/// Frees a torrent. Reports made with it stay usable. NULL is ignored.
///
/// # Safety
/// `torrent` comes from `hashlane_torrent_open()` or `hashlane_torrent_parse()`, is freed once, and
/// is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_free(torrent: *mut Torrent) {
    // SAFETY: `torrent` is null or a handle that is not used again.
    unsafe { border::free(torrent) }
}

/// Writes the name of the torrent to the `capacity` bytes at `name`, followed by a NUL. Sets
/// `*name_len` to the length of the name without the NUL, even if the name does not fit; `name_len`
/// may be NULL. The name contains no `/` and is not `..`. It need not be UTF-8.
///
/// Fails with `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
///
/// Thread-safe.
///
/// # Safety
/// `torrent` comes from this library. `name` points to `capacity` writable bytes.
/// `name_len` is NULL or points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_name(
    torrent: *const Torrent,
    name: *mut c_char,
    capacity: usize,
    name_len: *mut usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `torrent` is a handle that is not freed during the call.
        let torrent = unsafe { border::shared(torrent) }?;
        // SAFETY: `name` has `capacity` writable bytes, and `name_len` is null or writable.
        unsafe { border::fill_text(name, capacity, torrent.0.name().as_bytes(), name_len) }
    })
}

/// Writes the info-hash to `info_hash`: for `HASHLANE_SHA1` the 20 bytes of version 1 (BEP 3), for
/// `HASHLANE_SHA256` the 32 bytes of version 2 (BEP 52). A hybrid torrent has both.
///
/// Fails with `HASHLANE_ERROR_NO_SUCH_HASHES` if the torrent has only the other version, and for
/// other algorithms.
///
/// Thread-safe.
///
/// # Safety
/// `torrent` comes from this library. `info_hash` points to as many writable bytes as a digest has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_info_hash(
    torrent: *const Torrent,
    algorithm_id: AlgorithmId,
    info_hash: *mut u8,
) -> Error {
    border::guard(|| {
        // SAFETY: `torrent` is a handle that is not freed during the call.
        let torrent = unsafe { border::shared(torrent) }?;
        let hashes = torrent.0.info_hashes();
        let (v1, v2) = (hashes.v1(), hashes.v2());
        let bytes: Option<&[u8]> = match algorithm(algorithm_id)? {
            Algorithm::Sha1 => v1.as_ref().map(AsRef::as_ref),
            Algorithm::Sha256 => v2.as_ref().map(AsRef::as_ref),
            _ => None,
        };
        // SAFETY: `info_hash` points to as many writable bytes, outside of the source.
        unsafe { border::write(info_hash, bytes.ok_or(Error::NoSuchHashes)?) }
    })
}

/// Lengths and counts, by which a caller sizes its buffers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TorrentSizes {
    /// Set by the caller: the size of this structure in bytes.
    pub struct_size: usize,
    /// The length of the content in bytes, including padding.
    pub content_len: u64,
    /// The length of a piece in bytes. The last piece can be shorter; in version 2, the last piece
    /// of each file can be shorter.
    pub piece_len: u64,
    /// The number of files, including padding and symbolic links.
    pub n_files: usize,
    /// Number of bits of a bitfield of the torrent.
    pub n_pieces: usize,
}

impl Versioned for TorrentSizes {
    const SIZES: &'static [usize] = &[offset_of!(Self, n_pieces) + size_of::<usize>()];
}

/// Writes the sizes of a torrent to `*sizes`, whose `struct_size` the caller has set.
///
/// Fails with `HASHLANE_ERROR_STRUCT_SIZE`.
///
/// Thread-safe.
///
/// # Safety
/// `torrent` comes from this library. `sizes` points to `struct_size` readable and writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_get_sizes(
    torrent: *const Torrent,
    sizes: *mut TorrentSizes,
) -> Error {
    border::guard(|| {
        // SAFETY: `torrent` is a handle that is not freed during the call.
        let Torrent(torrent) = unsafe { border::shared(torrent) }?;
        let lengths = torrent.lengths();
        let found = TorrentSizes {
            struct_size: size_of::<TorrentSizes>(),
            content_len: torrent.content_length(),
            piece_len: u64::from(lengths.piece_length().get()),
            n_files: torrent.files().len(),
            n_pieces: lengths.piece_count() as usize,
        };
        // SAFETY: `sizes` has as many bytes as its `struct_size` says.
        unsafe { border::put_versioned(sizes, found) }
    })
}

/// Writes the path of a file to the `capacity` bytes at `path`, followed by a NUL. Files are
/// numbered from 0 in the order of the torrent. The path is relative to the content folder, and its
/// components are separated by `/`. In a single-file torrent the path is the name. Sets `*path_len`
/// to the length of the path without the NUL, even if the path does not fit; `path_len` may be
/// NULL.
///
/// Fails with `HASHLANE_ERROR_INDEX_TOO_LARGE` or `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
///
/// Thread-safe.
///
/// # Safety
/// `torrent` comes from this library. `path` points to `capacity` writable bytes.
/// `path_len` is NULL or points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_torrent_file_path(
    torrent: *const Torrent,
    file: usize,
    path: *mut c_char,
    capacity: usize,
    path_len: *mut usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `torrent` is a handle that is not freed during the call.
        let torrent = unsafe { border::shared(torrent) }?;
        let file = torrent.0.files().get(file).ok_or(Error::IndexTooLarge)?;
        let mut text = Vec::new();
        for (index, component) in file.path().components().enumerate() {
            if index > 0 {
                text.push(b'/');
            }
            text.extend_from_slice(component.as_bytes());
        }
        // SAFETY: `path` has `capacity` writable bytes, and `path_len` is null or writable.
        unsafe { border::fill_text(path, capacity, &text, path_len) }
    })
}
